/* Results as Arrow streams: the public functions. Rows are positions in the input. */
#include <string.h>

#include "api/arrow_table.h"
#include "base/arguments.h"
#include "base/strings.h"
#include "hamming/hamming.h"
#include "input/npy.h"

static cog_status check_export(const void *result, const struct ArrowArrayStream *stream,
                               cog_error *error) {
    TRY(check_given(result, "result", error));
    return check_given(stream, "stream", error);
}

/* A distance below 0 is not known. */
static void set_distance(struct arrow_table *table, int32_t *distances, size_t row, int distance) {
    if (!distances)
        return;
    distances[row] = distance < 0 ? 0 : distance;
    if (distance < 0)
        arrow_table_set_null(table, row);
}

/* An id, or the number of the row if it has none. */
static void append_id(struct arrow_table *table, struct arrow_table_column *column,
                      struct bytes_view id, uint64_t number) {
    char digits[NUMBER_DIGITS_MOST];
    if (!id.data)
        id = view_of(digits, number_digits(number, digits));
    if (column)
        arrow_table_append(table, column, id);
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

static void add_pair_ids(struct arrow_table *table, const cog_pairs *pairs, int side,
                         const char *name) {
    struct arrow_table_column *column = arrow_table_text(table, name);
    for (size_t i = 0; i < table->rows && column; i++) {
        cog_pair pair = cog_pairs_get(pairs, i);
        uint32_t row = side ? pair.b : pair.a;
        struct bytes_view id;
        id.data = cog_pairs_id(pairs, side, row, &id.size);
        append_id(table, column, id, row);
    }
}

cog_status cog_pairs_to_arrow(const cog_pairs *pairs, bool ids, struct ArrowArrayStream *stream,
                              cog_error *error) {
    TRY(check_export(pairs, stream, error));
    struct arrow_table table = {.rows = cog_pairs_count(pairs)};
    int64_t *a = arrow_table_int64(&table, "a"), *b = arrow_table_int64(&table, "b");
    double *similarities = arrow_table_double(&table, "similarity");
    int32_t *distances = arrow_table_int32(&table, "distance");
    for (size_t i = 0; i < table.rows && distances; i++) {
        cog_pair pair = cog_pairs_get(pairs, i);
        a[i] = (int64_t)cog_pairs_position(pairs, 0, pair.a);
        b[i] = (int64_t)cog_pairs_position(pairs, 1, pair.b);
        similarities[i] = pair.similarity;
        set_distance(&table, distances, i, pair.distance);
    }
    if (ids) {
        add_pair_ids(&table, pairs, 0, "a_id");
        add_pair_ids(&table, pairs, 1, "b_id");
    }
    return arrow_table_finish(&table, stream, error);
}

/* ---- Clusters -------------------------------------------------------------------------------- */

static void add_cluster_ids(struct arrow_table *table, cog_clusters *clusters, bool representatives,
                            const char *name) {
    struct arrow_table_column *column = arrow_table_text(table, name);
    for (size_t i = 0; i < table->rows && column; i++) {
        cog_cluster_member member = cog_clusters_member(clusters, i);
        uint32_t row = representatives ? member.representative : member.row;
        struct bytes_view id;
        id.data = cog_clusters_id(clusters, row, &id.size);
        append_id(table, column, id, row);
    }
}

cog_status cog_clusters_to_arrow(cog_clusters *clusters, bool ids, struct ArrowArrayStream *stream,
                                 cog_error *error) {
    TRY(check_export(clusters, stream, error));
    struct arrow_table table = {.rows = cog_clusters_member_count(clusters)};
    int64_t *numbers = arrow_table_int64(&table, "cluster");
    int64_t *rows = arrow_table_int64(&table, "row");
    int64_t *representatives = arrow_table_int64(&table, "representative");
    double *similarities = arrow_table_double(&table, "similarity");
    uint8_t *kept = arrow_table_bool(&table, "kept");
    for (size_t i = 0; i < table.rows && kept; i++) {
        cog_cluster_member member = cog_clusters_member(clusters, i);
        numbers[i] = member.cluster;
        rows[i] = (int64_t)cog_clusters_position(clusters, member.row);
        representatives[i] = (int64_t)cog_clusters_position(clusters, member.representative);
        similarities[i] = member.similarity;
        if (member.row == member.representative)
            kept[i / 8] |= (uint8_t)(1u << i % 8);
    }
    if (ids) {
        add_cluster_ids(&table, clusters, false, "id");
        add_cluster_ids(&table, clusters, true, "representative_id");
    }
    return arrow_table_finish(&table, stream, error);
}

cog_status cog_clusters_removed_to_arrow(const cog_clusters *clusters,
                                         struct ArrowArrayStream *stream, cog_error *error) {
    TRY(check_export(clusters, stream, error));
    size_t documents = cog_clusters_document_count(clusters), count = 0;
    struct arrow_table table = {0};
    for (size_t row = 0; row < documents; row++)
        table.rows += !cog_clusters_is_kept(clusters, (uint32_t)row);
    int64_t *removed = arrow_table_int64(&table, "removed");
    int64_t *kept = arrow_table_int64(&table, "kept");
    double *similarities = arrow_table_double(&table, "similarity");
    for (uint32_t row = 0; row < documents && similarities; row++) {
        uint32_t twin;
        if (!cog_clusters_twin(clusters, row, &twin, &similarities[count]))
            continue;
        removed[count] = (int64_t)cog_clusters_position(clusters, row);
        kept[count++] = (int64_t)cog_clusters_twin_position(clusters, twin);
    }
    return arrow_table_finish(&table, stream, error);
}

cog_status cog_clusters_kept_to_arrow(const cog_clusters *clusters, struct ArrowArrayStream *stream,
                                      cog_error *error) {
    TRY(check_export(clusters, stream, error));
    size_t documents = cog_clusters_document_count(clusters), kept = 0;
    struct arrow_table table = {0};
    for (size_t row = 0; row < documents; row++)
        table.rows += cog_clusters_is_kept(clusters, (uint32_t)row);
    int64_t *rows = arrow_table_int64(&table, "row");
    for (size_t row = 0; row < documents && rows; row++)
        if (cog_clusters_is_kept(clusters, (uint32_t)row))
            rows[kept++] = (int64_t)cog_clusters_position(clusters, (uint32_t)row);
    return arrow_table_finish(&table, stream, error);
}

/* ---- Hits ------------------------------------------------------------------------------------ */

static struct bytes_view id_of_hit(const cog_hits *hits, uint32_t row) {
    struct bytes_view id;
    id.data = cog_index_id(cog_hits_index(hits), row, &id.size);
    return id;
}

/* Ids that are numbers; other rows are null. */
static void add_hit_rows(struct arrow_table *table, const cog_hits *hits) {
    int64_t *rows = arrow_table_int64(table, "row");
    for (size_t i = 0; i < table->rows && rows; i++) {
        uint32_t row = cog_hits_get(hits, i).row;
        struct bytes_view id = id_of_hit(hits, row);
        uint64_t number = row;
        const bool is_number = !id.data || number_of_digits(id, &number);
        rows[i] = is_number ? (int64_t)number : 0;
        if (!is_number)
            arrow_table_set_null(table, i);
    }
}

static void add_hit_ids(struct arrow_table *table, const cog_hits *hits, bool ids) {
    struct arrow_table_column *column = arrow_table_text(table, "id");
    for (size_t i = 0; i < table->rows && column; i++) {
        uint32_t row = cog_hits_get(hits, i).row;
        append_id(table, column, id_of_hit(hits, row), row);
    }
    column = ids ? arrow_table_text(table, "query_id") : NULL;
    for (size_t i = 0; i < table->rows && column; i++) {
        uint32_t query = cog_hits_get(hits, i).query;
        struct bytes_view id;
        id.data = cog_hits_query_id(hits, query, &id.size);
        append_id(table, column, id, query);
    }
}

cog_status cog_hits_to_arrow(const cog_hits *hits, bool ids, struct ArrowArrayStream *stream,
                             cog_error *error) {
    TRY(check_export(hits, stream, error));
    struct arrow_table table = {.rows = cog_hits_count(hits)};
    int64_t *queries = arrow_table_int64(&table, "query");
    int64_t *ranks = arrow_table_int64(&table, "rank");
    for (size_t i = 0; i < table.rows && ranks; i++) {
        cog_hit hit = cog_hits_get(hits, i);
        queries[i] = (int64_t)cog_hits_position(hits, hit.query);
        ranks[i] = hit.rank;
    }
    add_hit_rows(&table, hits);
    double *similarities = arrow_table_double(&table, "similarity");
    for (size_t i = 0; i < table.rows && similarities; i++)
        similarities[i] = cog_hits_get(hits, i).similarity;
    int32_t *distances = arrow_table_int32(&table, "distance");
    for (size_t i = 0; i < table.rows; i++)
        set_distance(&table, distances, i, cog_hits_get(hits, i).distance);
    add_hit_ids(&table, hits, ids);
    return arrow_table_finish(&table, stream, error);
}

/* ---- Links ----------------------------------------------------------------------------------- */

static void add_link_ids(struct arrow_table *table, const cog_links *links, bool sources,
                         const char *name) {
    struct arrow_table_column *column = arrow_table_text(table, name);
    for (size_t i = 0; i < table->rows && column; i++) {
        const cog_link_item item = cog_links_item(links, i);
        arrow_table_append(table, column,
                           sources ? view_of(item.from, item.from_size)
                                   : view_of(item.to, item.to_size));
    }
}

cog_status cog_links_to_arrow(const cog_links *links, bool ids, struct ArrowArrayStream *stream,
                              cog_error *error) {
    TRY(check_export(links, stream, error));
    struct arrow_table table = {.rows = cog_links_count(links)};
    int64_t *from = arrow_table_int64(&table, "from"), *to = arrow_table_int64(&table, "to");
    double *similarities = arrow_table_double(&table, "similarity");
    double *scores = arrow_table_double(&table, "score");
    double *probabilities = arrow_table_double(&table, "probability");
    for (size_t i = 0; i < table.rows && probabilities; i++) {
        cog_link_item item = cog_links_item(links, i);
        from[i] = (int64_t)cog_links_position(links, 0, item.from_row);
        to[i] = (int64_t)cog_links_position(links, 1, item.to_row);
        similarities[i] = item.similarity;
        scores[i] = item.score;
        probabilities[i] = item.probability;
    }
    if (ids) {
        add_link_ids(&table, links, true, "from_id");
        add_link_ids(&table, links, false, "to_id");
    }
    return arrow_table_finish(&table, stream, error);
}

/* ---- Signatures ------------------------------------------------------------------------------ */

cog_status cog_signatures_to_arrow(const cog_signatures *signatures,
                                   struct ArrowArrayStream *stream, cog_error *error) {
    TRY(check_export(signatures, stream, error));
    const struct signatures_view *view = &signatures->file.view;
    struct arrow_table table = {.rows = view->rows};
    size_t width = view->bits / 8;
    uint8_t *bytes = arrow_table_bytes(&table, "signature", width);
    for (size_t row = 0; row < view->rows && bytes; row++)
        memcpy(bytes + row * width, view->data + row * view->stride_bytes, width);
    return arrow_table_finish(&table, stream, error);
}
