#include "jobs/link/sentences/sentence_pairs.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "jobs/link/sentences/sentence_chain.h"

enum { NO_PAIR = UINT32_MAX, SUPPORT_REACH = 3 };
/* Tuned on parliament debates not used for any lexicon, in order and shuffled, complete and with a
 * third of the sentences of either side removed. */
#define SENTENCE_SUPPORT 0.4f
#define SENTENCE_LEAD 0.5f
/* Cells below this cosine are never pairs. */
#define LEAST_COSINE 0.1f

cog_status sentence_pairing_init(struct sentence_pairing *pairing, uint32_t column_count,
                                 cog_error *error) {
    return sentence_finder_init(&pairing->finder, column_count, error);
}

void sentence_pairing_free(struct sentence_pairing *pairing) {
    sentence_finder_free(&pairing->finder);
    sentence_cells_free(&pairing->singles);
    sentence_cells_free(&pairing->cells);
    FREE(pairing->likeness[0], pairing->likeness[1], pairing->rivals[0], pairing->rivals[1],
         pairing->gains, pairing->partners[0], pairing->partners[1], pairing->pairs);
}

/* ---- Two sentences for one ------------------------------------------------------------------- */

static cog_status measure_likeness(struct sentence_pairing *pairing,
                                   const struct sentence_sides *sides, int side, cog_error *error) {
    const struct sparse_matrix *vectors = &sides->vectors[side];
    uint32_t count = sides->counts[side];
    GROW(pairing->likeness[side], pairing->likeness_capacity[side], (size_t)count + 1,
         "sentence pairs", error);
    for (uint32_t i = 0; i + 1 < count; i++)
        pairing->likeness[side][i] = (float)sparse_row_dot(vectors, sides->begins[side] + i,
                                                           vectors, sides->begins[side] + i + 1);
    return COG_OK;
}

/* The length of a sentence's vector before it was scaled to 1, estimated from its number of terms.
 */
static float length_of(const struct sentence_sides *sides, int side, uint32_t sentence) {
    const uint64_t *offsets = sides->vectors[side].offsets + sides->begins[side] + sentence;
    return sqrtf((float)(offsets[1] - offsets[0]));
}

/* The cosine of two adjacent sentences together, the first of which is `first`, with a sentence
 * whose cosines with each are given. */
static float joined_cosine(const struct sentence_pairing *pairing,
                           const struct sentence_sides *sides, int side, uint32_t first,
                           float cosine_first, float cosine_second) {
    float a = length_of(sides, side, first), b = length_of(sides, side, first + 1);
    float squares = a * a + b * b + 2 * a * b * pairing->likeness[side][first];
    return squares > 0 ? (a * cosine_first + b * cosine_second) / sqrtf(squares) : 0;
}

/* Adds the joined cell if it is better than its two parts. */
static cog_status join_cells(struct sentence_pairing *pairing, const struct sentence_sides *sides,
                             const struct sentence_cell *first, const struct sentence_cell *second,
                             cog_error *error) {
    int side = first->from == second->from;
    float cosine = joined_cosine(pairing, sides, side, side ? first->to : first->from,
                                 first->cosine, second->cosine);
    float best = first->cosine > second->cosine ? first->cosine : second->cosine;
    if (!(cosine > best && best >= LEAST_COSINE))
        return COG_OK;
    return sentence_cells_add(
        &pairing->cells,
        (struct sentence_cell){first->from, first->to, cosine, (uint8_t)!side, (uint8_t)side},
        error);
}

/* Adds the cells of a row, and cells that join two of its own or one of its own and one of the next
 * row. */
static cog_status join_row(struct sentence_pairing *pairing, const struct sentence_sides *sides,
                           uint32_t row, cog_error *error) {
    const struct sentence_cells *singles = &pairing->singles;
    size_t end = singles->row_starts[row + 1], below = end;
    size_t below_end = row + 1 < sides->counts[0] ? singles->row_starts[row + 2] : end;
    TRY(sentence_cells_begin_row(&pairing->cells, row, error));
    for (size_t c = singles->row_starts[row]; c < end; c++) {
        const struct sentence_cell *cell = &singles->items[c];
        TRY(sentence_cells_add(&pairing->cells, *cell, error));
        if (c + 1 < end && cell[1].to == cell->to + 1)
            TRY(join_cells(pairing, sides, cell, cell + 1, error));
        while (below < below_end && singles->items[below].to < cell->to)
            below++;
        if (below < below_end && singles->items[below].to == cell->to)
            TRY(join_cells(pairing, sides, cell, &singles->items[below], error));
    }
    return COG_OK;
}

