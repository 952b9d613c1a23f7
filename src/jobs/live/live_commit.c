/* The leader's work on a live index: turns requests into one frame of the log. */
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "jobs/index/segment_change.h"
#include "jobs/live/live.h"

/* After this many additions, earlier requests must search again. */
enum { RECENT_MAX = 8192 };
/* Each commit makes its changes visible if a state was requested within this time. Otherwise the
 * next request for a state does, unless a commit is running, which then does. */
enum { READ_LATELY_NS = 1000000000 };

/* ---- Recently added documents ---------------------------------------------------------------- */

/* Discards them: requests that searched before must search again. */
static void forget_recent(cog_live *live) {
    pthread_mutex_lock(&live->lock);
    for (size_t i = 0; i < live->recent_count; i++) {
        free(live->recent[i].id);
        live_vector_free(&live->recent[i].vector);
    }
    live->recent_first += live->recent_count + 1;
    live->recent_count = 0;
    pthread_mutex_unlock(&live->lock);
}

/* Takes ownership of the vector. If there is no memory for a document, requests must search again.
 */
static void note_recent(cog_live *live, struct bytes_view id, struct live_vector *vector) {
    if (live->recent_count == RECENT_MAX)
        forget_recent(live);
    char *name = malloc(id.size + 1);
    pthread_mutex_lock(&live->lock);
    bool fits = name && memory_grow((void **)&live->recent, &live->recent_capacity,
                                    live->recent_count + 1, sizeof *live->recent);
    if (fits) {
        memcpy(name, id.data, id.size);
        live->recent[live->recent_count++] = (struct live_recent){name, id.size, *vector};
        *vector = (struct live_vector){0};
    }
    pthread_mutex_unlock(&live->lock);
    if (fits)
        return;
    free(name);
    forget_recent(live);
}

void live_mark_noted(cog_live *live) {
    live->noted = live->index->pending.corpus.rows;
}

/* Notes what other processes have added since the last commit. */
cog_status live_note_foreign(cog_live *live, cog_error *error) {
    const struct corpus *corpus = &live->index->pending.corpus;
    if (live->generation != live->index->generation) {
        live->generation = live->index->generation;
        forget_recent(live);
        live_mark_noted(live);
        return COG_OK;
    }
    bool notes = __atomic_load_n(&live->notes_recent, __ATOMIC_SEQ_CST);
    cog_status status = COG_OK;
    if (!notes && live->noted < corpus->rows)
        forget_recent(live);
    for (size_t row = live->noted; notes && row < corpus->rows && status == COG_OK; row++) {
        struct live_vector vector = {0};
        struct bag_view bag = corpus_bag(corpus, row);
        status = live_vector_make(live->shown, &bag, &vector, error);
        if (status == COG_OK)
            note_recent(live, corpus_id(corpus, row), &vector);
        live_vector_free(&vector);
    }
    live_mark_noted(live);
    return status;
}

/* ---- Deciding -------------------------------------------------------------------------------- */

/* Whether the index has the id after the requests before this one. */
static cog_status knows_id(const cog_live *live, const struct live_request *first,
                           const struct live_request *request, bool *known, cog_error *error) {
    uint64_t row;
    TRY(index_find_ids(live->index, &request->id, 1, &row, error));
    *known = row != UINT64_MAX || pending_has(&live->index->pending, request->id);
    for (const struct live_request *each = first; each != request; each = each->next)
        if (each->is_accepted && view_equals(each->id, request->id))
            *known = !each->is_removal;
    return COG_OK;
}

static void take_match(struct live_request *request, const char *id, size_t size,
                       double similarity) {
    if (similarity < request->options.unless_similar || similarity <= request->outcome.similarity ||
        (request->options.upsert && view_equals(request->id, view_of(id, size))))
        return;
    size = size < sizeof request->outcome.match_id ? size : sizeof request->outcome.match_id - 1;
    memcpy(request->outcome.match_id, id, size);
    request->outcome.match_id[size] = 0;
    request->outcome.similarity = similarity;
}

/* Looks for a match among documents added after the request's own search. */
static cog_status match_recent(cog_live *live, struct live_request *first,
                               struct live_request *request, cog_error *error) {
    bool found = false;
    if (request->searched < live->recent_first) {
        struct live_worker *worker;
        cog_index *state = NULL;
        TRY(live_take_worker(live, &worker, error));
        uint64_t number;
        cog_status status = live_show(live, error);
        if (status == COG_OK)
            state = live_take_shown(live, &number);
        THEN(status, live_find_match(worker, state, request, &request->outcome, &found, error));
        live_return_worker(live, worker);
        TRY(status);
        request->searched = live->shown_number;
    }
    if (found)
        return COG_OK;
    for (uint64_t i = request->searched - live->recent_first; i < live->recent_count; i++) {
        const struct live_recent *recent = &live->recent[i];
        struct bytes_view id = view_of(recent->id, recent->id_size);
        double similarity = live_vector_similarity(live->index, &request->vector, &recent->vector,
                                                   request->options.unless_similar);
        uint64_t row;
        if (similarity < request->options.unless_similar)
            continue;
        TRY(index_find_ids(live->index, &id, 1, &row, error));
        if (row != UINT64_MAX || pending_has(&live->index->pending, id)) /* not removed since */
            take_match(request, recent->id, recent->id_size, similarity);
    }
    for (struct live_request *each = first; each != request; each = each->next) {
        if (!each->is_accepted || each->is_removal)
            continue;
        if (!each->has_vector)
            TRY(live_vector_make(live->shown, &each->bag, &each->vector, error));
        each->has_vector = true;
        take_match(request, each->id.data, each->id.size,
                   live_vector_similarity(live->index, &request->vector, &each->vector,
                                          request->options.unless_similar));
    }
    return COG_OK;
}

