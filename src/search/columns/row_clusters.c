#include "search/columns/row_clusters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "search/columns/cluster_centres.h"

enum {
    CLUSTER_ROWS_LEAST = CLUSTER_GROUP + CLUSTER_GROUP / 4, /* on average */
    PLACING_ROUNDS = 5,
};
#define CLUSTERS_BY_ROOT 1.0 /* of the rows */
#define NOWHERE UINT32_MAX

/* ---- Placing rows ---------------------------------------------------------------------------- */

/* Which cluster each row goes to. Clusters are filled to whole groups, with the rows that are
 * nearest to the centre first; those that remain go to the nearest centre that has room. Numbers
 * from the number of centres on are clusters of rows that found none. */
struct placing {
    const struct signatures_view *signatures;
    const struct cluster_centres *centres;
    unsigned threads;
    uint32_t *cluster;   /* of each row, NOWHERE where it is not placed */
    uint32_t *room;      /* of each centre: rows that it still takes */
    uint32_t *rows;      /* that are placed next */
    uint32_t *open;      /* centres that have room for them */
    uint8_t *copies;     /* of these rows, then of these centres */
    uint32_t *nearest;   /* open centre of each of the rows */
    uint16_t *distances; /* to it */
    uint32_t *order, *ends;
    size_t row_count, open_count;
};

static void placing_free(struct placing *placing) {
    FREE(placing->cluster, placing->room, placing->rows, placing->open, placing->copies,
         placing->nearest, placing->distances, placing->order, placing->ends);
}

static cog_status placing_start(struct placing *placing, cog_error *error) {
    size_t rows = placing->signatures->rows, centres = placing->centres->view.rows;
    TAKE(placing->cluster, rows, "the clusters of rows", error);
    TAKE_ZEROED(placing->room, centres, "the clusters of rows", error);
    TAKE(placing->rows, rows, "the clusters of rows", error);
    TAKE(placing->open, centres, "the clusters of rows", error);
    TAKE(placing->nearest, rows, "the clusters of rows", error);
    TAKE(placing->distances, rows, "the clusters of rows", error);
    TAKE(placing->order, rows, "the clusters of rows", error);
    TAKE(placing->ends, centres, "the clusters of rows", error);
    for (size_t row = 0; row < rows; row++)
        placing->cluster[row] = NOWHERE;
    return COG_OK;
}

/* The rows without a cluster and the centres with room. */
static cog_status copy_open(struct placing *placing, cog_error *error) {
    size_t stride = placing->centres->view.stride_bytes;
    placing->row_count = placing->open_count = 0;
    for (size_t row = 0; row < placing->signatures->rows; row++)
        if (placing->cluster[row] == NOWHERE) {
            placing->order[placing->row_count] = (uint32_t)placing->row_count;
            placing->nearest[placing->row_count] = 0;
            placing->rows[placing->row_count++] = (uint32_t)row;
        }
    for (size_t i = 0; i < placing->centres->view.rows; i++)
        if (placing->room[i])
            placing->open[placing->open_count++] = (uint32_t)i;
    free(placing->copies);
    TAKE(placing->copies, (placing->row_count + placing->open_count) * stride, "copies of rows",
         error);
    uint8_t *to = placing->copies;
    for (size_t i = 0; i < placing->row_count; i++, to += stride)
        memcpy(to, signature_row(placing->signatures, placing->rows[i]), stride);
    for (size_t i = 0; i < placing->open_count; i++, to += stride)
        memcpy(to, signature_row(&placing->centres->view, placing->open[i]), stride);
    return COG_OK;
}

