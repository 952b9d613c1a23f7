/* The comparison loop of tiles whose registers hold rows side by side: a few queries are compared
 * with STEP_ROWS rows at a time, and the step ends early if the words so far already differ too
 * much. The including file defines QUERIES_AT_ONCE, STEP_ROWS (at most 64), and
 *     struct sums
 *     sums_begin(sums, comparison, query, row): false if no row of the step is wanted
 *     sums_add(sums, comparison, query, row, begin, end): adds words [begin, end)
 *     rows_within(sums, q, limit): bit r is set if row r is within the limit of query q
 *     sums_store(sums, q, distances): the distances of the rows of the step */
#include "hamming/hamming_tile.h"

static inline bool any_within(const struct sums *sums, const uint16_t *limits) {
    uint64_t within = 0;
    for (int q = 0; q < QUERIES_AT_ONCE; q++)
        within |= rows_within(sums, q, limits[q]);
    return within != 0;
}

static size_t list_hits(const struct sums *sums, const struct hamming_comparison *comparison,
                        const uint16_t *limits, size_t first_query, size_t first_row,
                        struct hamming_hit *hits) {
    size_t found = 0;
    const size_t rows = comparison->row_count - first_row;
    const uint64_t present = rows < 64 ? (UINT64_C(1) << rows) - 1 : UINT64_MAX;
    for (int q = 0; q < QUERIES_AT_ONCE && first_query + (size_t)q < comparison->query_count; q++) {
        uint64_t within = rows_within(sums, q, limits[q]) & present;
        uint16_t distances[STEP_ROWS];
        if (within)
            sums_store(sums, q, distances);
        for (; within; within &= within - 1) {
            size_t lane = (size_t)__builtin_ctzll(within);
            size_t row = first_row + lane, query = first_query + (size_t)q;
            if (comparison_wants(comparison, query, query, row, row + 1))
                hits[found++] =
                    (struct hamming_hit){distances[lane], (uint16_t)query, (uint16_t)row};
        }
    }
    return found;
}

static __attribute__((noinline)) size_t compare_step(const struct hamming_comparison *comparison,
                                                     size_t query, size_t row, size_t early,
                                                     struct hamming_hit *hits) {
    struct sums sums;
    uint16_t limits[QUERIES_AT_ONCE] = {0};
    comparison_look_ahead(comparison, 1);
    if (!sums_begin(&sums, comparison, query, row))
        return 0;
    for (size_t q = 0; q < QUERIES_AT_ONCE && query + q < comparison->query_count; q++)
        limits[q] = comparison->limits[query + q];
    sums_add(&sums, comparison, query, row, 0, early);
    if (!any_within(&sums, limits))
        return 0;
    sums_add(&sums, comparison, query, row, early, comparison->words);
    return list_hits(&sums, comparison, limits, query, row, hits);
}

static size_t compare(const struct hamming_comparison *comparison, struct hamming_hit *hits) {
    const size_t early = abandon_words(comparison->words, comparison_limit(comparison));
    size_t found = 0;
    for (size_t row = 0; row < comparison->row_count; row += STEP_ROWS)
        for (size_t query = 0; query < comparison->query_count; query += QUERIES_AT_ONCE)
            found += compare_step(comparison, query, row, early, hits + found);
    return found;
}
