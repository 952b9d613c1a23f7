#include "search/psm/psm_learn.h"

#include <math.h>

#include "base/hash.h"
#include "base/memory.h"

enum {
    SAMPLED_ROWS = 20000,
    SAMPLED_AT_A_TIME = 500, /* until there are PAIRS_ENOUGH */
    PAIRS_ENOUGH = 20000,
    RANDOM_PAIRS = 20000,
    PAIRS_LEAST = 100,
    PAIRS_OF_A_ROW = 16, /* equal pages must not drown the others */
    DIFFERENCES_PAIRS = 8000,
    SCALE_PAIRS = 2000,
    SCALE_STEPS = 12,
    MODEL_QUERIES = 1000,
    SEED = 1
};

/* Sampled rows as queries of their own. */
struct row_sample {
    size_t rows;
    uint32_t *numbers;
    uint8_t *signatures;
    float *weights;
};

static void row_sample_free(struct row_sample *sample) {
    free(sample->numbers);
    free(sample->signatures);
    free(sample->weights);
}

/* A row's weights by their mean size. */
static void put_units(const float *weights, unsigned bits, float *units) {
    float factor = volatility_unit(weights, bits);
    for (unsigned bit = 0; bit < bits; bit++)
        units[bit] = weights[bit] * factor;
}

static cog_status row_sample_take(struct row_sample *sample, const struct signatures_view *view,
                                  const float *weights, cog_error *error) {
    size_t row_bytes = view->bits / 8;
    sample->rows = view->rows < SAMPLED_ROWS ? view->rows : SAMPLED_ROWS;
    sample->numbers = memory_array(sample->rows + 1, sizeof *sample->numbers);
    sample->signatures = memory_array(sample->rows + 1, row_bytes);
    sample->weights = memory_array(sample->rows + 1, view->bits * sizeof *sample->weights);
    if (!sample->numbers || !sample->signatures || !sample->weights)
        return error_memory(error, sample->rows * view->bits * 4, "a sample of rows");
    struct random random = random_seeded(SEED);
    for (size_t i = 0; i < sample->rows; i++) {
        size_t row = random_below(&random, view->rows);
        sample->numbers[i] = (uint32_t)row;
        memcpy(sample->signatures + i * row_bytes, signature_row(view, row), row_bytes);
        put_units(weights + row * view->bits, view->bits, sample->weights + i * view->bits);
    }
    return COG_OK;
}

/* A sampled row and a key near it, which stands for so many neighbours. */
struct near_pair {
    uint32_t query, row, distance;
    double neighbours;
};

struct near_pairs {
    struct near_pair *items;
    size_t count, capacity;
    size_t apart; /* that are no copies: these tell of bits that differ */
};

/* The rows of a key but for the asking one itself. */
static size_t other_rows(const struct psm_lesson *lesson, const struct short_hit *hit) {
    const struct psm_index *index = lesson->index;
    size_t position = line_find(&index->table, short_key_of_row(lesson->stored, hit->row)), count;
    key_rows_of(&index->rows, position, &count);
    return count - (hit->distance == 0 && lesson->asked == lesson->stored);
}

/* Keeps every step-th hit of a query at a distance, for itself and those that are left out. */
static cog_status keep_hits(const struct psm_lesson *lesson, const struct short_hit *hits,
                            size_t count, size_t first, struct near_pairs *pairs,
                            cog_error *error) {
    size_t step = (count + PAIRS_OF_A_ROW - 1) / PAIRS_OF_A_ROW;
    for (size_t i = 0; i < count; i++) {
        bool is_copy = hits[i].distance == 0;
        if (!is_copy && i % step != 0)
            continue;
        size_t rows = other_rows(lesson, &hits[i]);
        if (rows == 0)
            continue;
        if (!memory_grow((void **)&pairs->items, &pairs->capacity, pairs->count + 1,
                         sizeof *pairs->items))
            return error_memory(error, pairs->count * sizeof *pairs->items, "pairs");
        pairs->items[pairs->count++] =
            (struct near_pair){hits[i].query + (uint32_t)first, hits[i].row, hits[i].distance,
                               (double)rows * (is_copy ? 1 : (double)step)};
        pairs->apart += !is_copy;
    }
    return COG_OK;
}

/* The hits of a part of the sample, which begins with row `first`, query by query. */
static cog_status keep_pairs(const struct psm_lesson *lesson, const struct short_hits *hits,
                             size_t first, struct near_pairs *pairs, cog_error *error) {
    cog_status status = COG_OK;
    for (size_t begin = 0, end = 0; begin < hits->count && status == COG_OK; begin = end) {
        while (end < hits->count && hits->items[end].query == hits->items[begin].query)
            end++;
        status = keep_hits(lesson, hits->items + begin, end - begin, first, pairs, error);
    }
    return status;
}