/* Assigns rows [begin, end) of the order to the centre, nearest first, as long as it has room. */
static void fill_centre(struct placing *placing, uint32_t centre, size_t begin, size_t end) {
    uint32_t counts[HAMMING_MAX_BITS + 1] = {0}, *room = &placing->room[centre];
    for (size_t i = begin; i < end; i++)
        counts[placing->distances[placing->order[i]]]++;
    uint32_t limit = 0, nearer = 0; /* rows nearer than the limit have room */
    while (limit < HAMMING_MAX_BITS && nearer + counts[limit] <= *room)
        nearer += counts[limit++];
    uint32_t at_limit = *room - nearer;
    for (size_t i = begin; i < end; i++) {
        uint32_t at = placing->order[i];
        bool fits = placing->distances[at] < limit;
        if (placing->distances[at] == limit && at_limit) {
            fits = true;
            at_limit--;
        }
        if (fits) {
            placing->cluster[placing->rows[at]] = centre;
            (*room)--;
        }
    }
}

static void fill_centres(struct placing *placing) {
    clusters_order(placing->nearest, placing->row_count, placing->open_count, placing->order,
                   placing->ends);
    for (size_t i = 0; i < placing->open_count; i++)
        fill_centre(placing, placing->open[i], i ? placing->ends[i - 1] : 0, placing->ends[i]);
}

/* Assigns all rows to their nearest centres, which get room for the nearest number of whole groups.
 * Adjacent rows are often near each other, so the centre of a sampled row is a good guess for the
 * rows next to it. */
static cog_status place_first(struct placing *placing, cog_error *error) {
    size_t rows = placing->signatures->rows, centres = placing->centres->view.rows;
    for (size_t row = 0; row < rows; row++)
        placing->nearest[row] = placing->centres->of_sample[row * placing->centres->sample / rows];
    TRY(centres_nearest(&placing->centres->view, placing->signatures, placing->threads,
                        placing->nearest, placing->distances, error));
    for (size_t row = 0; row < rows; row++) {
        placing->rows[row] = (uint32_t)row;
        placing->room[placing->nearest[row]]++;
    }
    for (size_t i = 0; i < centres; i++) {
        placing->open[i] = (uint32_t)i;
        placing->room[i] = (placing->room[i] + CLUSTER_GROUP / 2) / CLUSTER_GROUP * CLUSTER_GROUP;
    }
    placing->row_count = rows;
    placing->open_count = centres;
    fill_centres(placing);
    return COG_OK;
}

static cog_status place_again(struct placing *placing, cog_error *error) {
    cog_status status = copy_open(placing, error);
    if (status != COG_OK || placing->row_count == 0 || placing->open_count == 0)
        return status;
    size_t stride = placing->centres->view.stride_bytes;
    unsigned bits = placing->signatures->bits;
    struct signatures_view rows = {placing->copies, placing->row_count, bits, stride};
    struct signatures_view open = {placing->copies + rows.rows * stride, placing->open_count, bits,
                                   stride};
    status = centres_nearest(&open, &rows, placing->threads, placing->nearest, placing->distances,
                             error);
    if (status == COG_OK)
        fill_centres(placing);
    return status;
}

/* Puts the rows that found no room into groups of their own, by their nearest centres. Returns the
 * number of clusters. */
static size_t place_rest(struct placing *placing) {
    size_t clusters = placing->centres->view.rows, placed = 0;
    for (size_t i = 0; i < placing->row_count; i++) {
        uint32_t row = placing->rows[placing->order[i]];
        if (placing->cluster[row] == NOWHERE)
            placing->cluster[row] = (uint32_t)(clusters + placed++ / CLUSTER_GROUP);
    }
    return clusters + (placed + CLUSTER_GROUP - 1) / CLUSTER_GROUP;
}

static cog_status place_rows(struct placing *placing, size_t *clusters, cog_error *error) {
    cog_status status = placing_start(placing, error);
    THEN(status, place_first(placing, error));
    for (int round = 0; status == COG_OK && round < PLACING_ROUNDS; round++)
        status = place_again(placing, error);
    if (status == COG_OK)
        *clusters = place_rest(placing);
    return status;
}

/* ---- Shares ---------------------------------------------------------------------------------- */

static uint8_t round_share(uint32_t ones, size_t rows) {
    uint64_t step = (uint64_t)ones * CLUSTER_SHARE_STEPS / rows;
    step = step < CLUSTER_SHARE_LEAST ? 0 : step - CLUSTER_SHARE_LEAST;
    return (uint8_t)(step < CLUSTER_SHARE_MAX ? step : CLUSTER_SHARE_MAX);
}

