/* Indexes of documents or signatures, and searches in them. cognate.h includes this header. */
#ifndef COGNATE_INDEX_H
#define COGNATE_INDEX_H

#ifndef COGNATE_H
#error "include cognate.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cog_index_options {
    cog_method method;    /* FLAT: signatures only; SLICES, COLUMNS: with tables; AUTO: tables from
                             100,000 rows on, if searches for a recall of 0.95 would use them */
    cog_knobs knobs;      /* of the method (COG_KNOB_BUILD); with AUTO they choose the method */
    unsigned radius_bits; /* PSM: the radius of searches; BPHS: the largest radius */
    const float *weights; /* Over signatures: their margins, rows * bits; borrowed for the call. PSM
                             needs them; slices and columns measure what searches with margins
                             find. For documents they are computed. */
    bool streamed; /* PSM, BPHS over signatures: build nothing now. Each search builds the tables of
                      one chunk of rows after another, as large as its memory allows; PSM then
                      learns from the margins of the queries. */
    bool vectors; /* false: do not keep the vectors of documents; similarities are then estimates */
    bool unmeasured; /* true: do not measure the recall of searches now, for an index that serves
                        one exact search. Searches by approximate methods then do not know their
                        recall. */
    cog_sign_options sign; /* documents: terms, weights, signature */
    /* JACCARD, CONTAINMENT: documents are kept as sets of terms, as in cog_dedup. Searches are
     * exact and need no signatures; method, knobs and weights are ignored. JACCARD with vectors
     * false: minhash signatures of one-bit values take the place of the sets, and similarities are
     * estimates. */
    cog_measure measure;
    uint64_t reserved[3];
} cog_index_options;
/* Cosine of stemmed words by BM25, rp with 1024 bits, with vectors. No word is dropped for being
 * rare: a query may share only such a word with a document. */
COG_API void cog_index_options_init(cog_index_options *options);
/* Defaults for another measure. Jaccard and containment: sets of word 3-grams; no term is dropped.
 */
COG_API void cog_index_options_init_for(cog_index_options *options, cog_measure measure);

/* An index: documents or signatures ready to be searched, in memory or in a folder. Several threads
 * may search at the same time. A change must not run at the same time as any other call on the same
 * handle. */
typedef struct cog_index cog_index;
/* Builds an index in memory. The documents are not needed afterwards. Documents without terms are
 * left out and reported. */
COG_API cog_status cog_index_build(cog_documents *documents, const cog_index_options *options,
                                   const cog_run_options *run, cog_index **index,
                                   cog_report *report, cog_error *error);
/* Builds an index of signatures, which are borrowed for the life of the index. Ids are row numbers.
 */
COG_API cog_status cog_index_build_signatures(const cog_signatures *signatures,
                                              const cog_index_options *options,
                                              const cog_run_options *run, cog_index **index,
                                              cog_report *report, cog_error *error);
/* Writes a copy of the index to a folder that holds no index yet: completely or not at all. */
COG_API cog_status cog_index_save(const cog_index *index, const char *folder, cog_error *error);
/* cog_index_save in two steps, before and after building. The claim fails where cog_index_save
 * would, creates the folder if it is missing, and locks it, so that nobody else can build there
 * meanwhile. */
typedef struct cog_index_claim cog_index_claim;
COG_API cog_status cog_index_claim_folder(const char *folder, cog_index_claim **claim,
                                          cog_error *error);
COG_API cog_status cog_index_save_claimed(const cog_index *index, cog_index_claim *claim,
                                          cog_error *error);
/* Removes the folder if the claim made it and no index was saved there. Accepts NULL. */
COG_API void cog_index_claim_release(cog_index_claim *claim);
/* Opens a folder by mapping its files. The handle sees the state of this moment. */
COG_API cog_status cog_index_open(const char *folder, cog_index **index, cog_error *error);
/* Whether the folder holds an index, or the parts of one that lacks its manifest: opening that says
 * so. */
COG_API bool cog_index_exists(const char *folder);
COG_API void cog_index_close(cog_index *index);
/* Reads every byte of the index; COG_ERR_FORMAT names the first damage. */
COG_API cog_status cog_index_check(const cog_index *index, cog_error *error);

/* Adds documents as a new segment; the statistics that weigh all documents grow with them.
 * Documents whose id exists already are bad records.
 *
 * In a folder, the new state replaces the old one atomically, and one writer works at a time.
 * COG_OK: the change is durable. If the handle cannot show the change (because a file of the index
 * is missing, say), the report has a notice and the handle keeps the previous state; a new handle
 * has the change. */
COG_API cog_status cog_index_add(cog_index *index, cog_documents *documents,
                                 const cog_run_options *run, cog_report *report, cog_error *error);
