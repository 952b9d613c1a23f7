/* What the formats of parallel text share: a place in the inputs, and the batch that is being
 * filled. A format reads on from where it stopped and says when its file is done. */
#pragma once

#include "input/parallel/line_source.h"
#include "input/parallel/pair_reader.h"

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
    uint64_t bad_rows;
    char first_bad_row[256];
};

enum { PAIR_BATCH_BYTES = 1 << 20 };

/* Adds a pair, or counts it as bad where a side is empty or not UTF-8. */
cog_status pair_reader_add(struct pair_reader *reader, struct pair_batch *batch,
                           struct bytes_view from, struct bytes_view to, uint64_t line,
                           cog_error *error);
void pair_reader_count_bad(struct pair_reader *reader, uint64_t line, const char *why);
const char *pair_reader_path(const struct pair_reader *reader);

cog_status tmx_parser_open(struct pair_reader *reader, cog_error *error);
/* Both read until the batch is full or the file is done (*done). */
cog_status tmx_parser_fill(struct pair_reader *reader, struct pair_batch *batch, bool *done,
                           cog_error *error);
void tmx_parser_close(struct tmx_parser *parser);

cog_status po_parser_open(struct pair_reader *reader, cog_error *error);
cog_status po_parser_fill(struct pair_reader *reader, struct pair_batch *batch, bool *done,
                          cog_error *error);
void po_parser_close(struct po_parser *parser);
