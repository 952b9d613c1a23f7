/* Live indexes: handles that threads share, the queue of changes, snapshots. */
#include "jobs/live/live.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arguments.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/strings.h"
#include "collection/row_signer.h"
#include "collection/sets/set_bag.h"
#include "collection/statistics_job.h"
#include "input/documents/text_bytes.h"
#include "jobs/index/segment_change.h"
#include "jobs/search/search_job.h"

/* ---- Vectors --------------------------------------------------------------------------------- */

void live_vector_free(struct live_vector *vector) {
    free(vector->hashes);
    free(vector->values);
    *vector = (struct live_vector){0};
}

struct term_entry {
    uint64_t hash;
    float value;
};

static int by_hash(const void *a, const void *b) {
    const struct term_entry *p = a, *q = b;
    return ORDER(p->hash, q->hash);
}

static void fill_vector(struct term_entry *entries, const struct bag_view *bag,
                        const float *weights, struct live_vector *vector) {
    double sum = 0;
    for (size_t i = 0; i < bag->count; i++) {
        entries[i] = (struct term_entry){bag->hashes[i], weights[i]};
        sum += (double)weights[i] * (double)weights[i];
    }
    double scale = sum > 0 ? 1 / sqrt(sum) : 0;
    if (bag->count)
        qsort(entries, bag->count, sizeof *entries, by_hash);
    for (size_t i = 0; i < bag->count; i++) {
        vector->hashes[i] = entries[i].hash;
        vector->values[i] = (float)((double)entries[i].value * scale);
    }
    vector->count = bag->count;
}

/* Allocates one block for the members of both sets. */
static cog_status make_sets(const struct bag_view *bag, struct live_vector *vector,
                            cog_error *error) {
    struct set_bag sets = {0};
    cog_status status = set_bag_read(&sets, bag, error);
    const struct document_set *set = &sets.set;
    vector->count = set->term_count + set->word_count;
    THEN(status, TAKEN(vector->hashes, vector->count + 1, "a document's terms", error));
    if (status == COG_OK) {
        memcpy(vector->hashes, set->terms, set->term_count * sizeof *vector->hashes);
        memcpy(vector->hashes + set->term_count, set->words,
               set->word_count * sizeof *vector->hashes);
        vector->set = *set;
        vector->set.terms = vector->hashes;
        vector->set.words = vector->hashes + set->term_count;
    }
    set_bag_free(&sets);
    return status;
}

static cog_status make_signature(const cog_index *index, const struct bag_view *bag,
                                 struct live_vector *vector, cog_error *error) {
    const struct signable_rows rows = {.bags = bag, .count = 1};
    struct signatures_view view = {0};
    cog_status status = corpus_sign(&rows, &index->sign, NULL, 1, &view, NULL, 0, error);
    vector->hashes = (uint64_t *)view.data;
    vector->count = view.stride_bytes / sizeof *vector->hashes;
    return status;
}

cog_status live_vector_make(const cog_index *index, const struct bag_view *bag,
                            struct live_vector *vector, cog_error *error) {
    if (index_is_of_sets(index))
        return make_sets(bag, vector, error);
    if (index_is_of_minhash(index))
        return make_signature(index, bag, vector, error);
    struct term_entry *entries = NULL;
    float *weights = NULL;
    cog_status status = TAKEN(entries, bag->count + 1, "a document's terms", error);
    THEN(status, TAKEN(weights, bag->count + 1, "a document's terms", error));
    THEN(status, TAKEN(vector->hashes, bag->count + 1, "a document's terms", error));
    THEN(status, TAKEN(vector->values, bag->count + 1, "a document's terms", error));
    if (status == COG_OK) {
        weighting_apply(&index->weighting, index->statistics->counts, NULL, bag, weights);
        fill_vector(entries, bag, weights, vector);
    }
    free(entries);
    free(weights);
    return status;
}

static double cosine(const struct live_vector *a, const struct live_vector *b) {
    double sum = 0;
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        if (a->hashes[i] == b->hashes[j])
            sum += (double)a->values[i++] * (double)b->values[j++];
        else if (a->hashes[i] < b->hashes[j])
            i++;
        else
            j++;
    }
    return sum;
}

