/* Sentence pairs on made-up vectors: chains against all chains, bounded comparison against the full
 * one, linear growth, sentences that belong together. */
#include <math.h>

#include "base/hash.h"
#include "base/memory.h"
#include "jobs/link/sentences/sentence_chain.h"
#include "jobs/link/sentences/sentence_pairs.h"
#include "test.h"

/* ---- Chains ---------------------------------------------------------------------------------- */

/* The best sum of a chain whose first cell is at (from, to) or later, by plain recursion over
 * places with a table. */
enum { PLACES = 13 };

static double best_sum(const struct sentence_cells *cells, const float *gains, uint32_t from,
                       uint32_t to, double table[PLACES][PLACES]) {
    if (from >= PLACES || to >= PLACES)
        return 0;
    if (table[from][to] >= 0)
        return table[from][to];
    double best = fmax(best_sum(cells, gains, from + 1, to, table),
                       best_sum(cells, gains, from, to + 1, table));
    for (size_t c = 0; c < cells->count; c++) {
        const struct sentence_cell *cell = &cells->items[c];
        if (cell->from == from && cell->to == to && gains[c] > 0)
            best = fmax(best, (double)gains[c] + best_sum(cells, gains, from + cell->from_more + 1,
                                                          to + cell->to_more + 1, table));
    }
    return table[from][to] = best;
}

static cog_status make_cells(struct random *random, uint32_t size, struct sentence_cells *cells,
                             float *gains, cog_error *error) {
    cells->count = 0;
    for (uint32_t from = 0; from < size; from++) {
        TRY(sentence_cells_begin_row(cells, from, error));
        for (uint32_t to = 0; to < size; to++) {
            uint64_t kind = random_below(random, 6);
            if (kind > 2 || (kind == 1 && from + 1 == size) || (kind == 2 && to + 1 == size))
                continue;
            gains[cells->count] = (float)random_unit(random) - 0.2f;
            TRY(sentence_cells_add(cells, (struct sentence_cell){from, to, 0, kind == 1, kind == 2},
                                   error));
        }
    }
    return sentence_cells_begin_row(cells, size, error);
}

TEST(sentence_chains_are_the_best_of_all) {
    struct random random = random_seeded(3);
    struct sentence_cells cells = {0};
    struct sentence_chain chain = {0};
    float gains[PLACES * PLACES];
    for (int round = 0; round < 300; round++) {
        uint32_t size = (uint32_t)random_below(&random, PLACES) + 1;
        double table[PLACES][PLACES], sum = 0;
        for (int i = 0; i < PLACES * PLACES; i++)
            table[i / PLACES][i % PLACES] = -1;
        CHECK_OK(make_cells(&random, size, &cells, gains, error));
        CHECK_OK(sentence_chain_find(&chain, &cells, gains, size, size, error));
        for (size_t i = 0; i < chain.count; i++) {
            const struct sentence_cell *cell = &cells.items[chain.cells[i]];
            sum += (double)gains[chain.cells[i]];
            if (i == 0)
                continue;
            const struct sentence_cell *before = &cells.items[chain.cells[i - 1]];
            CHECK(before->from + before->from_more < cell->from);
            CHECK(before->to + before->to_more < cell->to);
        }
        double best = best_sum(&cells, gains, 0, 0, table);
        CHECK_MSG(fabs(sum - best) < 1e-6, "round %d: %g, best %g", round, sum, best);
    }
    sentence_chain_free(&chain);
    sentence_cells_free(&cells);
}

/* ---- Documents ------------------------------------------------------------------------------- */

enum { TERMS = 5000, TERMS_A_SENTENCE = 12 };

/* Two matrices of sentences, which the test fills row by row. */
struct made_document {
    struct sparse_matrix vectors[2];
    size_t capacities[3][2];
};

static int by_term(const void *x, const void *y) {
    return ORDER(*(const uint32_t *)x, *(const uint32_t *)y);
}

