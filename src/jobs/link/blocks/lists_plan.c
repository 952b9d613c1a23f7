#include "jobs/link/blocks/lists_plan.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "jobs/link/link_decoys.h"

enum { LEAST_BUDGET_BITS = 12 };

/* Decoys are chosen from the same proposals as links, and miss the same share of rivals. */
static const double RIVALS_FOUND = 0.9;

static double budget_of(int step) {
    return (double)(1 << (LEAST_BUDGET_BITS + step));
}

static int by_similarity(const void *x, const void *y) {
    const struct cosine_neighbour *a = x, *b = y;
    return ORDER(b->similarity, a->similarity);
}

cog_status lists_floor(const struct cosine_neighbours *truth, size_t wanted, float *floor,
                       cog_error *error) {
    struct cosine_neighbour *all;
    size_t count = 0, last = truth->queries * wanted;
    TAKE(all, truth->queries * truth->k, "a sample", error);
    for (size_t q = 0; q < truth->queries; q++)
        for (size_t i = 0; i < truth->counts[q]; i++)
            all[count++] = truth->items[q * truth->k + i];
    *floor = (float)COG_THRESHOLD_ACROSS;
    if (count) {
        qsort(all, count, sizeof *all, by_similarity);
        last = (last < count ? last : count) - (last > 0);
        *floor = fminf(*floor, all[last].similarity);
    }
    free(all);
    return COG_OK;
}

/* The kind of a true neighbour, or LISTS_KINDS if it is irrelevant. */
static int kind_of(const struct cosine_neighbour *neighbour, size_t rank, float floor) {
    enum { NEAREST = 10 };
    if (rank < NEAREST && (double)neighbour->similarity >= COG_THRESHOLD_ACROSS)
        return LISTS_PARTNER;
    return rank < LINK_RIVALS && neighbour->similarity >= floor ? LISTS_RIVAL : LISTS_KINDS;
}

static bool is_proposed(const struct asking *asking, size_t row) {
    for (size_t i = 0; i < asking->proposed_count; i++)
        if (asking->proposed[i].row == row)
            return true;
    return false;
}

void lists_try_budgets(struct asking *asking, const struct posting_block *block, size_t first,
                       const struct sparse_matrix *sample, size_t query,
                       const struct cosine_neighbours *truth, float floor,
                       struct lists_tally *tally) {
    const struct cosine_neighbour *items = truth->items + query * truth->k;
    const size_t end = first + block->rows.rows;
    size_t here = 0;
    for (size_t i = 0; i < truth->counts[query]; i++) {
        int kind = kind_of(&items[i], i, floor);
        if (kind == LISTS_KINDS || items[i].row < first || items[i].row >= end)
            continue;
        tally->trials[kind]++;
        here++;
    }
    for (int step = 0; step < LISTS_BUDGETS && here; step++) {
        asking_propose(asking, block, sample, query,
                       asking_least_worth(block->frequencies, sample, query, budget_of(step)));
        for (size_t i = 0; i < truth->counts[query]; i++) {
            int kind = kind_of(&items[i], i, floor);
            if (kind != LISTS_KINDS && items[i].row >= first &&
                is_proposed(asking, items[i].row - first))
                tally->hits[step][kind]++;
        }
    }
}

double lists_choose_budget(const struct lists_tally *tallies, size_t count, double recall) {
    for (int step = 0; step < LISTS_BUDGETS; step++) {
        double hits[LISTS_KINDS] = {0}, trials[LISTS_KINDS] = {0};
        for (size_t i = 0; i < count; i++)
            for (int kind = 0; kind < LISTS_KINDS; kind++) {
                hits[kind] += (double)tallies[i].hits[step][kind];
                trials[kind] += (double)tallies[i].trials[kind];
            }
        if (hits[LISTS_PARTNER] >= recall * trials[LISTS_PARTNER] &&
            hits[LISTS_RIVAL] >= RIVALS_FOUND * trials[LISTS_RIVAL])
            return budget_of(step);
    }
    return INFINITY;
}