double live_vector_similarity(const cog_index *index, const struct live_vector *a,
                              const struct live_vector *b, double threshold) {
    const struct set_measure measure = {index->measure == COG_MEASURE_CONTAINMENT, threshold};
    if (index_is_of_minhash(index))
        return index_estimate(index,
                              hamming_distance((const uint8_t *)a->hashes,
                                               (const uint8_t *)b->hashes, index_bits(index)));
    return index_is_of_sets(index) ? document_set_similarity(&measure, &a->set, &b->set)
                                   : cosine(a, b);
}

/* ---- Workers --------------------------------------------------------------------------------- */

static void free_worker(struct live_worker *worker) {
    if (!worker)
        return;
    cog_searcher_free(worker->searcher);
    cog_index_close(worker->searched);
    analyzer_free(worker->analyzer);
    bag_counter_free(worker->counter);
    term_list_free(&worker->terms);
    free(worker);
}

cog_status live_take_worker(cog_live *live, struct live_worker **result, cog_error *error) {
    pthread_mutex_lock(&live->lock);
    struct live_worker *worker = live->idle;
    if (worker)
        live->idle = worker->next;
    pthread_mutex_unlock(&live->lock);
    *result = worker;
    if (worker)
        return COG_OK;
    TAKE_ZEROED(worker, 1, "a live index", error);
    uint64_t number;
    cog_index *shown = live_take_shown(live, &number);
    cog_status status = analyzer_create(&shown->terms, &worker->analyzer, error);
    THEN(status, bag_counter_create(&worker->counter, error));
    cog_index_close(shown);
    return HAND_OUT(status, worker, free_worker, result);
}

void live_return_worker(cog_live *live, struct live_worker *worker) {
    pthread_mutex_lock(&live->lock);
    worker->next = live->idle;
    live->idle = worker;
    pthread_mutex_unlock(&live->lock);
}

/* Makes the worker's searcher for a state, taking ownership of the state. For sets one match is
 * enough unless all are wanted. */
static cog_status prepare_searcher(struct live_worker *worker, cog_index *state, double threshold,
                                   bool all, cog_error *error) {
    cog_search_options options;
    cog_status status = COG_OK;
    cog_search_options_init(&options);
    options.k = 0;
    options.threshold = threshold;
    options.recall_sample = 0;
    options.recall = 1; /* a missed match would be added as a document */
    options.first = index_is_of_sets(state) && !all;
    if (worker->searcher &&
        (worker->searcher_threshold != threshold || worker->searcher_lists_all != all)) {
        cog_searcher_free(worker->searcher);
        worker->searcher = NULL;
    }
    if (!worker->searcher)
        status = cog_searcher_create(state, &options, &worker->searcher, error);
    else if (worker->searched != state)
        status = cog_searcher_move(worker->searcher, state, error);
    if (status != COG_OK) {
        cog_searcher_free(worker->searcher); /* it may still refer to the state closed below */
        worker->searcher = NULL;
    }
    worker->searcher_threshold = threshold;
    worker->searcher_lists_all = all;
    cog_index_close(worker->searched);
    worker->searched = state;
    return status;
}

cog_status live_find_match(struct live_worker *worker, cog_index *state,
                           const struct live_request *request, cog_live_outcome *outcome,
                           bool *found, cog_error *error) {
    const cog_hits *hits;
    *found = false;
    /* One of the matches may be the document to be replaced. */
    TRY(prepare_searcher(worker, state, request->options.unless_similar, request->options.upsert,
                         error));
    TRY(searcher_find_bag(worker->searcher, &request->bag, &hits, error));
    for (size_t i = 0; i < cog_hits_count(hits) && !*found; i++) {
        cog_hit hit = cog_hits_get(hits, i);
        struct bytes_view id;
        if (!index_row_id(state, hit.row, &id) ||
            (request->options.upsert && view_equals(id, request->id)))
            continue; /* the document to be replaced is no reason to reject */
        size_t size = id.size < sizeof outcome->match_id ? id.size : sizeof outcome->match_id - 1;
        memcpy(outcome->match_id, id.data, size);
        outcome->match_id[size] = 0;
        outcome->similarity = hit.similarity;
        *found = true;
    }
    return COG_OK;
}

/* ---- The handle ------------------------------------------------------------------------------ */

