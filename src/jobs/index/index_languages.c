#include "jobs/index/index_languages.h"

#include <stdio.h>
#include <string.h>

#include "base/strings.h"
#include "text/language/language_detect.h"

enum { PREFIX_BYTES = sizeof MANIFEST_LEXICON - 1, KEY_BYTES = PREFIX_BYTES + LANGUAGE_CODE_BYTES };

/* The next setting of a lexicon from *at on; NULL if there is none. */
static const struct setting *next_lexicon(const cog_index *index, size_t *at) {
    const struct settings *settings = &index->parts.manifest.settings;
    while (*at < settings->count) {
        const struct setting *setting = &settings->entries[(*at)++];
        if (strncmp(setting->key, MANIFEST_LEXICON, PREFIX_BYTES) == 0 &&
            setting->type == SETTING_TEXT)
            return setting;
    }
    return NULL;
}

bool index_has_lexicon(const cog_index *index) {
    size_t at = 0;
    return next_lexicon(index, &at) != NULL;
}

bool cog_index_lexicon(const cog_index *index, size_t number, const char **from,
                       const char **record) {
    const struct setting *setting = NULL;
    size_t at = 0;
    do
        setting = next_lexicon(index, &at);
    while (setting && number-- > 0);
    if (!setting)
        return false;
    *from = setting->key + PREFIX_BYTES;
    *record = setting->text;
    return true;
}

/* Reads the language of the index, which starts the record of each lexicon. */
static void read_target(const struct setting *setting, char language[LANGUAGE_CODE_BYTES]) {
    size_t size = strcspn(setting->text, " ");
    snprintf(language, LANGUAGE_CODE_BYTES, "%.*s", (int)size, setting->text);
}

cog_status index_record_lexicon(struct settings *settings, const struct foreign_documents *foreign,
                                cog_error *error) {
    char key[KEY_BYTES];
    if (!foreign)
        return COG_OK;
    snprintf(key, sizeof key, MANIFEST_LEXICON "%s", foreign->from);
    return settings_set_text(settings, key, foreign->fingerprint, error);
}

cog_status index_check_lexicon(const cog_index *index, const struct foreign_documents *foreign,
                               bool *is_new, cog_error *error) {
    const struct setting *setting;
    bool is_known = false;
    if (is_new)
        *is_new = false;
    for (size_t at = 0; foreign && (setting = next_lexicon(index, &at));) {
        char target[LANGUAGE_CODE_BYTES];
        read_target(setting, target);
        if (strcmp(target, foreign->to) != 0)
            return error_about(error, COG_ERR_USAGE, "lexicon",
                               "the lexicon translates from %s into %s, and the documents of the "
                               "index are in %s: take a lexicon into that language",
                               foreign->from, foreign->to, target);
        if (strcmp(setting->key + PREFIX_BYTES, foreign->from) != 0)
            continue;
        is_known = true;
        if (strcmp(setting->text, foreign->fingerprint) != 0)
            return error_about(error, COG_ERR_USAGE, "lexicon",
                               "the index has documents in %s that were projected by another "
                               "lexicon or with other options (\"%s\", and not \"%s\"): take that "
                               "lexicon, or build the index again with this one",
                               foreign->from, setting->text, foreign->fingerprint);
    }
    if (is_new)
        *is_new = foreign && !is_known;
    return COG_OK;
}

cog_status index_expect_lexicon(const cog_index *index, const struct foreign_documents *foreign,
                                cog_error *error) {
    bool is_new;
    TRY(index_check_lexicon(index, foreign, &is_new, error));
    return is_new ? error_about(error, COG_ERR_USAGE, "lexicon",
                                "the index has no documents in %s yet: build it with this lexicon, "
                                "or add some of them first without looking for similar ones",
                                foreign->from)
                  : COG_OK;
}

/* ---- Queries without a lexicon --------------------------------------------------------------- */

/* Whether the index has documents projected from this language. */
static bool has_source(const cog_index *index, const char *code) {
    const struct setting *setting;
    for (size_t at = 0; (setting = next_lexicon(index, &at));)
        if (strcmp(setting->key + PREFIX_BYTES, code) == 0)
            return true;
    return false;
}

