/* What stands behind cog_live: the index that is changed, the state that is shown, the queue of
 * changes that wait for the next commit, and the thread that merges segments.
 *
 * A thread that wants a change puts it into the queue. If nobody commits, it becomes the leader:
 * it takes all that wait, decides about each in order, writes one frame of the log, shows the new
 * state and wakes the others. What comes meanwhile waits for the next leader, which is the first of
 * them. So a sync serves all threads that came during the sync before it. Each thread sleeps by a
 * semaphore of its own: nobody wakes to find that it was not meant. */
#pragma once

#include <pthread.h>
#include <semaphore.h>

#include "jobs/index/index_pending.h"

/* A document as the hashes of its terms, rising, with weights of unit length; or as its sets, whose
 * members are in `hashes`. */
struct live_vector {
    uint64_t *hashes;
    float *values;
    size_t count;
    struct document_set set;
};
void live_vector_free(struct live_vector *vector);
cog_status live_vector_make(const cog_index *index, const struct bag_view *bag,
                            struct live_vector *vector, cog_error *error);
/* By the measure of the index; of sets, anything below the threshold if it is below. */
double live_vector_similarity(const cog_index *index, const struct live_vector *a,
                              const struct live_vector *b, double threshold);

/* A change that waits. Id and bag are borrowed from the thread that waits. */
struct live_request {
    struct live_request *next;
    bool is_removal;
    struct bytes_view id;
    struct bag_view bag;
    struct buffer addition; /* as the log has it */
    bool has_vector;        /* else later requests must search again */
    struct live_vector vector;
    cog_add_options options;
    uint64_t searched; /* documents up to this number were searched for a match */
    sem_t *wake;       /* of the thread that waits for this request, or NULL */
    bool is_done;
    /* The answer. */
    bool is_found, is_accepted;
    cog_live_outcome outcome;
    cog_status status;
    cog_error error;
};

/* A document that was added lately. */
struct live_recent {
    char *id;
    size_t id_size;
    struct live_vector vector;
};

/* What a thread needs to read texts and to search. */
struct live_worker {
    struct live_worker *next;
    struct analyzer *analyzer;
    struct bag_counter *counter;
    struct term_list terms;
    cog_searcher *searcher; /* NULL until it is needed */
    double searcher_threshold;
    bool searcher_lists_all;
    cog_index *searched; /* the snapshot that the searcher has */
};

struct cog_live {
    cog_index *index;  /* of the leader */
    bool is_in_memory; /* the index has no folder */
    bool is_of_sets;
    pthread_mutex_t lock;
    pthread_cond_t turn; /* of those who lead without a request, and of the end of merges */
    unsigned leads_wanted;
    bool is_led;
    struct live_request *first, **last;
    pthread_cond_t arrival; /* of a request */
    size_t waiting;         /* requests in the queue */
    size_t last_group;      /* requests of the last commit */
    uint64_t commit_ns;     /* that it took */
    cog_index *shown;
    uint64_t shown_number; /* documents of lower numbers are in what is shown */
    bool is_stale;         /* changes were acknowledged that it lacks */
    uint64_t read_ns;      /* when somebody last asked for it */
    uint64_t commits;      /* all of them; atomic */
    uint64_t shown_commit; /* the last of them that is shown */
    /* Per thread: the commit of its last change, which it expects to see. */
    pthread_key_t own_commit;
    struct live_worker *idle;
    uint64_t generation; /* of the index, when `recent` was begun */
    /* Documents from number recent_first on; the next has the number recent_first + recent_count.
     * They are noted from the first request on that must not be similar to others. */
    bool notes_recent;
    struct live_recent *recent;
    size_t recent_count, recent_capacity;
    uint64_t recent_first;
    size_t noted; /* pending documents of the index that are among these */
    /* Merging in the background. */
    pthread_t merger;
    bool has_merger, wants_merge, is_closing;
    unsigned compactions; /* that are under way or wait: nothing else is merged */
    bool is_compacting;
    cog_cancel *cancel; /* of the merge that is under way, or NULL */
    pthread_cond_t merge_call;
};

/* Takes an idle worker, or makes one; live_return puts it back. */
cog_status live_take_worker(cog_live *live, struct live_worker **worker, cog_error *error);
void live_return_worker(cog_live *live, struct live_worker *worker);
/* The nearest document of a state that is at least as similar; false if there is none. The state is
 * borrowed until the worker's next search. */
cog_status live_find_match(struct live_worker *worker, cog_index *state,
                           const struct live_request *request, cog_live_outcome *outcome,
                           bool *found, cog_error *error);

/* Outside of every lock: makes what the commit needs of a document whose id, bag and options are
 * set, and looks for a match that keeps it out. */
cog_status live_prepare_request(cog_live *live, struct live_worker *worker,
                                struct live_request *request, bool *found, cog_error *error);
void live_request_free(struct live_request *request);

cog_status live_check_options(const cog_add_options *options, cog_error *error);
/* Waits until nobody leads; the caller then does, until live_stop_leading. */
void live_lead(cog_live *live);
void live_stop_leading(cog_live *live);
/* While leading: segments of the folder are merged in the background if enough are there. */
void live_want_merge(cog_live *live);
/* Tells the merge in the background to stop, and waits for it. */
void live_end_merges(cog_live *live);
/* Puts requests, linked by `next`, into the queue and waits until all are answered. */
void live_submit(cog_live *live, struct live_request *first, struct live_request *last);
/* The state with all changes that were acknowledged to the calling thread, and to others unless a
 * commit is under way after a second in which nobody asked. Waits for nobody but for a change of
 * the calling thread. `number`: of the first document that it may lack. cog_index_close it. */
cog_index *live_take_fresh(cog_live *live, uint64_t *number);
/* What was shown last, which may be older: its statistics and settings are good for any change. */
cog_index *live_take_shown(cog_live *live, uint64_t *number);

/* The leader's work: decides about all requests of a list and makes them durable. */
void live_commit(cog_live *live, struct live_request *requests);
/* With nobody else leading: notes what other processes have added, of an index that was read again
 * and not prepared since. */
cog_status live_note_foreign(cog_live *live, cog_error *error);
/* The same after a change or preparation of the index: what is pending now is known. */
void live_mark_noted(cog_live *live);
/* With nobody else leading: shows the state of the index. */
cog_status live_show(cog_live *live, cog_error *error);
