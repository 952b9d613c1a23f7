#include "search/columns/columns_method.h"

#include "base/memory.h"
#include "search/columns/columns_search.h"
#include "search/hits/query_batch.h"

#define SECTION_GROUPS CONTAINER_TAG('b', 'c', 'g', 'r')
#define SECTION_ORDER CONTAINER_TAG('c', 'l', 'o', 'r')
#define SECTION_ENDS CONTAINER_TAG('c', 'l', 'e', 'n')
#define SECTION_SHARES CONTAINER_TAG('c', 'l', 's', 'h')

/* ---- Tables ---------------------------------------------------------------------------------- */

static const struct columns_view *view_of_tables(const void *tables) {
    return &((const struct bit_columns *)tables)->view;
}

static cog_status build(const struct method_build *asked, void *tables, cog_error *error) {
    return bit_columns_build(tables, asked->rows.signatures, asked->threads, error);
}

static void reset(void *tables) {
    bit_columns_free(tables);
}

static cog_status write(const void *tables, struct container_writer *writer, cog_error *error) {
    const struct columns_view *view = view_of_tables(tables);
    const struct clusters_view *clusters = &view->clusters;
    const struct container_part parts[] = {
        {SECTION_ORDER, clusters->order, clusters->groups * CLUSTER_GROUP, sizeof(uint32_t)},
        {SECTION_ENDS, clusters->ends, clusters->count, sizeof(uint32_t)},
        {SECTION_SHARES, clusters->shares, clusters->count, cluster_stride(clusters->bits)},
        {SECTION_GROUPS, view->words, columns_size_bytes(clusters->groups, clusters->bits), 1}};
    return container_writer_sections(writer, parts, 4, error);
}

/* The numbers of clusters and groups follow from the sizes of their sections. */
static cog_status open(const struct container *container, const struct method_rows *rows,
                       void *tables, cog_error *error) {
    struct bytes_view ends_view, order_view;
    const void *order = NULL, *ends = NULL, *shares = NULL, *words = NULL;
    unsigned bits = rows->signatures->bits;
    TRY(container_require(container, SECTION_ENDS, &ends_view, error));
    TRY(container_require(container, SECTION_ORDER, &order_view, error));
    size_t group_bytes = CLUSTER_GROUP * sizeof(uint32_t);
    size_t count = ends_view.size / sizeof(uint32_t), groups = order_view.size / group_bytes;
    TRY(container_array(container, SECTION_ENDS, count, sizeof(uint32_t), &ends, error));
    TRY(container_array(container, SECTION_ORDER, groups, group_bytes, &order, error));
    TRY(container_array(container, SECTION_SHARES, count, cluster_stride(bits), &shares, error));
    TRY(container_array(container, SECTION_GROUPS, columns_size_bytes(groups, bits), 1, &words,
                        error));
    ((struct bit_columns *)tables)->view = (struct columns_view){
        words, {order, ends, shares, count, groups, rows->signatures->rows, bits}};
    return COG_OK;
}

static cog_status check(const void *tables, const struct method_rows *rows, cog_error *error) {
    return columns_check(view_of_tables(tables), rows->signatures, error);
}

/* ---- Searching ------------------------------------------------------------------------------- */

/* From little to much. */
static const struct columns_request efforts[] = {
    {.share = 0.1, .columns = 30, .verify = 500},    {.share = 0.2, .columns = 60, .verify = 1000},
    {.share = 0.3, .columns = 90, .verify = 2000},   {.share = 0.5, .columns = 90, .verify = 8000},
    {.share = 0.7, .columns = 120, .verify = 16000}, {.share = 1, .columns = 180, .verify = 32000},
    {.share = 1, .columns = 240, .verify = 32000},   {.share = 1, .columns = 390, .verify = 32000},
    {.share = 1, .columns = 600, .verify = 32000},
};
/* Of all rows, so that only the counts decide what is missed. */
static const struct columns_request first_look = {.share = 1, .columns = 90, .verify = 4096};
enum { EFFORT_STEPS = sizeof efforts / sizeof *efforts };

/* Nanoseconds of a byte of the columns and of a row that gets a true distance. */
static const double COLUMN_BYTE_NS = 0.08, ROW_NS = 50;

/* A copy of the rows, plus groups that are not full, the order and the clusters. */
static void predict(const struct method_size *size, const cog_knobs *knobs,
                    struct method_prediction *prediction) {
    (void)knobs;
    const struct columns_request *effort =
        &efforts[size->effort < EFFORT_STEPS ? size->effort : EFFORT_STEPS - 1];
    effort = size->looks ? &first_look : effort;
    double rows = (double)size->rows, verified = 1.5 * (double)effort->verify;
    prediction->table_bytes = prediction->build_bytes =
        rows * (1.1 * (double)signature_stride_bytes(size->bits) + 26);
    prediction->query_ns = effort->share * rows * effort->columns / 8 * COLUMN_BYTE_NS +
                           (verified < rows ? verified : rows) * ROW_NS;
}

static cog_status search(const void *tables, struct method_search *asked, struct hit_lists *hits,
                         cog_error *error) {
    unsigned effort = asked->effort < EFFORT_STEPS ? asked->effort : EFFORT_STEPS - 1;
    struct columns_batch own = {view_of_tables(tables), asked->rows.signatures, efforts[effort]};
    if (asked->covered_out) {
        own.request = first_look;
        own.request.covered_recall = asked->recall;
    }
    own.request.k = asked->k;
    if (own.request.verify < asked->candidates)
        own.request.verify = asked->candidates;
    return query_batch_run(&columns_searching, &own, asked, hits, error);
}

const struct search_method columns_method = {
    .name = "columns",
    .summary = "signatures stored by columns of bits, for distant neighbours",
    .answers = COG_ANSWERS_NEAREST,
    .needs = PREFERS_QUERY_MARGINS,
    .bits_min = 1,
    .bits_max = HAMMING_MAX_BITS,
    .bits_step = 1,
    .predict = predict,
    .section = SECTION_GROUPS,
    .tables_bytes = sizeof(struct bit_columns),
    .build = build,
    .write = write,
    .open = open,
    .check = check,
    .reset = reset,
    .search = search,
    .scratch_free = query_batch_free_scratch,
    .effort_steps = EFFORT_STEPS,
    .usual_effort = 2,
    .has_looks = true,
};
