/* The inner loop of slice search: the score of each row (the number of the query's lists it occurs
 * in) and the candidates with the best scores. */
#pragma once

#include "base/cpu.h"
#include "search/slices/slices.h"

enum {
    SLICE_SCORE_MAX = 255,
    SCORE_BLOCK = 64, /* rows whose scores are examined together; scores are allocated in whole
                       * blocks */
};

/* Rows whose score is at least the threshold, ascending. */
typedef size_t score_collect(const uint8_t *values, size_t rows, unsigned threshold,
                             uint32_t *candidates);
/* The kernel of a level, or the portable one. */
score_collect *score_collect_for(enum cpu_level level);
score_collect score_collect_portable;
score_collect score_collect_avx2;
score_collect score_collect_avx512;

/* Zero-initialise; call slice_scores_init before use; slice_scores_free releases. */
struct slice_scores {
    size_t rows;
    score_collect *collect;
    bool saturates;  /* there are more slices than a score can count */
    uint8_t *scores; /* zero between searches */
    size_t mask; /* a power of two minus one: keeps damaged row numbers in range without a check */
    uint32_t *candidates; /* rows whose score reached the threshold; with damaged files some may not
                           * exist */
    size_t candidate_count;
};

cog_status slice_scores_init(struct slice_scores *scores, size_t rows, unsigned slices,
                             cog_error *error);

/* Counts the lists of each row and collects the rows with at least `threshold`. Lists from number
 * `beyond` on add only to rows that already have a score. Scores saturate at SLICE_SCORE_MAX. If
 * there are fewer than `enough` candidates, the threshold is lowered, down to 1; returns the
 * threshold used. */
unsigned slice_scores_add(struct slice_scores *scores, const struct slice_reading *reading,
                          size_t beyond, unsigned threshold, size_t enough);
/* Resets the scores after slice_scores_add with the same reading. */
void slice_scores_clear(struct slice_scores *scores, const struct slice_reading *reading);

void slice_scores_free(struct slice_scores *scores);
