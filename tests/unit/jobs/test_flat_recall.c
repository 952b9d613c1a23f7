/* The recall of candidates by all signatures, against every step of effort searched by itself. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "jobs/index/draft_recall.h"
#include "search/hits/graded_query.h"
#include "test.h"

/* More rows than the first lists have, and few enough bits for many ties. */
enum { ROWS = 24000, BITS = 64, QUERIES = 12, TERMS = 60 };

static bool is_among(uint32_t row, const struct match *items, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (items[i].b == row)
            return true;
    return false;
}

/* All rows by distance, then row. */
static void list_rows(const struct measuring *own, size_t query, struct hit_lists *lists) {
    static uint16_t distances[ROWS];
    CHECK_OK(hit_lists_init(lists, 1, ROWS, error));
    hamming_scan(&own->segment->signatures, signature_row(&own->signatures, query), 0, ROWS,
                 distances);
    for (uint32_t row = 0; row < ROWS; row++)
        lists->items[row] = (struct match){.b = row, .distance = distances[row]};
    hits_sort(lists->items, ROWS, HITS_BY_DISTANCE);
}

/* True neighbours among the candidates of one step. */
static uint64_t count_step(const struct measuring *own, const struct recall_measure *measure,
                           size_t query) {
    struct hit_lists lists = {0};
    struct match truth[RECALL_NEIGHBOURS_MAX], *found = malloc(ROWS * sizeof *found);
    const struct signatures_view one = {signature_row(&own->signatures, query), 1, BITS,
                                        own->signatures.stride_bytes};
    const struct method_rows rows = {.signatures = &own->segment->signatures},
                             queries = {.signatures = &one, .margins = own->margins + query * BITS};
    size_t candidates = recall_candidates(measure->k, measure->effort);
    bool by_margins = measure->flags & RECALL_WITH_MARGINS;
    size_t proposed = (by_margins ? recall_proposed(candidates) : candidates) + 1;
    uint64_t hits = 0;
    list_rows(own, query, &lists);
    lists.offsets[1] = proposed < ROWS ? proposed : ROWS;
    if (by_margins)
        hits_keep_graded(&lists, &rows, &queries, 0, candidates + 1, 1, NULL);
    size_t count = measuring_others(&lists, 0, own->sample[query], candidates, found);
    size_t true_count = measuring_others(&own->truth, query, own->sample[query], measure->k, truth);
    for (size_t i = 0; i < true_count; i++)
        hits += is_among(truth[i].b, found, count);
    hit_lists_free(&lists);
    free(found);
    return hits;
}

/* Neighbours are rows near the query, so that steps find a part of them, and the query itself. */
static void choose_truth(struct measuring *own, struct random *random) {
    CHECK_OK(hit_lists_init(&own->truth, QUERIES, QUERIES * (RECALL_NEIGHBOURS_MAX + 1), error));
    size_t at = 0;
    for (size_t query = 0; query < QUERIES; query++) {
        struct hit_lists near = {0};
        list_rows(own, query, &near);
        own->truth.items[at++] = (struct match){.b = own->sample[query]};
        for (size_t i = 0; i < RECALL_NEIGHBOURS_MAX; i++) {
            size_t place = 60 * i + 1 + random_below(random, 59); /* no row twice */
            own->truth.items[at++] = near.items[place];
        }
        own->truth.offsets[query + 1] = at;
        hit_lists_free(&near);
    }
}

TEST(flat_recall_counts_what_each_step_finds) {
    struct random random = random_seeded(71);
    uint64_t *data = malloc(ROWS * sizeof *data), *sampled = malloc(QUERIES * sizeof *sampled);
    uint64_t *offsets = calloc(ROWS + 1, sizeof *offsets);
    float *margins = malloc(QUERIES * BITS * sizeof *margins);
    struct measuring own = {.of_cosines = true, .threads = 2, .count = QUERIES};
    for (size_t row = 0; row < ROWS; row++) /* the half of the bits is often equal */
        data[row] = random_next(&random) & (row % 3 ? UINT64_MAX : random_next(&random));
    offsets[ROWS] = (uint64_t)ROWS * TERMS;
    for (size_t query = 0; query < QUERIES; query++) {
        own.sample[query] = (uint32_t)(query * (ROWS / QUERIES));
        sampled[query] = data[own.sample[query]];
    }
    for (size_t i = 0; i < QUERIES * BITS; i++)
        margins[i] = (float)random_below(&random, 1000);
    const struct segment segment = {.rows = ROWS,
                                    .signatures = {(uint8_t *)data, ROWS, BITS, sizeof *data},
                                    .vectors = {.rows = ROWS, .offsets = offsets}};
    own.segment = &segment;
    own.signatures = (struct signatures_view){(uint8_t *)sampled, QUERIES, BITS, sizeof *sampled};
    own.margins = margins;
    choose_truth(&own, &random);
    CHECK_OK(measure_flat(&own, error));
    size_t with_margins = 0, longest = 0;
    for (size_t i = 0; i < own.item_count; i++) {
        const struct recall_measure *measure = &own.items[i];
        uint64_t hits = 0;
        for (size_t query = 0; query < QUERIES; query++)
            hits += count_step(&own, measure, query);
        CHECK_MSG(hits == measure->hits && measure->trials == QUERIES * measure->k,
                  "flags %u, k %u, effort %u: %llu of %llu, not %llu", measure->flags, measure->k,
                  measure->effort, (unsigned long long)measure->hits,
                  (unsigned long long)measure->trials, (unsigned long long)hits);
        with_margins += (measure->flags & RECALL_WITH_MARGINS) != 0;
        size_t proposed = recall_proposed(recall_candidates(measure->k, measure->effort));
        longest = proposed > longest ? proposed : longest;
    }
    CHECK(own.item_count >= 8 && with_margins >= 4 && longest > 4096);
    hit_lists_free(&own.truth);
    free(own.items);
    free(data);
    free(sampled);
    free(offsets);
    free(margins);
}
