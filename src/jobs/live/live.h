/* The implementation of cog_live: the index being changed, the visible state, the queue of changes
 * for the next commit, and the thread that merges segments.
 *
 * A thread puts its change into the queue. If no thread is committing, it becomes the leader: it
 * takes all waiting changes, decides about each in order, writes one frame of the log, makes the
 * new state visible and wakes the other threads. Changes that arrive in the meantime wait for the
 * next leader, which is the first of them. So one sync serves all threads that arrived during the
 * previous sync. Each thread sleeps on its own semaphore, so no thread wakes in vain. */
#pragma once

#include <pthread.h>
#include <semaphore.h>

#include "jobs/index/index_pending.h"

/* A document as the hashes of its terms, ascending, with unit-length weights; or as its sets, whose
 * members are in `hashes`; or as its minhash signature, whose words are in `hashes`. */
struct live_vector {
    uint64_t *hashes;
    float *values;
    size_t count;
    struct document_set set;
};
void live_vector_free(struct live_vector *vector);
cog_status live_vector_make(const cog_index *index, const struct bag_view *bag,
                            struct live_vector *vector, cog_error *error);
/* By the measure of the index; for sets, any value below the threshold if it is below. */
double live_vector_similarity(const cog_index *index, const struct live_vector *a,
                              const struct live_vector *b, double threshold);

/* A waiting change. Id and bag are borrowed from the waiting thread. */
struct live_request {
    struct live_request *next;
    const struct live_request *previous; /* of the same batch, or NULL: if it fails, so does this */
    bool is_removal;
    struct bytes_view id;
    struct bag_view bag;
    struct buffer addition; /* in the format of the log */
    bool has_vector;        /* otherwise later requests must search again */
    struct live_vector vector;
    cog_add_options options;
    uint64_t searched; /* documents before this number were searched for a match */
    sem_t *wake;       /* wakes the thread that waits for this request, or NULL */
    bool is_done;
    /* The result. */
    bool is_found, is_accepted;
    cog_live_outcome outcome;
    cog_status status;
    cog_error error;
};

/* A recently added document. */
struct live_recent {
    char *id;
    size_t id_size;
    struct live_vector vector;
};

/* What a thread needs to analyse texts and to search. */
struct live_worker {
    struct live_worker *next;
    struct analyzer *analyzer;
    struct bag_counter *counter;
    struct term_list terms;
    cog_searcher *searcher; /* NULL until needed */
    double searcher_threshold;
    bool searcher_lists_all;
    cog_index *searched; /* the searcher's snapshot */
};

struct cog_live {
    cog_index *index;  /* used by the leader */
    bool is_in_memory; /* the index has no folder */
    bool is_of_sets;
    pthread_mutex_t lock;
    pthread_cond_t turn; /* signals threads that lead without a request, and the end of merges */
    unsigned leads_wanted;
    bool is_led;
    struct live_request *first, **last;
    pthread_cond_t arrival; /* signals the arrival of a request */
    size_t waiting;         /* requests in the queue */
    size_t last_group;      /* requests of the last commit */
    uint64_t commit_ns;     /* duration of the last commit */
    cog_index *shown;
    uint64_t shown_number; /* documents with lower numbers are in the visible state */
    bool is_stale;         /* it lacks acknowledged changes */
    uint64_t read_ns;      /* time of the last request for a state */
    uint64_t commits;      /* number of commits; atomic */
    uint64_t shown_commit; /* the last visible commit */
    /* Per thread: the commit of its last change, which it must see. */
    pthread_key_t own_commit;
    struct live_worker *idle;
    uint64_t generation; /* of the index when `recent` was started */
    /* Documents from number recent_first on; the next gets the number recent_first + recent_count.
     * They are noted once a request must not be similar to others. */
    bool notes_recent;
    struct live_recent *recent;
    size_t recent_count, recent_capacity;
    uint64_t recent_first;
    size_t noted; /* number of pending documents of the index among these */
    /* Background merging. */
    pthread_t merger;
    bool has_merger, wants_merge, is_closing;
    unsigned compactions; /* running or waiting; nothing else is merged meanwhile */
    bool is_compacting;
    cog_cancel *cancel; /* of the running merge, or NULL */
    pthread_cond_t merge_call;
};

/* Takes an idle worker, or makes one; live_return_worker puts it back. */
cog_status live_take_worker(cog_live *live, struct live_worker **worker, cog_error *error);
void live_return_worker(cog_live *live, struct live_worker *worker);
/* A document of the state that is similar enough, the most similar one for documents with vectors;
 * *found is false if there is none. Takes ownership of the state, also after an error. */
cog_status live_find_match(struct live_worker *worker, cog_index *state,
                           const struct live_request *request, cog_live_outcome *outcome,
                           bool *found, cog_error *error);

/* Call without locks: prepares a document, whose id, bag and options are set, for the commit, and
 * looks for a match that rejects it. */
cog_status live_prepare_request(cog_live *live, struct live_worker *worker,
                                struct live_request *request, bool *found, cog_error *error);
void live_request_free(struct live_request *request);

cog_status live_check_options(const cog_add_options *options, cog_error *error);
/* Waits until no thread leads; then the caller leads until live_stop_leading. */
void live_lead(cog_live *live);
void live_stop_leading(cog_live *live);
/* While leading: requests a background merge if there are enough segments in the folder. */
void live_want_merge(cog_live *live);
/* Stops the background merge, and waits for it. */
void live_end_merges(cog_live *live);
/* Puts requests, linked by `next`, into the queue and waits until all have results. */
void live_submit(cog_live *live, struct live_request *first, struct live_request *last);
/* The state last shown, which may be older: its statistics and settings are valid for any change.
 */
cog_index *live_take_shown(cog_live *live, uint64_t *number);

/* The leader's work: decides about all requests of a list and makes them durable. */
void live_commit(cog_live *live, struct live_request *requests);
/* With no other leader: notes the documents that other processes have added, in an index that was
 * read again and not prepared since. */
cog_status live_note_foreign(cog_live *live, cog_error *error);
/* The same after a change or preparation of the index: what is pending now is known. */
void live_mark_noted(cog_live *live);
/* With no other leader: makes the state of the index visible. */
cog_status live_show(cog_live *live, cog_error *error);