/* The language of a text if it differs from that of the index, otherwise "". A guess counts only if
 * the index has documents in that language. */
static void foreign_language(const cog_index *index, struct bytes_view language,
                             struct bytes_view text, bool *is_named,
                             char code[LANGUAGE_CODE_BYTES]) {
    char target[LANGUAGE_CODE_BYTES];
    size_t at = 0;
    const struct setting *setting = next_lexicon(index, &at);
    code[0] = 0;
    *is_named = false;
    if (!setting)
        return;
    read_target(setting, target);
    language_canonical(language, code);
    *is_named = code[0] != 0;
    if (!*is_named) {
        const char *guess = text.size ? language_detect(text.data, text.size) : "";
        language_canonical(view_of_text(guess), code);
    }
    if (strcmp(code, target) == 0 || (!*is_named && !has_source(index, code)))
        code[0] = 0;
}

static cog_status refuse_language(const cog_index *index, const char *code, const char *subject,
                                  cog_error *error) {
    char target[LANGUAGE_CODE_BYTES];
    size_t at = 0;
    const struct setting *setting = next_lexicon(index, &at);
    read_target(setting, target);
    for (; setting; setting = next_lexicon(index, &at))
        if (strcmp(setting->key + PREFIX_BYTES, code) == 0)
            return error_about(error, COG_ERR_USAGE, "lexicon",
                               "%s in %s, and the index is in %s: give the lexicon by which its "
                               "documents in %s were projected (\"%s\")",
                               subject, code, target, code, setting->text);
    return error_about(error, COG_ERR_USAGE, "lexicon",
                       "%s in %s, and the index is in %s: give a lexicon from %s into %s", subject,
                       code, target, code, target);
}

static cog_status refuse_query(const cog_index *index, const char *code, struct bytes_view id,
                               cog_error *error) {
    char subject[250] = "the query is";
    if (id.size)
        snprintf(subject, sizeof subject, "the query '%.*s' is",
                 (int)(id.size < 200 ? id.size : 200), id.data);
    return refuse_language(index, code, subject, error);
}

cog_status index_check_language(const cog_index *index, struct bytes_view language,
                                struct bytes_view text, struct bytes_view id, cog_error *error) {
    char code[LANGUAGE_CODE_BYTES];
    bool is_named;
    foreign_language(index, language, text, &is_named, code);
    return code[0] ? refuse_query(index, code, id, error) : COG_OK;
}

static cog_status watch(void *context, unsigned worker, const struct document *document,
                        struct term_list *terms, cog_error *error) {
    (void)worker;
    (void)terms;
    struct query_languages *languages = context;
    char code[LANGUAGE_CODE_BYTES];
    bool is_named;
    foreign_language(languages->index, document->lang, document->text, &is_named, code);
    __atomic_fetch_add(&languages->queries, 1, __ATOMIC_RELAXED);
    if (!code[0])
        return COG_OK;
    if (is_named)
        return refuse_query(languages->index, code, document->id, error);
    __atomic_fetch_add(&languages->foreign, 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&languages->lock);
    memcpy(languages->language, code, sizeof code);
    pthread_mutex_unlock(&languages->lock);
    return COG_OK;
}

void query_languages_watch(struct query_languages *languages, const cog_index *index,
                           const struct foreign_documents *foreign,
                           struct corpus_options *reading) {
    *languages = (struct query_languages){.index = index};
    pthread_mutex_init(&languages->lock, NULL);
    if (foreign || !index->is_multilingual)
        return;
    reading->amend = watch;
    reading->amend_context = languages;
}

cog_status query_languages_judge(struct query_languages *languages, cog_error *error) {
    char subject[80];
    pthread_mutex_destroy(&languages->lock);
    if (languages->foreign * 2 <= languages->queries)
        return COG_OK;
    snprintf(subject, sizeof subject, "%llu of %llu quer%s", (unsigned long long)languages->foreign,
             (unsigned long long)languages->queries,
             plural(languages->queries, "y looks as if it were", "ies look as if they were"));
    return refuse_language(languages->index, languages->language, subject, error);
}
