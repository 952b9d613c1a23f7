#include "search/slices/slices_method.h"

#include "base/memory.h"
#include "hamming/hamming.h"
#include "search/hits/query_batch.h"
#include "search/slices/slices.h"

#define SECTION_OFFSETS CONTAINER_TAG('s', 'l', 'o', 'f')
#define SECTION_POSTINGS CONTAINER_TAG('s', 'l', 'p', 'o')

static const cog_knob knobs[] = {
    [SLICES_WIDTH] = {"slice-bits", COG_KNOB_NUMBER, 1, SLICE_WIDTH_MAX, NULL, "W",
                      "width of the slices (by the number of rows)", COG_KNOB_BUILD},
    [SLICES_EXPAND] = {"expand", COG_KNOB_NUMBER, 0, SLICE_WIDTH_MAX, NULL, "I",
                       "read the posting lists of values up to I bits away (by the recall)",
                       COG_KNOB_SEARCH},
    [SLICES_ADMIT] =
        {"admit", COG_KNOB_NUMBER, 0, SLICE_WIDTH_MAX, NULL, "J",
         "posting lists more than J bits away add no new candidates (value of --expand)",
         COG_KNOB_SEARCH},
};

/* ---- Tables ---------------------------------------------------------------------------------- */

static unsigned width_of(const struct method_size *size, const cog_knobs *given) {
    return (unsigned)knob_or(given, SLICES_WIDTH, slice_width_for(size->rows, size->bits));
}

static cog_status build(const struct method_build *asked, void *tables, cog_error *error) {
    return slice_lists_build(tables, asked->rows.signatures,
                             (unsigned)knob_or(asked->knobs, SLICES_WIDTH, 0), asked->threads,
                             error);
}

static void reset(void *tables) {
    slice_lists_free(tables);
}

static cog_status write(const void *tables, struct container_writer *writer, cog_error *error) {
    const struct slices_view *view = &((const struct slice_lists *)tables)->view;
    const struct container_part parts[] = {
        {SECTION_OFFSETS, view->offsets, slice_layout_offsets(&view->layout), sizeof(uint32_t)},
        {SECTION_POSTINGS, view->postings, view->layout.count * view->rows, sizeof(uint32_t)}};
    return container_writer_sections(writer, parts, 2, error);
}

/* The number of offsets determines the number of slices, and the number of slices their widths. */
static bool find_layout(unsigned bits, size_t offsets, struct slice_layout *layout) {
    for (unsigned width = 1; width <= SLICE_WIDTH_MAX && width <= bits; width++) {
        *layout = slice_layout_of(bits, width);
        if (layout->count <= SLICE_COUNT_MAX && slice_layout_offsets(layout) == offsets)
            return true;
    }
    return false;
}

static cog_status open(const struct container *container, const struct method_rows *rows,
                       void *tables, cog_error *error) {
    struct bytes_view section;
    const void *offsets = NULL, *postings = NULL;
    const struct signatures_view *signatures = rows->signatures;
    struct slice_layout layout;
    TRY(container_require(container, SECTION_OFFSETS, &section, error));
    if (!find_layout(signatures->bits, section.size / sizeof(uint32_t), &layout))
        return error_set(error, COG_ERR_FORMAT,
                         "%s: %zu bytes of offsets are no slices of %u bits; build the index again",
                         container->path, section.size, signatures->bits);
    TRY(container_array(container, SECTION_OFFSETS, slice_layout_offsets(&layout), sizeof(uint32_t),
                        &offsets, error));
    TRY(container_array(container, SECTION_POSTINGS, (uint64_t)layout.count * signatures->rows,
                        sizeof(uint32_t), &postings, error));
    ((struct slice_lists *)tables)->view =
        (struct slices_view){layout, signatures->rows, offsets, postings};
    return COG_OK;
}

static cog_status check(const void *tables, const struct method_rows *rows, cog_error *error) {
    (void)rows;
    return slices_check(&((const struct slice_lists *)tables)->view, error);
}

static void describe(const void *tables, cog_index_info *info) {
    info->slice_bits = slice_width(&((const struct slice_lists *)tables)->view.layout, 0);
}

/* ---- Searching ------------------------------------------------------------------------------- */

