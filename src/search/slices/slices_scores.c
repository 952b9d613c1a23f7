#include "search/slices/slices_scores.h"

#include <string.h>

#include "base/memory.h"

enum {
    POSTINGS_AHEAD = 16, /* lists */
    LINE_ROWS = 16,      /* row numbers in a cache line */
    /* Looking at and clearing this many rows costs what following one posting does. */
    ROWS_PER_POSTING = 64,
};

cog_status slice_scores_init(struct slice_scores *scores, size_t rows, unsigned slices,
                             cog_error *error) {
    size_t slots = SCORE_BLOCK;
    while (slots < rows)
        slots *= 2;
    scores->rows = rows;
    scores->saturates = slices > SLICE_SCORE_MAX;
    scores->collect = score_collect_for(cpu_best_level());
    scores->mask = slots - 1;
    scores->scores = memory_large(slots);
    scores->candidates = memory_array(slots + 1, sizeof *scores->candidates);
    if (scores->scores && scores->candidates)
        return COG_OK;
    slice_scores_free(scores);
    return error_memory(error, slots * 5, "the scores of a query");
}

void slice_scores_free(struct slice_scores *scores) {
    if (scores->scores)
        memory_large_free(scores->scores, scores->mask + 1);
    free(scores->candidates);
    *scores = (struct slice_scores){0};
}

/* What the loop does besides adding: constants of each of its copies. Collecting costs a third of
 * the time of adding alone, saturating a tenth. */
enum score_mode {
    SCORE_ADMITS = 1,    /* rows that have no score yet get one */
    SCORE_SATURATES = 2, /* sums may pass the highest score */
    SCORE_COLLECTS = 4,  /* rows that reach the threshold become candidates at once */
};

static inline __attribute__((always_inline)) void add_lists(struct slice_scores *scores,
                                                            const struct slice_list *lists,
                                                            size_t count, unsigned threshold,
                                                            unsigned mode) {
    size_t mask = scores->mask, found = scores->candidate_count;
    uint8_t *values =
        scores->scores; /* bytes alias everything: keep what the loop needs in locals */
    for (size_t l = 0; l < count; l++) {
        if (l + POSTINGS_AHEAD < count) {
            __builtin_prefetch(lists[l + POSTINGS_AHEAD].at);
            __builtin_prefetch(lists[l + POSTINGS_AHEAD].at + LINE_ROWS);
        }
        const uint32_t *rows = lists[l].at;
        for (size_t i = 0, end = lists[l].count; i < end; i++) {
            size_t row = rows[i] & mask;
            unsigned before = values[row], after = before + 1;
            if (!(mode & SCORE_ADMITS) && before == 0)
                continue;
            if ((mode & SCORE_SATURATES) && after > SLICE_SCORE_MAX)
                after = SLICE_SCORE_MAX;
            values[row] = (uint8_t)after;
            if ((mode & SCORE_COLLECTS) && after == threshold && before < threshold)
                scores->candidates[found++] = (uint32_t)row;
        }
    }
    scores->candidate_count = found;
}

/* Many postings: add, then look through all scores. Few: never touch what no posting names. */
static bool is_scattered(const struct slice_scores *scores, const struct slice_reading *reading) {
    return reading->postings < scores->rows / ROWS_PER_POSTING;
}

static void add_all(struct slice_scores *scores, const struct slice_reading *reading, size_t beyond,
                    unsigned threshold) {
    const struct slice_list *first = reading->lists, *second = first + beyond;
    size_t second_count = reading->count - beyond;
    scores->candidate_count = 0;
    if (is_scattered(scores, reading)) {
        add_lists(scores, first, beyond, threshold,
                  SCORE_ADMITS | SCORE_SATURATES | SCORE_COLLECTS);
        add_lists(scores, second, second_count, threshold, SCORE_SATURATES | SCORE_COLLECTS);
    } else if (scores->saturates) {
        add_lists(scores, first, beyond, threshold, SCORE_ADMITS | SCORE_SATURATES);
        add_lists(scores, second, second_count, threshold, SCORE_SATURATES);
    } else {
        add_lists(scores, first, beyond, threshold, SCORE_ADMITS);
        add_lists(scores, second, second_count, threshold, 0);
    }
}

