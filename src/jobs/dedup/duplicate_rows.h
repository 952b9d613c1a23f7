/* The result of dedup, one entry per document: its cluster, the document kept for it, their
 * similarity, and the nearest other kept document. The engine fills it; verdicts (verdicts.h)
 * change it; the report (report_page.h) shows it. 48 bytes per document. */
#pragma once

#include "base/error.h"
#include "base/memory.h"

/* Stands for no row or cluster. */
#define NO_ROW UINT32_MAX

struct duplicate_row {
    uint64_t record; /* number of the record in the input; rows are in record order */
    uint64_t text_bytes;
    uint32_t members;       /* size of its set of n-grams */
    uint32_t cluster;       /* NO_ROW: none. A cluster has two or more rows. */
    uint32_t kept_row;      /* the row kept in its cluster; itself if it is kept */
    uint32_t nearest_row;   /* the most similar other kept row, or NO_ROW; with a reference
                               collection, a row of that */
    uint32_t reference_row; /* the row of the reference collection in favour of which it is removed,
                               or NO_ROW; if set, the row is in no cluster, kept_row is itself, and
                               similarity is to the reference */
    float similarity;       /* to kept_row, or reference_row; 1 for itself */
    float nearest_similarity; /* to nearest_row, or 0 below duplicate_rows.floor */
    bool identical;           /* has the same set of n-grams as kept_row or reference_row */
    bool is_unknown;          /* the nearest row was not searched */
};

/* A text shared by many documents. */
struct shared_passage {
    struct bytes_view text; /* valid UTF-8 */
    uint64_t documents;     /* number of documents that have it */
};

/* Appends the id of a row, as valid UTF-8, to `id`. */
typedef cog_status append_row_id(const void *context, uint32_t row, struct buffer *id,
                                 cog_error *error);

/* All arrays including `rows` are borrowed; whoever fills the struct frees them. */
struct duplicate_rows {
    struct duplicate_row *rows;
    size_t count;
    size_t cluster_count; /* clusters are numbered from 0 in the order of their first rows */
    double threshold;
    double floor;        /* nearest similarities are known from this value on */
    const char *measure; /* "jaccard", "containment" or "cosine" */
    bool estimates;      /* similarities are estimates by signatures */
    append_row_id *append_id;
    append_row_id *append_reference_id; /* of the reference collection; NULL if none */
    const void *id_context;
    /* For the texts of the reference collection: its documents (borrowed; NULL: no texts), and a
     * function that returns a row's record number, called with id_context. */
    cog_documents *reference;
    uint64_t (*reference_record)(const void *context, uint32_t row);
    const struct shared_passage *boilerplate;
    size_t boilerplate_count;
};

/* Whether the row stays. */
static inline bool duplicate_row_is_kept(const struct duplicate_rows *rows, uint32_t row) {
    return rows->rows[row].kept_row == row && rows->rows[row].reference_row == NO_ROW;
}

/* Whether rows are compared with a reference collection, and not with each other. */
static inline bool duplicate_rows_have_reference(const struct duplicate_rows *rows) {
    return rows->append_reference_id != NULL;
}

/* Sets *view to the id of a row; valid until `id` is used again. */
cog_status duplicate_row_id(const struct duplicate_rows *rows, uint32_t row, struct buffer *id,
                            struct bytes_view *view, cog_error *error);

/* Completes rows after they were decided or moved between clusters. Forgets nearest rows that do
 * not stay themselves, and renumbers the clusters in the order of their first rows. Cluster numbers
 * may be any below `most`. A row that is alone in its cluster is removed from it. */
cog_status duplicate_rows_complete(struct duplicate_rows *rows, size_t most, cog_error *error);
