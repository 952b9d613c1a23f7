/* A segment: an immutable part of an index in one container file, with ids, signatures, the tables
 * of search methods, and the vectors for verification. docs/format.md defines it.
 *
 * Writing borrows the parts. Opening maps the file and checks sizes in constant time; the data is
 * then used in place, by any number of threads, until segment_close. A damaged file may give wrong
 * answers but never an access out of bounds. The table of methods alone decides which methods can
 * keep tables in a segment. */
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

/* The contents of a new segment; all borrowed during the call. NULL parts, and signatures with 0
 * bits, are left out. */
struct segment_parts {
    size_t rows; /* below 2^32 */
    const struct settings *settings;
    const uint64_t *id_offsets; /* rows + 1, the first is 0, ascending */
    const char *id_bytes;
    const struct id_buckets *id_buckets;
    bool index_ids;   /* instead of id_buckets: make the table while writing */
    bool is_numbered; /* instead of ids: they are numbers from first_number on */
    uint64_t first_number;
    struct signatures_view signatures;
    const struct method_tables *tables;
    unsigned table_count;                /* at most SEGMENT_TABLES_MAX */
    const struct segment_terms *terms;   /* of documents */
    const uint64_t *lengths;             /* of documents: number of terms with repetition, by row */
    const struct sparse_matrix *vectors; /* values are frequencies, columns those of the terms */
    const struct segment_sets *sets;     /* of documents compared as sets */
    struct recall_measures recall;
};

/* Writes the segment atomically: complete, or not at all. */
cog_status segment_write(const char *path, const struct segment_parts *parts, cog_error *error);

/* Zero-initialise; segment_close releases. Views are valid until then; threads may share it. */
struct segment {
    struct container container;
    struct settings settings;
    size_t rows;
    const uint64_t *id_offsets; /* NULL without ids */
    struct bytes_view id_bytes;
    struct id_buckets id_buckets;      /* mapped, not to be freed; starts is NULL without */
    struct signatures_view signatures; /* bits 0 without signatures */
    struct method_tables tables[SEGMENT_TABLES_MAX]; /* owned */
    unsigned table_count;
    struct segment_terms terms; /* mapped, not to be freed; hashes is NULL without */
    const uint64_t *lengths;    /* NULL without documents */
    /* Frequencies of terms; mapped, not to be freed; offsets is NULL without vectors. */
    struct sparse_matrix vectors;
    struct segment_sets sets;      /* mapped, not to be freed; rows is NULL without */
    struct recall_measures recall; /* mapped; none if nothing was measured */
};

/* Maps the file and checks the table of sections and the consistency of their lengths, in constant
 * time. */
cog_status segment_open(const char *path, struct segment *segment, cog_error *error);
/* The same for bytes in memory, aligned to 64, which the caller keeps; `name` is for messages. */
cog_status segment_open_memory(const char *name, const void *data, size_t size,
                               struct segment *segment, cog_error *error);
/* The tables of a method; NULL if the segment has none. */
const void *segment_tables(const struct segment *segment, const struct search_method *method);
/* Signatures, and vectors if any, in the form for methods; borrowed from the segment. */
struct method_rows segment_method_rows(const struct segment *segment);
/* False if the segment has no ids, or the row's offsets are damaged. */
bool segment_id(const struct segment *segment, size_t row, struct bytes_view *id);
/* One row of the vectors, with its offsets and columns checked; false if there are none or they are
 * damaged. O(count). */
bool segment_vector(const struct segment *segment, size_t row, const uint32_t **columns,
                    const float **values, size_t *count);
/* The number of entries of the vectors by the size of their section; offsets of a damaged file may
 * differ. */
uint64_t segment_entries(const struct segment *segment);
/* The memory that a merge needs: bytes of the file without ids, signatures, vectors and sets. */
uint64_t segment_table_bytes(const struct segment *segment);
/* Reads everything: verifies checksums, then offsets, rows and columns. Afterwards the views may be
 * used without further checks. */
cog_status segment_verify(const struct segment *segment, cog_error *error);
/* Sets and returns COG_ERR_FORMAT for a row that was found to be damaged. */
cog_status segment_damaged_row(const struct segment *segment, size_t row, cog_error *error);
void segment_close(struct segment *segment);
