#include "jobs/link/sentences/sentence_cells.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "jobs/link/sentences/sentence_chain.h"

void sentence_cells_free(struct sentence_cells *cells) {
    FREE(cells->items, cells->row_starts);
}

cog_status sentence_finder_init(struct sentence_finder *finder, uint32_t column_count,
                                cog_error *error) {
    finder->column_count = column_count;
    TAKE_ZEROED(finder->dense, column_count, "sentence pairs", error);
    TAKE_ZEROED(finder->lists, column_count, "sentence pairs", error);
    return TAKEN_ZEROED(finder->chain, 1, "sentence pairs", error);
}

void sentence_finder_free(struct sentence_finder *finder) {
    if (finder->chain)
        sentence_chain_free(finder->chain);
    sentence_cells_free(&finder->candidates);
    FREE(finder->dense, finder->lists, finder->postings, finder->sums, finder->touched,
         finder->gains, finder->bests, finder->chain);
}

/* The entries of a sentence's vector. */
static void entries_of(const struct sentence_sides *sides, int side, uint32_t sentence,
                       uint64_t *begin, uint64_t *end) {
    const uint64_t *offsets = sides->vectors[side].offsets + sides->begins[side] + sentence;
    *begin = offsets[0];
    *end = offsets[1];
}

static float cosine_of(const struct sentence_finder *finder, const struct sentence_sides *sides,
                       uint32_t to) {
    return (float)sparse_dense_dot(finder->dense, &sides->vectors[1], sides->begins[1] + to);
}

cog_status sentence_cells_begin_row(struct sentence_cells *cells, uint32_t row, cog_error *error) {
    GROW(cells->row_starts, cells->row_capacity, (size_t)row + 1, "sentence pairs", error);
    cells->row_starts[row] = cells->count;
    return COG_OK;
}

cog_status sentence_cells_add(struct sentence_cells *cells, struct sentence_cell cell,
                              cog_error *error) {
    GROW(cells->items, cells->capacity, cells->count + 1, "sentence pairs", error);
    cells->items[cells->count++] = cell;
    return COG_OK;
}

/* ---- Candidates by rare terms ---------------------------------------------------------------- */

/* Builds posting lists of the target sentences; lists that would be too long stay empty. */
static cog_status fill_lists(struct sentence_finder *finder, const struct sentence_sides *sides,
                             cog_error *error) {
    const struct sparse_matrix *vectors = &sides->vectors[1];
    uint32_t total = 0;
    for (uint32_t row = 0; row < sides->counts[1]; row++) {
        uint64_t begin, end;
        entries_of(sides, 1, row, &begin, &end);
        for (uint64_t e = begin; e < end; e++) {
            struct sentence_list *list = &finder->lists[vectors->columns[e]];
            if (list->count > SENTENCE_LIST_MOST)
                continue;
            if (list->filled == 0) {
                list->start = total;
                total += list->count;
                GROW(finder->postings, finder->posting_capacity, (size_t)total, "posting lists",
                     error);
            }
            finder->postings[list->start + list->filled++] =
                (struct sentence_posting){row, vectors->values[e]};
        }
    }
    return COG_OK;
}

/* Counts the entries of all target sentences by term, or resets the counts. */
static void count_entries(struct sentence_finder *finder, const struct sentence_sides *sides,
                          bool counts) {
    const struct sparse_matrix *vectors = &sides->vectors[1];
    uint64_t begin = vectors->offsets[sides->begins[1]];
    uint64_t end = vectors->offsets[sides->begins[1] + sides->counts[1]];
    for (uint64_t e = begin; e < end; e++) {
        struct sentence_list *list = &finder->lists[vectors->columns[e]];
        if (!counts)
            *list = (struct sentence_list){0, 0, 0};
        else if (list->count <= SENTENCE_LIST_MOST)
            list->count++;
    }
}

/* Adds up the products of rare terms; returns the number of target sentences touched. */
static size_t add_products(struct sentence_finder *finder, const struct sentence_sides *sides,
                           uint32_t from) {
    const struct sparse_matrix *vectors = &sides->vectors[0];
    uint64_t begin, end;
    size_t touched = 0;
    entries_of(sides, 0, from, &begin, &end);
    for (uint64_t e = begin; e < end; e++) {
        const struct sentence_list *list = &finder->lists[vectors->columns[e]];
        for (uint32_t p = list->start; p < list->start + list->filled; p++) {
            struct sentence_posting posting = finder->postings[p];
            if (finder->sums[posting.row] == 0)
                finder->touched[touched++] = posting.row;
            finder->sums[posting.row] += vectors->values[e] * posting.value;
        }
    }
    return touched;
}

