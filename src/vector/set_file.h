/* A file of member sets, one record per document in row order, and the table of its rows in memory.
 *
 * A record is the set of a document's terms, the set of its words if it is a short text
 * (text/analyzer.h), the size of its id (4 bytes) and the id. Thread-safe for reading. Reading in
 * row order costs one system call per MiB, reading single rows one call each. */
#pragma once

#include "base/memory.h"
#include "vector/member_set.h"

struct set_row {
    uint64_t offset;
    uint32_t terms; /* members of the set of terms */
    uint32_t words; /* members of the set of words; 0 except for short texts */
};

/* The descriptor is borrowed; rows are the caller's. */
struct set_file {
    int descriptor;
    const struct set_row *rows;
    size_t row_count;
    uint64_t size_bytes;
};

size_t set_record_bytes(const struct set_row *row, size_t id_size);
/* Appends a record to a batch that will be written at the end of the file. False if memory ran out.
 */
bool set_record_append(struct buffer *batch, const uint64_t *terms, size_t term_count,
                       const uint64_t *words, size_t word_count, struct bytes_view id);

/* The decoded sets of one document, in buffers that are reused. Zero-initialise; loaded_sets_free
 * releases. */
struct loaded_sets {
    uint64_t *terms, *words;
    size_t term_count, word_count;
    size_t term_capacity, word_capacity;
    struct buffer bytes;
};
void loaded_sets_free(struct loaded_sets *sets);
cog_status set_file_load(const struct set_file *file, size_t row, struct loaded_sets *sets,
                         cog_error *error);
/* Appends the id of a row. */
cog_status set_file_id(const struct set_file *file, size_t row, struct buffer *id,
                       cog_error *error);

/* Iterates over rows [next, end) in order. Set these two and, optionally, marks and share; zero the
 * rest; set_cursor_free releases. */
struct set_cursor {
    size_t next, end;
    const uint8_t *marks; /* rows whose mark is 0 are skipped; NULL: none */
    unsigned share;       /* decode only members of this share (member_set_decode_first); 0: all */
    struct buffer bytes;  /* of the rows from first_row on */
    size_t first_row, rows_read;
    struct loaded_sets sets;
};
/* Loads the sets of row `next`, or of the next marked row, and advances: the loaded row is then
 * `next` - 1. *sets is NULL after the last row. */
cog_status set_cursor_next(struct set_cursor *cursor, const struct set_file *file,
                           const struct loaded_sets **sets, cog_error *error);
void set_cursor_free(struct set_cursor *cursor);
