/* The decisions of a deduplication: which documents are kept, and in favour of which document each
 * of the others is removed. dedup_sets.h or dedup_pairs.h fills it; the outputs of the job and the
 * public cog_clusters read it. Rows are positions among the good documents of the input. */
#pragma once

#include "collection/corpus.h"
#include "collection/sets/document_sets.h"

enum duplicate_reason {
    REASON_KEPT,
    REASON_IDENTICAL, /* the same terms, or without terms the same bytes */
    REASON_NEAR,      /* at or above the threshold */
    REASON_CHAIN,     /* below it, but connected by chains of documents at or above it */
    REASON_VERDICT,   /* below it, but a person has chosen the document that stays */
};
const char *duplicate_reason_name(enum duplicate_reason reason);

#define NEAREST_UNKNOWN (-1.0f)

/* Zero-initialise; duplicates_free releases. */
struct duplicates {
    size_t count;
    /* The row that is kept for a row: itself if it is kept. With a reference collection: the row of
     * the reference collection in favour of which it is removed. */
    uint32_t *twin;
    float *similarity; /* to the twin */
    uint8_t *reason;
    /* The most similar other document that stays, or of the reference collection (UINT32_MAX:
     * none), and its similarity, from `floor` on, which the caller sets; NEAREST_UNKNOWN if it was
     * not looked for. NULL if the floor is 0, or by a way of finding that does not know it. */
    uint32_t *nearest;
    float *nearest_similarity;
    double floor;
    /* The n-gram that the most comparisons came from, if it is in very many documents (0: none is),
     * and its text, once it was read. */
    struct frequent_ngram {
        uint64_t member, documents, record; /* of a document of the input that has it */
        struct buffer passage;              /* zero-terminated */
    } frequent;
    bool by_reference; /* twins are rows of a reference collection */
    bool estimates;    /* similarities are estimates of signatures */
    /* Where ids and records are: the sets of the reference collection and behind them those of the
     * input, or corpora. */
    struct document_sets sets;
    size_t first_row; /* of the input in `sets` */
    struct corpus corpus, reference;
};

/* Takes the arrays for `count` documents; all of them stay so far. */
cog_status duplicates_init(struct duplicates *duplicates, size_t count, cog_error *error);
void duplicates_free(struct duplicates *duplicates);

static inline bool duplicates_keeps(const struct duplicates *duplicates, size_t row) {
    return duplicates->reason[row] == REASON_KEPT;
}

/* Number of the record of a row in the input. */
uint64_t duplicates_record(const struct duplicates *duplicates, size_t row);
/* The same of a twin, which may be of the reference collection. */
uint64_t duplicates_twin_record(const struct duplicates *duplicates, size_t twin);
/* Appends the id of a row of the input, or of the reference collection. */
cog_status duplicates_id(const struct duplicates *duplicates, size_t row, bool of_reference,
                         struct buffer *id, cog_error *error);

/* Clusters of two or more rows, numbered in the order of their first rows; members by cluster, then
 * row. *members is the caller's to free. There are none with a reference collection. */
cog_status duplicates_clusters(const struct duplicates *duplicates, cog_cluster_member **members,
                               size_t *member_count, size_t *cluster_count, cog_error *error);

/* cluster, id, representative, similarity, kept. With a reference collection, which `members` has
 * no clusters of: what goes, a cluster for each document of the reference collection, which is the
 * representative and no member. */
cog_status duplicates_write_clusters(const struct duplicates *duplicates,
                                     const cog_cluster_member *members, size_t count,
                                     cog_output_format format, const char *path, cog_error *error);
/* id, twin, similarity, reason of the rows that go. */
cog_status duplicates_write_removed(const struct duplicates *duplicates, cog_output_format format,
                                    const char *path, cog_error *error);