/* Moves the target sentences with the largest sums to `best`, by number; clears the sums. */
static size_t take_largest(struct sentence_finder *finder, size_t touched, uint32_t *best) {
    size_t count = 0;
    for (size_t i = 0; i < touched; i++) {
        uint32_t row = finder->touched[i];
        size_t place = count;
        while (place &&
               (finder->sums[best[place - 1]] < finder->sums[row] ||
                (finder->sums[best[place - 1]] == finder->sums[row] && best[place - 1] > row)))
            place--;
        if (place == SENTENCE_CANDIDATES)
            continue;
        count += count < SENTENCE_CANDIDATES;
        memmove(best + place + 1, best + place, (count - place - 1) * sizeof *best);
        best[place] = row;
    }
    for (size_t i = 0; i < touched; i++)
        finder->sums[finder->touched[i]] = 0;
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j && best[j - 1] > best[j]; j--) {
            uint32_t other = best[j];
            best[j] = best[j - 1];
            best[j - 1] = other;
        }
    return count;
}

static cog_status find_candidates(struct sentence_finder *finder,
                                  const struct sentence_sides *sides, cog_error *error) {
    struct sentence_cells *cells = &finder->candidates;
    size_t before = finder->sum_capacity;
    GROW(finder->sums, finder->sum_capacity, (size_t)sides->counts[1], "sentence pairs", error);
    for (size_t i = before; i < finder->sum_capacity; i++)
        finder->sums[i] = 0;
    GROW(finder->touched, finder->touched_capacity, (size_t)sides->counts[1], "sentence pairs",
         error);
    count_entries(finder, sides, true);
    cog_status status = fill_lists(finder, sides, error);
    cells->count = 0;
    for (uint32_t from = 0; from < sides->counts[0] && status == COG_OK; from++) {
        uint32_t best[SENTENCE_CANDIDATES];
        size_t count = take_largest(finder, add_products(finder, sides, from), best);
        sparse_spread(&sides->vectors[0], sides->begins[0] + from, finder->dense);
        status = sentence_cells_begin_row(cells, from, error);
        for (size_t i = 0; i < count && status == COG_OK; i++)
            status = sentence_cells_add(
                cells,
                (struct sentence_cell){from, best[i], cosine_of(finder, sides, best[i]), 0, 0},
                error);
        sparse_clear(&sides->vectors[0], sides->begins[0] + from, finder->dense);
    }
    THEN(status, sentence_cells_begin_row(cells, sides->counts[0], error));
    count_entries(finder, sides, false);
    return status;
}

/* Resets the candidates to none. */
static cog_status leave_candidates(struct sentence_finder *finder,
                                   const struct sentence_sides *sides, cog_error *error) {
    struct sentence_cells *cells = &finder->candidates;
    cells->count = finder->chain->count = 0;
    for (uint32_t from = 0; from <= sides->counts[0]; from++)
        TRY(sentence_cells_begin_row(cells, from, error));
    return COG_OK;
}

/* ---- Places between anchors ------------------------------------------------------------------ */

/* The largest cosine of every sentence of either side, source first. */
static cog_status find_bests(struct sentence_finder *finder, const struct sentence_sides *sides,
                             cog_error *error) {
    const struct sentence_cells *cells = &finder->candidates;
    size_t total = (size_t)sides->counts[0] + sides->counts[1];
    GROW(finder->bests, finder->best_capacity, total, "sentence pairs", error);
    for (size_t i = 0; i < total; i++)
        finder->bests[i] = 0;
    for (size_t c = 0; c < cells->count; c++) {
        const struct sentence_cell *cell = &cells->items[c];
        float *from = &finder->bests[cell->from], *to = &finder->bests[sides->counts[0] + cell->to];
        if (cell->cosine > *from)
            *from = cell->cosine;
        if (cell->cosine > *to)
            *to = cell->cosine;
    }
    return COG_OK;
}

/* Stores the anchors in the finder's chain. */
static cog_status find_anchors(struct sentence_finder *finder, const struct sentence_sides *sides,
                               cog_error *error) {
    const struct sentence_cells *cells = &finder->candidates;
    TRY(find_candidates(finder, sides, error));
    TRY(find_bests(finder, sides, error));
    GROW(finder->gains, finder->gain_capacity, cells->count, "sentence pairs", error);
    for (size_t c = 0; c < cells->count; c++) {
        const struct sentence_cell *cell = &cells->items[c];
        bool preferred = cell->cosine >= finder->bests[cell->from] &&
                         cell->cosine >= finder->bests[sides->counts[0] + cell->to];
        finder->gains[c] = preferred ? cell->cosine : 0;
    }
    return sentence_chain_find(finder->chain, cells, finder->gains, sides->counts[0],
                               sides->counts[1], error);
}

