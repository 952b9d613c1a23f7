/* Sentence pairs from parallel text, one file after the other: two-column TSV, two plain files line
 * by line, TMX, gettext catalogues; compressed or not. Memory does not grow with the input. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"

enum pair_format {
    PAIRS_AUTO, /* by extension: .tmx, .po; .txt and the languages' codes (a.de a.en) are plain;
                   else TSV */
    PAIRS_TSV,  /* from TAB to; further columns are ignored */
    PAIRS_TEXT, /* paths are taken two by two: from, to */
    PAIRS_TMX,
    PAIRS_PO, /* msgstr is of the catalogue's language, msgid of the other one */
};

struct pair_reader_options {
    enum pair_format format;
    const char *from_language, *to_language; /* ISO 639-1; borrowed for the reader's life */
};

/* Zero-initialise, reuse; pair_batch_free releases. */
struct pair_batch {
    struct buffer text;
    struct pair_span {
        size_t from_begin, from_size, to_begin, to_size; /* in text */
    } * items;
    size_t count, capacity;
};
void pair_batch_free(struct pair_batch *batch);

struct pair_reader;
cog_status pair_reader_open(const struct pair_reader_options *options, const char *const *paths,
                            size_t count, struct pair_reader **reader, cog_error *error);
void pair_reader_close(struct pair_reader *reader);
/* The next pairs, about a MiB of text; *end with an empty batch when the inputs are exhausted. */
cog_status pair_reader_fill(struct pair_reader *reader, struct pair_batch *batch, bool *end,
                            cog_error *error);
/* Rows that are no pair (no tab, one side empty, invalid UTF-8), and the first of them by file and
 * line ("" where there is none). */
uint64_t pair_reader_bad_rows(const struct pair_reader *reader);
const char *pair_reader_first_bad_row(const struct pair_reader *reader);
