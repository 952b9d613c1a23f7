/* The index of a job: the handle (segments and how their documents were made), the lock of its
 * folder, statistics, and drafts of new segments. Shared by opening, building and changing. */
#pragma once

#include <pthread.h>

#include "collection/corpus.h"
#include "collection/options.h"
#include "index/change_log.h"
#include "index/index_segments.h"

/* struct cog_index: segments, mapped from the files of a folder or in memory; how their documents
 * were made; and the log of a folder with later changes. Rows of the index are numbered through all
 * segments, including removed rows.
 *
 * Documents of the log are read when an index is opened. They become a segment (in memory, the last
 * one, marked as pending) and statistics are counted only when index_prepare is called, because
 * adding a document needs neither. */

struct index_weights;

/* Documents of the log that are not in a segment yet, in order. Of given signatures, the hashes of
 * a row are the words of its signature. */
struct index_pending {
    struct corpus corpus;
    uint8_t *is_removed; /* by row of the corpus */
    size_t removed_capacity;
    struct pending_id *ids; /* a hash table: the last row of each id */
    size_t id_slots;
};

struct cog_index {
    unsigned extra_owners;         /* number of additional owners; see cog_index_close */
    char *folder;                  /* NULL in memory */
    struct index_segments parts;   /* the manifest is kept in memory as well */
    struct index_weights *weights; /* of the rows, by the statistics; for documents with vectors */
    int manifest_file;             /* the state that was read; -1 in memory */
    struct change_log log;         /* read up to the end of that state */
    struct index_pending pending;
    pthread_mutex_t *guard; /* held while preparing */
    bool is_prepared;       /* published by an atomic store */
    bool has_documents;     /* otherwise only signatures, and the rest is unused */
    bool has_vectors;
    /* Documents were projected by lexicons: frequencies are expected values. */
    bool is_multilingual;
    /* With Jaccard and containment, documents are sets (index/segment_sets.h): their bags are those
     * of collection/sets/set_bag.h, and there are no signatures or statistics. Without vectors,
     * minhash signatures take the place of the sets. */
    cog_measure measure;
    cog_sign_options sign; /* its language is borrowed from the manifest's settings */
    struct term_options terms;
    struct weighting weighting;
    cog_statistics *statistics; /* of the rows that are not removed; NULL: not counted yet */
    /* For a live index, `exact` counts everything and changes; `statistics` is an earlier copy,
     * which snapshots share, renewed after a few changes per hundred documents. */
    bool is_live;
    cog_statistics *exact;
    uint64_t uncounted;  /* documents added or removed since that copy */
    uint64_t generation; /* of the manifest: incremented when another one is read */
    const struct search_method *streamed; /* searches build its tables chunk by chunk; or NULL */
    cog_knobs streamed_knobs;
    unsigned streamed_radius_bits;
    const float *build_weights; /* the margins of signatures while they are indexed */
    /* Do not measure the recall of new segments; for an index that serves one search. */
    bool is_unmeasured;
    /* Do not make tables for new small segments if other segments have some. */
    bool puts_tables_off;
};

static inline bool index_is_of_sets(const cog_index *index) {
    return index->measure != COG_MEASURE_COSINE && index->has_vectors;
}
/* Minhash signatures alone: distances estimate Jaccard, and there are neither terms nor statistics
 * nor margins. */
static inline bool index_is_of_minhash(const cog_index *index) {
    return index->measure != COG_MEASURE_COSINE && !index->has_vectors;
}
/* The similarity that a distance of signatures estimates. */
double index_estimate(const cog_index *index, uint32_t distance);
/* The greatest distance whose estimate reaches the threshold. */
uint32_t index_radius_of(const cog_index *index, double threshold);
/* An empty handle. */
cog_status index_create(cog_index **index, cog_error *error);

/* ---- Rows ------------------------------------------------------------------------------------ */

/* The segment with a row, and the number of its first row. */
size_t index_part_of(const cog_index *index, uint32_t row, uint64_t *first_row);
/* False if rows have only numbers as ids, or the id is damaged. */
bool index_row_id(const cog_index *index, uint32_t row, struct bytes_view *id);
/* The frequencies of a row, verified if they come from a file; false if damaged. */
bool index_row_vector(const cog_index *index, size_t part, uint32_t row, const uint32_t **columns,
                      const float **values, size_t *count);
unsigned index_bits(const cog_index *index);
/* The approximate memory of an index in memory. */
double index_memory_bytes(const cog_index *index);

/* The row of each of `count` ids among the rows that are not removed; UINT64_MAX for unknown ids.
 * O(count * segments); a segment without a table of ids is scanned once. */
cog_status index_find_ids(const cog_index *index, const struct bytes_view *ids, size_t count,
                          uint64_t *rows, cog_error *error);

/* ---- Segments in memory ---------------------------------------------------------------------- */

/* Zero-initialise; segment_draft_free releases what was not given away. */
struct segment_draft {
    struct segment segment; /* views of `memory` or `scratch`; owns its tables */
    struct segment_memory memory;
    void *scratch; /* for a merge: ids, signatures, lengths, vectors and weights, in a file */
    size_t scratch_bytes;
    /* For a merge: room for the weights of all entries while the recall is measured. */
    float *weights;
    float *own_weights, *own_margins; /* the same, and margins, if in memory */
};
void segment_draft_free(struct segment_draft *draft);

/* Makes signatures, frequencies, ids and tables of a corpus whose documents all have terms; signed
 * with the index's statistics, which count them already. Rows of the log of an index of given
 * signatures are their words. `earlier`: as for method_build, or NULL. */
