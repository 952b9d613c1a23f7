/* Reads the rows of one word-translation table in the format of the tool that wrote it: two words
 * and a number. */
#pragma once

#include "base/word_table.h"
#include "input/parallel/line_source.h"

enum table_format {
    /* By the first lines: a header of two language codes is bitextor, an indented "word: p" is
     * Berkeley, a number of 0 or less is fast_align, else tsv. */
    TABLE_AUTO,
    TABLE_TSV,        /* from, to, and perhaps p(to | from); tabs or spaces */
    TABLE_MOSES,      /* x y p(x | y): lex.f2e has the target word first */
    TABLE_GIZA,       /* t3.final with its two vocabularies (numbers), or actual.ti.final (words) */
    TABLE_FAST_ALIGN, /* from to log p(to | from), as fast_align -p writes it */
    TABLE_BERKELEY,   /* a word with its entropy, then its translations: "  word: p" */
    TABLE_BICLEANER,  /* as Moses */
    TABLE_BITEXTOR,   /* a header with the two languages, then pairs */
};

struct table_row {
    struct bytes_view words[2]; /* in column order; valid until the next row */
    double probability;         /* 1 if the table has none */
};

struct table_reader {
    enum table_format format;
    const char *path;
    struct line_source lines;
    bool has_probabilities;
    char header[2][8];          /* bitextor: the languages of the columns */
    struct buffer head;         /* Berkeley: the word that the rows belong to */
    struct word_table names[2]; /* GIZA: the words of the numbers */
    uint64_t rows, bad_rows;
};

/* vocabularies, if not NULL, are GIZA's two .vcb files. */
cog_status table_reader_open(struct table_reader *reader, const char *path,
                             enum table_format format, const char *const *vocabularies,
                             cog_error *error);
/* Sets *end after the last row. Malformed rows and rows of the empty word are skipped. */
cog_status table_reader_next(struct table_reader *reader, struct table_row *row, bool *end,
                             cog_error *error);
void table_reader_close(struct table_reader *reader);
