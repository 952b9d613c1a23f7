/* Indexes of documents or signatures, and their searches. cognate.h includes this header. */
#ifndef COGNATE_INDEX_H
#define COGNATE_INDEX_H

#ifndef COGNATE_H
#error "include cognate.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cog_index_options {
    cog_method method;    /* FLAT: signatures alone; SLICES, COLUMNS: with tables; AUTO: tables from
                             100,000    rows on, if searches for a recall of 0.95 would read them */
    cog_knobs knobs;      /* of the method (COG_KNOB_BUILD); with AUTO they choose it */
    unsigned radius_bits; /* PSM, BPHS: the radius of searches, BPHS: the greatest */
    const float *weights; /* PSM over signatures: the sums behind their bits, rows x bits; borrowed
                             for the call. Documents bring their own. */
    bool streamed; /* PSM, BPHS over signatures: nothing is built now; each search builds the tables
                      of one chunk of the rows after the other, as large as its memory allows. PSM
                      then learns from the weights of the queries. */
    bool vectors;  /* false: documents without their vectors; similarities are then estimates */
    bool unmeasured; /* true: the recall of searches is not measured now, for an index that serves
                        one exact search. Searches of methods that are not exact then do not know
                        their recall. */
    cog_sign_options sign; /* documents: terms, weights, signature */
    /* JACCARD, CONTAINMENT: documents are the sets of their terms, as in cog_dedup. Searches are
     * exact and need no signature; method, knobs and weights are not used. */
    cog_measure measure;
    uint64_t reserved[3];
} cog_index_options;
/* Stemmed words by BM25, none dropped for being rare: a query may have the one word that a document
 * has alone. rp 1024, with vectors. */
COG_API void cog_index_options_init(cog_index_options *options);
/* The same for a measure. Jaccard and containment: sets of word 3-grams, nothing dropped. */
COG_API void cog_index_options_init_for(cog_index_options *options, cog_measure measure);

/* Documents or signatures ready to be searched, in memory or in a folder. Searches may run at the
 * same time on several threads; a change may not run at the same time as any other call on the same
 * handle. */
typedef struct cog_index cog_index;
/* In memory; the documents are not needed afterwards. Documents without terms are left out and
 * reported. */
COG_API cog_status cog_index_build(cog_documents *documents, const cog_index_options *options,
                                   const cog_run_options *run, cog_index **index,
                                   cog_report *report, cog_error *error);
/* The same over signatures, which are borrowed for the index's life; ids are row numbers. */
COG_API cog_status cog_index_build_signatures(const cog_signatures *signatures,
                                              const cog_index_options *options,
                                              const cog_run_options *run, cog_index **index,
                                              cog_report *report, cog_error *error);
/* Writes a copy into a folder that holds no index yet: all of it or nothing. */
COG_API cog_status cog_index_save(const cog_index *index, const char *folder, cog_error *error);
/* The same in two steps, around the work. A claim refuses what cog_index_save would, makes the
 * folder if there is none, and locks it: meanwhile nobody else builds there. */
typedef struct cog_index_claim cog_index_claim;
COG_API cog_status cog_index_claim_folder(const char *folder, cog_index_claim **claim,
                                          cog_error *error);
COG_API cog_status cog_index_save_claimed(const cog_index *index, cog_index_claim *claim,
                                          cog_error *error);
/* Removes the folder if the claim made it and no index was saved there. Accepts NULL. */
COG_API void cog_index_claim_release(cog_index_claim *claim);
/* Maps the files of a folder; the handle sees the state of this moment. */
COG_API cog_status cog_index_open(const char *folder, cog_index **index, cog_error *error);
/* Whether the folder holds an index. */
COG_API bool cog_index_exists(const char *folder);
COG_API void cog_index_close(cog_index *index);
/* Reads every byte; COG_ERR_FORMAT names the first damage. */
COG_API cog_status cog_index_check(const cog_index *index, cog_error *error);

/* Changes. In a folder the new state replaces the old one at once, and one writer works at a time.
 * COG_OK: the change is durable. If the handle cannot show it (a file of the index is missing,
 * say), the report has a notice, the handle keeps the state before, and a new handle has the
 * change. Additions are a new segment; the statistics by which all documents are weighed grow with
 * them. Ids that exist already are bad records. */
COG_API cog_status cog_index_add(cog_index *index, cog_documents *documents,
                                 const cog_run_options *run, cog_report *report, cog_error *error);
/* The same with options. reserved is zero. */
typedef struct cog_add_options {
    double wait_seconds; /* for another process that is changing the index; 0: fail with
                            COG_ERR_BUSY */
    bool upsert;         /* a document whose id the index has takes the place of that one */
    /* Above 0: a document that is at least as similar to one that is there is not added. Of live
     * indexes (cognate_live.h) alone; cog_index_add_with refuses it. */
    double unless_similar;
    uint64_t reserved[4];
} cog_add_options;
COG_API void cog_add_options_init(cog_add_options *options);
/* The report counts "added", "known_ids" that the index had, and with upsert "replaced". All is one
 * change: readers see all of it or nothing. */