static void make_shares(const struct signatures_view *signatures, const uint32_t *rows,
                        size_t count, uint8_t *shares) {
    uint32_t counts[HAMMING_MAX_BITS];
    rows_count_ones(signatures, rows, count, counts);
    memset(shares, 0, cluster_stride(signatures->bits));
    for (unsigned bit = 0; bit < signatures->bits; bit++)
        shares[bit / 128 * 64 + bit % 64] |=
            (uint8_t)(round_share(counts[bit], count) << bit % 128 / 64 * 4);
}

/* Rows of a cluster: the places before those without one. */
static size_t cluster_rows(const struct clusters_view *view, size_t cluster) {
    const uint32_t *order = view->order + cluster_begin(view, cluster) * CLUSTER_GROUP;
    size_t count = (cluster_end(view, cluster) - cluster_begin(view, cluster)) * CLUSTER_GROUP;
    while (count && order[count - 1] == CLUSTER_NO_ROW)
        count--;
    return count;
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
    const struct clusters_view *view = &making->clusters->view;
    for (size_t i = begin; i < end; i++)
        make_shares(making->signatures, view->order + cluster_begin(view, i) * CLUSTER_GROUP,
                    cluster_rows(view, i),
                    making->clusters->shares + i * cluster_stride(view->bits));
    return COG_OK;
}

/* ---- Building -------------------------------------------------------------------------------- */

/* At least a group's rows per cluster; at most sqrt(rows) clusters, because all rows are compared
 * with all centres. */
static size_t clusters_for(size_t rows) {
    size_t by_root = (size_t)(CLUSTERS_BY_ROOT * sqrt((double)rows));
    size_t by_rows = rows / CLUSTER_ROWS_LEAST;
    return by_root < by_rows ? by_root : by_rows;
}

static size_t groups_for(size_t rows) {
    return (rows + CLUSTER_GROUP - 1) / CLUSTER_GROUP;
}

static cog_status make_room(struct row_clusters *clusters, const struct signatures_view *signatures,
                            size_t count, size_t groups, cog_error *error) {
    size_t places = groups * CLUSTER_GROUP, stride = cluster_stride(signatures->bits);
    TAKE(clusters->order, places, "clusters of rows", error);
    TAKE(clusters->ends, count + 1, "clusters of rows", error);
    TAKE(clusters->shares, count * stride, "clusters of rows", error);
    clusters->view = (struct clusters_view){.order = clusters->order,
                                            .ends = clusters->ends,
                                            .shares = clusters->shares,
                                            .count = count,
                                            .groups = groups,
                                            .rows = signatures->rows,
                                            .bits = signatures->bits};
    for (size_t place = 0; place < places; place++)
        clusters->order[place] = CLUSTER_NO_ROW;
    return COG_OK;
}

/* Orders rows cluster by cluster. Each cluster begins a group; clusters without rows are left out.
 * `sizes` become the next places. */
static cog_status take_places(struct row_clusters *clusters, const struct placing *placing,
                              uint32_t *sizes, size_t count, cog_error *error) {
    size_t groups = 0, kept = 0, rows = placing->signatures->rows;
    for (size_t row = 0; row < rows; row++)
        sizes[placing->cluster[row]]++;
    for (size_t i = 0; i < count; i++)
        groups += groups_for(sizes[i]);
    if (groups > UINT32_MAX / CLUSTER_GROUP)
        return error_set(error, COG_ERR_USAGE, "%zu rows are too many for columns", rows);
    TRY(make_room(clusters, placing->signatures, count, groups, error));
    groups = 0;
    for (size_t i = 0; i < count; i++) {
        size_t end = groups + groups_for(sizes[i]);
        sizes[i] = (uint32_t)(groups * CLUSTER_GROUP);
        if (end > groups)
            clusters->ends[kept++] = (uint32_t)end;
        groups = end;
    }
    for (size_t row = 0; row < rows; row++)
        clusters->order[sizes[placing->cluster[row]]++] = (uint32_t)row;
    clusters->view.count = kept;
    return COG_OK;
}