static cog_status find_cells(struct sentence_pairing *pairing, const struct sentence_sides *sides,
                             bool all, cog_error *error) {
    TRY(sentence_cells_find(&pairing->finder, sides, all, &pairing->singles, error));
    TRY(measure_likeness(pairing, sides, 0, error));
    TRY(measure_likeness(pairing, sides, 1, error));
    pairing->cells.count = 0;
    for (uint32_t row = 0; row < sides->counts[0]; row++)
        TRY(join_row(pairing, sides, row, error));
    return sentence_cells_begin_row(&pairing->cells, sides->counts[0], error);
}

/* ---- Lead ------------------------------------------------------------------------------------ */

static void add_rival(struct sentence_rivals *rivals, float cosine) {
    if (cosine > rivals->best) {
        rivals->second = rivals->best;
        rivals->best = cosine;
    } else if (cosine > rivals->second) {
        rivals->second = cosine;
    }
}

/* The two largest cosines of every sentence of either side. */
static cog_status find_rivals(struct sentence_pairing *pairing, const struct sentence_sides *sides,
                              cog_error *error) {
    const struct sentence_cells *cells = &pairing->singles;
    for (int side = 0; side < 2; side++) {
        GROW(pairing->rivals[side], pairing->rival_capacity[side], (size_t)sides->counts[side] + 1,
             "sentence pairs", error);
        for (size_t i = 0; i < sides->counts[side]; i++)
            pairing->rivals[side][i] = (struct sentence_rivals){0, 0};
    }
    for (size_t c = 0; c < cells->count; c++) {
        add_rival(&pairing->rivals[0][cells->items[c].from], cells->items[c].cosine);
        add_rival(&pairing->rivals[1][cells->items[c].to], cells->items[c].cosine);
    }
    return COG_OK;
}

/* A pair's lead over the next best of both sentences; 0 if one of them prefers another. */
static float lead_of(const struct sentence_pairing *pairing, const struct sentence_cell *cell) {
    const struct sentence_rivals *from = &pairing->rivals[0][cell->from];
    const struct sentence_rivals *to = &pairing->rivals[1][cell->to];
    if (cell->from_more || cell->to_more || cell->cosine < from->best || cell->cosine < to->best)
        return 0;
    return cell->cosine - (from->second > to->second ? from->second : to->second);
}

/* ---- Support --------------------------------------------------------------------------------- */

/* The cosine of the pair of a sentence at this distance before or after a pair, if its place in the
 * target is as far away, give or take as much; otherwise 0. */
static float support_at(const struct sentence_pairing *pairing, const struct sentence_cell *cell,
                        uint32_t from, uint32_t distance) {
    uint32_t number = pairing->partners[0][from];
    if (number == NO_PAIR)
        return 0;
    const struct sentence_cell *other = &pairing->pairs[number].cell;
    int64_t shift =
        ((int64_t)other->to - (int64_t)cell->to) - ((int64_t)other->from - (int64_t)cell->from);
    return shift <= (int64_t)distance && -shift <= (int64_t)distance ? other->cosine : 0;
}

static float support_of(const struct sentence_pairing *pairing, const struct sentence_cell *cell,
                        uint32_t from_count) {
    float sum = 0;
    uint32_t places = 0, last = cell->from + cell->from_more;
    for (uint32_t distance = 1; distance <= SUPPORT_REACH; distance++) {
        if (cell->from >= distance) {
            sum += support_at(pairing, cell, cell->from - distance, distance);
            places++;
        }
        if (last + distance < from_count) {
            sum += support_at(pairing, cell, last + distance, distance);
            places++;
        }
    }
    return places ? sum / (float)places : 0;
}

static void mark(struct sentence_pairing *pairing, const struct sentence_cell *cell,
                 uint32_t number) {
    for (uint32_t i = 0; i <= cell->from_more; i++)
        pairing->partners[0][cell->from + i] = number;
    for (uint32_t i = 0; i <= cell->to_more; i++)
        pairing->partners[1][cell->to + i] = number;
}

