#include "search/columns/cluster_centres.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "hamming/hamming_tile.h"

enum {
    SAMPLE_FOR_CENTRE = 250, /* rows, at least: fewer do not show the usual bits around a centre */
    ROUNDS = 6,
    BYTE_SUMS = 255, /* rows that counters of one byte hold */
};

/* ---- Nearest centres ------------------------------------------------------------------------- */

/* What each thread needs. */
struct assigner {
    struct tile_queries queries;
    struct tile_scratch scratch;
};

struct assignment {
    const struct signatures_view *rows, *centres;
    struct assigner *assigners;
    uint32_t *nearest;
    uint16_t *distances;
};

/* A block of rows, which are the queries of the tile; distances are its limits. */
struct block {
    uint32_t *nearest;
    uint16_t *distances;
};

static cog_status take_nearer(void *context, const struct tile_hits *found, cog_error *error) {
    (void)error;
    const struct block *block = context;
    for (size_t i = 0; i < found->count; i++) {
        size_t query = found->first_query + found->hits[i].query;
        uint32_t centre = (uint32_t)(found->first_row + found->hits[i].row);
        uint16_t distance = (uint16_t)found->hits[i].distance;
        if (distance < block->distances[query] ||
            (distance == block->distances[query] && centre < block->nearest[query])) {
            block->distances[query] = distance;
            block->nearest[query] = centre;
        }
    }
    return COG_OK;
}

static cog_status assign_block(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    const struct assignment *assignment = context;
    const struct signatures_view *rows = assignment->rows, *centres = assignment->centres;
    struct assigner *assigner = &assignment->assigners[worker];
    struct block block = {assignment->nearest + begin, assignment->distances + begin};
    tile_queries_load(&assigner->queries, rows, begin, end - begin);
    for (size_t i = 0; i < end - begin; i++)
        block.distances[i] = (uint16_t)hamming_distance(
            signature_row(rows, begin + i), signature_row(centres, block.nearest[i]), rows->bits);
    return tile_scan(&assigner->queries, &assigner->scratch, centres, 0, centres->rows,
                     block.distances, take_nearer, &block, error);
}

cog_status centres_nearest(const struct signatures_view *centres,
                           const struct signatures_view *rows, unsigned threads, uint32_t *nearest,
                           uint16_t *distances, cog_error *error) {
    const struct hamming_tile *tile = hamming_tile();
    size_t block_rows = tile_queries_fitting(tile, rows->bits);
    struct assigner *assigners;
    TAKE_ZEROED(assigners, threads, "a search for nearest centres", error);
    struct assignment assignment = {rows, centres, assigners, nearest, distances};
    cog_status status = COG_OK;
    for (unsigned i = 0; i < threads && status == COG_OK; i++) {
        status = tile_queries_create(&assigners[i].queries, tile, rows->bits, block_rows, error);
        THEN(status, tile_scratch_create(&assigners[i].scratch, tile, rows->bits, error));
    }
    THEN(status, parallel_for(threads, rows->rows, block_rows, assign_block, &assignment, error));
    for (unsigned i = 0; i < threads; i++) {
        tile_queries_free(&assigners[i].queries);
        tile_scratch_free(&assigners[i].scratch);
    }
    free(assigners);
    return status;
}

/* ---- Rows of clusters ------------------------------------------------------------------------ */

void clusters_order(const uint32_t *cluster, size_t rows, size_t clusters, uint32_t *order,
                    uint32_t *ends) {
    memset(ends, 0, clusters * sizeof *ends);
    for (size_t row = 0; row < rows; row++)
        ends[cluster[row]]++;
    uint32_t sum = 0;
    for (size_t i = 0; i < clusters; i++) {
        uint32_t size = ends[i];
        ends[i] = sum;
        sum += size;
    }
    for (size_t row = 0; row < rows; row++)
        order[ends[cluster[row]]++] = (uint32_t)row;
}

/* Eight counters of one byte for the bits of a byte, the highest bit first in memory. */
static inline uint64_t spread_bits(uint8_t byte) {
    return (byte * UINT64_C(0x8040201008040201) & UINT64_C(0x8080808080808080)) >> 7;
}

