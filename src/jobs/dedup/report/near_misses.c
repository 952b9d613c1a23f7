#include "jobs/dedup/report/near_misses.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/numbers.h"

enum {
    CANDIDATES_MOST = 256, /* per row */
    CANDIDATE_COST = 50,   /* of verifying a candidate, in postings */
    NEAR_MISS_COST = 3,    /* factor for near candidates, which sketches do not rule out */
    ROW_COST_MOST = 2 * CANDIDATES_MOST * CANDIDATE_COST * NEAR_MISS_COST,
    TRIED_ROWS = 256, /* rows whose cost is measured, with a sample of the kept rows */
    TRIED_KEPT = 1 << 14,
    SEED = 1,
};

uint64_t near_search_cost(const struct set_join_result *result) {
    return result->comparisons + CANDIDATE_COST * result->candidates;
}

void near_found_free(struct near_found *found) {
    FREE(found->at, found->nearest, found->similarity);
    *found = (struct near_found){0};
}

/* The rows of a join: every step-th kept row, followed by rows asked[at[i]]. */
struct near_order {
    uint32_t *rows;
    size_t kept, count;
};

static cog_status make_order(const struct near_search *search, size_t step,
                             const struct near_found *found, struct near_order *order,
                             cog_error *error) {
    order->kept = (search->kept_count + step - 1) / step;
    order->count = order->kept + found->count;
    TAKE(order->rows, order->count, "documents", error);
    for (size_t i = 0; i < order->kept; i++)
        order->rows[i] = search->kept[i * step];
    for (size_t i = 0; i < found->count; i++)
        order->rows[order->kept + i] = search->asked[found->at[i]];
    return COG_OK;
}

static cog_status join(const struct near_search *search, const struct near_order *order,
                       const struct join_folder *work, struct job *job,
                       struct set_join_result *result, cog_error *error) {
    const struct set_join_options options = {.mode = SET_JOIN_REPRESENTATIVES,
                                             .measure = search->measure,
                                             .floor = search->floor,
                                             .candidates_most = CANDIDATES_MOST,
                                             .reference = order->kept,
                                             .memory_bytes = search->memory_bytes,
                                             .near_path = search->near_path,
                                             .work = work};
    return set_join_run(search->file, order->rows, order->count, &options, job, result, error);
}

/* Moves `count` random positions to the front. */
static void draw(const struct near_search *search, struct near_found *found, size_t count) {
    for (uint32_t i = 0; i < search->asked_count; i++)
        found->at[i] = i;
    found->count = count;
    for (size_t i = 0; i < count && count < search->asked_count; i++) {
        const size_t other = i + (size_t)(hash_pair(SEED, i) % (search->asked_count - i));
        const uint32_t moved = found->at[i];
        found->at[i] = found->at[other];
        found->at[other] = moved;
    }
}

/* Estimates how many rows the budget allows, from the cost of a sample. */
static cog_status count_affordable(const struct near_search *search, const struct near_found *tried,
                                   struct job *job, size_t *count, cog_error *error) {
    const size_t step = search->kept_count / TRIED_KEPT + 1;
    struct near_order order = {0};
    struct set_join_result result = {0};
    cog_status status = make_order(search, step, tried, &order, error);
    THEN(status, join(search, &order, NULL, job, &result, error));
    const uint64_t measured = NEAR_MISS_COST * near_search_cost(&result) * step / tried->count + 1;
    const uint64_t cost = measured < ROW_COST_MOST ? measured : ROW_COST_MOST;
    const uint64_t most = search->budget / cost;
    *count = most < search->asked_count ? (size_t)most : search->asked_count;
    *count = *count < tried->count ? tried->count : *count;
    free(order.rows);
    set_join_result_free(&result);
    return status;
}

static cog_status find(const struct near_search *search, struct job *job, struct near_found *found,
                       cog_error *error) {
    struct near_order order = {0};
    struct set_join_result result = {0};
    cog_status status = make_order(search, 1, found, &order, error);
    THEN(status, join(search, &order, search->work, job, &result, error));
    THEN(status, TAKEN(found->nearest, found->count, "nearest documents", error));
    THEN(status, TAKEN(found->similarity, found->count, "nearest documents", error));
    for (size_t i = 0; i < found->count && status == COG_OK; i++) {
        const uint32_t nearest = result.nearest[order.kept + i];
        found->nearest[i] = nearest == UINT32_MAX ? nearest : order.rows[nearest];
        found->similarity[i] = result.nearest_similarity[order.kept + i];
    }
    free(order.rows);
    set_join_result_free(&result);
    return status;
}

cog_status near_search_run(const struct near_search *search, struct job *job,
                           struct near_found *found, cog_error *error) {
    size_t count = search->asked_count;
    if (search->asked_count == 0 || search->kept_count == 0)
        return COG_OK;
    TAKE(found->at, search->asked_count, "documents", error);
    if (search->asked_count > 2 * TRIED_ROWS) {
        draw(search, found, TRIED_ROWS);
        TRY(count_affordable(search, found, job, &count, error));
    }
    draw(search, found, count);
    qsort(found->at, found->count, sizeof *found->at, compare_u32); /* in file order */
    return find(search, job, found, error);
}