/* From little to much; docs/index.md has what they find. */
static const struct slices_request efforts[] = {
    {.expand = 1, .admit = 1, .probes = 800, .verify = 1000},
    {.expand = 2, .admit = 2, .probes = 2000, .verify = 1000},
    {.expand = 3, .admit = 3, .probes = 16000, .verify = 2000},
    {.expand = 4, .admit = 4, .probes = 64000, .verify = 4000},
    {.expand = 5, .admit = 5, .probes = 128000, .verify = 8000},
};
enum { EFFORT_STEPS = sizeof efforts / sizeof *efforts };

/* Nanoseconds of a list, of a posting, and of a row that gets a true distance. */
static const double LIST_NS = 15, POSTING_NS = 1.5, ROW_NS = 50;

static double query_ns(const struct method_size *size, const struct slice_layout *layout) {
    const struct slices_request *effort =
        &efforts[size->effort < EFFORT_STEPS ? size->effort : EFFORT_STEPS - 1];
    double lists = 0, postings = 0, rows = (double)size->rows;
    for (unsigned slice = 0; slice < layout->count; slice++) {
        unsigned width = slice_width(layout, slice);
        double own = size->has_margins ? (double)effort->probes / layout->count
                                       : slice_ball_lists(width, effort->expand + 1);
        lists += own;
        postings += own * rows / (double)((uint64_t)1 << width);
    }
    return lists * LIST_NS + postings * POSTING_NS + (double)effort->verify * ROW_NS;
}

static void predict(const struct method_size *size, const cog_knobs *given,
                    struct method_prediction *prediction) {
    prediction->build_bytes =
        slice_lists_build_bytes(size->rows, size->bits, width_of(size, given), size->threads);
    struct slice_layout layout = slice_layout_of(size->bits, width_of(size, given));
    prediction->table_bytes =
        ((double)slice_layout_offsets(&layout) + (double)layout.count * (double)size->rows) *
        sizeof(uint32_t);
    prediction->query_ns = query_ns(size, &layout);
}

static cog_status search(const void *tables, struct method_search *asked, struct hit_lists *hits,
                         cog_error *error) {
    struct slices_batch own = {.view = &((const struct slice_lists *)tables)->view,
                               .signatures = asked->rows.signatures};
    if (asked->effort < EFFORT_STEPS)
        own.request = efforts[asked->effort];
    own.request.k = asked->k;
    own.request.radius_bits = asked->radius_bits;
    own.request.certain = asked->recall >= 1;
    if (own.request.verify < asked->candidates)
        own.request.verify = asked->candidates;
    if (knob_is_given(asked->knobs, SLICES_EXPAND)) {
        own.request.expand = own.request.admit = (unsigned)asked->knobs->values[SLICES_EXPAND];
        own.request.probes = 0;
    }
    own.request.admit = (unsigned)knob_or(asked->knobs, SLICES_ADMIT, own.request.admit);
    return query_batch_run(&slices_searching, &own, asked, hits, error);
}

static cog_status settings(const struct method_size *size, cog_knobs *given, cog_error *error) {
    (void)size;
    if (knob_is_given(given, SLICES_EXPAND) && knob_is_given(given, SLICES_ADMIT) &&
        given->values[SLICES_ADMIT] > given->values[SLICES_EXPAND])
        return error_about(error, COG_ERR_USAGE, "admit",
                           "candidates would come from lists up to %llu bits away, but only lists "
                           "up to %llu bits away are read: lower the first number or raise the "
                           "second",
                           (unsigned long long)given->values[SLICES_ADMIT],
                           (unsigned long long)given->values[SLICES_EXPAND]);
    return COG_OK;
}

static const char *const records[] = {[SLICES_WIDTH] = "slice bits"};

const struct search_method slices_method = {
    .name = "slices",
    .summary = "posting lists of rows by slices of their signatures",
    .knobs = knobs,
    .knob_count = sizeof knobs / sizeof *knobs,
    .knob_records = records,
    .answers = COG_ANSWERS_NEAREST | COG_ANSWERS_WITHIN,
    .certain = COG_ANSWERS_NEAREST | COG_ANSWERS_WITHIN,
    .needs = PREFERS_QUERY_MARGINS,
    .bits_min = 1,
    .bits_max = HAMMING_MAX_BITS,
    .bits_step = 1,
    .predict = predict,
    .settings = settings,
    .section = SECTION_OFFSETS,
    .tables_bytes = sizeof(struct slice_lists),
    .build = build,
    .write = write,
    .open = open,
    .check = check,
    .describe = describe,
    .reset = reset,
    .search = search,
    .scratch_free = query_batch_free_scratch,
    .effort_steps = EFFORT_STEPS,
    .usual_effort = 1,
};
