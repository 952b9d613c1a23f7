#include "jobs/link/sentences/sentence_chain.h"

#include <stdlib.h>

#include "base/memory.h"

enum { CHAIN_NONE = UINT32_MAX };

void sentence_chain_free(struct sentence_chain *chain) {
    FREE(chain->sums, chain->previous, chain->tree, chain->cells);
}

/* The tree is a Fenwick tree: place p has the best of the places (p - lowbit(p), p]. */
static struct chain_best best_before(const struct chain_best *tree, uint32_t places) {
    struct chain_best best = {0, CHAIN_NONE};
    for (uint32_t place = places; place; place &= place - 1)
        if (tree[place].sum > best.sum)
            best = tree[place];
    return best;
}

static void add_best(struct chain_best *tree, uint32_t places, uint32_t place,
                     struct chain_best best) {
    for (; place <= places; place += place & (~place + 1))
        if (best.sum > tree[place].sum)
            tree[place] = best;
}

/* Makes the ends of a row's cells available to chains that continue after them. */
static void open_ends(struct sentence_chain *chain, const struct sentence_cells *cells,
                      const float *gains, uint32_t row, uint8_t from_more, uint32_t to_count) {
    for (size_t c = cells->row_starts[row]; c < cells->row_starts[row + 1]; c++) {
        const struct sentence_cell *cell = &cells->items[c];
        if (cell->from_more == from_more && gains[c] > 0)
            add_best(chain->tree, to_count, cell->to + cell->to_more + 1,
                     (struct chain_best){chain->sums[c], (uint32_t)c});
    }
}

static cog_status make_room(struct sentence_chain *chain, size_t cells, uint32_t from_count,
                            uint32_t to_count, cog_error *error) {
    if (cells >= CHAIN_NONE)
        return error_set(error, COG_ERR_MEMORY, "a document has too many sentences: split it");
    GROW(chain->sums, chain->sum_capacity, cells, "sentence pairs", error);
    GROW(chain->previous, chain->previous_capacity, cells, "sentence pairs", error);
    GROW(chain->tree, chain->tree_capacity, (size_t)to_count + 1, "sentence pairs", error);
    GROW(chain->cells, chain->cell_capacity, (size_t)from_count + 1, "sentence pairs", error);
    for (size_t place = 0; place <= to_count; place++)
        chain->tree[place] = (struct chain_best){0, CHAIN_NONE};
    return COG_OK;
}

static void follow(struct sentence_chain *chain, uint32_t last) {
    chain->count = 0;
    for (uint32_t cell = last; cell != CHAIN_NONE; cell = chain->previous[cell])
        chain->cells[chain->count++] = cell;
    for (size_t i = 0; i < chain->count / 2; i++) {
        uint32_t other = chain->cells[i];
        chain->cells[i] = chain->cells[chain->count - 1 - i];
        chain->cells[chain->count - 1 - i] = other;
    }
}

cog_status sentence_chain_find(struct sentence_chain *chain, const struct sentence_cells *cells,
                               const float *gains, uint32_t from_count, uint32_t to_count,
                               cog_error *error) {
    TRY(make_room(chain, cells->count, from_count, to_count, error));
    struct chain_best last = {0, CHAIN_NONE};
    for (uint32_t row = 0; row < from_count; row++) {
        if (row > 0)
            open_ends(chain, cells, gains, row - 1, 0, to_count);
        if (row > 1)
            open_ends(chain, cells, gains, row - 2, 1, to_count);
        for (size_t c = cells->row_starts[row]; c < cells->row_starts[row + 1]; c++) {
            struct chain_best before = best_before(chain->tree, cells->items[c].to);
            chain->sums[c] = before.sum + (double)gains[c];
            chain->previous[c] = before.cell;
            if (gains[c] > 0 && chain->sums[c] > last.sum)
                last = (struct chain_best){chain->sums[c], (uint32_t)c};
        }
    }
    follow(chain, last.cell);
    return COG_OK;
}