COG_API cog_status cog_index_add_with(cog_index *index, cog_documents *documents,
                                      const cog_add_options *options, const cog_run_options *run,
                                      cog_report *report, cog_error *error);
/* In memory the signatures are borrowed for the index's life. Ids go on from the highest. */
COG_API cog_status cog_index_add_signatures(cog_index *index, const cog_signatures *signatures,
                                            const cog_run_options *run, cog_report *report,
                                            cog_error *error);
/* Zero-terminated ids; the report counts "removed" and names those that are unknown. */
COG_API cog_status cog_index_remove(cog_index *index, const char *const *ids, size_t count,
                                    cog_report *report, cog_error *error);
/* The same for the ids in a file, a line each as results write them; "-" is standard input. */
COG_API cog_status cog_index_remove_listed(cog_index *index, const char *path, cog_report *report,
                                           cog_error *error);
/* Joins all segments into one without the removed rows. */
COG_API cog_status cog_index_compact(cog_index *index, const cog_run_options *run,
                                     cog_report *report, cog_error *error);

typedef struct cog_index_info {
    uint64_t rows;         /* that can be found */
    uint64_t removed_rows; /* still in the files */
    uint64_t segments, file_bytes, vocabulary_terms;
    unsigned bits;
    cog_method method;   /* that it was built for */
    unsigned slice_bits; /* of the first segment; 0 without lists */
    /* Of PSM and BPHS, 0 for others, in the first segment. */
    unsigned radius_bits, header_bits, tables;
    unsigned blocks, chosen; /* BPHS */
    uint64_t learned_pairs;  /* PSM: near-duplicates that it knows the volatile bits from */
    bool documents;          /* false: signatures alone */
    bool vectors;
    /* Of documents: those that the statistics count, and segments whose signatures were made when
     * these were others. Queries are signed to match; merging makes the signatures anew. */
    uint64_t counted_documents, outdated_segments;
    uint64_t pending_rows; /* in the log and in memory; part of rows, in segments of their own */
    cog_measure measure;   /* COSINE also for signatures alone */
} cog_index_info;
COG_API void cog_index_describe(const cog_index *index, cog_index_info *info);
/* How the documents were signed; false for an index of signatures. Its texts are owned by the
 * index. */
COG_API bool cog_index_sign_options(const cog_index *index, cog_sign_options *options);
/* COG_ERR_USAGE, naming the first difference, if the index was made differently. */
COG_API cog_status cog_index_expect(const cog_index *index, const cog_sign_options *options,
                                    cog_error *error);
/* Pairs between documents and the documents of an index, which has vectors or, for Jaccard and
 * containment, is of that measure: cog_pairs_find with the documents that the index was made of.
 * Cosines are weighed by the statistics of both collections together, not by those of the index
 * ("statistics_documents" in the report). Terms must be those of the index. Rows of the second
 * collection count the documents of the index that can be found. */
COG_API cog_status cog_pairs_find_in_index(cog_documents *documents, const cog_index *index,
                                           const cog_pairs_options *options,
                                           const cog_run_options *run, cog_pairs **pairs,
                                           cog_report *report, cog_error *error);
/* The id of a row (rows count through all segments, removed ones too). Not zero-terminated; owned
 * by the index, valid until it changes. *size is 0, and the result NULL, where rows have no ids but
 * their numbers. */
COG_API const char *cog_index_id(const cog_index *index, uint32_t row, size_t *size);
/* The row of an id that can be found; false if there is none. O(segments); O(rows) of segments
 * that were written before they had tables of ids. */
COG_API bool cog_index_find(const cog_index *index, const char *id, size_t id_size, uint32_t *row);

#define COG_RADIUS_NONE UINT32_MAX
typedef struct cog_search_options {
    cog_method method;
    size_t k;             /* nearest of each query; 0: all within threshold or radius */
    double threshold;     /* least similarity; 0: none */
    uint32_t radius_bits; /* greatest distance; COG_RADIUS_NONE: none */
    double recall;        /* what to aim for; 1: certain, refused where the method cannot be */
    cog_knobs knobs;      /* of the method (COG_KNOB_SEARCH); with AUTO they choose it */
    bool verify;          /* false: signatures decide, and similarities are estimates */
    bool first;           /* PSM, BPHS: any one row within the radius is enough; indexes by Jaccard
                             and containment: any one at the threshold */
    size_t recall_sample; /* queries that are brute-forced to measure the recall; 0: none, and the
                             report has the recall that was measured when the index was built */
    uint64_t reserved[4];
} cog_search_options;
/* The 10 nearest, recall 0.95, verified, no queries sampled. */
COG_API void cog_search_options_init(cog_search_options *options);

