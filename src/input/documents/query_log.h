/* A query log in memory: rows grouped by query, in order of first appearance. A document is a
 * query; its terms are the clicked URLs, weighted by clicks. */
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
    struct bytes_view query, url; /* url is empty if nothing was clicked */
    double clicks;
};

/* Determined from the first non-empty line of a file. */
enum query_columns query_columns_of(struct bytes_view line);
/* Whether the line is a header row; concatenated files have one in the middle too. */
bool query_is_header(struct bytes_view line);

struct query_log;
/* NULL when memory ran out. */
struct query_log *query_log_create(void);
void query_log_free(struct query_log *log);
/* Adds a row, or keeps the bytes of a bad one. */
cog_status query_log_add(struct query_log *log, struct bytes_view line, enum query_columns columns,
                         uint32_t file, uint64_t line_number, cog_error *error);
/* The same for a row that is parsed already, or whose problem (a constant) is known: then only its
 * query is kept. Row numbers of a file rise. */
cog_status query_log_add_row(struct query_log *log, const struct query_row *row,
                             const char *problem, uint32_t file, uint64_t line_number,
                             cog_error *error);
/* Groups the rows; no rows may be added afterwards. */
cog_status query_log_finish(struct query_log *log, cog_error *error);

/* After query_log_finish: what it takes in memory. */
uint64_t query_log_bytes(const struct query_log *log);
/* After query_log_finish: builds the lookup table for query_log_record_of. */
cog_status query_log_index(struct query_log *log, cog_error *error);
/* The number of the record that a row belongs to; UINT64_MAX for a bad row and for a query that is
 * not in the log. Thread-safe. */
uint64_t query_log_record_of(const struct query_log *log, struct bytes_view line,
                             enum query_columns columns);

/* Number of records: bad rows first, then queries. */
size_t query_log_count(const struct query_log *log);
/* The record that has this row of a log of one file for its first, or SIZE_MAX if the row belongs
 * to an earlier record. Ask for every row in turn; `cursor` is zero at the start. */
struct query_log_cursor {
    size_t bad_rows, queries; /* before the row */
};
size_t query_log_record_at(const struct query_log *log, uint64_t line,
                           struct query_log_cursor *cursor);
/* Appends record number `index` to `bytes`, aligned for query_record_view, and fills *record. */
bool query_log_append(const struct query_log *log, size_t index, struct buffer *bytes,
                      struct record *record);

/* A record written by query_log_append: a query with its terms, or the bytes of a bad row. */
struct query_record {
    const char *problem; /* of a bad row (a constant); NULL for a query */
    struct bytes_view text;
    const struct given_term *terms; /* sorted by hash */
    size_t term_count;
};
struct query_record query_record_view(const char *data, size_t size);
