#include "jobs/pairs/set_pairs.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"
#include "jobs/pairs/match_sorter.h"
#include "jobs/pairs/set_memory.h"
#include "join/sets/set_join.h"
#include "plan/method_table.h"
#include "search/keys/key_sort.h"

enum {
    /* Memory per document in addition to its set and id: groups of equal documents, their order,
     * and the join's data per rank. */
    BYTES_PER_DOCUMENT = 40,
    SORTER_SHARE = 16,        /* of the room, for matches; doubled while they are sorted */
    SORTER_BYTES = 512 << 20, /* at most, without a limit */
    GROUP_GRAIN = 1024
};
#define NO_ROW UINT32_MAX

bool pairs_are_by_sets(const cog_pairs_options *options) {
    cog_method method = options->method;
    if (method == COG_METHOD_AUTO && options->knobs.given)
        method = options->knobs.method;
    return options->measure != COG_MEASURE_COSINE && options->verify &&
           (method == COG_METHOD_AUTO || method == COG_METHOD_EXACT);
}

cog_status set_pairs_read(struct pair_task *task, cog_documents *const *documents,
                          struct document_sets *sets, cog_error *error) {
    cog_documents *const both[2] = {documents[0], task->sides == 2 ? documents[1] : NULL};
    const struct corpus_options reading = {.terms = &task->terms, .sets = sets};
    TRY(set_memory_announce_disk(both, &task->terms, task->options.threshold, 0, &task->job,
                                 error));
    TRY(document_sets_open(sets, "-", error));
    for (size_t side = 0; side < task->sides; side++) {
        TRY(corpus_read(&task->corpora[side], both[side], &reading, task->run, task->report,
                        error));
        corpus_trim(&task->corpora[side]);
    }
    report_number(task->report, "scratch_bytes", (double)sets->file.size_bytes);
    return COG_OK;
}

/* ---- Equal documents ------------------------------------------------------------------------- */

/* Rows are numbered through both sides. The first row of a group of equal rows identifies the
 * group. */
struct set_pairs {
    struct pair_task *task;
    const struct document_sets *sets;
    size_t first_row[3]; /* of each side; then the number of rows */
    uint32_t *heads[2];  /* by group: its first row on a side, or NO_ROW */
    uint32_t *next;      /* by row: the next row of its group and side, or NO_ROW */
    uint32_t *order;     /* groups in the order of the join */
    size_t order_count, reference;
    size_t reference_side; /* the side whose groups come first, if there are two */
    struct match_sorter results;
};

static bool takes_part(const struct set_pairs *pairs, size_t side, size_t row) {
    const struct set_row *at = &pairs->sets->rows[row];
    const uint8_t *selected = pairs->task->selected[side];
    return at->terms + at->words > 0 && (!selected || selected[row - pairs->first_row[side]]);
}

/* Chains the rows of each group, per side. */
static cog_status chain_groups(struct set_pairs *pairs, const uint32_t *leaders, cog_error *error) {
    const size_t rows = pairs->sets->count;
    TAKE(pairs->next, rows, "equal documents", error);
    for (size_t side = 0; side < pairs->task->sides; side++) {
        uint32_t *heads;
        TAKE(pairs->heads[side], rows, "equal documents", error);
        heads = pairs->heads[side];
        for (size_t row = 0; row < rows; row++)
            heads[row] = NO_ROW;
        for (size_t row = pairs->first_row[side + 1]; row-- > pairs->first_row[side];) {
            if (!takes_part(pairs, side, row))
                continue;
            pairs->next[row] = heads[leaders[row]];
            heads[leaders[row]] = (uint32_t)row;
        }
    }
    return COG_OK;
}

static cog_status group_rows(struct set_pairs *pairs, struct document_sets *sets,
                             cog_error *error) {
    uint32_t *leaders = NULL;
    size_t groups = 0;
    cog_status status = document_sets_group(sets, &leaders, &groups, error);
    THEN(status, chain_groups(pairs, leaders, error));
    free(leaders);
    return status;
}

/* ---- Order ----------------------------------------------------------------------------------- */

