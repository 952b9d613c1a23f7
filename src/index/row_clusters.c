#include "index/row_clusters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "hamming/tile_scan.h"

enum {
    WHOLE_ROWS = 4096, /* fewer are one cluster */
    SAMPLE_FOR_CENTRE = 48,
    ROUNDS = 4,
    BYTE_SUMS = 255, /* rows that counters of one byte hold */
};

/* ---- Nearest centres ------------------------------------------------------------------------- */

struct assignment {
    const struct signatures_view *rows, *centres;
    const struct hamming_tile *tile;
    uint32_t *nearest; /* for each row */
};

/* A block of rows, which are the queries of the tile. */
struct block {
    uint32_t *nearest;
    uint16_t *limits;
};

/* The nearest centre so far; of equally near ones the first. */
static cog_status take_nearer(void *context, size_t first_query, size_t first_row,
                              const struct hamming_hit *hits, size_t count, cog_error *error) {
    (void)error;
    const struct block *block = context;
    for (size_t i = 0; i < count; i++) {
        size_t query = first_query + hits[i].query;
        uint32_t centre = (uint32_t)(first_row + hits[i].row);
        uint16_t distance = (uint16_t)hits[i].distance;
        if (distance < block->limits[query] ||
            (distance == block->limits[query] && centre < block->nearest[query])) {
            block->limits[query] = distance;
            block->nearest[query] = centre;
        }
    }
    return COG_OK;
}

static cog_status assign_block(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    (void)worker;
    const struct assignment *assignment = context;
    const struct signatures_view *rows = assignment->rows, *centres = assignment->centres;
    struct tile_queries queries = {0};
    struct tile_scratch scratch = {0};
    struct block block = {assignment->nearest + begin,
                          memory_array(end - begin, sizeof *block.limits)};
    cog_status status =
        block.limits ? COG_OK : error_memory(error, end - begin, "distances to centres");
    if (status == COG_OK)
        status = tile_queries_create(&queries, assignment->tile, rows->bits, end - begin, error);
    if (status == COG_OK)
        status = tile_scratch_create(&scratch, assignment->tile, rows->bits, error);
    if (status == COG_OK) {
        tile_queries_load(&queries, rows, begin, end - begin);
        for (size_t i = 0; i < end - begin; i++) {
            block.limits[i] = (uint16_t)rows->bits;
            block.nearest[i] = UINT32_MAX;
        }
        status = tile_scan(&queries, &scratch, centres, 0, centres->rows, block.limits, take_nearer,
                           &block, error);
    }
    tile_scratch_free(&scratch);
    tile_queries_free(&queries);
    free(block.limits);
    return status;
}

static cog_status assign_rows(const struct signatures_view *rows,
                              const struct signatures_view *centres, unsigned threads,
                              uint32_t *nearest, cog_error *error) {
    struct assignment assignment = {rows, centres, hamming_tile(), nearest};
    return parallel_for(threads, rows->rows, tile_queries_fitting(assignment.tile, rows->bits),
                        assign_block, &assignment, error);
}

/* ---- Rows of each cluster -------------------------------------------------------------------- */

