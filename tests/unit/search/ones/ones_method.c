#include "search/ones/ones_method.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "plan/method_table.h"
#include "search/hits/hit_lists.h"

#define SECTION_ORDER CONTAINER_TAG('o', 'n', 'o', 'r')
#define SECTION_STARTS CONTAINER_TAG('o', 'n', 's', 't')

/* The one line of the table. */
const struct search_method *method_linked_in(size_t number) {
    return number == 0 ? &ones_method : NULL;
}

struct ones {
    const uint32_t *order;  /* rows by their number of ones, then by row */
    const uint32_t *starts; /* of each number, and the end: bits + 2 */
    uint32_t *own;          /* both, if they were built here */
    size_t rows;
    unsigned bits;
};

static unsigned count_ones(const uint8_t *signature, unsigned bits) {
    unsigned ones = 0;
    for (unsigned i = 0; i < signature_stride_bytes(bits); i++)
        ones += (unsigned)__builtin_popcount(signature[i]);
    return ones;
}

static void reset(void *tables) {
    free(((struct ones *)tables)->own);
}

static cog_status build(const struct method_build *asked, void *tables, cog_error *error) {
    const struct signatures_view *view = asked->rows.signatures;
    uint32_t *own;
    TAKE_ZEROED(own, view->rows + view->bits + 3, "numbers of ones", error);
    uint32_t *starts = own + view->rows;
    for (size_t row = 0; row < view->rows; row++)
        starts[count_ones(signature_row(view, row), view->bits) + 2]++;
    for (unsigned i = 2; i < view->bits + 3; i++)
        starts[i] += starts[i - 1];
    for (size_t row = 0; row < view->rows; row++)
        own[starts[count_ones(signature_row(view, row), view->bits) + 1]++] = (uint32_t)row;
    *(struct ones *)tables = (struct ones){own, starts, own, view->rows, view->bits};
    return COG_OK;
}

static cog_status open(const struct container *container, const struct method_rows *rows,
                       void *tables, cog_error *error) {
    const void *order = NULL, *starts = NULL;
    TRY(container_array(container, SECTION_ORDER, rows->signatures->rows, sizeof(uint32_t), &order,
                        error));
    TRY(container_array(container, SECTION_STARTS, rows->signatures->bits + 2, sizeof(uint32_t),
                        &starts, error));
    *(struct ones *)tables =
        (struct ones){order, starts, NULL, rows->signatures->rows, rows->signatures->bits};
    return COG_OK;
}

static cog_status check(const void *tables, const struct method_rows *rows, cog_error *error) {
    const struct ones *ones = tables;
    const struct signatures_view *view = rows->signatures;
    bool right = ones->starts[0] == 0 && ones->starts[view->bits + 1] == view->rows;
    for (unsigned number = 0; right && number <= view->bits; number++) {
        right = ones->starts[number] <= ones->starts[number + 1] &&
                ones->starts[number + 1] <= view->rows;
        for (size_t i = ones->starts[number]; right && i < ones->starts[number + 1]; i++)
            right = ones->order[i] < view->rows &&
                    count_ones(signature_row(view, ones->order[i]), view->bits) == number &&
                    (i == ones->starts[number] || ones->order[i - 1] < ones->order[i]);
    }
    return right ? COG_OK : error_set(error, COG_ERR_FORMAT, "the numbers of ones are damaged");
}

static cog_status write(const void *tables, struct container_writer *writer, cog_error *error) {
    const struct ones *ones = tables;
    const struct container_part parts[] = {
        {SECTION_ORDER, ones->order, ones->rows, sizeof(uint32_t)},
        {SECTION_STARTS, ones->starts, (size_t)ones->bits + 2, sizeof(uint32_t)}};
    return container_writer_sections(writer, parts, 2, error);
}

/* Looks at rows whose number of ones is `apart` from the query's, for apart = 0, 1, ... */
static void search_query(const struct ones *ones, const struct method_search *asked, size_t query,
                         struct topk *nearest) {
    const struct signatures_view *rows = asked->rows.signatures;
    const uint8_t *signature = signature_row(asked->queries.signatures, query);
    int own = (int)count_ones(signature, ones->bits), bits = (int)ones->bits;
    for (int apart = 0; apart <= bits && apart <= topk_limit(nearest, 0); apart++)
        for (int side = apart ? -1 : 1; side <= 1; side += 2) {
            int number = own + side * apart;
            if (number < 0 || number > bits)
                continue;
            size_t end = ones->starts[number + 1];
            for (size_t i = ones->starts[number]; i < end && end <= ones->rows; i++)
                if (ones->order[i] < ones->rows)
                    topk_add(nearest, ones->order[i],
                             hamming_distance(signature, signature_row(rows, ones->order[i]),
                                              ones->bits));
        }
}

static cog_status search(const void *tables, struct method_search *asked, struct hit_lists *hits,
                         cog_error *error) {
    const struct ones *ones = tables;
    size_t queries = asked->queries.signatures->rows, room = asked->k ? asked->k : ones->rows;
    struct topk nearest = {0};
    struct hit_sink sink = {0};
    struct neighbour *found = memory_array(room + 1, sizeof *found);
    cog_status status = found ? topk_init(&nearest, room, ones->bits, error)
                              : error_memory(error, room * sizeof *found, "neighbours");
    THEN(status, hit_sink_init(&sink, 1, error));
    for (size_t query = 0; query < queries && status == COG_OK; query++) {
        search_query(ones, asked, query, &nearest);
        size_t count = topk_finish(&nearest, found);
        for (size_t i = 0; i < count && status == COG_OK; i++)
            if (asked->k || found[i].distance <= asked->radius_bits)
                status = hit_sink_add(&sink, 0,
                                      (struct match){.a = (uint32_t)query,
                                                     .b = found[i].row,
                                                     .distance = found[i].distance},
                                      error);
    }
    THEN(status, hit_sink_finish(&sink, queries, HITS_AS_ADDED, hits, error));
    hit_sink_free(&sink);
    topk_free(&nearest);
    free(found);
    asked->is_exact_out = true;
    return status;
}

const struct search_method ones_method = {
    .name = "ones",
    .summary = "rows with about as many ones as the query",
    .answers = COG_ANSWERS_NEAREST | COG_ANSWERS_WITHIN,
    .certain = COG_ANSWERS_NEAREST | COG_ANSWERS_WITHIN,
    .bits_min = 1,
    .bits_max = HAMMING_MAX_BITS,
    .bits_step = 1,
    .section = SECTION_ORDER,
    .tables_bytes = sizeof(struct ones),
    .build = build,
    .write = write,
    .open = open,
    .check = check,
    .reset = reset,
    .search = search,
};
