#include "search/probes/volatility.h"

#include <math.h>

#include "base/hash.h"
#include "base/memory.h"

double volatility_probability(const struct volatility *volatility, double margin) {
    const double *quantiles = volatility->quantiles;
    double size = fabs(margin);
    size_t last = VOLATILITY_QUANTILES - 1;
    if (size <= quantiles[0])
        return 0.5;
    if (size >= quantiles[last])
        return 0.5 * volatility->tail;
    size_t high; /* quantiles[low] <= size < quantiles[high] */
    FIND_FIRST_NOT(high, 1, last, quantiles[high] <= size);
    const size_t low = high - 1;
    double inside = (size - quantiles[low]) / (quantiles[high] - quantiles[low]);
    double above = ((double)(last - low) - inside) / (double)last;
    return 0.5 * fmax(above, volatility->tail);
}

/* Cells cover margins up to the largest difference; a larger margin has the penalty of the tail. */
static void fill_penalties(struct volatility *volatility) {
    double greatest = volatility->quantiles[VOLATILITY_QUANTILES - 1];
    double cells = VOLATILITY_CELLS - 1;
    volatility->scale = greatest > 0 ? (float)(cells / greatest) : 0;
    for (unsigned i = 0; i < VOLATILITY_CELLS; i++) {
        double margin = ((double)i + 0.5) / cells * greatest;
        volatility->penalties[i] = probe_penalty(volatility_probability(volatility, margin));
    }
}

static int by_size(const void *x, const void *y) {
    float a = *(const float *)x, b = *(const float *)y;
    return ORDER(a, b);
}

cog_status volatility_learn(struct volatility *volatility, const float *differences, size_t count,
                            cog_error *error) {
    float *sizes;
    TAKE(sizes, count, "a sample of margin differences", error);
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(differences[i]))
            sizes[used++] = fabsf(differences[i]);
    if (used == 0) {
        free(sizes);
        return error_set(error, COG_ERR_USAGE,
                         "no margin differences to learn from: give at least one pair of rows");
    }
    qsort(sizes, used, sizeof *sizes, by_size);
    for (size_t i = 0; i < VOLATILITY_QUANTILES; i++)
        volatility->quantiles[i] =
            sizes[(size_t)((double)(used - 1) * (double)i / (VOLATILITY_QUANTILES - 1))];
    volatility->tail = 1 / ((double)used + 1);
    free(sizes);
    fill_penalties(volatility);
    return COG_OK;
}

cog_status volatility_learn_random_pairs(struct volatility *volatility, const float *margins,
                                         size_t rows, unsigned bits, size_t pairs, uint64_t seed,
                                         cog_error *error) {
    size_t total;
    if (!size_multiply(rows > 1 ? pairs : 0, bits, &total))
        return error_set(error, COG_ERR_USAGE, "%zu pairs are too many", pairs);
    float *differences;
    TAKE(differences, total, "a sample of margin differences", error);
    struct random random = random_seeded(seed);
    for (size_t i = 0; i < total; i += bits) {
        size_t u = random_below(&random, rows), v = random_below(&random, rows - 1);
        v += v >= u;
        for (unsigned bit = 0; bit < bits; bit++)
            differences[i + bit] = margins[u * bits + bit] - margins[v * bits + bit];
    }
    cog_status status = volatility_learn(volatility, differences, total, error);
    free(differences);
    return status;
}

cog_status volatility_restore(struct volatility *volatility, const double *quantiles, double tail,
                              cog_error *error) {
    bool sound = tail > 0 && tail < 1;
    for (size_t i = 0; i < VOLATILITY_QUANTILES; i++) {
        sound = sound && isfinite(quantiles[i]) && quantiles[i] >= (i ? quantiles[i - 1] : 0);
        volatility->quantiles[i] = quantiles[i];
    }
    if (!sound)
        return error_set(error, COG_ERR_FORMAT,
                         "the quantiles of bit volatility are damaged: learn them again");
    volatility->tail = tail;
    fill_penalties(volatility);
    return COG_OK;
}

float volatility_unit(const float *margins, unsigned bits) {
    float sum = 0;
    for (unsigned i = 0; i < bits; i++)
        sum += fabsf(margins[i]);
    return sum > 0 && sum < INFINITY ? (float)bits / sum : 0;
}

void volatility_bits(const struct volatility *volatility, const float *margins, unsigned key_bits,
                     uint32_t bound, struct probe_bits *bits) {
    uint32_t penalties[PROBE_BITS_MAX];
    for (unsigned i = 0; i < key_bits; i++)
        penalties[i] = volatility_penalty(volatility, margins[i]);
    probe_bits_init(bits, penalties, key_bits, bound);
}
