#include "crosslingual/word_forms.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/strings.h"

/* The common beginning has at least 4 letters and 6 tenths of the longer word. A syllable
 * of Hangul and an ideograph count as two letters. */
enum { FORM_LETTERS_MIN = 4, FORM_TENTHS_MIN = 6, FORM_NEIGHBOURS = 64 };

static int compare_words(const void *x, const void *y, void *table) {
    const struct bytes_view a = word_table_string(table, *(const uint32_t *)x);
    const struct bytes_view b = word_table_string(table, *(const uint32_t *)y);
    return view_compare(&a, &b);
}

cog_status word_forms_init(struct word_forms *forms, const struct lexicon *lexicon,
                           cog_error *error) {
    size_t count = lexicon->from.count;
    *forms = (struct word_forms){.lexicon = lexicon};
    TAKE(forms->order, count, "forms of words", error);
    for (size_t i = 0; i < count; i++)
        forms->order[i] = (uint32_t)i;
    if (count)
        qsort_r(forms->order, count, sizeof *forms->order, compare_words, (void *)&lexicon->from);
    return COG_OK;
}

void word_forms_free(struct word_forms *forms) {
    free(forms->order);
    *forms = (struct word_forms){0};
}

static unsigned letters_of(struct bytes_view word) {
    unsigned letters = 0;
    for (size_t at = 0; at < word.size;) {
        uint32_t c;
        at += utf8_decode(word.data + at, word.size - at, &c);
        letters += (c >= 0xac00 && c <= 0xd7a3) || (c >= 0x3400 && c <= 0x9fff) ? 2 : 1;
    }
    return letters;
}

/* The letters that both words begin with. */
static unsigned common_letters(struct bytes_view a, struct bytes_view b) {
    size_t size = a.size < b.size ? a.size : b.size, common = 0;
    while (common < size && a.data[common] == b.data[common])
        common++;
    while (common > 0 && common < size && !utf8_is_start(a.data[common]))
        common--;
    if (common < b.size && !utf8_is_start(b.data[common]))
        while (common > 0 && !utf8_is_start(b.data[common]))
            common--;
    return letters_of(view_of(a.data, common));
}

/* The place of the first word that is not less. */
static size_t find_place(const struct word_forms *forms, struct bytes_view word) {
    const struct word_table *from = &forms->lexicon->from;
    struct bytes_view other;
    size_t place;
    FIND_FIRST_NOT(
        place, 0, from->count,
        (other = word_table_string(from, forms->order[place]), view_compare(&other, &word) < 0));
    return place;
}

uint32_t word_forms_find(const struct word_forms *forms, struct bytes_view word) {
    const struct word_table *from = &forms->lexicon->from;
    size_t place = find_place(forms, word);
    size_t begin = place > FORM_NEIGHBOURS ? place - FORM_NEIGHBOURS : 0;
    size_t end = from->count - place > FORM_NEIGHBOURS ? place + FORM_NEIGHBOURS : from->count;
    unsigned letters = letters_of(word), best_common = 0;
    uint32_t best = WORD_NONE;
    for (size_t i = begin; i < end; i++) {
        uint32_t other = forms->order[i];
        struct bytes_view string = word_table_string(from, other);
        unsigned common = common_letters(word, string), length = letters_of(string);
        unsigned longer = letters > length ? letters : length;
        if (common < FORM_LETTERS_MIN || 10 * common < FORM_TENTHS_MIN * longer)
            continue;
        if (common > best_common ||
            (common == best_common && from->counts[other] > from->counts[best])) {
            best = other;
            best_common = common;
        }
    }
    return best;
}
