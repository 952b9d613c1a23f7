/* Jobs on word-translation tables: training from parallel text, converting other tools' tables,
 * looking up words.
 *
 * In: files and options. Out: a struct lexicon, which must be zeroed; the caller releases it with
 * lexicon_free, also after a failure. Training holds the parallel text as word numbers, plus a
 * table of all word pairs that occur together in a sentence pair. */
#pragma once

#include "crosslingual/lexicon.h"
#include "run/job.h"

struct cog_lexicon {
    struct lexicon table;
};

cog_status lexicon_train(struct lexicon *lexicon, struct job *job, const char *const *paths,
                         size_t path_count, const cog_lexicon_options *options, cog_error *error);
cog_status lexicon_convert(struct lexicon *lexicon, const char *const *paths, size_t path_count,
                           cog_table_format format, const cog_lexicon_options *options,
                           cog_report *report, cog_error *error);
/* The translations of the words of a text, in order; free() them. A word that is not in the lexicon
 * is split into words that are. */
cog_status lexicon_translate(const struct lexicon *lexicon, struct bytes_view text,
                             const char *linkers, cog_translation **translations, size_t *count,
                             cog_error *error);
