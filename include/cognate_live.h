/* Indexes that are searched while they change, and texts that were seen before.
 *
 * cog_live is one index that many threads share: each adds, removes and takes snapshots as it
 * likes, and other processes may change the same folder. A snapshot is a cog_index that stays as it
 * is; taking one costs a count, and after a second without any the preparation of what was added
 * since (up to 4,096 documents). Changes of threads that come at the same time are made
 * durable together (one frame of the log, one sync), and each caller waits until its own is.
 *
 * cog_seen remembers texts by the sets of their terms and finds the earlier one that a new text is
 * a near-duplicate of, as cog_dedup measures it.
 *
 * Included by cognate.h. */
#ifndef COGNATE_LIVE_H
#define COGNATE_LIVE_H

#include "cognate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Snapshots ------------------------------------------------------------------------------- */

/* The index as it is now, as a handle of its own that shares the files and tables; close it with
 * cog_index_close. Nobody may change `index` meanwhile. Signatures that an index in memory borrows
 * must outlive its snapshots. */
COG_API cog_status cog_index_snapshot(const cog_index *index, cog_index **snapshot,
                                      cog_error *error);
/* Another owner of a state that nobody changes; each calls cog_index_close. Returns the index. */
COG_API cog_index *cog_index_retain(cog_index *index);
/* A searcher goes on with another state of the same index and keeps its analyzer and tables. The
 * state is borrowed as in cog_searcher_create; hits of earlier queries are gone. */
COG_API cog_status cog_searcher_move(cog_searcher *searcher, const cog_index *index,
                                     cog_error *error);

/* ---- Live indexes ---------------------------------------------------------------------------- */

typedef struct cog_live cog_live;
/* An index of documents in a folder. */
COG_API cog_status cog_live_open(const char *folder, cog_live **live, cog_error *error);
/* Takes the index over, of a folder or in memory; after an error it is still the caller's. */
COG_API cog_status cog_live_create(cog_index *index, cog_live **live, cog_error *error);
/* All calls must have returned. A merge in the background is told to stop and leaves nothing
 * behind. Snapshots stay. Accepts NULL. */
COG_API void cog_live_close(cog_live *live);

/* The last state that was published, at once; cog_index_close it. It has all changes that this
 * handle has acknowledged, except that after a second without snapshots it may lack those of other
 * threads since then (4,096 documents at most) if a commit is under way, which then publishes them;
 * cog_live_refresh waits for them. Nobody is waited for, unless the calling thread itself has made a
 * change that is not published yet. Weights are those of statistics that count all documents but
 * the last 1/64. */
COG_API cog_status cog_live_snapshot(cog_live *live, cog_index **snapshot, cog_error *error);
/* The same with what other processes have changed. */
COG_API cog_status cog_live_refresh(cog_live *live, cog_error *error);

/* What became of a document. */
typedef struct cog_live_outcome {
    bool added;
    bool replaced;       /* it took the place of one with its id */
    double similarity;   /* unless_similar: of the match that kept it out; else 0 */
    char match_id[1024]; /* the id of that match, cut off if it is longer */
} cog_live_outcome;

/* Adds one document. COG_OK: it is durable, or the outcome says why it was not added: a match, or
 * no terms. COG_ERR_INPUT: the id is there already, and options->upsert is false. options may be
 * NULL. Another process that changes the folder is waited for, 60 seconds or wait_seconds. With
 * unless_similar, no two documents that are as similar are added, whichever threads or processes
 * add them. */
COG_API cog_status cog_live_add(cog_live *live, const cog_document *document,
                                const cog_add_options *options, cog_live_outcome *outcome,
                                cog_error *error);
/* Adds a collection, up to 256 documents in a commit, each decided as by cog_live_add. Documents
 * whose id is there already are skipped, with a notice. `matched` (may be NULL) is called on the
 * calling thread for each document that a match kept out. The report counts "added", "replaced",
 * "matched" and "known_ids". */
typedef void cog_live_matched(void *context, const char *id, size_t id_size,
                              const cog_live_outcome *outcome);
COG_API cog_status cog_live_add_documents(cog_live *live, cog_documents *documents,
                                          const cog_add_options *options,
                                          const cog_run_options *run, cog_live_matched *matched,
                                          void *context, cog_report *report, cog_error *error);
/* Removes the document of an id; *removed is false if there is none. */
COG_API cog_status cog_live_remove(cog_live *live, const char *id, size_t id_size, bool *removed,
                                   cog_error *error);
/* Segments of a folder are merged in the background, in tiers of about one size, by a thread of the
 * handle; changes wait only while the new segment takes the place of the old ones. Waits until none
 * is under way. */
COG_API cog_status cog_live_settle(cog_live *live, cog_error *error);
/* Joins all segments that are there into one. Snapshots, searches and changes of a folder go on
 * meanwhile; changes of an index in memory wait. COG_ERR_BUSY: another process is merging. */
COG_API cog_status cog_live_compact(cog_live *live, const cog_run_options *run, cog_report *report,
                                    cog_error *error);

/* ---- Seen texts ------------------------------------------------------------------------------ */

typedef struct cog_seen_options {
    double threshold; /* least Jaccard similarity, above 0 and at most 1 */
    unsigned ngram;   /* words of a term */
    uint64_t reserved[4];
} cog_seen_options;
/* 0.8, three words: as cog_dedup. */
COG_API void cog_seen_options_init(cog_seen_options *options);

typedef struct cog_seen cog_seen;
/* folder: where the sets are kept; it is made if it is missing. NULL: memory alone. A folder
 * belongs to one handle at a time. */
COG_API cog_status cog_seen_open(const cog_seen_options *options, const char *folder,
                                 cog_seen **seen, cog_error *error);
/* Accepts NULL. */
COG_API void cog_seen_close(cog_seen *seen);
COG_API uint64_t cog_seen_count(const cog_seen *seen);
#define COG_SEEN_NONE UINT64_MAX
/* *number is that of the earliest text among the most similar earlier ones, from 0 in the order of
 * the calls, or COG_SEEN_NONE; *similarity (may be NULL) is their Jaccard similarity. Exact. The
 * text gets the next number and is remembered: in a folder it is durable after cog_seen_sync, or
 * 256 texts later.
 * Threads may share the handle. */
COG_API cog_status cog_seen_check(cog_seen *seen, const char *text, size_t text_size,
                                  uint64_t *number, double *similarity, cog_error *error);
COG_API cog_status cog_seen_sync(cog_seen *seen, cog_error *error);

#ifdef __cplusplus
}
#endif

#endif