static cog_status add_sentence(struct made_document *document, int side, uint32_t *terms,
                               size_t count, cog_error *error) {
    struct sparse_matrix *matrix = &document->vectors[side];
    size_t entries = matrix->rows ? (size_t)matrix->offsets[matrix->rows] : 0;
    GROW(matrix->offsets, document->capacities[0][side], matrix->rows + 2, "rows", error);
    GROW(matrix->columns, document->capacities[1][side], entries + count, "columns", error);
    GROW(matrix->values, document->capacities[2][side], entries + count, "values", error);
    qsort(terms, count, sizeof *terms, by_term);
    matrix->offsets[matrix->rows] = entries;
    size_t begin = entries;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || terms[i] != terms[i - 1])
            matrix->columns[entries++] = terms[i];
    for (size_t e = begin; e < entries; e++)
        matrix->values[e] = 1 / sqrtf((float)(entries - begin));
    matrix->column_count = TERMS;
    matrix->offsets[++matrix->rows] = entries;
    return COG_OK;
}

/* Terms of small numbers are frequent, as words are. */
static void draw_terms(struct random *random, uint32_t *terms, size_t count) {
    for (size_t i = 0; i < count; i++)
        terms[i] = (uint32_t)(TERMS * pow(random_unit(random), 3));
}

/* Translations that change a third of the terms; every eighth sentence of either side has no
 * partner. `partners` gets the target of each source sentence, or SIZE_MAX. */
static cog_status make_document(struct made_document *document, uint64_t seed, size_t sentences,
                                size_t *partners, cog_error *error) {
    struct random random = random_seeded(seed);
    for (size_t s = 0; s < sentences; s++) {
        uint32_t terms[TERMS_A_SENTENCE], kept[TERMS_A_SENTENCE];
        draw_terms(&random, terms, TERMS_A_SENTENCE);
        memcpy(kept, terms, sizeof terms);
        uint64_t without = random_below(&random, 8);
        if (without != 0) {
            partners[document->vectors[0].rows] =
                without == 1 ? SIZE_MAX : document->vectors[1].rows;
            TRY(add_sentence(document, 0, terms, TERMS_A_SENTENCE, error));
        }
        draw_terms(&random, kept, TERMS_A_SENTENCE / 3);
        if (without != 1)
            TRY(add_sentence(document, 1, kept, TERMS_A_SENTENCE, error));
    }
    return COG_OK;
}

static void free_document(struct made_document *document) {
    sparse_matrix_free(&document->vectors[0]);
    sparse_matrix_free(&document->vectors[1]);
}

static struct sentence_sides sides_of(const struct made_document *document) {
    return (struct sentence_sides){
        .vectors = document->vectors,
        .counts = {(uint32_t)document->vectors[0].rows, (uint32_t)document->vectors[1].rows}};
}

static size_t count_right(const struct sentence_pairing *pairing, const size_t *partners) {
    size_t right = 0;
    for (size_t p = 0; p < pairing->count; p++)
        right += partners[pairing->pairs[p].cell.from] == pairing->pairs[p].cell.to;
    return right;
}

TEST(sentence_pairs_are_those_of_the_full_comparison) {
    enum { SENTENCES = 700 };
    static size_t partners[SENTENCES];
    size_t same = 0, full_pairs = 0, right = 0, wanted = 0;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct made_document document = {0};
        struct sentence_pairing bounded = {0}, full = {0};
        CHECK_OK(make_document(&document, seed, SENTENCES, partners, error));
        struct sentence_sides sides = sides_of(&document);
        CHECK_OK(sentence_pairing_init(&bounded, TERMS, error));
        CHECK_OK(sentence_pairing_init(&full, TERMS, error));
        CHECK_OK(sentence_pairs_find(&bounded, &sides, 0.5, false, error));
        CHECK_OK(sentence_pairs_find(&full, &sides, 0.5, true, error));
        CHECK(full.singles.count == (size_t)sides.counts[0] * sides.counts[1]);
        CHECK_MSG(bounded.singles.count < full.singles.count / 10, "%zu of %zu compared",
                  bounded.singles.count, full.singles.count);
        for (size_t p = 0, q = 0; p < full.count && q < bounded.count;) {
            const struct sentence_cell *a = &full.pairs[p].cell, *b = &bounded.pairs[q].cell;
            same += a->from == b->from && a->to == b->to && a->cosine == b->cosine;
            p += a->from <= b->from;
            q += b->from <= a->from;
        }
        full_pairs += full.count > bounded.count ? full.count : bounded.count;
        right += count_right(&bounded, partners);
        for (uint32_t s = 0; s < sides.counts[0]; s++)
            wanted += partners[s] != SIZE_MAX;
        sentence_pairing_free(&bounded);
        sentence_pairing_free(&full);
        free_document(&document);
    }
    CHECK_MSG(same * 200 >= full_pairs * 199, "%zu of %zu pairs are the same", same, full_pairs);
    CHECK_MSG(right * 100 >= wanted * 99, "%zu of %zu partners", right, wanted);
}

