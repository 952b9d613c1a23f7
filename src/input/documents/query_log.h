/* A query log in memory: rows grouped by query, in the order in which queries first appear. A
 * document is a query; its terms are the clicked URLs, their weights the clicks. */
#pragma once

#include "base/error.h"
#include "input/reader.h"

enum query_columns {
    QUERY_COLUMNS_UNKNOWN,
    QUERY_COLUMNS_CLICKS, /* query, url, clicks */
    QUERY_COLUMNS_AOL, /* AnonID, Query, QueryTime, ItemRank, ClickURL; the last two may be missing
                        */
};

struct query_row {
    struct bytes_view query, url; /* url is empty where nothing was clicked */
    double clicks;
};

/* By a file's first line that is not empty. */
enum query_columns query_columns_of(struct bytes_view line);
/* The names of the columns, which stand in the middle too where files were put together. */
bool query_is_header(struct bytes_view line);
/* NULL, or what is wrong with the row (a constant). */
const char *query_row_parse(struct bytes_view line, enum query_columns columns,
                            struct query_row *row);

struct query_log;
/* NULL when memory ran out. */
struct query_log *query_log_create(void);
void query_log_free(struct query_log *log);
/* Takes a row, or keeps the bytes of a bad one. */
cog_status query_log_add(struct query_log *log, struct bytes_view line, enum query_columns columns,
                         uint32_t file, uint64_t line_number, cog_error *error);
/* Groups; no rows may follow. */
cog_status query_log_finish(struct query_log *log, cog_error *error);

/* After query_log_finish: looks up queries from now on, for query_log_record_of. */
cog_status query_log_index(struct query_log *log, cog_error *error);
/* Number of the record that a row belongs to; UINT64_MAX for a bad row and for a query that is not
 * in the log. Threads may call at once. */
uint64_t query_log_record_of(const struct query_log *log, struct bytes_view line,
                             enum query_columns columns);

/* Number of records: bad rows first, then queries. */
size_t query_log_count(const struct query_log *log);
/* Appends record number `index` to bytes, aligned for query_record_view; fills all of *record. */
bool query_log_append(const struct query_log *log, size_t index, struct buffer *bytes,
                      struct record *record);

/* What query_log_append wrote: a query with its terms, or (bad_row) the bytes of a row. */
struct query_record {
    bool bad_row;
    struct bytes_view text;
    const struct given_term *terms; /* sorted by hash */
    size_t term_count;
};
struct query_record query_record_view(const char *data, size_t size);
