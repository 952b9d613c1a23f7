/* Scores of rows, how many of a query's lists show them, and the candidates among them: the inner
 * loop of slice search. */
#pragma once

#include "base/cpu.h"
#include "search/slices/slices.h"

enum {
    SLICE_SCORE_MAX = 255,
    SCORE_BLOCK = 64, /* rows whose scores are looked at together; there are scores for whole blocks
                       */
};

/* Rows whose score is the threshold or more, rising. */
typedef size_t score_collect(const uint8_t *values, size_t rows, unsigned threshold,
                             uint32_t *candidates);
/* The kernel of a level, or the portable one. */
score_collect *score_collect_for(enum cpu_level level);
score_collect score_collect_portable;
score_collect score_collect_avx2;
score_collect score_collect_avx512;

/* Zero-initialise; slice_scores_init makes it usable, slice_scores_free releases. */
struct slice_scores {
    size_t rows;
    score_collect *collect;
    bool saturates;  /* there are more slices than a score can count */
    uint8_t *scores; /* zero between searches */
    size_t mask; /* scores - 1, a power of two less one: damaged rows stay inside without a check */
    uint32_t *candidates; /* rows whose score reached the threshold; some may not exist in damaged
                             files */
    size_t candidate_count;
};

cog_status slice_scores_init(struct slice_scores *scores, size_t rows, unsigned slices,
                             cog_error *error);

/* Counts the lists of each row and leaves the candidates of the threshold or more. Lists from
 * number `beyond` on add only to rows that have a score. Scores stop at SLICE_SCORE_MAX. When fewer
 * than `enough` candidates come out, the threshold is lowered, down to 1; returns the threshold
 * that was used. */
unsigned slice_scores_add(struct slice_scores *scores, const struct slice_reading *reading,
                          size_t beyond, unsigned threshold, size_t enough);
/* Back to zero after slice_scores_add with the same reading. */
void slice_scores_clear(struct slice_scores *scores, const struct slice_reading *reading);

void slice_scores_free(struct slice_scores *scores);