void rows_count_ones(const struct signatures_view *signatures, const uint32_t *rows, size_t count,
                     uint32_t *counts) {
    uint64_t sums[HAMMING_MAX_BITS / 8];
    size_t bytes = signature_stride_bytes(signatures->bits);
    memset(counts, 0, bytes * 8 * sizeof *counts);
    for (size_t first = 0; first < count; first += BYTE_SUMS) {
        size_t end = count - first < BYTE_SUMS ? count : first + BYTE_SUMS;
        memset(sums, 0, bytes * sizeof *sums);
        for (size_t i = first; i < end; i++) {
            const uint8_t *row = signature_row(signatures, rows[i]);
            for (size_t byte = 0; byte < bytes; byte++)
                sums[byte] += spread_bits(row[byte]);
        }
        for (size_t bit = 0; bit < bytes * 8; bit++)
            counts[bit] += sums[bit / 8] >> bit % 8 * 8 & 0xff;
    }
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* Zero-initialise; training_free releases. */
struct training {
    struct signatures_view sample; /* borrowed */
    uint8_t *centres;
    uint32_t *nearest, *order, *ends; /* of the sample */
    uint16_t *distances;
};

static void training_free(struct training *training) {
    FREE(training->nearest, training->order, training->ends, training->distances);
}

/* Every n-th row, so that the sample is spread evenly. */
static struct signatures_view rows_sampled(const struct signatures_view *rows, size_t centres) {
    size_t step = rows->rows / (centres * SAMPLE_FOR_CENTRE);
    step = step ? step : 1;
    return (struct signatures_view){rows->data, (rows->rows + step - 1) / step, rows->bits,
                                    rows->stride_bytes * step};
}

/* A sample of the rows, and centres spread over all rows. */
static cog_status training_start(struct training *training, struct cluster_centres *centres,
                                 const struct signatures_view *signatures, size_t count,
                                 cog_error *error) {
    size_t stride = signature_stride_bytes(signatures->bits);
    *training = (struct training){.sample = rows_sampled(signatures, count)};
    size_t sample = training->sample.rows;
    TAKE(centres->rows, count * stride, "a sample of the rows", error);
    TAKE(training->nearest, sample, "a sample of the rows", error);
    TAKE(training->order, sample, "a sample of the rows", error);
    TAKE(training->ends, count, "a sample of the rows", error);
    TAKE(training->distances, sample, "a sample of the rows", error);
    training->centres = centres->rows;
    for (size_t i = 0; i < count; i++)
        memcpy(centres->rows + i * stride, signature_row(signatures, i * signatures->rows / count),
               stride);
    centres->view = (struct signatures_view){centres->rows, count, signatures->bits, stride};
    for (size_t i = 0; i < sample; i++)
        training->nearest[i] = (uint32_t)(i * count / sample);
    return COG_OK;
}

/* Each centre gets the bits that most of its rows have. It keeps its own bit if exactly half of
 * them have it, or if it has no rows. */
static cog_status move_centres(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    (void)worker;
    (void)error;
    const struct training *training = context;
    uint32_t counts[HAMMING_MAX_BITS];
    for (size_t i = begin; i < end; i++) {
        uint32_t first = i ? training->ends[i - 1] : 0, size = training->ends[i] - first;
        uint8_t *centre = training->centres + i * signature_stride_bytes(training->sample.bits);
        rows_count_ones(&training->sample, training->order + first, size, counts);
        for (unsigned bit = 0; bit < training->sample.bits; bit++) {
            uint8_t mask = (uint8_t)(0x80 >> bit % 8);
            if (2 * counts[bit] > size)
                centre[bit / 8] |= mask;
            else if (2 * counts[bit] < size)
                centre[bit / 8] &= (uint8_t)~mask;
        }
    }
    return COG_OK;
}

static cog_status train(struct training *training, const struct signatures_view *centres,
                        unsigned threads, cog_error *error) {
    for (int round = 0; round < ROUNDS; round++) {
        TRY(centres_nearest(centres, &training->sample, threads, training->nearest,
                            training->distances, error));
        clusters_order(training->nearest, training->sample.rows, centres->rows, training->order,
                       training->ends);
        TRY(parallel_for(threads, centres->rows, 16, move_centres, training, error));
    }
    return COG_OK;
}

static void swap_centres(struct cluster_centres *centres, size_t i, size_t j) {
    size_t stride = centres->view.stride_bytes;
    uint8_t saved[HAMMING_MAX_BITS / 8], *x = centres->rows + i * stride,
                                         *y = centres->rows + j * stride;
    memcpy(saved, x, stride);
    memcpy(x, y, stride);
    memcpy(y, saved, stride);
}

/* Puts each centre before the nearest of those that remain; numbers, 0, 1, 2 ..., move with them.
 * O(centres^2). */
static void chain(struct cluster_centres *centres, uint32_t *numbers) {
    const struct signatures_view *view = &centres->view;
    for (size_t i = 0; i + 2 < view->rows; i++) {
        size_t best = i + 1;
        uint32_t least = UINT32_MAX, number;
        for (size_t j = i + 1; j < view->rows; j++) {
            uint32_t distance =
                hamming_distance(signature_row(view, i), signature_row(view, j), view->bits);
            if (distance < least) {
                least = distance;
                best = j;
            }
        }
        swap_centres(centres, i + 1, best);
        number = numbers[best];
        numbers[best] = numbers[i + 1];
        numbers[i + 1] = number;
    }
}

/* Chains the centres and updates which centre each row of the sample has. */
static cog_status finish_centres(struct cluster_centres *centres, const struct training *training,
                                 cog_error *error) {
    size_t count = centres->view.rows, sample = training->sample.rows;
    uint32_t *numbers;
    TAKE(centres->of_sample, sample, "numbers of centres", error);
    TAKE(numbers, 2 * count, "numbers of centres", error);
    uint32_t *places = numbers + count;
    for (size_t i = 0; i < count; i++)
        numbers[i] = (uint32_t)i;
    chain(centres, numbers);
    for (size_t i = 0; i < count; i++)
        places[numbers[i]] = (uint32_t)i;
    for (size_t i = 0; i < sample; i++)
        centres->of_sample[i] = places[training->nearest[i]];
    centres->sample = sample;
    free(numbers);
    return COG_OK;
}

cog_status cluster_centres_find(struct cluster_centres *centres,
                                const struct signatures_view *signatures, size_t count,
                                unsigned threads, cog_error *error) {
    struct training training;
    cog_status status = training_start(&training, centres, signatures, count, error);
    THEN(status, train(&training, &centres->view, threads, error));
    THEN(status, finish_centres(centres, &training, error));
    training_free(&training);
    return status;
}

void cluster_centres_free(struct cluster_centres *centres) {
    FREE(centres->rows, centres->of_sample);
    *centres = (struct cluster_centres){0};
}
