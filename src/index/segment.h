/* A segment: an immutable part of an index in one container file, with ids, signatures, the tables
 * of search methods, and the vectors for verification. docs/format.md is the norm.
 *
 * Writing takes borrowed parts. Opening maps the file and checks sizes in constant time; everything
 * is then used as it lies in the map, by any number of threads, until segment_close. A damaged file
 * may give wrong answers, never an access out of bounds. Which methods can keep tables in a segment
 * is decided by the table of methods alone. */
#pragma once

#include "hamming/hamming.h"
#include "index/segment_ids.h"
#include "index/segment_sets.h"
#include "index/segment_terms.h"
#include "plan/method_table.h"
#include "plan/recall_measures.h"
#include "store/settings.h"
#include "vector/sparse.h"

/* Tables of one method. */
struct method_tables {
    const struct search_method *method;
    void *data;
};
enum { SEGMENT_TABLES_MAX = 4 };

/* What goes into a segment; all borrowed for the call. Parts that are NULL (or, for signatures, of
 * no bits) are left out. */
struct segment_parts {
    size_t rows; /* below 2^32 */
    const struct settings *settings;
    const uint64_t *id_offsets; /* rows + 1, the first 0, rising */
    const char *id_bytes;
    const struct id_buckets *id_buckets;
    bool index_ids;   /* in place of those: the table is made while it is written */
    bool is_numbered; /* in place of those: ids are numbers from first_number on */
    uint64_t first_number;
    struct signatures_view signatures;
    const struct method_tables *tables;
    unsigned table_count;                /* SEGMENT_TABLES_MAX at most */
    const struct segment_terms *terms;   /* of documents */
    const uint64_t *lengths;             /* of documents: terms with repetition, for each row */
    const struct sparse_matrix *vectors; /* values are frequencies, columns those of the terms */
    const struct segment_sets *sets;     /* of documents that are compared as sets */
    struct recall_measures recall;
};

/* Writes and makes visible, or leaves nothing. */
cog_status segment_write(const char *path, const struct segment_parts *parts, cog_error *error);

/* Zero-initialise; segment_close releases. Views are valid until then; threads may share it. */
struct segment {
    struct container container;
    struct settings settings;
    size_t rows;
    const uint64_t *id_offsets; /* NULL without ids */
    struct bytes_view id_bytes;
    struct id_buckets id_buckets;      /* in the map, never to be freed; starts NULL without */
    struct signatures_view signatures; /* bits 0 without signatures */
    struct method_tables tables[SEGMENT_TABLES_MAX]; /* owned */
    unsigned table_count;
    struct segment_terms terms; /* in the map, never to be freed; hashes NULL without */
    const uint64_t *lengths;    /* NULL without documents */
    /* Frequencies of terms; offsets NULL without vectors; in the map, never to be freed. */
    struct sparse_matrix vectors;
    struct segment_sets sets;      /* in the map, never to be freed; rows NULL without */
    struct recall_measures recall; /* in the map; none: nothing was measured */
};

/* Maps; checks the table of sections and that their lengths fit each other: constant time. */
cog_status segment_open(const char *path, struct segment *segment, cog_error *error);
/* The same on bytes that the caller keeps alive, aligned to 64; name stands in messages. */
cog_status segment_open_memory(const char *name, const void *data, size_t size,
                               struct segment *segment, cog_error *error);
/* The tables of a method; NULL if the segment has none. */
const void *segment_tables(const struct segment *segment, const struct search_method *method);
/* Signatures, and vectors if there are any, as methods want them; borrowed from the segment. */
struct method_rows segment_method_rows(const struct segment *segment);
/* False when the segment has no ids, or the offsets are damaged there. */
bool segment_id(const struct segment *segment, size_t row, struct bytes_view *id);
/* One row of the vectors with its offsets and columns checked; false when there are none, or they
 * are damaged there. O(count). */
bool segment_vector(const struct segment *segment, size_t row, const uint32_t **columns,
                    const float **values, size_t *count);
/* The number of entries of the vectors that the segment has room for; offsets of a damaged file may
 * say otherwise. */
uint64_t segment_entries(const struct segment *segment);
/* What a merge must have in memory: bytes of the file less ids, signatures, vectors and sets. */
uint64_t segment_table_bytes(const struct segment *segment);
/* Reads everything: checksums, then whether offsets, rows and columns are possible. After it, the
 * views may be used without further checks. */
cog_status segment_verify(const struct segment *segment, cog_error *error);
void segment_close(struct segment *segment);