/* Sampled rows are drawn at random, so any part of them is a sample. */
static cog_status find_pairs(const struct psm_lesson *lesson, const struct row_sample *sample,
                             const struct volatility *volatility, unsigned threads,
                             struct near_pairs *pairs, cog_error *error) {
    unsigned bits = lesson->asked->bits;
    struct psm_search search = {.radius_bits = lesson->radius_bits,
                                .penalty_bound = PROBE_BOUND_NONE,
                                .threads = threads,
                                .distinct = true};
    cog_status status = COG_OK;
    for (size_t first = 0; first < sample->rows && pairs->count < PAIRS_ENOUGH && status == COG_OK;
         first += SAMPLED_AT_A_TIME) {
        size_t left = sample->rows - first;
        struct short_hits hits = {0};
        struct psm_queries queries = {{sample->signatures + first * (bits / 8),
                                       left < SAMPLED_AT_A_TIME ? left : SAMPLED_AT_A_TIME, bits,
                                       bits / 8},
                                      sample->weights + first * bits,
                                      volatility,
                                      false};
        status = psm_search(lesson->index, &queries, &search, &hits, error);
        THEN(status, keep_pairs(lesson, &hits, first, pairs, error));
        short_hits_free(&hits);
    }
    return status;
}

/* Learns from the weights of pairs, all bits of up to DIFFERENCES_PAIRS of them. */
static cog_status learn_differences(const struct psm_lesson *lesson,
                                    const struct row_sample *sample, const struct near_pairs *pairs,
                                    struct volatility *volatility, cog_error *error) {
    unsigned bits = lesson->stored->bits;
    size_t apart = pairs->apart;
    size_t step = apart > DIFFERENCES_PAIRS ? apart / DIFFERENCES_PAIRS : 1, seen = 0, used = 0;
    float *differences = memory_array((apart / step + 1) * bits, sizeof *differences);
    if (!differences)
        return error_memory(error, apart / step * bits * sizeof *differences, "weight differences");
    for (size_t i = 0; i < pairs->count; i++) {
        const struct near_pair *pair = &pairs->items[i];
        if (pair->distance == 0 || seen++ % step != 0)
            continue;
        const float *of_query = sample->weights + (size_t)pair->query * bits;
        float *difference = differences + used++ * bits;
        put_units(lesson->stored_weights + (size_t)pair->row * bits, bits, difference);
        for (unsigned bit = 0; bit < bits; bit++)
            difference[bit] -= of_query[bit];
    }
    cog_status status = volatility_learn(volatility, differences, used * bits, error);
    free(differences);
    return status;
}

/* The bits in which a pair differs. */
static short_key difference_of(const struct psm_lesson *lesson, const struct row_sample *sample,
                               const struct near_pair *pair) {
    return short_key_of_row(lesson->asked, sample->numbers[pair->query]) ^
           short_key_of_row(lesson->stored, pair->row);
}

/* The logarithm of the probability of the flips that were seen. */
static double flips_likelihood(const struct psm_lesson *lesson, const struct row_sample *sample,
                               const struct near_pairs *pairs,
                               const struct volatility *volatility) {
    unsigned bits = lesson->stored->bits;
    double sum = 0;
    size_t seen = 0;
    for (size_t i = 0; i < pairs->count && seen < SCALE_PAIRS; i++) {
        const struct near_pair *pair = &pairs->items[i];
        if (pair->distance == 0)
            continue;
        seen++;
        short_key difference = difference_of(lesson, sample, pair);
        const float *weights = sample->weights + (size_t)pair->query * bits;
        for (unsigned bit = 0; bit < bits; bit++) {
            double p = volatility_probability(volatility, weights[bit]);
            sum += log(difference >> (127 - bit) & 1 ? p : 1 - p);
        }
    }
    return sum;
}

/* Random pairs differ more than near-duplicates: narrows the distribution, by halves of octaves,
 * while that makes the flips more likely. */
static cog_status learn_scale(const struct psm_lesson *lesson, const struct row_sample *sample,
                              const struct near_pairs *pairs, struct volatility *volatility,
                              cog_error *error) {
    double best = flips_likelihood(lesson, sample, pairs, volatility);
    struct volatility *narrower = memory_array(1, sizeof *narrower);
    if (!narrower)
        return error_memory(error, sizeof *narrower, "weight differences");
    cog_status status = COG_OK;
    for (unsigned step = 0; step < SCALE_STEPS && status == COG_OK; step++) {
        double quantiles[VOLATILITY_QUANTILES];
        for (unsigned i = 0; i < VOLATILITY_QUANTILES; i++)
            quantiles[i] = volatility->quantiles[i] * M_SQRT1_2;
        status = volatility_restore(narrower, quantiles, volatility->tail, error);
        double likelihood =
            status == COG_OK ? flips_likelihood(lesson, sample, pairs, narrower) : best;
        if (likelihood <= best)
            break;
        best = likelihood;
        *volatility = *narrower;
    }
    free(narrower);
    return status;
}

