#include "search/psm/psm_method.h"

#include "base/memory.h"
#include "base/strings.h"
#include "search/psm/psm.h"

#define SECTION_QUANTILES CONTAINER_TAG('s', 'h', 'q', 'u')
#define SECTION_OWN_BOUNDS CONTAINER_TAG('s', 'h', 'b', 'o')
#define SECTION_BOUNDS CONTAINER_TAG('s', 'h', 'b', 'h')

static const double TABLE_COPIES = 1.2; /* of the keys */

static const cog_knob knobs[] = {
    [PSM_HEADER] = {"header", COG_KNOB_NUMBER, 1, BUCKET_HEADER_BITS_MAX, NULL, "T",
                    "bits of a key that address the table (by the number of rows)", COG_KNOB_BUILD},
    [PSM_FLIPS] = {"flips", COG_KNOB_NUMBER, 1, PSM_PROBES_MAX - 1, NULL, "K",
                   "flips tried per query, the most probable ones (by the recall)",
                   COG_KNOB_SEARCH},
};

/* ---- Settings -------------------------------------------------------------------------------- */

static cog_status settings(const struct method_size *size, cog_knobs *given, cog_error *error) {
    unsigned most = bucket_header_most(size->rows);
    TRY(short_key_check(&(struct signatures_view){.bits = size->bits}, size->radius_bits, error));
    if (knob_or(given, PSM_HEADER, 0) <= most)
        return COG_OK;
    return error_set(error, COG_ERR_USAGE,
                     "a header of %u bits has more buckets than there are rows: for %zu row%s give "
                     "at most %u",
                     (unsigned)given->values[PSM_HEADER], size->rows, plural(size->rows, "", "s"),
                     most);
}

/* A segment may have fewer rows than the index had when the header was chosen. */
static struct bucket_limits limits_of(const cog_knobs *given, size_t rows) {
    struct bucket_limits limits = BUCKET_LIMITS_DEFAULT;
    unsigned most = bucket_header_most(rows), header = (unsigned)knob_or(given, PSM_HEADER, 0);
    if (header > 0)
        limits.header_bits_min = limits.header_bits_max = header < most ? header : most;
    return limits;
}

