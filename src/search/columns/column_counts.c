#include <stdlib.h>

#include "base/memory.h"
#include "hamming/hamming.h"

#define COLUMN_KERNELS column_kernels_portable
#include "search/columns/column_kernels_loop.h"

enum {
    LINES_AHEAD = 192,  /* that are prefetched while others are counted */
    SAMPLE_GROUPS = 32, /* at least, of those that are counted */
};

const struct column_kernels *column_kernels_for(enum cpu_level level) {
    static const struct column_kernels *const levels[CPU_LEVEL_COUNT] =
        CPU_TABLE(&column_kernels_portable, &column_kernels_portable, &column_kernels_avx2,
                  &column_kernels_avx512, &column_kernels_portable);
    return levels[level];
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static unsigned planes_for(unsigned columns) {
    unsigned planes = 4;
    while (columns >> planes)
        planes++;
    return planes;
}

cog_status column_counts_init(struct column_counts *counts, const struct columns_view *view,
                              cog_error *error) {
    unsigned bits = view->clusters.bits, step = column_step(bits);
    size_t planes = view->clusters.groups + 1;
    counts->view = view;
    counts->kernels = column_kernels_for(cpu_best_level());
    TAKE(counts->places, bits, "counts of columns", error);
    TAKE(counts->planes, planes * planes_for(bits) * COLUMN_GROUP_WORDS, "counts of columns",
         error);
    for (unsigned column = 0; column < bits; column++)
        counts->places[(size_t)column * step % bits] = (uint16_t)column;
    return group_choice_init(&counts->choice, &view->clusters, error);
}

void column_counts_free(struct column_counts *counts) {
    group_choice_free(&counts->choice);
    FREE(counts->planes, counts->places);
    *counts = (struct column_counts){0};
}

/* ---- Choosing columns ------------------------------------------------------------------------ */

/* The size of a number as an integer of the same order. */
static uint32_t size_order(float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits & 0x7fffffff;
}

/* The `wanted` columns of the greatest weights; among equal ones the first. */
static void choose_weighted(const float *weights, unsigned bits, unsigned wanted,
                            uint16_t *chosen) {
    uint32_t low = 0, high = 0x7fffffff; /* more than wanted are >= low, no more are >= high */
    for (unsigned above = 0; high - low > 1 && above != wanted;) {
        uint32_t middle = low + (high - low) / 2;
        above = 0;
        for (unsigned bit = 0; bit < bits; bit++)
            above += size_order(weights[bit]) >= middle;
        if (above > wanted)
            low = middle;
        else
            high = middle;
    }
    unsigned count = 0;
    for (unsigned bit = 0; bit < bits; bit++)
        if (size_order(weights[bit]) >= high)
            chosen[count++] = (uint16_t)bit;
    for (unsigned bit = 0; bit < bits && count < wanted; bit++)
        if (size_order(weights[bit]) == low)
            chosen[count++] = (uint16_t)bit;
}

/* Blocks of bits that the query has as 0, then of those that it has as 1, then what is left. */
static void order_columns(const uint8_t *query, const uint16_t *chosen, unsigned count,
                          struct column_reading *reading) {
    unsigned ones = 0;
    for (unsigned i = 0; i < count; i++)
        ones += signature_bit(query, chosen[i]);
    reading->plain = (count - ones) / COLUMN_BLOCK * COLUMN_BLOCK;
    reading->flipped = ones / COLUMN_BLOCK * COLUMN_BLOCK;
    unsigned place[2] = {0, reading->plain}, left = reading->plain + reading->flipped;
    const unsigned ends[2] = {reading->plain, left};
    for (unsigned i = 0; i < count; i++) {
        unsigned bit = signature_bit(query, chosen[i]);
        reading->bits[place[bit] < ends[bit] ? place[bit]++ : left++] = chosen[i];
    }
}

static void choose_columns(struct column_counts *counts, const uint8_t *query, const float *weights,
                           unsigned wanted) {
    struct column_reading *reading = &counts->reading;
    unsigned bits = counts->view->clusters.bits, step = column_step(bits);
    uint16_t chosen[HAMMING_MAX_BITS] = {0};
    if (weights)
        choose_weighted(weights, bits, wanted, chosen);
    else
        for (unsigned column = 0; column < wanted; column++)
            chosen[column] = (uint16_t)((size_t)column * step % bits);
    order_columns(query, chosen, wanted, reading);
    for (unsigned i = 0; i < wanted; i++) {
        reading->words[i] = (uint32_t)counts->places[reading->bits[i]] * COLUMN_GROUP_WORDS;
        reading->flips[i] = signature_bit(query, reading->bits[i]) ? UINT64_MAX : 0;
    }
    reading->count = wanted;
    reading->planes = planes_for(wanted);
}

/* ---- Counting -------------------------------------------------------------------------------- */

static uint64_t *planes_of(const struct column_counts *counts, size_t i) {
    return counts->planes + i * counts->reading.planes * COLUMN_GROUP_WORDS;
}

void column_counts_make(struct column_counts *counts, const uint8_t *query, const float *weights,
                        unsigned columns, size_t rows) {
    const struct columns_view *view = counts->view;
    const struct group_choice *choice = &counts->choice;
    unsigned bits = view->clusters.bits;
    choose_columns(counts, query, weights, columns < 1 ? 1 : columns < bits ? columns : bits);
    group_choice_make(&counts->choice, &view->clusters, counts->kernels, query, weights, rows);
    size_t group_words = (size_t)bits * COLUMN_GROUP_WORDS;
    size_t distance = 1 + LINES_AHEAD / counts->reading.count;
    for (size_t i = 0; i < choice->count; i++) {
        size_t ahead = i + distance < choice->count ? i + distance : i;
        counts->kernels->count(view->words + choice->groups[i] * group_words,
                               view->words + choice->groups[ahead] * group_words, &counts->reading,
                               planes_of(counts, i));
    }
}

/* ---- Choosing rows --------------------------------------------------------------------------- */

/* The threshold of a group as the kernels take it; false if no count can be that small. */
static bool group_threshold(const struct column_counts *counts, size_t i, int threshold,
                            unsigned *own) {
    int leaning = threshold + counts->choice.leans[i], most = (int)counts->reading.count;
    *own = (unsigned)(leaning < most ? leaning : most);
    return leaning >= 0;
}

/* In every `step`-th group; stops counting beyond `most`. */
static size_t rows_within_threshold(const struct column_counts *counts, size_t step, int threshold,
                                    size_t most) {
    size_t within = 0;
    unsigned own;
    for (size_t i = 0; i < counts->choice.count && within <= most; i += step)
        if (group_threshold(counts, i, threshold, &own))
            within += counts->kernels->within(planes_of(counts, i), counts->reading.planes, own);
    return within;
}

/* The threshold by a sample of the groups. */
static int threshold_guess(const struct column_counts *counts, size_t most, int least) {
    size_t groups = counts->choice.count;
    size_t step = groups < 2 * SAMPLE_GROUPS ? 1 : groups / SAMPLE_GROUPS;
    int above; /* the first that is too much */
    FIND_FIRST_NOT(above, least + 1, (int)counts->reading.count + 1,
                   rows_within_threshold(counts, step, above, most / step) <= most / step);
    return above - 1;
}

int column_counts_threshold(const struct column_counts *counts, size_t most) {
    int least = 0, greatest = (int)counts->reading.count;
    for (size_t i = 0; i < counts->choice.count; i++)
        least = least > -counts->choice.leans[i] ? -counts->choice.leans[i] : least;
    int threshold = threshold_guess(counts, most, least);
    while (threshold < greatest && rows_within_threshold(counts, 1, threshold + 1, most) <= most)
        threshold++;
    while (threshold > least && rows_within_threshold(counts, 1, threshold, most) > most)
        threshold--;
    return threshold;
}

size_t column_counts_select(const struct column_counts *counts, int threshold, uint32_t *places,
                            size_t capacity) {
    const struct group_choice *choice = &counts->choice;
    size_t found = 0;
    unsigned own;
    for (size_t i = 0; i < choice->count && found < capacity; i++)
        if (group_threshold(counts, i, threshold, &own))
            found += counts->kernels->select(planes_of(counts, i), counts->reading.planes, own,
                                             choice->groups[i] * COLUMN_GROUP_ROWS, places + found,
                                             capacity - found);
    return found;
}