void cog_live_close(cog_live *live) {
    if (!live)
        return;
    live_end_merges(live);
    while (live->idle) {
        struct live_worker *worker = live->idle;
        live->idle = worker->next;
        free_worker(worker);
    }
    for (size_t i = 0; i < live->recent_count; i++) {
        free(live->recent[i].id);
        live_vector_free(&live->recent[i].vector);
    }
    free(live->recent);
    cog_index_close(live->shown);
    cog_index_close(live->index);
    pthread_key_delete(live->own_commit);
    pthread_mutex_destroy(&live->lock);
    pthread_cond_destroy(&live->turn);
    pthread_cond_destroy(&live->arrival);
    pthread_cond_destroy(&live->merge_call);
    free(live);
}

cog_status cog_live_create(cog_index *index, cog_live **result, cog_error *error) {
    TRY(check_given(index, "index", error));
    TRY(check_given(result, "live", error));
    if (!index->has_documents)
        return error_set(error, COG_ERR_USAGE,
                         "a live index needs documents; this one contains only signatures");
    cog_live *live;
    TAKE_ZEROED(live, 1, "a live index", error);
    if (pthread_key_create(&live->own_commit, NULL) != 0) {
        free(live);
        return error_set(error, COG_ERR_MEMORY,
                         "this process has too many live indexes open; close some of them");
    }
    pthread_mutex_init(&live->lock, NULL);
    pthread_cond_init(&live->turn, NULL);
    pthread_cond_init(&live->arrival, NULL);
    pthread_cond_init(&live->merge_call, NULL);
    live->last = &live->first;
    index->is_live = true;
    __atomic_store_n(&index->is_prepared, false, __ATOMIC_RELEASE);
    cog_status status = cog_index_snapshot(index, &live->shown, error);
    if (status == COG_OK) {
        live->index = index;
        live->is_in_memory = !index->folder;
        live->is_of_sets = index_is_of_sets(index);
        live_want_merge(live);
    }
    return HAND_OUT(status, live, cog_live_close, result);
}

cog_status cog_live_open(const char *folder, cog_live **live, cog_error *error) {
    cog_index *index = NULL;
    TRY(check_given(live, "live", error));
    TRY(cog_index_open(folder, &index, error));
    cog_status status = cog_live_create(index, live, error);
    if (status != COG_OK)
        cog_index_close(index);
    return status;
}

cog_index *live_take_shown(cog_live *live, uint64_t *number) {
    pthread_mutex_lock(&live->lock);
    cog_index *shown = cog_index_retain(live->shown);
    *number = live->shown_number;
    pthread_mutex_unlock(&live->lock);
    return shown;
}

/* The state with all changes acknowledged to the calling thread. It also has those acknowledged to
 * others, unless a commit is running after a second without requests for a state. Waits only for
 * changes of the calling thread. `number`: the first document that may be missing. cog_index_close
 * it. */
static cog_index *live_take_fresh(cog_live *live, uint64_t *number) {
    pthread_mutex_lock(&live->lock);
    live->read_ns = clock_ns();
    bool lacks_own = (uintptr_t)pthread_getspecific(live->own_commit) > live->shown_commit;
    bool leads = live->is_stale && !live->is_led && !live->leads_wanted;
    live->is_led |= leads;
    pthread_mutex_unlock(&live->lock);
    if (!leads && lacks_own)
        live_lead(live);
    if (leads || lacks_own) {
        if (live->is_stale)
            live_show(live, NULL); /* if that fails, the previous state stays */
        live_stop_leading(live);
    }
    return live_take_shown(live, number);
}

cog_status cog_live_snapshot(cog_live *live, cog_index **snapshot, cog_error *error) {
    uint64_t number;
    TRY(check_given(live, "live", error));
    TRY(check_given(snapshot, "snapshot", error));
    *snapshot = live_take_fresh(live, &number);
    return COG_OK;
}

cog_status live_show(cog_live *live, cog_error *error) {
    cog_index *fresh = NULL;
    cog_status status = cog_index_snapshot(live->index, &fresh, error);
    live_mark_noted(live);
    TRY(status);
    pthread_mutex_lock(&live->lock);
    cog_index *before = live->shown;
    live->shown = fresh;
    live->shown_number = live->recent_first + live->recent_count;
    live->shown_commit = live->commits;
    live->is_stale = false;
    pthread_mutex_unlock(&live->lock);
    cog_index_close(before);
    return COG_OK;
}