/* Numbers of the clusters become the order of the rows, and where each cluster ends in it. */
static void order_rows(const uint32_t *cluster, size_t rows, size_t clusters, uint32_t *order,
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

/* How many of the listed rows have each bit. counts has a place for each bit of the stride. */
static void count_ones(const struct signatures_view *signatures, const uint32_t *rows, size_t count,
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

static void make_shares(const struct signatures_view *signatures, const uint32_t *rows,
                        size_t count, uint8_t *shares) {
    uint32_t counts[HAMMING_MAX_BITS];
    count_ones(signatures, rows, count, counts);
    for (size_t bit = 0; bit < cluster_stride(signatures->bits); bit++)
        shares[bit] = (uint8_t)((uint64_t)counts[bit] * CLUSTER_SHARE_ONE / count);
}

struct share_making {
    const struct signatures_view *signatures;
    const struct row_clusters *clusters;
};

static cog_status make_all_shares(void *context, unsigned worker, size_t begin, size_t end,
                                  cog_error *error) {
    (void)worker;
    (void)error;
    const struct share_making *making = context;
    const struct row_clusters *clusters = making->clusters;
    size_t stride = cluster_stride(making->signatures->bits);
    for (size_t i = begin; i < end; i++) {
        uint32_t first = i ? clusters->ends[i - 1] : 0;
        make_shares(making->signatures, clusters->order + first, clusters->ends[i] - first,
                    clusters->shares + i * stride);
    }
    return COG_OK;
}

/* ---- Centres --------------------------------------------------------------------------------- */

/* Free with centres_free. */
struct centres {
    struct signatures_view view, sample_view;
    uint8_t *rows, *sample;
    uint32_t *nearest, *order, *ends; /* of the sample */
};

static void centres_free(struct centres *centres) {
    free(centres->rows);
    free(centres->sample);
    free(centres->nearest);
    free(centres->order);
    free(centres->ends);
}

static void copy_spread(const struct signatures_view *from, size_t count, uint8_t *to,
                        struct signatures_view *view) {
    size_t stride = signature_stride_bytes(from->bits);
    for (size_t i = 0; i < count; i++)
        memcpy(to + i * stride, signature_row(from, i * from->rows / count), stride);
    *view = (struct signatures_view){to, count, from->bits, stride};
}

/* A sample spread over the rows, and centres spread over the sample. */
static cog_status centres_start(struct centres *centres, const struct signatures_view *signatures,
                                size_t count, cog_error *error) {
    size_t sample = count * SAMPLE_FOR_CENTRE, stride = signature_stride_bytes(signatures->bits);
    sample = sample < signatures->rows ? sample : signatures->rows;
    *centres = (struct centres){.rows = memory_array(count, stride),
                                .sample = memory_array(sample, stride),
                                .nearest = memory_array(sample, sizeof *centres->nearest),
                                .order = memory_array(sample, sizeof *centres->order),
                                .ends = memory_array(count, sizeof *centres->ends)};
    if (!centres->rows || !centres->sample || !centres->nearest || !centres->order ||
        !centres->ends)
        return error_memory(error, sample * (stride + 8), "a sample of the rows");
    copy_spread(signatures, sample, centres->sample, &centres->sample_view);
    copy_spread(&centres->sample_view, count, centres->rows, &centres->view);
    return COG_OK;
}

/* Each centre gets the bits that most of its rows have; where as many have it as not, it keeps its
 * own, as does a centre without rows. */
static cog_status move_centres(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    (void)worker;
    (void)error;
    const struct centres *centres = context;
    uint32_t counts[HAMMING_MAX_BITS];
    for (size_t i = begin; i < end; i++) {
        uint32_t first = i ? centres->ends[i - 1] : 0, size = centres->ends[i] - first;
        uint8_t *centre = centres->rows + i * centres->view.stride_bytes;
        count_ones(&centres->sample_view, centres->order + first, size, counts);
        for (unsigned bit = 0; bit < centres->view.bits; bit++) {
            uint8_t mask = (uint8_t)(0x80 >> bit % 8);
            if (2 * counts[bit] > size)
                centre[bit / 8] |= mask;
            else if (2 * counts[bit] < size)
                centre[bit / 8] &= (uint8_t)~mask;
        }
    }
    return COG_OK;
}

static cog_status centres_train(struct centres *centres, unsigned threads, cog_error *error) {
    cog_status status = COG_OK;
    for (int round = 0; status == COG_OK && round < ROUNDS; round++) {
        status =
            assign_rows(&centres->sample_view, &centres->view, threads, centres->nearest, error);
        if (status != COG_OK)
            break;
        order_rows(centres->nearest, centres->sample_view.rows, centres->view.rows, centres->order,
                   centres->ends);
        status = parallel_for(threads, centres->view.rows, 16, move_centres, centres, error);
    }
    return status;
}

/* Puts each centre before the nearest of those that remain: where a cluster ends within what is
 * read at once, what is read beside it is near as well. O(centres^2). */
static void centres_chain(struct centres *centres) {
    size_t count = centres->view.rows, stride = centres->view.stride_bytes;
    for (size_t i = 0; i + 2 < count; i++) {
        uint8_t *next = centres->rows + (i + 1) * stride, saved[HAMMING_MAX_BITS / 8];
        size_t best = i + 1;
        uint32_t least = UINT32_MAX;
        for (size_t j = i + 1; j < count; j++) {
            uint32_t distance =
                hamming_distance(signature_row(&centres->view, i), signature_row(&centres->view, j),
                                 centres->view.bits);
            if (distance < least) {
                least = distance;
                best = j;
            }
        }
        memcpy(saved, next, stride);
        memcpy(next, signature_row(&centres->view, best), stride);
        memcpy(centres->rows + best * stride, saved, stride);
    }
}

/* ---- Building -------------------------------------------------------------------------------- */

static size_t clusters_for(size_t rows) {
    return rows < WHOLE_ROWS ? rows > 0 : (size_t)(1.5 * sqrt((double)rows));
}

/* The nearest centre of every row, by the numbers of trained centres. */
static cog_status find_clusters(const struct signatures_view *signatures, size_t count,
                                unsigned threads, uint32_t *nearest, cog_error *error) {
    struct centres centres;
    cog_status status = centres_start(&centres, signatures, count, error);
    if (status == COG_OK)
        status = centres_train(&centres, threads, error);
    if (status == COG_OK) {
        centres_chain(&centres);
        status = assign_rows(signatures, &centres.view, threads, nearest, error);
    }
    centres_free(&centres);
    return status;
}

static cog_status make_room(struct row_clusters *clusters, size_t rows, unsigned bits, size_t count,
                            cog_error *error) {
    *clusters = (struct row_clusters){
        .order = memory_array(rows + 1, sizeof *clusters->order),
        .ends = memory_array(count + 1, sizeof *clusters->ends),
        .shares = memory_array(count + 1, cluster_stride(bits)),
    };
    if (!clusters->order || !clusters->ends || !clusters->shares)
        return error_memory(error, rows * 4 + count * cluster_stride(bits), "clusters of rows");
    clusters->view = (struct clusters_view){clusters->order, clusters->ends, clusters->shares,
                                            count,           rows,           bits};
    return COG_OK;
}

/* Clusters without rows are left out. */
static void drop_empty(struct row_clusters *clusters) {
    size_t kept = 0;
    for (size_t i = 0; i < clusters->view.count; i++)
        if (clusters->ends[i] > (kept ? clusters->ends[kept - 1] : 0))
            clusters->ends[kept++] = clusters->ends[i];
    clusters->view.count = kept;
}

cog_status row_clusters_build(struct row_clusters *clusters,
                              const struct signatures_view *signatures, unsigned threads,
                              cog_error *error) {
    size_t rows = signatures->rows, count = clusters_for(rows);
    threads = threads_resolve(threads);
    uint32_t *nearest = memory_zeroed_array(rows + 1, sizeof *nearest);
    cog_status status = make_room(clusters, rows, signatures->bits, count, error);
    if (status == COG_OK && !nearest)
        status = error_memory(error, rows * sizeof *nearest, "the clusters of rows");
    if (status == COG_OK && count > 1)
        status = find_clusters(signatures, count, threads, nearest, error);
    if (status == COG_OK) {
        order_rows(nearest, rows, count, clusters->order, clusters->ends);
        drop_empty(clusters);
        struct share_making making = {signatures, clusters};
        status = parallel_for(threads, clusters->view.count, 16, make_all_shares, &making, error);
    }
    free(nearest);
    return status;
}

void row_clusters_free(struct row_clusters *clusters) {
    free(clusters->order);
    free(clusters->ends);
    free(clusters->shares);
    *clusters = (struct row_clusters){0};
}

/* ---- Checking -------------------------------------------------------------------------------- */

/* The first place of the order whose row is impossible or a repetition, or the number of rows. */
static size_t first_fault(const struct clusters_view *view, bool *seen) {
    for (size_t i = 0; i < view->rows; i++) {
        if (view->order[i] >= view->rows || seen[view->order[i]])
            return i;
        seen[view->order[i]] = true;
    }
    return view->rows;
}

cog_status row_clusters_check(const struct clusters_view *view,
                              const struct signatures_view *signatures, cog_error *error) {
    bool *seen = memory_zeroed_array(view->rows + 1, sizeof *seen);
    if (!seen)
        return error_memory(error, view->rows, "a check of the clusters");
    size_t fault = first_fault(view, seen);
    free(seen);
    if (fault < view->rows)
        return error_set_at(error, COG_ERR_FORMAT, fault,
                            "place %zu in the order of the rows is impossible; build the index "
                            "again",
                            fault);
    size_t stride = cluster_stride(view->bits);
    uint32_t begin = 0;
    for (size_t i = 0; i < view->count; i++) {
        uint8_t shares[HAMMING_MAX_BITS];
        uint32_t end = view->ends[i];
        bool possible =
            end > begin && end <= view->rows && (i + 1 < view->count || end == view->rows);
        if (possible)
            make_shares(signatures, view->order + begin, end - begin, shares);
        if (!possible || memcmp(shares, view->shares + i * stride, stride) != 0)
            return error_set_at(error, COG_ERR_FORMAT, i,
                                "cluster %zu of the rows is impossible; build the index again", i);
        begin = end;
    }
    return COG_OK;
}