static cog_status build_placed(struct row_clusters *clusters, struct placing *placing,
                               cog_error *error) {
    size_t count = 0;
    uint32_t *sizes = NULL;
    cog_status status = place_rows(placing, &count, error);
    THEN(status, TAKEN_ZEROED(sizes, count, "sizes of clusters", error));
    THEN(status, take_places(clusters, placing, sizes, count, error));
    free(sizes);
    placing_free(placing);
    return status;
}

/* All rows in one cluster, or none. */
static cog_status build_whole(struct row_clusters *clusters,
                              const struct signatures_view *signatures, cog_error *error) {
    size_t rows = signatures->rows, groups = groups_for(rows);
    cog_status status = make_room(clusters, signatures, rows > 0, groups, error);
    for (size_t row = 0; status == COG_OK && row < rows; row++)
        clusters->order[row] = (uint32_t)row;
    if (status == COG_OK)
        clusters->ends[0] = (uint32_t)groups;
    return status;
}

cog_status row_clusters_build(struct row_clusters *clusters,
                              const struct signatures_view *signatures, unsigned threads,
                              cog_error *error) {
    size_t count = clusters_for(signatures->rows);
    struct cluster_centres centres = {0};
    cog_status status = COG_OK;
    *clusters = (struct row_clusters){0};
    threads = threads_resolve(threads);
    if (count > 1)
        status = cluster_centres_find(&centres, signatures, count, threads, error);
    struct placing placing = {.signatures = signatures, .centres = &centres, .threads = threads};
    THEN(status, count > 1 ? build_placed(clusters, &placing, error)
                           : build_whole(clusters, signatures, error));
    cluster_centres_free(&centres);
    struct share_making making = {signatures, clusters};
    return status == COG_OK
               ? parallel_for(threads, clusters->view.count, 16, make_all_shares, &making, error)
               : status;
}

void row_clusters_free(struct row_clusters *clusters) {
    FREE(clusters->order, clusters->ends, clusters->shares);
    *clusters = (struct row_clusters){0};
}

/* ---- Checking -------------------------------------------------------------------------------- */

/* Whether all rows are there once. */
static bool holds_all(const struct clusters_view *view, bool *seen) {
    size_t count = 0;
    for (size_t place = 0; place < view->groups * CLUSTER_GROUP; place++) {
        uint32_t row = view->order[place];
        if (row == CLUSTER_NO_ROW)
            continue;
        if (row >= view->rows || seen[row])
            return false;
        seen[row] = true;
        count++;
    }
    return count == view->rows;
}

static bool cluster_is_right(const struct clusters_view *view,
                             const struct signatures_view *signatures, size_t i) {
    uint8_t shares[HAMMING_MAX_BITS / 2];
    size_t begin = cluster_begin(view, i), end = view->ends[i], stride = cluster_stride(view->bits);
    if (end <= begin || end > view->groups || (i + 1 == view->count && end != view->groups))
        return false;
    const uint32_t *order = view->order + begin * CLUSTER_GROUP;
    size_t count = cluster_rows(view, i);
    for (size_t row = 0; row < count; row++)
        if (order[row] == CLUSTER_NO_ROW)
            return false;
    if (count == 0)
        return false;
    make_shares(signatures, order, count, shares);
    return memcmp(shares, view->shares + i * stride, stride) == 0;
}

cog_status row_clusters_check(const struct clusters_view *view,
                              const struct signatures_view *signatures, cog_error *error) {
    bool *seen;
    TAKE_ZEROED(seen, view->rows + 1, "a check of the clusters", error);
    bool complete = holds_all(view, seen);
    free(seen);
    if (!complete)
        return error_set(error, COG_ERR_FORMAT,
                         "the clusters do not have every row once; build the index again");
    for (size_t i = 0; i < view->count; i++)
        if (!cluster_is_right(view, signatures, i))
            return error_set_at(error, COG_ERR_FORMAT, i,
                                "cluster %zu of the rows is impossible; build the index again", i);
    return COG_OK;
}