/* The penalty of the flips that lead from a query to a key. */
struct weighted_penalty {
    uint32_t penalty;
    double neighbours;
};

static int by_penalty(const void *x, const void *y) {
    uint32_t a = ((const struct weighted_penalty *)x)->penalty;
    uint32_t b = ((const struct weighted_penalty *)y)->penalty;
    return (a > b) - (a < b);
}

static struct weighted_penalty penalty_of(const struct psm_lesson *lesson,
                                          const struct row_sample *sample,
                                          const struct near_pair *pair,
                                          const struct volatility *volatility) {
    unsigned header_bits = lesson->index->table.header_bits;
    struct weighted_penalty result = {0, pair->neighbours};
    const float *weights = sample->weights + (size_t)pair->query * lesson->stored->bits;
    uint64_t difference = short_key_prefix(difference_of(lesson, sample, pair), header_bits);
    for (unsigned bit = 0; bit < header_bits; bit++)
        if (difference >> (header_bits - 1 - bit) & 1)
            result.penalty += volatility_penalty(volatility, weights[bit]);
    return result;
}

/* Which penalty holds which share of the neighbours, copies among them. */
static cog_status learn_bounds(const struct psm_lesson *lesson, const struct row_sample *sample,
                               const struct near_pairs *pairs, struct psm_learned *learned,
                               cog_error *error) {
    struct weighted_penalty *penalties = memory_array(pairs->count, sizeof *penalties);
    if (!penalties)
        return error_memory(error, pairs->count * sizeof *penalties, "penalties");
    double total = 0, held = 0;
    for (size_t i = 0; i < pairs->count; i++) {
        penalties[i] = penalty_of(lesson, sample, &pairs->items[i], &learned->volatility);
        total += penalties[i].neighbours;
    }
    qsort(penalties, pairs->count, sizeof *penalties, by_penalty);
    for (size_t i = 0, at = 0; i < PSM_BOUNDS; i++) {
        while (at + 1 < pairs->count &&
               held + penalties[at].neighbours < total * (double)i / (PSM_BOUNDS - 1))
            held += penalties[at++].neighbours;
        learned->bounds[i] = penalties[at].penalty;
    }
    free(penalties);
    return COG_OK;
}

static cog_status learn_from_pairs(const struct psm_lesson *lesson, const struct row_sample *sample,
                                   const struct near_pairs *pairs, struct psm_learned *learned,
                                   cog_error *error) {
    if (pairs->apart < PAIRS_LEAST)
        return COG_OK;
    learned->pairs = pairs->apart;
    TRY(lesson->stored_weights
            ? learn_differences(lesson, sample, pairs, &learned->volatility, error)
            : learn_scale(lesson, sample, pairs, &learned->volatility, error));
    return learn_bounds(lesson, sample, pairs, learned, error);
}

cog_status psm_learn(const struct psm_lesson *lesson, unsigned threads, struct psm_learned *learned,
                     cog_error *error) {
    struct row_sample sample = {0};
    struct near_pairs pairs = {0};
    *learned = (struct psm_learned){.radius_bits = lesson->radius_bits};
    cog_status status = row_sample_take(&sample, lesson->asked, lesson->asked_weights, error);
    THEN(status, volatility_learn_random_pairs(&learned->volatility, sample.weights, sample.rows,
                                               lesson->asked->bits, RANDOM_PAIRS, SEED, error));
    THEN(status, find_pairs(lesson, &sample, &learned->volatility, threads, &pairs, error));
    THEN(status, learn_from_pairs(lesson, &sample, &pairs, learned, error));
    free(pairs.items);
    row_sample_free(&sample);
    return status;
}

cog_status psm_learned_bound(const struct psm_learned *learned, const struct psm_queries *queries,
                             unsigned header_bits, unsigned radius_bits, double recall,
                             uint32_t *bound, cog_error *error) {
    if (learned->pairs > 0 && radius_bits == learned->radius_bits && recall < 1) {
        *bound = learned->bounds[(size_t)(recall * (PSM_BOUNDS - 1) + 0.999)];
        return COG_OK;
    }
    return psm_bound_for_recall(queries, header_bits, radius_bits, recall, MODEL_QUERIES, bound,
                                error);
}
