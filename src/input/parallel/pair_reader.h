/* Reads sentence pairs from parallel text, one file after the other: two-column TSV, two plain
 * files line by line, TMX, gettext catalogues; compressed or not. Memory does not grow with the
 * input. */
#pragma once

#include "input/parallel/line_source.h"

enum pair_format {
    PAIRS_AUTO, /* by extension: .tmx, .po; .txt and the languages' codes (a.de a.en) are plain;
                   else TSV */
    PAIRS_TSV,  /* from TAB to; further columns are ignored */
    PAIRS_TEXT, /* paths are taken two by two: from, to; a.to a.from are exchanged */
    PAIRS_TMX,
    PAIRS_PO, /* msgstr is in the catalogue's language, msgid in the other one */
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
/* The next pairs, about 1 MiB of text. Sets *end and leaves the batch empty when the inputs are
 * exhausted. */
cog_status pair_reader_fill(struct pair_reader *reader, struct pair_batch *batch, bool *end,
                            cog_error *error);
/* Size of all files on disk, 0 if one of them is a pipe; and the bytes read so far. Thread-safe. */
uint64_t pair_reader_total_bytes(const struct pair_reader *reader);
uint64_t pair_reader_read_bytes(const struct pair_reader *reader);
/* The number of rows that are not a pair (no tab, one side empty, invalid UTF-8), and the file and
 * line of the first ("" if there is none). */
uint64_t pair_reader_bad_rows(const struct pair_reader *reader);
const char *pair_reader_first_bad_row(const struct pair_reader *reader);

/* ---- For the formats ------------------------------------------------------------------------- */

/* A position in the inputs. A format continues where it stopped and reports when its file is done.
 */
struct pair_reader {
    struct pair_reader_options options;
    char **paths;
    size_t path_count, next_path;
    enum pair_format format; /* of the open file */
    bool is_open;
    struct line_source from, to; /* `to` only for plain text */
    struct byte_source bytes;    /* TMX */
    struct tmx_parser *tmx;
    struct po_parser *po;
    uint64_t total_bytes, closed_bytes; /* of all files; of the files read to the end */
    uint64_t read_bytes;                /* atomic */
    uint64_t bad_rows;
    char first_bad_row[256];
};

enum { PAIR_BATCH_BYTES = 1 << 20 };

/* Adds a pair, or counts it as bad if a side is empty or not UTF-8. */
cog_status pair_reader_add(struct pair_reader *reader, struct pair_batch *batch,
                           struct bytes_view from, struct bytes_view to, uint64_t line,
                           cog_error *error);
const char *pair_reader_path(const struct pair_reader *reader);

cog_status tmx_parser_open(struct pair_reader *reader, cog_error *error);
/* These functions read until the batch is full or the file is done (*done). */
cog_status tmx_parser_fill(struct pair_reader *reader, struct pair_batch *batch, bool *done,
                           cog_error *error);
void tmx_parser_close(struct tmx_parser *parser);

cog_status po_parser_open(struct pair_reader *reader, cog_error *error);
cog_status po_parser_fill(struct pair_reader *reader, struct pair_batch *batch, bool *done,
                          cog_error *error);
void po_parser_close(struct po_parser *parser);