/* A range of target sentences; its ends may be outside the document. */
struct window {
    int64_t begin, end;
};

static struct window window_around(int64_t place) {
    return (struct window){place - SENTENCE_WINDOW, place + SENTENCE_WINDOW + 1};
}

/* The places of a sentence relative to the anchors around it: as far after the previous one as in
 * the source, as far before the next one, and on the line between them. The ends of the documents
 * are anchors too. */
static void place_windows(const struct sentence_cell *before, const struct sentence_cell *behind,
                          const struct sentence_sides *sides, uint32_t from,
                          struct window windows[3]) {
    int64_t from_0 = before ? (int64_t)before->from : -1, to_0 = before ? (int64_t)before->to : -1;
    int64_t from_1 = behind ? (int64_t)behind->from : (int64_t)sides->counts[0];
    int64_t to_1 = behind ? (int64_t)behind->to : (int64_t)sides->counts[1];
    int64_t at = (int64_t)from;
    windows[0] = window_around(to_0 + (at - from_0));
    windows[1] = window_around(to_1 - (from_1 - at));
    windows[2] = window_around(
        from_1 > from_0 ? to_0 + (to_1 - to_0) * (at - from_0) / (from_1 - from_0) : to_0);
    for (int i = 1; i < 3; i++)
        for (int j = i; j && windows[j - 1].begin > windows[j].begin; j--) {
            struct window other = windows[j];
            windows[j] = windows[j - 1];
            windows[j - 1] = other;
        }
}

/* Adds the cells of a source sentence, sorted by target: its candidates and the sentences in its
 * windows. */
static cog_status add_row(const struct sentence_finder *finder, const struct sentence_sides *sides,
                          uint32_t from, const struct window windows[3],
                          struct sentence_cells *cells, cog_error *error) {
    const struct sentence_cells *candidates = &finder->candidates;
    size_t next = candidates->row_starts[from], end = candidates->row_starts[from + 1];
    int64_t done = 0;
    for (int w = 0; w < 3; w++) {
        int64_t stop =
            windows[w].end < (int64_t)sides->counts[1] ? windows[w].end : (int64_t)sides->counts[1];
        for (int64_t to = windows[w].begin > done ? windows[w].begin : done; to < stop; to++) {
            while (next < end && candidates->items[next].to < to)
                TRY(sentence_cells_add(cells, candidates->items[next++], error));
            next += next < end && candidates->items[next].to == to;
            TRY(sentence_cells_add(cells,
                                   (struct sentence_cell){from, (uint32_t)to,
                                                          cosine_of(finder, sides, (uint32_t)to), 0,
                                                          0},
                                   error));
        }
        done = stop > done ? stop : done;
    }
    while (next < end)
        TRY(sentence_cells_add(cells, candidates->items[next++], error));
    return COG_OK;
}

cog_status sentence_cells_find(struct sentence_finder *finder, const struct sentence_sides *sides,
                               bool all, struct sentence_cells *cells, cog_error *error) {
    const struct sentence_chain *chain = finder->chain;
    all = all || sides->counts[1] <= SENTENCE_FULL;
    const struct window whole = {0, (int64_t)sides->counts[1]};
    struct window windows[3] = {whole, whole, whole};
    if (all)
        TRY(leave_candidates(finder, sides, error));
    else
        TRY(find_anchors(finder, sides, error));
    size_t next = 0; /* the first anchor at or after the sentence */
    cells->count = 0;
    for (uint32_t from = 0; from < sides->counts[0]; from++) {
        const struct sentence_cell *items = finder->candidates.items;
        while (next < chain->count && items[chain->cells[next]].from < from)
            next++;
        if (!all)
            place_windows(next ? &items[chain->cells[next - 1]] : NULL,
                          next < chain->count ? &items[chain->cells[next]] : NULL, sides, from,
                          windows);
        TRY(sentence_cells_begin_row(cells, from, error));
        sparse_spread(&sides->vectors[0], sides->begins[0] + from, finder->dense);
        cog_status status = add_row(finder, sides, from, windows, cells, error);
        sparse_clear(&sides->vectors[0], sides->begins[0] + from, finder->dense);
        TRY(status);
    }
    return sentence_cells_begin_row(cells, sides->counts[0], error);
}