/* Makes the rows of all scores from the threshold on candidates. */
static void collect_candidates(struct slice_scores *scores, unsigned threshold) {
    scores->candidate_count =
        scores->collect(scores->scores, scores->rows, threshold, scores->candidates);
}

unsigned slice_scores_add(struct slice_scores *scores, const struct slice_reading *reading,
                          size_t beyond, unsigned threshold, size_t enough) {
    bool scattered = is_scattered(scores, reading);
    add_all(scores, reading, beyond, threshold);
    if (!scattered)
        collect_candidates(scores, threshold);
    while (threshold > 1 && scores->candidate_count < enough) {
        threshold /= 2;
        if (scattered) {
            slice_scores_clear(scores, reading);
            add_all(scores, reading, beyond, threshold);
        } else {
            collect_candidates(scores, threshold);
        }
    }
    return threshold;
}

void slice_scores_clear(struct slice_scores *scores, const struct slice_reading *reading) {
    if (!is_scattered(scores, reading)) {
        memset(scores->scores, 0, scores->mask + 1);
        return;
    }
    for (size_t l = 0; l < reading->count; l++)
        for (uint32_t i = 0; i < reading->lists[l].count; i++)
            scores->scores[reading->lists[l].at[i] & scores->mask] = 0;
}

/* The score of a row that meets lists by chance is Poisson: P(s) = P(s - 1) rate / s, taken
 * relative to P(0) and normalised by the sum. */
unsigned slice_scores_threshold(const struct slice_scores *scores,
                                const struct slice_reading *reading, size_t most) {
    double chances[SLICE_SCORE_MAX] = {1}, total = 1, above = 0;
    double rows = (double)scores->rows, rate = (double)reading->postings / rows;
    for (unsigned score = 1; score < SLICE_SCORE_MAX; score++) {
        chances[score] = chances[score - 1] * rate / score;
        total += chances[score];
    }
    unsigned threshold = SLICE_SCORE_MAX;
    while (threshold > 1 && (above += chances[threshold - 1]) * rows <= (double)most * total)
        threshold--;
    return threshold;
}

/* ---- Collecting, portable ----------------------------------------------------------------------
 */

typedef uint8_t byte_vector __attribute__((vector_size(16)));

static inline byte_vector load_vector(const uint8_t *bytes) {
    byte_vector vector;
    memcpy(&vector, bytes, sizeof vector);
    return vector;
}

static inline bool is_any_set(byte_vector vector) {
    uint64_t halves[2];
    memcpy(halves, &vector, sizeof halves);
    return halves[0] | halves[1];
}

/* A bit for each of 64 bytes that is nonzero in the highest bit. */
static inline uint64_t highest_bits(const byte_vector *vectors) {
    uint64_t words[SCORE_BLOCK / 8], bits = 0;
    memcpy(words, vectors, sizeof words);
    for (int i = 0; i < SCORE_BLOCK / 8; i++)
        bits |= ((words[i] & 0x8080808080808080u) >> 7) * 0x0102040810204080u >> 56 << (8 * i);
    return bits;
}

size_t score_collect_portable(const uint8_t *values, size_t rows, unsigned threshold,
                              uint32_t *candidates) {
    const byte_vector least = (byte_vector){0} + (uint8_t)threshold;
    size_t found = 0;
    for (size_t row = 0; row < rows; row += SCORE_BLOCK) {
        byte_vector reached[SCORE_BLOCK / sizeof(byte_vector)], any = {0};
        for (size_t i = 0; i < SCORE_BLOCK / sizeof any; i++)
            any |= reached[i] = (byte_vector)(load_vector(values + row + i * sizeof any) >= least);
        if (!is_any_set(any))
            continue;
        for (uint64_t rest = highest_bits(reached); rest; rest &= rest - 1)
            candidates[found++] = (uint32_t)(row + (size_t)__builtin_ctzll(rest));
    }
    return found;
}

score_collect *score_collect_for(enum cpu_level level) {
    static score_collect *const levels[CPU_LEVEL_COUNT] =
        CPU_TABLE(score_collect_portable, score_collect_portable, score_collect_avx2,
                  score_collect_avx512, score_collect_portable);
    return levels[level];
}