/* ---- The queue ------------------------------------------------------------------------------- */

void live_lead(cog_live *live) {
    pthread_mutex_lock(&live->lock);
    live->leads_wanted++;
    while (live->is_led)
        pthread_cond_wait(&live->turn, &live->lock);
    live->leads_wanted--;
    live->is_led = true;
    pthread_mutex_unlock(&live->lock);
}

/* Requires the lock: passes leadership to a waiting thread, if any. Returns the semaphore that
 * wakes the thread whose request is first, or NULL. */
static sem_t *hand_over(cog_live *live) {
    live->is_led = !live->leads_wanted && live->first;
    if (live->leads_wanted)
        pthread_cond_broadcast(&live->turn);
    if (!live->is_led)
        return NULL;
    const struct live_request *heir = live->first;
    while (!heir->wake)
        heir = heir->next;
    return heir->wake;
}

void live_stop_leading(cog_live *live) {
    pthread_mutex_lock(&live->lock);
    sem_t *heir = hand_over(live);
    pthread_mutex_unlock(&live->lock);
    if (heir)
        sem_post(heir);
}

/* Threads that shared the last commit are likely to return: waits for the same number, for a part
 * of the duration of a commit. Requires the lock. */
static void gather(cog_live *live) {
    struct timespec until;
    if (live->last_group < 2)
        return;
    clock_gettime(CLOCK_REALTIME, &until);
    uint64_t end = (uint64_t)until.tv_nsec + live->commit_ns / 4;
    until.tv_sec += (time_t)(end / 1000000000);
    until.tv_nsec = (long)(end % 1000000000);
    while (live->waiting < live->last_group &&
           pthread_cond_timedwait(&live->arrival, &live->lock, &until) == 0)
        ;
}

/* While leading: commits all waiting requests, and wakes their threads except the caller's. */
static void lead_group(cog_live *live, const sem_t *own) {
    pthread_mutex_lock(&live->lock);
    gather(live);
    struct live_request *group = live->first;
    live->last_group = live->waiting;
    live->waiting = 0;
    live->first = NULL;
    live->last = &live->first;
    pthread_mutex_unlock(&live->lock);
    uint64_t start = clock_ns();
    live_commit(live, group);
    pthread_mutex_lock(&live->lock);
    live->commit_ns = clock_ns() - start;
    sem_t *heir = hand_over(live);
    pthread_mutex_unlock(&live->lock);
    if (heir)
        sem_post(heir);
    for (struct live_request *each = group, *next; each; each = next) {
        sem_t *wake = each->wake;
        next = each->next;
        each->is_done = true;
        if (wake && wake != own)
            sem_post(wake); /* the request may no longer exist */
    }
}

void live_submit(cog_live *live, struct live_request *first, struct live_request *last) {
    sem_t wake;
    sem_init(&wake, 0, 0);
    last->wake = &wake;
    pthread_mutex_lock(&live->lock);
    *live->last = first;
    live->last = &last->next;
    for (const struct live_request *each = first; each; each = each->next)
        live->waiting++;
    if (live->waiting >= live->last_group)
        pthread_cond_signal(&live->arrival);
    bool leads = !live->is_led && !live->leads_wanted;
    live->is_led |= leads;
    pthread_mutex_unlock(&live->lock);
    while (!leads && sem_wait(&wake) != 0) /* interrupted by a signal */
        ;
    if (!last->is_done)
        lead_group(live, &wake);
    /* If out of memory, the thread may see the state before its change. */
    uintptr_t commit = (uintptr_t)__atomic_load_n(&live->commits, __ATOMIC_RELAXED);
    pthread_setspecific(live->own_commit, (void *)commit);
    sem_destroy(&wake);
}

static cog_status answer(const struct live_request *request, cog_live_outcome *outcome,
                         cog_error *error) {
    if (outcome)
        *outcome = request->outcome;
    if (request->status != COG_OK && error)
        *error = request->error;
    return request->status;
}

/* ---- Changes --------------------------------------------------------------------------------- */

void live_request_free(struct live_request *request) {
    live_vector_free(&request->vector);
    buffer_free(&request->addition);
}

