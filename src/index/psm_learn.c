#include "index/psm_learn.h"

#include "base/memory.h"
#include "base/random.h"

enum {
    SAMPLED_ROWS = 20000,
    SAMPLED_AT_A_TIME = 500, /* until there are PAIRS_ENOUGH */
    PAIRS_ENOUGH = 20000,
    RANDOM_PAIRS = 20000,
    PAIRS_LEAST = 100,
    PAIRS_OF_A_ROW = 16, /* equal pages must not drown the others */
    DIFFERENCES_PAIRS = 8000,
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
        memcpy(sample->weights + i * view->bits, weights + row * view->bits,
               view->bits * sizeof *weights);
    }
    return COG_OK;
}

/* Moves hits of a part of the sample, which begins with row `first`, to the pairs: those that are
 * no copies, and few of each query. */
static cog_status keep_pairs(const struct short_hits *hits, size_t first, struct short_hits *pairs,
                             cog_error *error) {
    size_t of_query = 0;
    cog_status status = COG_OK;
    for (size_t i = 0; i < hits->count && status == COG_OK; i++) {
        struct short_hit hit = hits->items[i];
        of_query = i > 0 && hit.query == hits->items[i - 1].query ? of_query : 0;
        if (hit.distance == 0 || of_query == PAIRS_OF_A_ROW)
            continue;
        of_query++;
        hit.query += (uint32_t)first;
        status = short_hits_add(pairs, hit, error);
    }
    return status;
}

/* Sampled rows are drawn at random, so any part of them is a sample. */
static cog_status find_pairs(const struct psm_index *index, const struct row_sample *sample,
                             unsigned bits, const struct psm_search *search,
                             const struct volatility *volatility, struct short_hits *pairs,
                             cog_error *error) {
    cog_status status = COG_OK;
    for (size_t first = 0; first < sample->rows && pairs->count < PAIRS_ENOUGH && status == COG_OK;
         first += SAMPLED_AT_A_TIME) {
        size_t left = sample->rows - first;
        struct short_hits hits = {0};
        struct psm_queries queries = {{sample->signatures + first * (bits / 8),
                                       left < SAMPLED_AT_A_TIME ? left : SAMPLED_AT_A_TIME, bits,
                                       bits / 8},
                                      sample->weights + first * bits,
                                      volatility};
        status = psm_search(index, &queries, search, &hits, error);
        if (status == COG_OK)
            status = keep_pairs(&hits, first, pairs, error);
        short_hits_free(&hits);
    }
    return status;
}

/* Learns from the weights of pairs, all bits of up to DIFFERENCES_PAIRS of them. */
static cog_status learn_differences(const struct row_sample *sample, const struct short_hits *pairs,
                                    const float *weights, unsigned bits,
                                    struct volatility *volatility, cog_error *error) {
    size_t used = pairs->count < DIFFERENCES_PAIRS ? pairs->count : DIFFERENCES_PAIRS;
    float *differences = memory_array(used * bits, sizeof *differences);
    if (!differences)
        return error_memory(error, used * bits * sizeof *differences, "weight differences");
    for (size_t i = 0; i < used; i++) {
        const struct short_hit *pair = &pairs->items[i * (pairs->count / used)];
        const float *of_query = sample->weights + (size_t)pair->query * bits;
        const float *of_row = weights + (size_t)pair->row * bits;
        for (unsigned bit = 0; bit < bits; bit++)
            differences[i * bits + bit] = of_query[bit] - of_row[bit];
    }
    cog_status status = volatility_learn(volatility, differences, used * bits, error);
    free(differences);
    return status;
}

static int by_value(const void *x, const void *y) {
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return (a > b) - (a < b);
}

/* The penalties of the flips that lead from each pair's query to its row, as quantiles. */
static cog_status learn_bounds(const struct row_sample *sample, const struct short_hits *pairs,
                               const struct signatures_view *view, unsigned header_bits,
                               struct psm_learned *learned, cog_error *error) {
    uint32_t *penalties = memory_zeroed_array(pairs->count, sizeof *penalties);
    if (!penalties)
        return error_memory(error, pairs->count * sizeof *penalties, "penalties");
    for (size_t i = 0; i < pairs->count; i++) {
        const struct short_hit *pair = &pairs->items[i];
        const float *weights = sample->weights + (size_t)pair->query * view->bits;
        uint64_t difference =
            short_key_prefix(short_key_of_row(view, sample->numbers[pair->query]) ^
                                 short_key_of_row(view, pair->row),
                             header_bits);
        for (unsigned bit = 0; bit < header_bits; bit++)
            if (difference >> (header_bits - 1 - bit) & 1)
                penalties[i] += volatility_penalty(&learned->volatility, weights[bit]);
    }
    qsort(penalties, pairs->count, sizeof *penalties, by_value);
    for (size_t i = 0; i < PSM_BOUNDS; i++)
        learned->bounds[i] = penalties[(pairs->count - 1) * i / (PSM_BOUNDS - 1)];
    free(penalties);
    return COG_OK;
}

cog_status psm_learn(const struct psm_index *index, const struct signatures_view *view,
                     const float *weights, unsigned radius_bits, unsigned threads,
                     struct psm_learned *learned, cog_error *error) {
    struct row_sample sample = {0};
    struct short_hits pairs = {0};
    *learned = (struct psm_learned){.radius_bits = radius_bits};
    cog_status status = volatility_learn_random_pairs(&learned->volatility, weights, view->rows,
                                                      view->bits, RANDOM_PAIRS, SEED, error);
    if (status == COG_OK)
        status = row_sample_take(&sample, view, weights, error);
    if (status == COG_OK) {
        struct psm_search search = {.radius_bits = radius_bits,
                                    .penalty_bound = PROBE_BOUND_NONE,
                                    .threads = threads,
                                    .distinct = true};
        status =
            find_pairs(index, &sample, view->bits, &search, &learned->volatility, &pairs, error);
    }
    if (status == COG_OK && pairs.count >= PAIRS_LEAST) {
        learned->pairs = pairs.count;
        status =
            learn_differences(&sample, &pairs, weights, view->bits, &learned->volatility, error);
        if (status == COG_OK)
            status = learn_bounds(&sample, &pairs, view, index->table.header_bits, learned, error);
    }
    short_hits_free(&pairs);
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