static void predict(const struct method_size *size, const cog_knobs *given,
                    struct method_prediction *prediction) {
    (void)given;
    short_predict(size, TABLE_COPIES, prediction);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void reset(void *tables) {
    psm_free(tables);
}

/* What was learned when the index was built holds for rows that come without margins. */
static cog_status learn(const struct method_build *asked, struct psm_index *index,
                        cog_error *error) {
    const struct method_rows *rows = &asked->rows;
    const struct psm_index *earlier = asked->earlier;
    struct psm_training training = {index,         rows->signatures,
                                    rows->margins, rows->signatures,
                                    rows->margins, asked->radius_bits};
    index->radius_bits = asked->radius_bits;
    if (rows->margins && rows->signatures->rows > 1)
        return psm_learn(&training, asked->threads, &index->learned, error);
    if (!earlier)
        return error_set(error, COG_ERR_USAGE,
                         "psm learns from the weights of many rows: give at least two");
    index->learned = earlier->learned;
    return COG_OK;
}

static cog_status build(const struct method_build *asked, void *tables, cog_error *error) {
    const struct signatures_view *view = asked->rows.signatures;
    if (!asked->rows.margins && !asked->earlier)
        return error_about(error, COG_ERR_USAGE, "weights",
                           "psm learns which bits are volatile from the margins: give them, "
                           "or use bphs");
    TRY(short_key_check(view, asked->radius_bits, error));
    TRY(psm_build(tables, view, limits_of(asked->knobs, view->rows), asked->threads, error));
    return learn(asked, tables, error);
}

static cog_status write(const void *tables, struct container_writer *writer, cog_error *error) {
    const struct psm_index *index = tables;
    const struct psm_learned *learned = &index->learned;
    struct bucket_description description = {.kind = BUCKETS_PSM,
                                             .radius_bits = index->radius_bits,
                                             .learned_pairs = learned->pairs,
                                             .learned_radius_bits = learned->radius_bits};
    double quantiles[VOLATILITY_QUANTILES + 1];
    memcpy(quantiles, learned->volatility.quantiles, sizeof learned->volatility.quantiles);
    quantiles[VOLATILITY_QUANTILES] = learned->volatility.tail;
    TRY(bucket_index_write(&index->stored, &description, writer, error));
    TRY(container_writer_section(writer, SECTION_QUANTILES, quantiles, sizeof quantiles, error));
    TRY(container_writer_section(writer, SECTION_OWN_BOUNDS,
                                 learned->bounds[index->stored.tables[0].header_bits],
                                 sizeof learned->bounds[0], error));
    return container_writer_section(writer, SECTION_BOUNDS, learned->bounds, sizeof learned->bounds,
                                    error);
}

/* An older file has bounds of one header size only; they are used for all. */
static cog_status open_learned(struct psm_learned *learned, const struct container *container,
                               cog_error *error) {
    const size_t own_bytes = sizeof learned->bounds[0];
    struct bytes_view all;
    bool has_all = container_find(container, SECTION_BOUNDS, &all);
    const void *bounds = NULL, *numbers = NULL;
    TRY(container_array(container, has_all ? SECTION_BOUNDS : SECTION_OWN_BOUNDS,
                        has_all ? sizeof learned->bounds : own_bytes, 1, &bounds, error));
    TRY(container_array(container, SECTION_QUANTILES, VOLATILITY_QUANTILES + 1, sizeof(double),
                        &numbers, error));
    const double *quantiles = numbers;
    for (unsigned header = 0; header <= BUCKET_HEADER_BITS_MAX; header++)
        memcpy(learned->bounds[header],
               (const uint8_t *)bounds + (has_all ? header * own_bytes : 0), own_bytes);
    return volatility_restore(&learned->volatility, quantiles, quantiles[VOLATILITY_QUANTILES],
                              error);
}

static cog_status open(const struct container *container, const struct method_rows *rows,
                       void *tables, cog_error *error) {
    struct bucket_description own;
    struct psm_index *index = tables;
    if (!bucket_index_describe(container, &own) || own.radius_bits > SHORT_KEY_RADIUS_MAX)
        return bucket_index_damaged(container, error);
    index->radius_bits = (unsigned)own.radius_bits;
    index->learned.pairs = (size_t)own.learned_pairs;
    index->learned.radius_bits = (unsigned)own.learned_radius_bits;
    TRY(bucket_index_open(&index->stored, container, rows->signatures->bits, 1, error));
    return open_learned(&index->learned, container, error);
}

static cog_status check(const void *tables, const struct method_rows *rows, cog_error *error) {
    const struct psm_index *index = tables;
    return bucket_index_check(&index->stored, rows->signatures, NULL, NULL, error);
}

static void describe(const void *tables, cog_index_info *info) {
    const struct psm_index *index = tables;
    info->radius_bits = index->radius_bits;
    info->header_bits = index->stored.tables[0].header_bits;
    info->tables = 1;
    info->learned_pairs = index->learned.pairs;
}

/* ---- Searching ------------------------------------------------------------------------------- */

static cog_status search_chunks(struct method_search *asked, const struct psm_queries *queries,
                                const struct short_search *search, struct match_list *hits,
                                cog_error *error) {
    size_t rows = short_chunk_rows(asked, TABLE_COPIES);
    struct psm_chunks chunks = {asked->rows.signatures, rows,
                                limits_of(asked->streamed->knobs, rows), asked->recall};
    if (queries->signatures.rows < 2)
        return error_about(error, COG_ERR_USAGE, "weights",
                           "psm learns from the margins of many queries: give at least two, or "
                           "search an index that was built with margins");
    return psm_search_chunks(&chunks, queries, search, hits, error);
}

static cog_status search(const void *tables, struct method_search *asked, struct hit_lists *lists,
                         cog_error *error) {
    const struct psm_index *index = tables;
    struct psm_queries queries = {*asked->queries.signatures, asked->queries.margins,
                                  index ? &index->learned.volatility : NULL, true};
    struct short_search own = short_search_of(asked);
    struct match_list hits = {0};
    if (!queries.margins)
        return error_about(
            error, COG_ERR_USAGE, "weights",
            "psm flips the bits that are uncertain: give the margins of the queries, "
            "or use flat or bphs");
    own.flips = (size_t)knob_or(asked->knobs, PSM_FLIPS, 0);
    asked->is_exact_out = false;
    if (!index)
        return short_hits_finish(&hits, asked, search_chunks(asked, &queries, &own, &hits, error),
                                 lists, error);
    cog_status status =
        psm_learned_bound(&index->learned, &queries, index->stored.tables[0].header_bits,
                          asked->radius_bits, asked->recall, &own.penalty_bound, error);
    THEN(status, psm_search(index, &queries, &own, &hits, error));
    return short_hits_finish(&hits, asked, status, lists, error);
}

static const char *const records[] = {[PSM_HEADER] = "header bits"};

const struct search_method psm_method = {
    .name = "psm",
    .summary = "64 or 128 bits within a radius, approximately; needs margins",
    .knobs = knobs,
    .knob_count = sizeof knobs / sizeof *knobs,
    .knob_records = records,
    .answers = COG_ANSWERS_WITHIN | COG_ANSWERS_ANY,
    .needs = NEEDS_ROW_MARGINS | NEEDS_QUERY_MARGINS,
    .bits_min = 64,
    .bits_max = 128,
    .bits_step = 64,
    .is_for_radius = true,
    .is_chosen_unmeasured = true,
    .predict = predict,
    .settings = settings,
    .section = SECTION_BUCKETS_SHAPE,
    .section_kind = BUCKETS_PSM,
    .tables_bytes = sizeof(struct psm_index),
    .build = build,
    .write = write,
    .open = open,
    .check = check,
    .describe = describe,
    .reset = reset,
    .search = search,
};
