/* The choice of a method, by a short rule and by measuring. */
#include "base/cpu.h"
#include "jobs/search/search_short.h"
#include "run/report.h"
#include "search/flat/flat.h"

enum {
    SMALL_COMPARISONS = 1 << 26, /* take less than a tenth of a second: not worth a choice */
    TRIED_ROWS = 1 << 16,
    TRIED_QUERIES = 512, /* a block of tiles */
    TRIED_SLICES_QUERIES = 8,
};

/* The segment with most rows. */
static const struct segment *largest_segment(const cog_index *index) {
    const struct segment *largest = &index->parts.segments[0];
    for (size_t i = 1; i < index->parts.manifest.count; i++)
        if (index->parts.segments[i].rows > largest->rows)
            largest = &index->parts.segments[i];
    return largest;
}

/* Seconds that all queries are expected to take exhaustively: a part of them is compared with a
 * part of the rows. */
static cog_status try_flat(const struct search_task *task, const struct signature_search *search,
                           double *seconds, cog_error *error) {
    struct signatures_view rows = largest_segment(task->index)->signatures;
    struct signatures_view queries = task->signatures;
    struct hit_lists results = {0};
    rows.rows = rows.rows < TRIED_ROWS ? rows.rows : TRIED_ROWS;
    queries.rows = queries.rows < TRIED_QUERIES ? queries.rows : TRIED_QUERIES;
    uint64_t start = clock_ns();
    cog_status status =
        search->k ? flat_search_topk(&rows, &queries, search->k, task->threads, &results, error)
                  : flat_search_radius(&rows, &queries, search->radius_bits, task->threads,
                                       &results, error);
    *seconds = clock_seconds_since(start) * (double)task->index->parts.rows / (double)rows.rows *
               (double)task->queries / (double)queries.rows;
    hit_lists_free(&results);
    return status;
}

/* The same for lists or columns: a few of the queries are answered, on one thread each. */
static cog_status try_method(const struct search_task *task, struct signature_search search,
                             double *seconds, cog_error *error) {
    struct signatures_view queries = task->signatures;
    struct hit_lists lists = {0};
    queries.rows = queries.rows < TRIED_SLICES_QUERIES ? queries.rows : TRIED_SLICES_QUERIES;
    search.queries = &queries;
    search.threads = 1;
    uint64_t start = clock_ns();
    cog_status status = search_signatures(&search, &lists, error);
    double share = (double)queries.rows / (double)task->queries;
    double threads = task->queries > TRIED_SLICES_QUERIES ? task->threads : 1;
    *seconds = clock_seconds_since(start) / share / threads;
    hit_lists_free(&lists);
    return status;
}

/* FLAT is the method so far; the other one takes its place if it is expected to be faster with the
 * effort that the recall needs. */
static cog_status choose_by_time(struct search_task *task, cog_method method, cog_error *error) {
    double flat_seconds = 0, other_seconds = 0;
    task->options.method = method;
    cog_status status = search_task_tune(task, error);
    if (status != COG_OK || task->options.method != method)
        return status;
    struct signature_search search = search_task_signatures(task, method);
    status = try_flat(task, &search, &flat_seconds, error);
    THEN(status, try_method(task, search, &other_seconds, error));
    report_number(task->report, "expected_seconds_flat", flat_seconds);
    report_number(task->report,
                  method == COG_METHOD_SLICES ? "expected_seconds_slices"
                                              : "expected_seconds_columns",
                  other_seconds);
    if (other_seconds >= flat_seconds)
        task->options.method = COG_METHOD_FLAT;
    return status;
}

static bool cosines_decide(const struct search_task *task) {
    return task->has_vectors && task->options.verify &&
           task->options.radius_bits == COG_RADIUS_NONE;
}

bool search_task_needs_signatures(const struct search_task *task) {
    return task->options.method != COG_METHOD_EXACT &&
           !(task->options.method == COG_METHOD_AUTO && cosines_decide(task));
}

static cog_status choose_method(struct search_task *task, cog_error *error) {
    task->options.method = search_short_choose(task);
    if (task->options.method != COG_METHOD_AUTO)
        return COG_OK;
    task->options.method = cosines_decide(task) ? COG_METHOD_EXACT : COG_METHOD_FLAT;
    bool columns = search_task_has_columns(task->index) && task->options.k;
    if (cosines_decide(task) || !(columns || search_task_has_lists(task->index)) ||
        (double)task->queries * (double)task->index->parts.rows < SMALL_COMPARISONS ||
        task->queries <= task->options.recall_sample)
        return COG_OK;
    return choose_by_time(task, columns ? COG_METHOD_COLUMNS : COG_METHOD_SLICES, error);
}

cog_status search_task_choose(struct search_task *task, cog_error *error) {
    TRY(task->options.method == COG_METHOD_AUTO ? choose_method(task, error) : COG_OK);
    return search_task_tune(task, error);
}
