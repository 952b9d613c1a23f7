/* Indexes that are searched while they change, and texts that were seen before. cognate.h includes
 * this header.
 *
 * cog_live is one index that many threads share: each adds, removes and takes snapshots as it
 * likes, and other processes may change the same folder. A snapshot is a cog_index that does not
 * change. Taking one increments a counter; after a second without snapshots it also prepares the
 * documents added since (up to 4,096). Changes that several threads make at the same time become
 * durable together (one frame of the log, one sync); each caller waits until its own change is
 * durable.
 *
 * cog_seen remembers texts as sets of terms and finds the earlier text that a new one is a
 * near-duplicate of, by the measure of cog_dedup. */
#ifndef COGNATE_LIVE_H
#define COGNATE_LIVE_H

#include "cognate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Snapshots ------------------------------------------------------------------------------- */

/* Makes a handle for the current state of the index. It shares files and tables with `index`; close
 * it with cog_index_close. Nobody may change `index` during the call. Signatures that an index in
 * memory borrows must outlive its snapshots. */
COG_API cog_status cog_index_snapshot(const cog_index *index, cog_index **snapshot,
                                      cog_error *error);
/* Adds an owner to an index that nobody changes; each owner calls cog_index_close. Returns the
 * index. */
COG_API cog_index *cog_index_retain(cog_index *index);
/* Moves a searcher to another state of the same index; it keeps its analyzer and tables. The state
 * is borrowed as in cog_searcher_create. Hits of earlier queries become invalid. */
COG_API cog_status cog_searcher_move(cog_searcher *searcher, const cog_index *index,
                                     cog_error *error);

/* ---- Live indexes ---------------------------------------------------------------------------- */

typedef struct cog_live cog_live;
/* Opens an index of documents in a folder. */
COG_API cog_status cog_live_open(const char *folder, cog_live **live, cog_error *error);
/* Takes ownership of an index, in a folder or in memory; after an error it still belongs to the
 * caller. */
COG_API cog_status cog_live_create(cog_index *index, cog_live **live, cog_error *error);
/* Call it after all other calls have returned. Stops a merge in the background, which leaves
 * nothing behind. Snapshots stay valid. Accepts NULL. */
COG_API void cog_live_close(cog_live *live);

/* Returns the last published state at once; close it with cog_index_close. It has all changes that
 * this handle has acknowledged, with one exception: after a second without snapshots it may lack
 * changes of other threads since then (up to 4,096 documents) if a commit is under way, which then
 * publishes them; cog_live_refresh waits for them. The call waits for nobody, unless the calling
 * thread itself has made a change that is not published yet. Weights come from statistics that
 * count all documents but at most the last 1/64. */
COG_API cog_status cog_live_snapshot(cog_live *live, cog_index **snapshot, cog_error *error);
/* Waits for all commits and reads the changes of other processes; the next snapshot has them. */
COG_API cog_status cog_live_refresh(cog_live *live, cog_error *error);

/* What happened to a document. */
typedef struct cog_live_outcome {
    bool added;
    bool replaced;       /* it replaced the document with its id */
    double similarity;   /* with unless_similar: to the match that kept it out; otherwise 0 */
    char match_id[1024]; /* the id of that match, truncated if it is longer */
} cog_live_outcome;

/* Adds one document. COG_OK: it is durable, or the outcome says why it was not added (a match, or
 * no terms). COG_ERR_INPUT: its id exists already and options->upsert is false. `options` may be
 * NULL. If another process is changing the folder, the call waits 60 seconds, or wait_seconds if
 * that is longer. With unless_similar, no two documents of that similarity are ever added,
 * whichever threads or processes add them. */
COG_API cog_status cog_live_add(cog_live *live, const cog_document *document,
                                const cog_add_options *options, cog_live_outcome *outcome,
                                cog_error *error);
/* Adds a collection, up to 256 documents per commit; each is decided as in cog_live_add. After an
 * error the documents before some document are decided, and the call can be repeated. Documents
 * whose id exists already are skipped, with a notice. `matched` (may be NULL) is called on the
 * calling thread for each document that a match kept out. The report counts "added", "replaced",
 * "matched" and "known_ids". */
typedef void cog_live_matched(void *context, const char *id, size_t id_size,
                              const cog_live_outcome *outcome);
COG_API cog_status cog_live_add_documents(cog_live *live, cog_documents *documents,
                                          const cog_add_options *options,
                                          const cog_run_options *run, cog_live_matched *matched,
                                          void *context, cog_report *report, cog_error *error);
/* Removes the document with this id; *removed is false if there is none. */
COG_API cog_status cog_live_remove(cog_live *live, const char *id, size_t id_size, bool *removed,
                                   cog_error *error);
/* Waits until no merge is under way. (A thread of the handle merges segments of a folder in the
 * background, in tiers of about equal size; changes wait only while a new segment replaces the old
 * ones.) */
COG_API cog_status cog_live_settle(cog_live *live, cog_error *error);
/* Merges all present segments into one. Snapshots, searches and changes of a folder continue
 * meanwhile; changes of an index in memory wait. COG_ERR_BUSY: another process is merging. */
COG_API cog_status cog_live_compact(cog_live *live, const cog_run_options *run, cog_report *report,
                                    cog_error *error);

/* ---- Seen texts ------------------------------------------------------------------------------ */

typedef struct cog_seen_options {
    double threshold; /* least Jaccard similarity, above 0 and at most 1 */
    unsigned ngram;   /* words per term */
    uint64_t reserved[4];
} cog_seen_options;
/* 0.8 and three words, as in cog_dedup. */
COG_API void cog_seen_options_init(cog_seen_options *options);

typedef struct cog_seen cog_seen;
/* `folder`: where the sets are kept; created if it is missing. NULL: in memory only. A folder
 * belongs to one handle at a time. */
COG_API cog_status cog_seen_open(const cog_seen_options *options, const char *folder,
                                 cog_seen **seen, cog_error *error);
/* Accepts NULL. */
COG_API void cog_seen_close(cog_seen *seen);
COG_API uint64_t cog_seen_count(const cog_seen *seen);
#define COG_SEEN_NONE UINT64_MAX
/* Finds the most similar earlier text and remembers this one. Exact. *number receives the number of
 * the most similar earlier text (the earliest, if several are equally similar), or COG_SEEN_NONE;
 * *similarity (may be NULL) receives their Jaccard similarity. Texts are numbered from 0 in the
 * order of the calls. In a folder a text is durable after cog_seen_sync, or 256 texts later.
 * Threads may share the handle. */
COG_API cog_status cog_seen_check(cog_seen *seen, const char *text, size_t text_size,
                                  uint64_t *number, double *similarity, cog_error *error);
COG_API cog_status cog_seen_sync(cog_seen *seen, cog_error *error);

#ifdef __cplusplus
}
#endif

#endif