/* cog_index_add with options. */
typedef struct cog_add_options {
    double wait_seconds; /* how long to wait for another process that is changing the index; 0: fail
                            at once with COG_ERR_BUSY */
    bool upsert;         /* a document whose id exists replaces the old one */
    /* Above 0: do not add a document if the index has one with at least this similarity. Only for
     * live indexes (cognate_live.h); cog_index_add_with refuses it. */
    double unless_similar;
    uint64_t reserved[4];
} cog_add_options;
COG_API void cog_add_options_init(cog_add_options *options);
/* The report counts "added", "known_ids" (ids that the index had already) and, with upsert,
 * "replaced". Everything is one change: readers see all of it or nothing. */
COG_API cog_status cog_index_add_with(cog_index *index, cog_documents *documents,
                                      const cog_add_options *options, const cog_run_options *run,
                                      cog_report *report, cog_error *error);
/* Adds signatures; ids continue from the highest. An index in memory borrows them for its life. */
COG_API cog_status cog_index_add_signatures(cog_index *index, const cog_signatures *signatures,
                                            const cog_run_options *run, cog_report *report,
                                            cog_error *error);
/* Removes documents by zero-terminated ids. The report counts "removed" and names unknown ids. */
COG_API cog_status cog_index_remove(cog_index *index, const char *const *ids, size_t count,
                                    cog_report *report, cog_error *error);
/* Removes the ids listed in a file, one per line as results write them; "-" is standard input. */
COG_API cog_status cog_index_remove_listed(cog_index *index, const char *path, cog_report *report,
                                           cog_error *error);
/* Merges all segments into one, without the removed rows. Cost: all rows are written anew. */
COG_API cog_status cog_index_compact(cog_index *index, const cog_run_options *run,
                                     cog_report *report, cog_error *error);

typedef struct cog_index_info {
    uint64_t rows;         /* that searches can find */
    uint64_t removed_rows; /* still in the files */
    uint64_t segments, file_bytes, vocabulary_terms;
    unsigned bits;
    cog_method method;   /* that it was built for */
    unsigned slice_bits; /* of the first segment; 0 without slices */
    /* PSM and BPHS: values of the first segment; 0 for other methods. */
    unsigned radius_bits, header_bits, tables;
    unsigned blocks, chosen; /* BPHS */
    uint64_t learned_pairs;  /* PSM: near-duplicates from which it learned the volatile bits */
    bool documents;          /* false: signatures only */
    bool vectors;
    /* Documents counted by the statistics, and segments whose signatures were made with older
     * statistics. Queries are signed to match each segment; merging makes the signatures anew. */
    uint64_t counted_documents, outdated_segments;
    uint64_t pending_rows; /* rows still in the log and in memory; included in `rows`, in segments
                              of their own */
    cog_measure measure;   /* COSINE also for signatures */
} cog_index_info;
COG_API void cog_index_describe(const cog_index *index, cog_index_info *info);
/* How the documents were signed; false for an index of signatures. Strings are owned by the index.
 */
COG_API bool cog_index_sign_options(const cog_index *index, cog_sign_options *options);
/* Compares with the options that the index was made with: COG_ERR_USAGE names the first difference.
 */
COG_API cog_status cog_index_expect(const cog_index *index, const cog_sign_options *options,
                                    cog_error *error);
/* Finds pairs between documents and the documents of an index: the result of cog_pairs_find with
 * the documents of the index as `against`. The index must have vectors, or be of the same measure
 * (Jaccard, containment); terms must be those of the index. Cosines are weighted by the statistics
 * of both collections together, not by those of the index ("statistics_documents" in the report).
 * Rows of the second collection count only documents that searches can find. */
COG_API cog_status cog_pairs_find_in_index(cog_documents *documents, const cog_index *index,
                                           const cog_pairs_options *options,
                                           const cog_run_options *run, cog_pairs **pairs,
                                           cog_report *report, cog_error *error);
/* The id of a row; rows count through all segments, removed rows included. Not zero-terminated;
 * owned by the index, valid until it changes. If rows have no ids but their numbers, the result is
 * NULL and *size is 0. */
COG_API const char *cog_index_id(const cog_index *index, uint32_t row, size_t *size);
/* The row of an id; false if searches cannot find the id. Time O(segments); O(rows) for segments
 * written before they had tables of ids. */
COG_API bool cog_index_find(const cog_index *index, const char *id, size_t id_size, uint32_t *row);

#define COG_RADIUS_NONE UINT32_MAX
typedef struct cog_search_options {
    cog_method method;
    size_t k;             /* neighbours per query; 0: all within threshold or radius */
    double threshold;     /* least similarity; 0: none */
    uint32_t radius_bits; /* greatest distance; COG_RADIUS_NONE: none */
    double recall;        /* to aim for; 1: exact, refused if the method is approximate */
    cog_knobs knobs;      /* of the method (COG_KNOB_SEARCH); with AUTO they choose the method */
    bool verify;          /* false: signatures decide, and similarities are estimates */
    bool first; /* PSM, BPHS: stop at any one row within the radius; indexes by Jaccard and
                   containment: at any one at the threshold */
    size_t recall_sample; /* number of queries to answer by brute force to measure the recall; 0:
                             none, and the report has the recall that was measured when the index
                             was built */
    uint64_t reserved[4];
} cog_search_options;
/* The 10 nearest, recall 0.95, verified; no queries by brute force. */
COG_API void cog_search_options_init(cog_search_options *options);