static void add_groups(struct set_pairs *pairs, size_t side) {
    for (uint32_t group = 0; group < pairs->sets->count; group++)
        if (pairs->heads[side][group] != NO_ROW)
            pairs->order[pairs->order_count++] = group;
}

static uint64_t by_falling_size(const void *context, uint32_t group) {
    const struct set_pairs *pairs = context;
    return UINT64_MAX - pairs->sets->rows[group].terms;
}

static uint64_t terms_of_side(const struct set_pairs *pairs, size_t side) {
    uint64_t terms = 0;
    for (size_t row = pairs->first_row[side]; row < pairs->first_row[side + 1]; row++)
        terms += pairs->sets->rows[row].terms;
    return terms;
}

/* In a self-join: rows in order; for containment by descending size. Between two sides: the side
 * with fewer terms first, as the reference collection, which gets posting lists. */
static cog_status make_order(struct set_pairs *pairs, cog_error *error) {
    const bool contains = pairs->task->options.measure == COG_MEASURE_CONTAINMENT;
    TAKE(pairs->order, pairs->sets->count * pairs->task->sides, "documents", error);
    if (pairs->task->sides == 1) {
        add_groups(pairs, 0);
        return contains ? rows_sort(pairs->order, pairs->order_count, by_falling_size, pairs,
                                    pairs->task->threads, error)
                        : COG_OK;
    }
    pairs->reference_side = terms_of_side(pairs, 1) < terms_of_side(pairs, 0);
    add_groups(pairs, pairs->reference_side);
    pairs->reference = pairs->order_count;
    add_groups(pairs, 1 - pairs->reference_side);
    return COG_OK;
}

/* ---- Pairs of groups become pairs of rows ---------------------------------------------------- */

struct row_pairs {
    struct set_pairs *pairs;
    struct match items[1024];
    size_t count;
};

static cog_status flush(struct row_pairs *found, cog_error *error) {
    const size_t count = found->count;
    found->count = 0;
    return match_sorter_add(&found->pairs->results, found->items, count, error);
}

/* a must be the earlier row, or the row of side 0. */
static cog_status add_pair(struct row_pairs *found, uint32_t a, uint32_t b, float similarity,
                           cog_error *error) {
    const size_t second = found->pairs->task->sides == 2 ? found->pairs->first_row[1] : 0;
    if (found->count == sizeof found->items / sizeof *found->items)
        TRY(flush(found, error));
    found->items[found->count++] = second == 0 && b < a
                                       ? (struct match){b, a, 0, similarity}
                                       : (struct match){a, b - (uint32_t)second, 0, similarity};
    return COG_OK;
}

/* Adds all pairs of a row of a's chain and a row of b's chain. */
static cog_status add_product(struct row_pairs *found, uint32_t a, uint32_t b, float similarity,
                              cog_error *error) {
    const uint32_t *next = found->pairs->next;
    for (; a != NO_ROW; a = next[a])
        for (uint32_t other = b; other != NO_ROW; other = next[other])
            TRY(add_pair(found, a, other, similarity, error));
    return COG_OK;
}

/* A match_sieve.keep: all pairs go to the sorter. */
static cog_status take_groups(void *context, struct match *items, size_t *count, cog_error *error) {
    struct set_pairs *pairs = context;
    struct row_pairs found;
    found.pairs = pairs;
    found.count = 0;
    for (size_t i = 0; i < *count; i++) {
        /* the rank in the reference collection is always the smaller one */
        const bool swap = pairs->task->sides == 2 && pairs->reference_side == 1;
        const uint32_t a = pairs->order[swap ? items[i].b : items[i].a];
        const uint32_t b = pairs->order[swap ? items[i].a : items[i].b];
        if (a != b)
            TRY(add_product(&found, pairs->heads[0][a], pairs->heads[pairs->task->sides - 1][b],
                            items[i].similarity, error));
    }
    *count = 0;
    return flush(&found, error);
}

