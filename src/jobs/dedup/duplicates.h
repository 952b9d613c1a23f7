/* The decisions of a deduplication: which documents are kept, and in favour of which document each
 * other one is removed. dedup_sets.h or dedup_pairs.h fills it; the outputs of the job and the
 * public cog_clusters read it. Rows are positions among the good documents of the input. */
#pragma once

#include "collection/corpus.h"
#include "collection/sets/document_sets.h"

enum duplicate_reason {
    REASON_KEPT,
    REASON_IDENTICAL, /* the same terms; without terms, the same bytes */
    REASON_NEAR,      /* at or above the threshold */
    REASON_CHAIN,     /* below the threshold, but connected by a chain of near documents */
    REASON_VERDICT,   /* below the threshold, but a person chose the document that stays */
};
const char *duplicate_reason_name(enum duplicate_reason reason);

#define NEAREST_UNKNOWN (-1.0f)

/* Zero-initialise; duplicates_free releases. */
struct duplicates {
    size_t count;
    /* By row: the row kept for it; itself if it is kept. With a reference collection: the row of
     * that in favour of which it is removed. */
    uint32_t *twin;
    float *similarity; /* to the twin */
    uint8_t *reason;
    /* The most similar other kept document, or document of the reference collection (UINT32_MAX:
     * none), and its similarity if at least `floor`, which the caller sets; NEAREST_UNKNOWN if not
     * searched. NULL if the floor is 0, or if the algorithm does not determine it. */
    uint32_t *nearest;
    float *nearest_similarity;
    double floor;
    /* The n-gram that caused the most comparisons, if it is in very many documents (0: none), and
     * its text once read. */
    struct frequent_ngram {
        uint64_t member, documents, record; /* number of a record of the input that has it */
        struct buffer passage;              /* zero-terminated */
    } frequent;
    bool by_reference; /* twins are rows of a reference collection */
    bool estimates;    /* similarities are estimates of signatures */
    /* The source of ids and records: the sets of the reference collection followed by those of the
     * input, or corpora. */
    struct document_sets sets;
    size_t first_row; /* of the input in `sets` */
    struct corpus corpus, reference;
};

/* Allocates the arrays for `count` documents; initially all of them stay. */
cog_status duplicates_init(struct duplicates *duplicates, size_t count, cog_error *error);
void duplicates_free(struct duplicates *duplicates);

static inline bool duplicates_keeps(const struct duplicates *duplicates, size_t row) {
    return duplicates->reason[row] == REASON_KEPT;
}

/* Reports what was read, and adds a notice if documents have no terms. For decisions by sets.
 * `reference`: the size of the reference collection; `tokenised`: documents that this job read. */
void duplicates_report_sets(const struct duplicates *duplicates, size_t reference, size_t tokenised,
                            cog_report *report);

/* The record number of a row in the input. */
uint64_t duplicates_record(const struct duplicates *duplicates, size_t row);
/* The same for a twin, which may be in the reference collection. */
uint64_t duplicates_twin_record(const struct duplicates *duplicates, size_t twin);
/* Appends the id of a row of the input, or of the reference collection. */
cog_status duplicates_id(const struct duplicates *duplicates, size_t row, bool of_reference,
                         struct buffer *id, cog_error *error);

/* Clusters of two or more rows, numbered in the order of their first rows; members sorted by
 * cluster, then row. free() *members. With a reference collection there are none. */
cog_status duplicates_clusters(const struct duplicates *duplicates, cog_cluster_member **members,
                               size_t *member_count, size_t *cluster_count, cog_error *error);

/* Writes cluster, id, representative, similarity, kept. With a reference collection, `members` is
 * empty; then writes the removed rows, with a cluster for each document of the reference
 * collection, which is the representative but not a member. */
cog_status duplicates_write_clusters(const struct duplicates *duplicates,
                                     const cog_cluster_member *members, size_t count,
                                     cog_output_format format, const char *path, cog_error *error);
/* Writes id, twin, similarity and reason of the removed rows. */
cog_status duplicates_write_removed(const struct duplicates *duplicates, cog_output_format format,
                                    const char *path, cog_error *error);