/* The neighbours of all queries, sorted by query, then nearest first; ties by row. */
typedef struct cog_hits cog_hits;
typedef struct cog_hit {
    uint32_t query, row;
    uint32_t rank;     /* from 1 */
    int distance;      /* in bits; -1 if no signatures were compared */
    double similarity; /* true, or an estimate */
} cog_hit;
/* Searches an index. The index is borrowed for the life of the hits and must not change meanwhile.
 */
COG_API cog_status cog_index_search(const cog_index *index, cog_documents *queries,
                                    const cog_search_options *options, const cog_run_options *run,
                                    cog_hits **hits, cog_report *report, cog_error *error);
/* Searches with signatures. `weights`: their margins, rows * bits floats, or NULL. */
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
/* The index of the first hit of a query; hits of the last query end at the count. */
COG_API size_t cog_hits_first(const cog_hits *hits, uint32_t query);
COG_API size_t cog_hits_queries(const cog_hits *hits);
COG_API bool cog_hits_are_estimates(const cog_hits *hits);
/* The id of a query, in the form of cog_index_id; owned by the hits. */
COG_API const char *cog_hits_query_id(const cog_hits *hits, uint32_t query, size_t *size);
/* The index that was searched. */
COG_API const cog_index *cog_hits_index(const cog_hits *hits);
/* The position in the input of a query. */
COG_API uint64_t cog_hits_position(const cog_hits *hits, uint32_t query);
/* Columns query, rank (int64), row (int64: the id as a number; null if the id is not a number),
 * similarity (double), distance (int32, null if no signatures were compared), id (string); if
 * `ids`, also query_id (string). The id of documents and signatures without ids of their own is
 * their position, so row is then the position. */
COG_API cog_status cog_hits_to_arrow(const cog_hits *hits, bool ids,
                                     struct ArrowArrayStream *stream, cog_error *error);
/* "-" is standard output; a file appears complete or not at all. */
COG_API cog_status cog_hits_write(const cog_hits *hits, cog_output_format format, const char *path,
                                  cog_error *error);

/* A searcher answers one query after another with the same options. It is made once and keeps
 * everything that a query needs: the analyzer of texts, tables of weights, and the scratch memory
 * of the method. Use one per thread; searchers of one index may run at the same time. The index is
 * borrowed; once it has changed, a searcher may only be freed.
 *
 * A searcher gives the answer that cog_index_search gives for a single query with recall_sample 0.
 * It runs on the calling thread. */
typedef struct cog_searcher cog_searcher;
COG_API cog_status cog_searcher_create(const cog_index *index, const cog_search_options *options,
                                       cog_searcher **searcher, cog_error *error);
COG_API void cog_searcher_free(cog_searcher *searcher);
/* Searches with a text in the language `lang` (ISO 639-1, or NULL: as the index says). *hits has
 * one query, number 0; it belongs to the searcher until the next call. */
COG_API cog_status cog_searcher_find_text(cog_searcher *searcher, const char *text,
                                          size_t text_size, const char *lang, const cog_hits **hits,
                                          cog_error *error);
/* Searches with a signature of bits / 8 bytes, as the index has them. `margins`: its margins, or
 * NULL. */
COG_API cog_status cog_searcher_find_signature(cog_searcher *searcher, const uint8_t *signature,
                                               const float *margins, const cog_hits **hits,
                                               cog_error *error);

/* Answers queries in order as they arrive, with one searcher per thread, and writes each answer at
 * once; "-" is standard output. TSV: one line per hit. JSONL: one line per query, also if it has no
 * hits: {"query": ID, "hits": [{"rank", "id", "similarity", "distance"}, ...]}. The report has
 * the method, the recall and the work of all queries, like that of a search. */
COG_API cog_status cog_index_answer(const cog_index *index, cog_documents *queries,
                                    const cog_search_options *options, const cog_run_options *run,
                                    cog_output_format format, const char *path, cog_report *report,
                                    cog_error *error);

/* Margins of signatures, read from a .npy file, float32 [rows, bits]. */
typedef struct cog_weights cog_weights;
COG_API cog_status cog_weights_open(const char *path, cog_weights **weights, cog_error *error);
/* The margins as an array, owned by the weights. COG_ERR_USAGE if their shape is not that of the
 * signatures. */
COG_API cog_status cog_weights_of(const cog_weights *weights, const cog_signatures *signatures,
                                  const float **values, cog_error *error);
COG_API void cog_weights_free(cog_weights *weights);

#ifdef __cplusplus
}
#endif

#endif
