#include "cluster/clusters.h"

#include <stdlib.h>

#include "base/memory.h"

#define UNTAKEN UINT32_MAX

static bool precedes(const uint64_t *keys, uint32_t a, uint32_t b) {
    if (keys && keys[a] != keys[b])
        return keys[a] > keys[b];
    return a < b;
}

/* The root of a row's tree; halves the path on the way. */
static uint32_t find_root(uint32_t *parents, uint32_t row) {
    while (parents[row] != row)
        row = parents[row] = parents[parents[row]];
    return row;
}

/* The root of each tree is its row with the largest key, so the roots are the representatives. */
static void connect(const struct match_list *matches, const uint64_t *keys,
                    struct clusters *clusters) {
    uint32_t *parents = clusters->representative;
    for (size_t r = 0; r < clusters->rows; r++)
        parents[r] = (uint32_t)r;
    for (size_t i = 0; i < matches->count; i++) {
        uint32_t a = find_root(parents, matches->items[i].a);
        uint32_t b = find_root(parents, matches->items[i].b);
        if (a != b && precedes(keys, a, b))
            parents[b] = a;
        else
            parents[a] = b;
    }
    for (size_t r = 0; r < clusters->rows; r++)
        parents[r] = find_root(parents, (uint32_t)r);
}

/* Adjacency lists: each match is in the lists of both of its rows. */
struct neighbours {
    uint64_t *starts; /* rows + 2 */
    uint32_t *rows;
};

static cog_status make_neighbours(const struct match_list *matches, size_t rows,
                                  struct neighbours *neighbours, cog_error *error) {
    TAKE_ZEROED(neighbours->starts, rows + 2, "clusters", error);
    TAKE(neighbours->rows, matches->count * 2, "clusters", error);
    uint64_t *starts = neighbours->starts;
    for (size_t i = 0; i < matches->count; i++) {
        starts[matches->items[i].a + 2]++;
        starts[matches->items[i].b + 2]++;
    }
    for (size_t r = 0; r < rows; r++)
        starts[r + 2] += starts[r + 1];
    /* starts[r + 1] advances from the start of row r to its end, which is the start of row r + 1.
     */
    for (size_t i = 0; i < matches->count; i++) {
        struct match match = matches->items[i];
        neighbours->rows[starts[match.a + 1]++] = match.b;
        neighbours->rows[starts[match.b + 1]++] = match.a;
    }
    return COG_OK;
}

struct keyed_row {
    uint64_t key;
    uint32_t row;
};

static int by_key(const void *x, const void *y) {
    const struct keyed_row *p = x, *q = y;
    return p->key != q->key ? ORDER(q->key, p->key) : ORDER(p->row, q->row);
}

/* Each row in the order of its key that is not taken yet takes its untaken neighbours. */
static void group_by_key(const struct neighbours *neighbours, const uint64_t *keys,
                         struct keyed_row *order, struct clusters *clusters) {
    uint32_t *representative = clusters->representative;
    for (size_t r = 0; r < clusters->rows; r++) {
        order[r] = (struct keyed_row){keys ? keys[r] : 0, (uint32_t)r};
        representative[r] = UNTAKEN;
    }
    qsort(order, clusters->rows, sizeof *order, by_key);
    for (size_t i = 0; i < clusters->rows; i++) {
        uint32_t row = order[i].row;
        if (representative[row] != UNTAKEN)
            continue;
        representative[row] = row;
        for (uint64_t n = neighbours->starts[row]; n < neighbours->starts[row + 1]; n++)
            if (representative[neighbours->rows[n]] == UNTAKEN)
                representative[neighbours->rows[n]] = row;
    }
}

static cog_status take_greedily(const struct match_list *matches, const uint64_t *keys,
                                struct clusters *clusters, cog_error *error) {
    struct neighbours neighbours = {0};
    struct keyed_row *order = NULL;
    cog_status status = make_neighbours(matches, clusters->rows, &neighbours, error);
    THEN(status, TAKEN(order, clusters->rows, "clusters", error));
    if (status == COG_OK)
        group_by_key(&neighbours, keys, order, clusters);
    FREE(order, neighbours.starts, neighbours.rows);
    return status;
}

/* Numbers clusters by their first row and sets the similarity of each row to its representative. */
static void number_clusters(const struct match_list *matches, struct clusters *clusters) {
    clusters->count = 0;
    for (size_t r = 0; r < clusters->rows; r++)
        clusters->cluster[r] = UNTAKEN;
    for (size_t r = 0; r < clusters->rows; r++) {
        /* A representative may come after the first row of its cluster; the cluster then gets its
         * number before the representative's turn. */
        uint32_t head = clusters->representative[r];
        if (clusters->cluster[head] == UNTAKEN)
            clusters->cluster[head] = (uint32_t)clusters->count++;
        clusters->cluster[r] = clusters->cluster[head];
        clusters->similarity[r] = head == r ? 1 : 0;
    }
    for (size_t i = 0; i < matches->count; i++) {
        struct match match = matches->items[i];
        if (clusters->representative[match.a] == match.b)
            clusters->similarity[match.a] = match.similarity;
        if (clusters->representative[match.b] == match.a)
            clusters->similarity[match.b] = match.similarity;
    }
}

cog_status clusters_build(const struct match_list *matches, size_t rows, const uint64_t *keys,
                          enum cluster_mode mode, struct clusters *clusters, cog_error *error) {
    for (size_t i = 0; i < matches->count; i++)
        if (matches->items[i].a >= rows || matches->items[i].b >= rows)
            return error_set(
                error, COG_ERR_USAGE, "match %zu is for row %u, but there are only %zu rows", i,
                matches->items[i].a >= rows ? matches->items[i].a : matches->items[i].b, rows);
    *clusters = (struct clusters){.rows = rows};
    cog_status status = TAKEN(clusters->cluster, rows, "clusters", error);
    THEN(status, TAKEN(clusters->representative, rows, "clusters", error));
    THEN(status, TAKEN(clusters->similarity, rows, "clusters", error));
    if (status == COG_OK && mode == CLUSTERS_CONNECTED)
        connect(matches, keys, clusters);
    else
        THEN(status, take_greedily(matches, keys, clusters, error));
    if (status == COG_OK)
        number_clusters(matches, clusters);
    else
        clusters_free(clusters);
    return status;
}

void clusters_free(struct clusters *clusters) {
    FREE(clusters->cluster, clusters->representative, clusters->similarity);
    *clusters = (struct clusters){0};
}