cog_status live_prepare_request(cog_live *live, struct live_worker *worker,
                                struct live_request *request, bool *found, cog_error *error) {
    bool is_searched = request->options.unless_similar > 0;
    *found = false;
    if (request->bag.count && !changes_add_document(&request->addition, request->id, &request->bag))
        return error_memory(error, request->addition.size, "the log of an index");
    /* Set before the state is taken: a document added to it without being noted makes this request
     * search again. */
    if (is_searched)
        __atomic_store_n(&live->notes_recent, true, __ATOMIC_SEQ_CST);
    else if (!__atomic_load_n(&live->notes_recent, __ATOMIC_RELAXED))
        return COG_OK;
    cog_index *shown = is_searched ? live_take_fresh(live, &request->searched)
                                   : live_take_shown(live, &request->searched);
    cog_status status = live_vector_make(shown, &request->bag, &request->vector, error);
    request->has_vector = status == COG_OK;
    if (status == COG_OK && is_searched && request->bag.count)
        return live_find_match(worker, shown, request, &request->outcome, found, error);
    cog_index_close(shown);
    return status;
}

/* Reads the text, looks for a match in the visible state, and waits for the commit. */
static cog_status add_with(cog_live *live, struct live_worker *worker, struct bytes_view text,
                           struct bytes_view language, struct live_request *request,
                           cog_error *error) {
    bool found = false;
    cog_status status = analyzer_run(worker->analyzer, text, language, &worker->terms, error);
    if (live->is_of_sets)
        THEN(status, set_bag_mark(&worker->terms, text, error));
    THEN(status, bag_count(worker->counter, worker->terms.hashes, worker->terms.count,
                           &request->bag, error));
    THEN(status, live_prepare_request(live, worker, request, &found, error));
    if (status != COG_OK || found)
        return status;
    live_submit(live, request, request);
    return answer(request, NULL, error);
}

cog_status live_check_options(const cog_add_options *options, cog_error *error) {
    TRY(options_check_reserved(options->reserved, 4, "add", error));
    return options->unless_similar >= 0 && options->unless_similar <= 1
               ? COG_OK
               : error_about(error, COG_ERR_USAGE, "unless_similar",
                             "a similarity of %g: choose one from 0 to 1", options->unless_similar);
}

static cog_status check_addition(const cog_document *document, const cog_add_options *options,
                                 cog_error *error) {
    TRY(live_check_options(options, error));
    if (document->id_size == 0)
        return error_set(error, COG_ERR_INPUT, "a document without an id: give it one");
    if (!utf8_is_valid(document->text, document->text_size))
        return error_set(error, COG_ERR_INPUT, "the text is not valid UTF-8");
    return COG_OK;
}

cog_status cog_live_add(cog_live *live, const cog_document *document, const cog_add_options *asked,
                        cog_live_outcome *outcome, cog_error *error) {
    cog_add_options options;
    struct live_worker *worker = NULL;
    TRY(check_given(live, "live", error));
    TRY(check_given(document, "document", error));
    cog_add_options_init(&options);
    if (asked)
        options = *asked;
    TRY(check_addition(document, &options, error));
    struct live_request request = {.id = view_of(document->id, document->id_size),
                                   .options = options};
    TRY(live_take_worker(live, &worker, error));
    cog_status status = add_with(live, worker, view_of(document->text, document->text_size),
                                 view_of(document->lang, document->lang_size), &request, error);
    live_return_worker(live, worker);
    live_request_free(&request);
    if (outcome)
        *outcome = request.outcome;
    return status;
}

cog_status cog_live_remove(cog_live *live, const char *id, size_t id_size, bool *removed,
                           cog_error *error) {
    TRY(check_given(live, "live", error));
    TRY(check_given(id, "id", error));
    struct live_request request = {.is_removal = true, .id = view_of(id, id_size)};
    live_submit(live, &request, &request);
    if (removed)
        *removed = request.is_found;
    return answer(&request, NULL, error);
}

cog_status cog_live_refresh(cog_live *live, cog_error *error) {
    TRY(check_given(live, "live", error));
    live_lead(live);
    cog_status status = live->index->folder ? index_reload(live->index, error) : COG_OK;
    THEN(status, live_note_foreign(live, error));
    THEN(status, live_show(live, error));
    live_stop_leading(live);
    return status;
}
