/* Imports lexicons from the tables of other tools.
 *
 * In: files of one format. Out: a lexicon, and findings for the report. The stated direction of a
 * file is checked against its content: the languages of its columns, and the column along which the
 * probabilities sum to 1. */
#pragma once

#include "crosslingual/lexicon.h"
#include "input/parallel/table_reader.h"

struct import_options {
    enum table_format format;
    const char *from_language, *to_language;
    struct term_options from_terms, to_terms;
    struct prune_options prune;
};

/* Counts and messages for the report. */
struct import_findings {
    uint64_t rows, bad_rows, skipped_words; /* skipped: no term, or several */
    unsigned message_count;
    char messages[8][256];
};

/* Each file is a table; all of them are merged into one lexicon. GIZA's vocabularies follow their
 * table. */
cog_status lexicon_import(struct lexicon *lexicon, const char *const *paths, size_t count,
                          const struct import_options *options, struct import_findings *findings,
                          cog_error *error);

/* The language of a list of words, guessed from a sample; empty if the guess is not reliable. */
void word_language(const struct word_table *words, char code[LANGUAGE_CODE_BYTES]);
/* Whether two columns of words are swapped: a column has the language that the other should have,
 * and neither has its own. Languages are codes in any spelling. */
bool word_columns_exchanged(const char *first, const char *second, const char *first_wanted,
                            const char *second_wanted);
