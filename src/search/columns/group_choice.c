#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "search/columns/bit_columns.h"

enum {
    /* The size of a bit whose weight is zero: it still counts, because clusters are near in all
     * bits. */
    WEIGHT_LEAST = 16,
};

/* How much greater a count may be in a cluster whose rows differ from the query in one bit less on
 * average. If bits were independent, it would be 1 without weights: what is not counted is then
 * known by the cluster alone. */
#define LEAN 0.7f
#define LEAN_BY_WEIGHT 0.25f

cog_status group_choice_init(struct group_choice *choice, const struct clusters_view *clusters,
                             cog_error *error) {
    TAKE(choice->groups, clusters->groups, "a choice of clusters", error);
    TAKE(choice->leans, clusters->groups, "a choice of clusters", error);
    return TAKEN(choice->scores, clusters->count, "a choice of clusters", error);
}

void group_choice_free(struct group_choice *choice) {
    FREE(choice->groups, choice->leans, choice->scores);
    *choice = (struct group_choice){0};
}

static float greatest_size(const float *weights, unsigned bits) {
    float greatest = 0;
    for (unsigned bit = 0; bit < bits; bit++)
        if (fabsf(weights[bit]) > greatest && isfinite(weights[bit]))
            greatest = fabsf(weights[bit]);
    return greatest;
}

/* The query's bits as signs of small integers: of one size, or of one that grows with their
 * weights. Returns the sum of sizes. */
static int round_weights(const uint8_t *query, const float *weights, unsigned bits,
                         int8_t *rounded) {
    float greatest = weights ? greatest_size(weights, bits) : 0;
    float scale = greatest > 0 ? (CLUSTER_WEIGHT_MAX - WEIGHT_LEAST) / greatest : 0;
    int sizes[HAMMING_MAX_BITS], sum = 0;
    for (unsigned bit = 0; bit < bits; bit++) {
        float size = weights ? fabsf(weights[bit]) : 0;
        sizes[bit] = WEIGHT_LEAST + (int)((size <= greatest ? size : 0) * scale);
        sum += sizes[bit];
    }
    memset(rounded, 0, 2 * cluster_stride(bits));
    for (unsigned bit = 0; bit < bits; bit++) {
        int flip = (int)signature_bit(query, bit) - 1; /* all bits set if the size is negated */
        rounded[bit] = (int8_t)((sizes[bit] ^ flip) - flip);
    }
    return sum;
}

/* A score that clusters with `wanted` rows, and few more, reach. Walks down from the greatest score
 * to the least in a few steps and takes the first step that leaves enough rows. */
static int32_t score_for(const struct clusters_view *clusters, const int32_t *scores,
                         size_t wanted) {
    enum { STEPS = 1024 };
    uint64_t rows[STEPS] = {0}, sum = 0;
    int32_t least = scores[0], greatest = scores[0], step = 0;
    unsigned shift = 0;
    for (size_t i = 0; i < clusters->count; i++) {
        least = scores[i] < least ? scores[i] : least;
        greatest = scores[i] > greatest ? scores[i] : greatest;
    }
    while ((greatest - least) >> shift >= STEPS)
        shift++;
    for (size_t i = 0; i < clusters->count; i++)
        rows[(greatest - scores[i]) >> shift] +=
            (cluster_end(clusters, i) - cluster_begin(clusters, i)) * CLUSTER_GROUP;
    while (step < STEPS - 1 && (sum += rows[step]) < wanted)
        step++;
    return greatest - (((step + 1) << shift) - 1);
}

/* Adds each group once, even if clusters are damaged. */
static void add_cluster(struct group_choice *choice, const struct clusters_view *clusters, size_t i,
                        uint16_t lean) {
    for (size_t group = cluster_begin(clusters, i); group < cluster_end(clusters, i); group++)
        if (choice->count == 0 || group > choice->groups[choice->count - 1]) {
            choice->leans[choice->count] = lean;
            choice->groups[choice->count++] = (uint32_t)group;
        }
}

void group_choice_make(struct group_choice *choice, const struct clusters_view *clusters,
                       const struct column_kernels *kernels, const uint8_t *query,
                       const float *weights, size_t wanted) {
    int8_t rounded[HAMMING_MAX_BITS];
    choice->count = 0;
    if (wanted >= clusters->rows || clusters->count == 0) {
        for (size_t i = 0; i < clusters->count; i++)
            add_cluster(choice, clusters, i, 0);
        return;
    }
    int sum = round_weights(query, weights, clusters->bits, rounded);
    kernels->scores(clusters->shares, rounded, cluster_stride(clusters->bits), clusters->count,
                    choice->scores);
    int32_t least = score_for(clusters, choice->scores, wanted);
    /* A score grows by sum * steps / bits for each bit less in which rows differ. */
    float lean = (weights ? LEAN_BY_WEIGHT : LEAN) * (float)clusters->bits /
                 ((float)sum * CLUSTER_SHARE_STEPS);
    for (size_t i = 0; i < clusters->count; i++)
        if (choice->scores[i] >= least)
            add_cluster(choice, clusters, i, (uint16_t)((float)(choice->scores[i] - least) * lean));
}
