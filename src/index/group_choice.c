#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "index/bit_columns.h"

cog_status group_choice_init(struct group_choice *choice, const struct clusters_view *clusters,
                             cog_error *error) {
    size_t groups = column_groups(clusters->rows);
    choice->groups = memory_array(groups + 1, sizeof *choice->groups);
    choice->scores = memory_array(clusters->count + 1, sizeof *choice->scores);
    return choice->groups && choice->scores
               ? COG_OK
               : error_memory(error, (groups + clusters->count) * 4, "a choice of clusters");
}

void group_choice_free(struct group_choice *choice) {
    free(choice->groups);
    free(choice->scores);
    *choice = (struct group_choice){0};
}

static float greatest_size(const float *weights, unsigned bits) {
    float greatest = 0;
    for (unsigned bit = 0; bit < bits; bit++)
        if (fabsf(weights[bit]) > greatest && isfinite(weights[bit]))
            greatest = fabsf(weights[bit]);
    return greatest;
}

/* The query's bits as signs of small integers: of one size, or of that of their weights. */
static void round_weights(const uint8_t *query, const float *weights, unsigned bits,
                          int8_t *rounded) {
    float greatest = weights ? greatest_size(weights, bits) : 0;
    memset(rounded, 0, cluster_stride(bits));
    for (unsigned bit = 0; bit < bits; bit++) {
        float size = CLUSTER_WEIGHT_MAX; /* of what is no number, too */
        if (greatest > 0 && fabsf(weights[bit]) <= greatest)
            size = fabsf(weights[bit]) / greatest * CLUSTER_WEIGHT_MAX + 0.5f;
        rounded[bit] = (int8_t)(signature_bit(query, bit) ? (int)size : -(int)size);
    }
}

static uint32_t cluster_begin(const struct clusters_view *clusters, size_t i) {
    return i ? clusters->ends[i - 1] : 0;
}

/* A score that clusters of `wanted` rows reach, and few more: that of the first of some steps from
 * the greatest score down to the least where there are enough. */
static int32_t score_for(const struct clusters_view *clusters, const int32_t *scores,
                         size_t wanted) {
    enum { STEPS = 1024 };
    uint64_t rows[STEPS] = {0}, sum = 0;
    int32_t least = scores[0], greatest = scores[0];
    for (size_t i = 0; i < clusters->count; i++) {
        least = scores[i] < least ? scores[i] : least;
        greatest = scores[i] > greatest ? scores[i] : greatest;
    }
    int32_t size = (greatest - least) / STEPS + 1;
    for (size_t i = 0; i < clusters->count; i++)
        rows[(greatest - scores[i]) / size] += clusters->ends[i] - cluster_begin(clusters, i);
    int32_t step = 0;
    while (step < STEPS && (sum += rows[step]) < wanted)
        step++;
    return greatest - step * size - (size - 1);
}

void group_choice_make(struct group_choice *choice, const struct clusters_view *clusters,
                       const struct column_kernels *kernels, const uint8_t *query,
                       const float *weights, size_t wanted) {
    int8_t rounded[HAMMING_MAX_BITS];
    int32_t least = INT32_MIN;
    bool all = wanted >= clusters->rows || clusters->count == 0;
    if (!all) {
        round_weights(query, weights, clusters->bits, rounded);
        kernels->scores(clusters->shares, rounded, cluster_stride(clusters->bits), clusters->count,
                        choice->scores);
        least = score_for(clusters, choice->scores, wanted);
    }
    choice->count = 0;
    for (size_t i = 0; i < clusters->count; i++) {
        uint32_t begin = cluster_begin(clusters, i), end = clusters->ends[i];
        if (begin >= end || end > clusters->rows || (!all && choice->scores[i] < least))
            continue;
        for (uint32_t group = begin / COLUMN_GROUP_ROWS; group <= (end - 1) / COLUMN_GROUP_ROWS;
             group++)
            if (choice->count == 0 || group > choice->groups[choice->count - 1])
                choice->groups[choice->count++] = group;
    }
}
