/* Lexicons from the tables of other tools. What a file says about its direction is checked against
 * what it holds: the languages of its columns, and along which of them the probabilities sum to 1.
 */
#ifndef COGNATE_CROSSLINGUAL_LEXICON_IMPORT_H
#define COGNATE_CROSSLINGUAL_LEXICON_IMPORT_H

#include "crosslingual/lexicon.h"

enum table_format {
    /* By what the first lines look like: a header of two language codes is bitextor, an indented
     * "word: p" is Berkeley, a number of 0 or less is fast_align, else tsv. */
    TABLE_AUTO,
    TABLE_TSV,        /* from, to, and perhaps p(to | from); tabs or spaces */
    TABLE_MOSES,      /* x y p(x | y): lex.f2e has the target word first */
    TABLE_GIZA,       /* t3.final with its two vocabularies (numbers), or actual.ti.final (words) */
    TABLE_FAST_ALIGN, /* from to log p(to | from), as fast_align -p writes it */
    TABLE_BERKELEY,   /* a word with its entropy, then its translations: "  word: p" */
    TABLE_BICLEANER,  /* as Moses */
    TABLE_BITEXTOR,   /* a header with the two languages, then pairs */
};

struct import_options {
    enum table_format format;
    const char *from_language, *to_language;
    struct term_options from_terms, to_terms;
    struct prune_options prune;
};

/* What was found; the messages are for people. */
struct import_findings {
    uint64_t rows, bad_rows, skipped_words; /* skipped: no term, or several */
    unsigned message_count;
    char messages[8][256];
};

/* A table a file, all of them together one lexicon; GIZA's vocabularies follow their table. */
cog_status lexicon_import(struct lexicon *lexicon, const char *const *paths, size_t count,
                          const struct import_options *options, struct import_findings *findings,
                          cog_error *error);

#endif