/* Adds pairs of equal rows, with similarity 1. */
static cog_status add_equal(void *context, unsigned worker, size_t begin, size_t end,
                            cog_error *error) {
    (void)worker;
    struct set_pairs *pairs = context;
    struct row_pairs found;
    found.pairs = pairs;
    found.count = 0;
    for (size_t group = begin; group < end; group++) {
        uint32_t row = pairs->heads[0][group];
        if (pairs->task->sides == 2) {
            TRY(add_product(&found, row, pairs->heads[1][group], 1, error));
            continue;
        }
        for (; row != NO_ROW; row = pairs->next[row])
            for (uint32_t other = pairs->next[row]; other != NO_ROW; other = pairs->next[other])
                TRY(add_pair(&found, row, other, 1, error));
    }
    return flush(&found, error);
}

/* ---- The join -------------------------------------------------------------------------------- */

static uint64_t held_bytes(const struct set_pairs *pairs) {
    const struct pair_task *task = pairs->task;
    uint64_t held = (uint64_t)pairs->sets->count * BYTES_PER_DOCUMENT;
    for (size_t side = 0; side < task->sides; side++)
        held += corpus_memory_bytes(&task->corpora[side]);
    return held;
}

static void report_join(const struct set_pairs *pairs, const struct set_join_result *result,
                        const struct match_list *matches) {
    cog_report *report = pairs->task->report;
    set_join_report(result, report);
    report_number(report, "matches", (double)matches->count);
    report_number(report, "disk_bytes",
                  (double)(pairs->sets->file.size_bytes + result->disk_bytes +
                           (matches->file.data ? 2 * matches->count * sizeof(struct match) : 0)));
    report_exact(report);
}

static cog_status join_groups(struct set_pairs *pairs, struct match_list *matches,
                              cog_error *error) {
    struct pair_task *task = pairs->task;
    const struct match_sieve sieve = {take_groups, pairs};
    struct set_join_options options = {
        .mode = SET_JOIN_PAIRS,
        .measure = {task->options.measure == COG_MEASURE_CONTAINMENT, task->options.threshold},
        .reference = pairs->reference,
        .sieve = &sieve,
        .near_path = "-"};
    struct set_join_result result = {0};
    uint64_t room;
    TRY(set_memory_room(pairs->sets, held_bytes(pairs), &task->job, &room, error));
    match_sorter_init(&pairs->results, room ? room / SORTER_SHARE : SORTER_BYTES);
    options.memory_bytes = room ? room - match_sorter_memory_bytes(room / SORTER_SHARE) : 0;
    struct set_memory memory = {pairs->sets, held_bytes(pairs), &task->job};
    set_memory_predict(&memory, &options);
    if (task->sides == 2 && pairs->reference == 0)
        options.reference = pairs->order_count; /* the reference is empty, so nothing is compared */
    cog_status status = set_join_run(&pairs->sets->file, pairs->order, pairs->order_count, &options,
                                     &task->job, &result, error);
    job_stage(&task->job, "listing");
    THEN(status,
         parallel_for(task->threads, pairs->sets->count, GROUP_GRAIN, add_equal, pairs, error));
    THEN(status, match_sorter_finish(&pairs->results, matches, error));
    job_stage(&task->job, NULL);
    if (status == COG_OK)
        report_join(pairs, &result, matches);
    set_join_result_free(&result);
    match_sorter_free(&pairs->results);
    return status;
}

cog_status set_pairs_join(struct pair_task *task, struct document_sets *sets,
                          struct match_list *matches, cog_error *error) {
    struct set_pairs pairs = {.task = task, .sets = sets};
    pairs.first_row[1] = task->corpora[0].rows;
    pairs.first_row[2] = sets->count;
    report_text(task->report, "method", method_name(task->options.method));
    report_number(task->report, "threshold", task->given_threshold);
    cog_status status = group_rows(&pairs, sets, error);
    THEN(status, make_order(&pairs, error));
    THEN(status, join_groups(&pairs, matches, error));
    for (size_t side = 0; side < 2; side++)
        free(pairs.heads[side]);
    free(pairs.next);
    free(pairs.order);
    return status;
}