/* Ten times the sentences: at most ten times the comparisons, and a bit for the ends. */
TEST(sentence_comparisons_grow_with_the_sentences) {
    enum { FEW = 500, MANY = 5000 };
    static size_t partners[MANY];
    const size_t sizes[2] = {FEW, MANY};
    double compared[2];
    for (int i = 0; i < 2; i++) {
        struct made_document document = {0};
        struct sentence_pairing pairing = {0};
        CHECK_OK(make_document(&document, 8, sizes[i], partners, error));
        struct sentence_sides sides = sides_of(&document);
        CHECK_OK(sentence_pairing_init(&pairing, TERMS, error));
        CHECK_OK(sentence_pairs_find(&pairing, &sides, 0.5, false, error));
        compared[i] = (double)pairing.singles.count;
        CHECK_MSG(count_right(&pairing, partners) > sizes[i] * 7 / 10, "%zu right of %zu",
                  count_right(&pairing, partners), sizes[i]);
        sentence_pairing_free(&pairing);
        free_document(&document);
    }
    CHECK_MSG(compared[1] <= 10.5 * compared[0], "%g, then %g", compared[0], compared[1]);
    CHECK(compared[1] <= MANY * (SENTENCE_CANDIDATES + 3.0 * (2 * SENTENCE_WINDOW + 1)));
}

/* A source sentence of two halves, which are sentences of their own in the target, between others;
 * and a passage that is at the end in the source and at the beginning in the target. */
TEST(sentence_pairs_join_halves_and_follow_moved_passages) {
    enum { SENTENCES = 120, MOVED = 20 };
    struct made_document document = {0};
    struct sentence_pairing pairing = {0};
    struct random random = random_seeded(5);
    static uint32_t texts[SENTENCES][TERMS_A_SENTENCE];
    uint32_t copy[TERMS_A_SENTENCE];
    for (int s = 0; s < SENTENCES; s++) {
        draw_terms(&random, texts[s], TERMS_A_SENTENCE);
        memcpy(copy, texts[s], sizeof copy);
        CHECK_OK(add_sentence(&document, 0, copy, TERMS_A_SENTENCE, error));
    }
    for (int s = 0; s < SENTENCES; s++) {
        int source = (s + SENTENCES - MOVED) % SENTENCES;
        memcpy(copy, texts[source], sizeof copy);
        size_t first = source == 50 ? TERMS_A_SENTENCE / 2 : TERMS_A_SENTENCE;
        CHECK_OK(add_sentence(&document, 1, copy, first, error));
        memcpy(copy, texts[source], sizeof copy);
        if (first < TERMS_A_SENTENCE)
            CHECK_OK(add_sentence(&document, 1, copy + first, TERMS_A_SENTENCE - first, error));
    }
    struct sentence_sides sides = sides_of(&document);
    CHECK_OK(sentence_pairing_init(&pairing, TERMS, error));
    CHECK_OK(sentence_pairs_find(&pairing, &sides, 0.5, false, error));
    CHECK_MSG(pairing.count == SENTENCES, "%zu pairs", pairing.count);
    for (uint32_t p = 0; p < SENTENCES; p++) {
        const struct sentence_cell *cell = &pairing.pairs[p].cell;
        CHECK(cell->from == p && cell->from_more == 0 && cell->to_more == (p == 50));
        CHECK_MSG(cell->to == (p + MOVED) % SENTENCES + (p > 50 && p < SENTENCES - MOVED),
                  "%u with %u", p, cell->to);
        CHECK(cell->cosine > 0.9f && pairing.pairs[p].score > cell->cosine);
    }
    sides.counts[1] = 0;
    CHECK_OK(sentence_pairs_find(&pairing, &sides, 0.5, false, error));
    CHECK(pairing.count == 0);
    sentence_pairing_free(&pairing);
    free_document(&document);
}
