#include "collection/language_tally.h"

#include <string.h>

#include "base/strings.h"
#include "text/language/language.h"

void language_tally_init(struct language_tally *tally, const char *own, const char *other) {
    *tally = (struct language_tally){0};
    language_canonical(view_of_text(own), tally->own);
    language_canonical(view_of_text(other), tally->other);
}

void language_tally_count(struct language_tally *tally, struct bytes_view language) {
    char code[LANGUAGE_CODE_BYTES];
    language_canonical(language, code);
    if (!code[0])
        return;
    uint64_t *count = strcmp(code, tally->own) == 0     ? &tally->own_count
                      : strcmp(code, tally->other) == 0 ? &tally->other_count
                                                        : &tally->foreign_count;
    __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

cog_status language_tally_judge(const struct language_tally *tally, const char *side,
                                cog_report *report, cog_error *error) {
    uint64_t wrong = tally->other_count + tally->foreign_count;
    uint64_t named = tally->own_count + wrong;
    if (tally->other_count * 2 > named)
        return error_set(error, COG_ERR_USAGE,
                         "%llu of %llu document%s on the %s side %s language is %s, and "
                         "the lexicon has %s there: swap the sides, or name the right language "
                         "field",
                         (unsigned long long)tally->other_count, (unsigned long long)named,
                         plural(named, "", "s"), side,
                         plural(tally->other_count, "says that its", "say that their"),
                         tally->other, tally->own);
    if (wrong)
        report_notice(report, "%llu of %llu document%s on the %s side %s language is not %s",
                      (unsigned long long)wrong, (unsigned long long)named, plural(named, "", "s"),
                      side, plural(wrong, "says that its", "say that their"), tally->own);
    return COG_OK;
}
