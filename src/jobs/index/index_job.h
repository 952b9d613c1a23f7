/* The index of a job: the handle (segments and how their documents were made), the lock of its
 * folder, statistics, and drafts of new segments. Opening, building and changing share these. */
#pragma once

#include "collection/corpus.h"
#include "collection/options.h"
#include "index/manifest.h"

/* struct cog_index: segments, mapped from the files of a folder or in memory, and how their
 * documents were made. Rows of the index are numbered through all segments, removed rows
 * included. */

/* What a segment in memory owns; all free in a mapped one. */
struct segment_memory {
    uint64_t *id_offsets;
    char *id_bytes;
    struct id_buckets id_buckets;
    uint8_t *signatures;
    struct sparse_matrix vectors;
};

struct cog_index {
    char *folder;                  /* NULL in memory */
    struct index_segments parts;   /* the manifest is kept in memory too */
    struct segment_memory *memory; /* one for each segment in memory */
    uint8_t *has_whole_vectors;    /* of a folder's segments, once all were looked at; atomic */
    bool has_documents;            /* else signatures alone, and the rest is unused */
    bool has_vectors;
    cog_sign_options sign; /* its language is borrowed from the manifest's settings */
    struct term_options terms;
    struct weighting weighting;
    cog_statistics *statistics;
    struct term_numbers *columns;
    const struct search_method *streamed; /* searches build its tables chunk by chunk; or NULL */
    cog_knobs streamed_knobs;
    unsigned streamed_radius_bits;
    const float *build_weights; /* behind the bits of signatures, while they are indexed */
};

/* ---- Rows ------------------------------------------------------------------------------------ */

/* The segment that holds a row, and where its rows begin. */
size_t index_part_of(const cog_index *index, uint32_t row, uint64_t *first_row);
/* False where rows have no ids but their numbers, or the id is damaged. */
bool index_row_id(const cog_index *index, uint32_t row, struct bytes_view *id);
/* A row of a segment's vectors, checked where it comes from a file; false when it is damaged. */
bool index_row_vector(const cog_index *index, size_t part, uint32_t row, const uint32_t **columns,
                      const float **values, size_t *count);
unsigned index_bits(const cog_index *index);
/* What an index in memory takes, about. */
double index_memory_bytes(const cog_index *index);

/* Where each of `count` ids stands among the rows that are not removed; UINT64_MAX for those that
 * are not there. O(count * segments); a segment of a file without a table of ids is read once. */
cog_status index_find_ids(const cog_index *index, const struct bytes_view *ids, size_t count,
                          uint64_t *rows, cog_error *error);
int index_compare_ids(const void *a, const void *b);

/* ---- Segments in memory ---------------------------------------------------------------------- */

/* Zero-initialise; segment_draft_free releases what was not given away. */
struct segment_draft {
    struct segment segment; /* views of `memory`; its tables are its own */
    struct segment_memory memory;
};
void segment_draft_free(struct segment_draft *draft);
void segment_memory_free(struct segment_memory *memory);

/* Signatures, vectors, ids, lists of a corpus by the index's statistics and settings. */
cog_status segment_draft_documents(const cog_index *index, const struct corpus *corpus,
                                   unsigned threads, struct segment_draft *draft, cog_error *error);
/* Borrows the signatures. Ids are numbers from first_id on; none are written out for first_id 0
 * unless want_ids. */
cog_status segment_draft_signatures(const cog_index *index, const struct signatures_view *rows,
                                    uint64_t first_id, bool want_ids, unsigned threads,
                                    struct segment_draft *draft, cog_error *error);
/* All rows of the index that are not removed, in one. */
cog_status segment_draft_merged(const cog_index *index, unsigned threads,
                                struct segment_draft *draft, cog_error *error);

/* Reports what indexing documents will take; COG_ERR_MEMORY where the budget is less. */
cog_status index_check_memory(const cog_documents *documents, const cog_run_options *run,
                              cog_report *report, cog_error *error);
/* Moves a draft into an index in memory. */
cog_status index_take_draft(cog_index *index, struct segment_draft *draft, cog_error *error);
/* is_empty[row] is 1 where no term of the row weighs anything by the index's statistics; *unknown
 * counts those of them that have terms. */
cog_status index_mark_empty(const cog_index *index, const struct corpus *corpus, uint8_t *is_empty,
                            size_t *unknown, cog_error *error);
/* Takes rows out of the corpus that have no term of weight: they could not be found. */
cog_status index_drop_empty_rows(const cog_index *index, struct corpus *corpus, cog_report *report,
                                 cog_error *error);
/* What segment_write wants, borrowed from the segment. */
struct segment_parts index_parts_of(const struct segment *segment);

/* One process changes a folder at a time; the lock goes with its descriptor. */
cog_status index_lock(const char *folder, int *lock, cog_error *error);
void index_unlock(int lock);
/* Opens the folder's present state in place of the one that the handle has, which stays where that
 * fails. */
cog_status index_reload(cog_index *index, cog_error *error);

/* Everything that follows from the settings, once they are known. */
cog_status index_interpret_settings(cog_index *index, cog_error *error);
/* Closes segments; the handle and its statistics stay. */
void index_forget_parts(cog_index *index);

/* ---- Statistics ------------------------------------------------------------------------------ */

cog_status index_collect_statistics(cog_index *index, const struct corpus *corpus,
                                    const cog_term_options *terms, unsigned threads,
                                    cog_error *error);
/* The numbers of the vectors' columns, by the statistics. */
cog_status index_make_columns(cog_index *index, cog_error *error);
/* Notes in the settings which statistics they are, by a fingerprint. */
cog_status index_record_statistics(const cog_index *index, struct settings *settings,
                                   cog_error *error);
/* Whether the index was made of no documents: the first that are added bring its statistics. */
bool index_awaits_statistics(const cog_index *index);
/* Takes statistics and columns from the corpus, notes them in the settings, and writes them to the
 * folder if there is one. */
cog_status index_take_statistics(cog_index *index, const struct corpus *corpus, unsigned threads,
                                 cog_error *error);