cog_status segment_draft_documents(const cog_index *index, const struct corpus *corpus,
                                   const struct segment *earlier, unsigned threads,
                                   struct segment_draft *draft, cog_error *error);
/* Borrows the signatures. Ids are numbers from first_id on; with first_id 0, none are stored unless
 * want_ids. */
cog_status segment_draft_signatures(const cog_index *index, const struct signatures_view *rows,
                                    uint64_t first_id, bool want_ids, unsigned threads,
                                    struct segment_draft *draft, cog_error *error);
/* Merges all rows of `count` segments from `first` on that are not removed. Documents with vectors
 * become the same as in a build, signed with the index's statistics. Data that grows with the
 * documents goes to a scratch file in the folder of `near_path`, or stays in memory if that is
 * NULL.
 */
cog_status segment_draft_merged(const cog_index *index, size_t first, size_t count,
                                unsigned threads, const char *near_path,
                                struct segment_draft *draft, cog_error *error);

/* Like segment_draft_documents for documents that are sets (index_sets.c). */
cog_status segment_draft_sets(const cog_index *index, const struct corpus *corpus, unsigned threads,
                              struct segment_draft *draft, cog_error *error);
/* Reads a document of an index of sets; `loaded` holds its members. */
cog_status index_read_set(const cog_index *index, size_t part, uint32_t row,
                          struct loaded_sets *loaded, struct bytes_view *id,
                          struct document_set *set, cog_error *error);
/* Calls `take` for documents of an index of sets that are not removed, in row order: for `count` of
 * them from position `first` on. */
typedef cog_status set_taker(void *context, struct bytes_view id, const struct document_set *set,
                             cog_error *error);
cog_status index_visit_sets(const cog_index *index, uint64_t first, uint64_t count, set_taker *take,
                            void *context, cog_error *error);

/* Appends the same documents to the file of sets. */
cog_status index_append_sets(const cog_index *index, uint64_t first, uint64_t count,
                             struct document_sets *sets, cog_error *error);
/* The approximate size that they take there. */
uint64_t index_set_bytes(const cog_index *index);

/* Reports the memory for indexing documents; COG_ERR_MEMORY if the budget is smaller. */
cog_status index_check_memory(const cog_documents *documents, bool as_sets,
                              const cog_run_options *run, cog_report *report, cog_error *error);
/* Appends a draft as a segment in memory. */
cog_status index_take_draft(cog_index *index, struct segment_draft *draft, bool is_pending,
                            cog_error *error);
/* is_empty[row] is 1 if no term of the row has a weight by the index's statistics. */
cog_status index_mark_empty(const cog_index *index, const struct corpus *corpus, uint8_t *is_empty,
                            cog_error *error);
/* Removes rows without terms from the corpus, as they could not be found. */
void corpus_drop_empty_rows(struct corpus *corpus);
/* The input of segment_write, borrowed from the segment. */
struct segment_parts index_parts_of(const struct segment *segment);

/* One process at a time may change a folder; closing the descriptor releases the lock. */
cog_status index_lock(const char *folder, int *lock, cog_error *error);
void index_unlock(int lock);
/* Updates the handle to the folder's current state; after an error it is unchanged. If only the log
 * has grown, only the new frames are read. */
cog_status index_reload(cog_index *index, cog_error *error);
/* The same after this handle committed a merge, with the lock: pending documents and statistics are
 * kept. After an error it is unchanged. */
cog_status index_follow_merge(cog_index *index, cog_error *error);
/* Makes what searches need: a segment of pending documents, and statistics. Thread-safe. */
cog_status index_prepare(const cog_index *index, cog_error *error);

/* Derives everything that follows from the settings, once they are known. */
cog_status index_interpret_settings(cog_index *index, cog_error *error);
/* Closes segments; the handle and its statistics remain. */
void index_forget_parts(cog_index *index);

/* ---- Statistics ------------------------------------------------------------------------------ */

/* Reads the documents of a segment as bags, in any order. Zero-initialise; part_bags_close
 * releases. */
struct part_bags {
    const cog_index *index;
    size_t part;
    uint64_t *hashes_by_column, *hashes;
    uint32_t *frequencies;
    size_t hash_capacity, frequency_capacity;
};
cog_status part_bags_open(struct part_bags *bags, const cog_index *index, size_t part,
                          cog_error *error);
/* Valid until the next call. */
cog_status part_bags_read(struct part_bags *bags, uint32_t row, struct bag_view *bag,
                          cog_error *error);
void part_bags_close(struct part_bags *bags);

/* Creates statistics of no documents, with the settings of the index. */
cog_status index_start_statistics(cog_index *index, cog_error *error);
/* Adds the statistics of a segment without its removed rows. */
cog_status index_count_part(struct statistics *counts, const cog_index *index, size_t part,
                            cog_error *error);
/* Counts the statistics of all segments without the removed rows. */
cog_status index_count_statistics(cog_index *index, cog_error *error);
/* Updates the statistics of an earlier state of the index to the current state, at the cost of the
 * change. Pending documents that are not in a segment are not counted. After an error the
 * statistics match neither state. */
cog_status index_follow_statistics(const cog_index *now, const cog_index *before, cog_error *error);
/* Subtracts rows of the index that will be removed, or adds them again. */
cog_status index_count_rows(cog_index *index, const uint64_t *rows, size_t count, bool in,
                            cog_error *error);
/* Counts documents that will be added, or subtracts them again if that failed. */
cog_status index_count_corpus(cog_index *index, const struct corpus *corpus, bool in,
                              cog_error *error);
