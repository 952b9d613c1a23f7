/* The rows of one word-translation table as its tool wrote it: two words and a number. */
#ifndef COGNATE_CROSSLINGUAL_TABLE_READER_H
#define COGNATE_CROSSLINGUAL_TABLE_READER_H

#include "crosslingual/lexicon_import.h"
#include "crosslingual/line_source.h"

struct table_row {
    struct bytes_view words[2]; /* as the columns stand; valid until the next row */
    double probability;         /* 1 where the table has none */
};

struct table_reader {
    enum table_format format;
    const char *path;
    struct line_source lines;
    bool has_probabilities;
    char header[2][8];          /* bitextor: the languages of the columns */
    struct buffer head;         /* Berkeley: the word that the rows belong to */
    struct word_table names[2]; /* GIZA: the words behind the numbers */
    uint64_t rows, bad_rows;
};

/* vocabularies, where not NULL, are GIZA's two .vcb files. */
cog_status table_reader_open(struct table_reader *reader, const char *path,
                             enum table_format format, const char *const *vocabularies,
                             cog_error *error);
/* *end behind the last row. Rows that are none, and those of the empty word, are passed over. */
cog_status table_reader_next(struct table_reader *reader, struct table_row *row, bool *end,
                             cog_error *error);
void table_reader_close(struct table_reader *reader);

#endif