/* Neighbours of all queries, by query, the nearest first, ties by row. */
typedef struct cog_hits cog_hits;
typedef struct cog_hit {
    uint32_t query, row;
    uint32_t rank;     /* from 1 */
    int distance;      /* in bits; -1 where no signatures were compared */
    double similarity; /* the true one, or an estimate */
} cog_hit;
/* The index is borrowed for the life of the hits and may not change meanwhile. */
COG_API cog_status cog_index_search(const cog_index *index, cog_documents *queries,
                                    const cog_search_options *options, const cog_run_options *run,
                                    cog_hits **hits, cog_report *report, cog_error *error);
/* weights: the sums behind the bits, rows * bits floats, or NULL. */
COG_API cog_status cog_index_search_signatures(const cog_index *index,
                                               const cog_signatures *queries, const float *weights,
                                               const cog_search_options *options,
                                               const cog_run_options *run, cog_hits **hits,
                                               cog_report *report, cog_error *error);
COG_API void cog_hits_free(cog_hits *hits);
COG_API size_t cog_hits_count(const cog_hits *hits);
COG_API cog_hit cog_hits_get(const cog_hits *hits, size_t index);
/* Many at once, as cog_pairs_read. */
COG_API size_t cog_hits_read(const cog_hits *hits, size_t first, size_t count, cog_hit *items);
/* Where the hits of a query begin; those of the last query end at the count. */
COG_API size_t cog_hits_first(const cog_hits *hits, uint32_t query);
COG_API size_t cog_hits_queries(const cog_hits *hits);
COG_API bool cog_hits_are_estimates(const cog_hits *hits);
/* The id of a query, as cog_index_id returns that of a row; owned by the hits. */
COG_API const char *cog_hits_query_id(const cog_hits *hits, uint32_t query, size_t *size);
/* The index that was searched. */
COG_API const cog_index *cog_hits_index(const cog_hits *hits);
/* The position in the input of a query. */
COG_API uint64_t cog_hits_position(const cog_hits *hits, uint32_t query);
/* Columns query, rank (int64), row (int64: the number that the id is, null if the id is no number),
 * similarity (double), distance (int32, null where no signatures were compared), id (string); with
 * ids also query_id (string). Documents and signatures without ids of their own are named by their
 * positions, which row then is. */
COG_API cog_status cog_hits_to_arrow(const cog_hits *hits, bool ids,
                                     struct ArrowArrayStream *stream, cog_error *error);
/* "-" is standard output; a file appears whole or not at all. */
COG_API cog_status cog_hits_write(const cog_hits *hits, cog_output_format format, const char *path,
                                  cog_error *error);

/* A searcher answers one query after the other with the same options. It is made once and keeps
 * everything that a query needs: the analyzer of texts, tables of weights, and the scratch memory
 * of the method. One per thread; searchers of one index may run at the same time. The index is
 * borrowed; once it has changed, a searcher may only be freed.
 *
 * It answers as cog_index_search does for a single query without measuring the recall
 * (recall_sample 0). Runs on the calling thread. */
typedef struct cog_searcher cog_searcher;
COG_API cog_status cog_searcher_create(const cog_index *index, const cog_search_options *options,
                                       cog_searcher **searcher, cog_error *error);
COG_API void cog_searcher_free(cog_searcher *searcher);
/* A text, of the language `lang` (ISO 639-1, or NULL: as the index says). *hits has one query, its
 * number 0; it belongs to the searcher until the next call. */
COG_API cog_status cog_searcher_find_text(cog_searcher *searcher, const char *text,
                                          size_t text_size, const char *lang, const cog_hits **hits,
                                          cog_error *error);
/* A signature, bits / 8 bytes as the index has them. margins: the sums behind its bits, or NULL. */
COG_API cog_status cog_searcher_find_signature(cog_searcher *searcher, const uint8_t *signature,
                                               const float *margins, const cog_hits **hits,
                                               cog_error *error);

/* Answers queries one after the other as they come, with a searcher per thread, and writes each
 * answer at once: "-" is standard output. As tsv a line per hit, as jsonl a line per query,
 * {"query": ID, "hits": [{"rank", "id", "similarity", "distance"}, ...]}, also if there are none.
 * The report counts "queries" and "matches". */
COG_API cog_status cog_index_answer(const cog_index *index, cog_documents *queries,
                                    const cog_search_options *options, const cog_run_options *run,
                                    cog_output_format format, const char *path, cog_report *report,
                                    cog_error *error);

/* Sums behind bits from a .npy file, float32 [rows, bits]. */
typedef struct cog_weights cog_weights;
COG_API cog_status cog_weights_open(const char *path, cog_weights **weights, cog_error *error);
/* Refuses another shape than that of the signatures. Owned by the weights. */
COG_API cog_status cog_weights_of(const cog_weights *weights, const cog_signatures *signatures,
                                  const float **values, cog_error *error);
COG_API void cog_weights_free(cog_weights *weights);

#ifdef __cplusplus
}
#endif

#endif