static cog_status decide(cog_live *live, struct live_request *first, struct live_request *request,
                         struct buffer *payload, cog_error *error) {
    bool known;
    TRY(knows_id(live, first, request, &known, error));
    request->is_found = known;
    if (request->is_removal) {
        request->is_accepted = known;
        return !known || changes_remove_id(payload, request->id)
                   ? COG_OK
                   : error_memory(error, payload->size, "the log of an index");
    }
    if (known && !request->options.upsert)
        return error_set(error, COG_ERR_INPUT, "the id '%.*s' is already in the index",
                         (int)(request->id.size < 200 ? request->id.size : 200), request->id.data);
    if (request->options.unless_similar > 0 && request->bag.count) {
        TRY(match_recent(live, first, request, error));
        if (request->outcome.similarity > 0)
            return COG_OK;
    }
    request->outcome.replaced = known;
    request->outcome.added = request->bag.count > 0;
    request->is_accepted = known || request->outcome.added;
    bool fits = (!known || changes_remove_id(payload, request->id)) &&
                buffer_append(payload, request->addition.data, request->addition.size);
    return fits ? COG_OK : error_memory(error, payload->size, "the log of an index");
}

/* Whether an earlier document of its batch failed. A later one might be its near-duplicate, which
 * must not take its place. A document whose id is known is only skipped. */
static bool follows_failure(const struct live_request *request) {
    const struct live_request *previous = request->previous;
    return previous && previous->status != COG_OK && previous->status != COG_ERR_INPUT;
}

/* ---- Committing ------------------------------------------------------------------------------ */

static void fail_all(struct live_request *requests, cog_status status, const cog_error *error) {
    for (struct live_request *each = requests; each; each = each->next)
        if (each->status == COG_OK) {
            each->status = status;
            each->error = *error;
            each->outcome = (cog_live_outcome){0};
        }
}

/* A change in memory is made immediately. */
static cog_status make_durable(cog_live *live, const struct buffer *payload, cog_error *error) {
    if (live->index->folder)
        return log_commit(live->index, payload, NULL, error);
    return payload->size
               ? index_apply_changes(live->index, view_of(payload->data, payload->size), error)
               : COG_OK;
}

/* Writers wait for this, so the new segment gets no recall measures, and no tables if its
 * signatures are short: it will be merged soon and is small enough to be compared completely. */
static void flush(cog_live *live) {
    bool is_unmeasured = live->index->is_unmeasured;
    live->index->is_unmeasured = live->index->puts_tables_off = true;
    cog_status status = change_flush(live->index, 1, NULL, NULL);
    live->index->is_unmeasured = is_unmeasured;
    live->index->puts_tables_off = false;
    if (status != COG_OK)
        return;
    live->generation = live->index->generation;
    live_want_merge(live);
}

/* After the commit: the change is made even if something fails now. */
static void show_commit(cog_live *live, struct live_request *requests) {
    if (live->index->folder && log_is_full(live->index))
        flush(live);
    bool all_noted = true;
    for (struct live_request *each = requests; each; each = each->next)
        if (each->is_accepted && each->outcome.added) {
            if (each->has_vector)
                note_recent(live, each->id, &each->vector);
            all_noted &= each->has_vector;
        }
    if (!all_noted)
        forget_recent(live);
    /* No thread waits for a state with changes that are not acknowledged yet. */
    pthread_mutex_lock(&live->lock);
    bool is_read = clock_ns() - live->read_ns < READ_LATELY_NS;
    live->is_stale |= !is_read;
    __atomic_add_fetch(&live->commits, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&live->lock);
    if (is_read && live_show(live, NULL) != COG_OK) {
        pthread_mutex_lock(&live->lock);
        live->is_stale = true;
        pthread_mutex_unlock(&live->lock);
    } else if (!is_read && live->is_in_memory &&
               live->index->pending.corpus.rows >= PENDING_DOCUMENTS_MAX) {
        index_prepare(live->index, NULL); /* no flush does it */
    }
    live_mark_noted(live);
}

/* Requests must be durable in a shared folder before they reject others: a match found in data that
 * another process has written but not synced is synced by that process before it releases its lock.
 */
void live_commit(cog_live *live, struct live_request *requests) {
    double wait_seconds = 60;
    struct buffer payload = {0};
    cog_error error = {0};
    int lock = -1;
    for (const struct live_request *each = requests; each; each = each->next)
        if (each->options.wait_seconds > wait_seconds)
            wait_seconds = each->options.wait_seconds;
    cog_status status = change_begin(live->index, wait_seconds, &lock, NULL, &error);
    THEN(status, live_note_foreign(live, &error));
    for (struct live_request *each = requests; each && status == COG_OK; each = each->next) {
        size_t before = payload.size;
        if (follows_failure(each)) {
            each->status = each->previous->status;
            each->error = each->previous->error;
        } else {
            each->status = decide(live, requests, each, &payload, &each->error);
        }
        if (each->status != COG_OK) {
            payload.size = before;
            each->is_accepted = false;
        }
    }
    THEN(status, make_durable(live, &payload, &error));
    if (status != COG_OK)
        fail_all(requests, status, &error);
    else
        show_commit(live, requests);
    index_unlock(lock);
    buffer_free(&payload);
}