/* Scores all pairs by the surrounding pairs, and keeps those that reach the threshold. */
static void keep_supported(struct sentence_pairing *pairing, uint32_t from_count,
                           double threshold) {
    size_t kept = 0;
    for (size_t p = 0; p < pairing->count; p++) {
        struct sentence_pair *pair = &pairing->pairs[p];
        pair->score = pair->cell.cosine + SENTENCE_LEAD * lead_of(pairing, &pair->cell) +
                      SENTENCE_SUPPORT * support_of(pairing, &pair->cell, from_count);
    }
    for (size_t p = 0; p < pairing->count; p++)
        mark(pairing, &pairing->pairs[p].cell, NO_PAIR);
    for (size_t p = 0; p < pairing->count; p++)
        if ((double)pairing->pairs[p].score >= threshold)
            pairing->pairs[kept++] = pairing->pairs[p];
    pairing->count = kept;
    for (size_t p = 0; p < kept; p++)
        mark(pairing, &pairing->pairs[p].cell, (uint32_t)p);
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

static cog_status add_pair(struct sentence_pairing *pairing, const struct sentence_cell *cell,
                           cog_error *error) {
    GROW(pairing->pairs, pairing->pair_capacity, pairing->count + 1, "sentence pairs", error);
    mark(pairing, cell, (uint32_t)pairing->count);
    pairing->pairs[pairing->count++] = (struct sentence_pair){.cell = *cell};
    return COG_OK;
}

static cog_status forget_pairs(struct sentence_pairing *pairing, const struct sentence_sides *sides,
                               cog_error *error) {
    pairing->count = pairing->singles.count = 0;
    for (int side = 0; side < 2; side++) {
        GROW(pairing->partners[side], pairing->partner_capacity[side],
             (size_t)sides->counts[side] + 1, "sentence pairs", error);
        for (size_t i = 0; i < sides->counts[side]; i++)
            pairing->partners[side][i] = NO_PAIR;
    }
    return COG_OK;
}

/* The gain of a cell is multiplied by its number of sentences, so that a joined cell does not lose
 * against the better of its parts. */
static cog_status pair_chain(struct sentence_pairing *pairing, const struct sentence_sides *sides,
                             cog_error *error) {
    const struct sentence_cells *cells = &pairing->cells;
    GROW(pairing->gains, pairing->gain_capacity, cells->count, "sentence pairs", error);
    for (size_t c = 0; c < cells->count; c++) {
        const struct sentence_cell *cell = &cells->items[c];
        pairing->gains[c] =
            (cell->cosine - LEAST_COSINE) * (1 + 0.5f * (float)(cell->from_more + cell->to_more));
    }
    struct sentence_chain *chain = pairing->finder.chain;
    TRY(sentence_chain_find(chain, cells, pairing->gains, sides->counts[0], sides->counts[1],
                            error));
    for (size_t i = 0; i < chain->count; i++)
        TRY(add_pair(pairing, &cells->items[chain->cells[i]], error));
    return COG_OK;
}

static int by_cosine(const void *x, const void *y) {
    const struct sentence_cell *a = x, *b = y;
    if (a->cosine != b->cosine)
        return a->cosine > b->cosine ? -1 : 1;
    return a->from != b->from ? ORDER(a->from, b->from) : ORDER(a->to, b->to);
}

static bool is_free(const struct sentence_pairing *pairing, const struct sentence_cell *cell) {
    return pairing->partners[0][cell->from] == NO_PAIR && pairing->partners[1][cell->to] == NO_PAIR;
}

/* Pairs the remaining sentences, best first; moves their cells to the front. */
static cog_status pair_rest(struct sentence_pairing *pairing, cog_error *error) {
    struct sentence_cells *cells = &pairing->singles;
    size_t count = 0;
    for (size_t c = 0; c < cells->count; c++)
        if (cells->items[c].cosine >= LEAST_COSINE && is_free(pairing, &cells->items[c]))
            cells->items[count++] = cells->items[c];
    if (count)
        qsort(cells->items, count, sizeof *cells->items, by_cosine);
    for (size_t c = 0; c < count; c++)
        if (is_free(pairing, &cells->items[c]))
            TRY(add_pair(pairing, &cells->items[c], error));
    return COG_OK;
}

static int by_source(const void *x, const void *y) {
    const struct sentence_pair *a = x, *b = y;
    return ORDER(a->cell.from, b->cell.from);
}

cog_status sentence_pairs_find(struct sentence_pairing *pairing, const struct sentence_sides *sides,
                               double threshold, bool all, cog_error *error) {
    TRY(forget_pairs(pairing, sides, error));
    if (sides->counts[0] == 0 || sides->counts[1] == 0)
        return COG_OK;
    TRY(find_cells(pairing, sides, all, error));
    TRY(find_rivals(pairing, sides, error));
    TRY(pair_chain(pairing, sides, error));
    keep_supported(pairing, sides->counts[0], threshold);
    TRY(pair_rest(pairing, error));
    keep_supported(pairing, sides->counts[0], threshold);
    if (pairing->count)
        qsort(pairing->pairs, pairing->count, sizeof *pairing->pairs, by_source);
    return COG_OK;
}
