/* Promises of searches and changes that no method alone can keep: memory budgets, numbers that are
 * no method, accessors, measured recall, and what a call reports after its change is durable. */
#include <unistd.h>

#include "base/hash.h"
#include "cognate.h"
#include "test.h"

enum { BITS = 256, BYTES = BITS / 8 };

static void make_rows(uint8_t *bytes, size_t rows, uint64_t seed) {
    struct random random = random_seeded(seed);
    for (size_t i = 0; i < rows * BYTES; i++)
        bytes[i] = (uint8_t)random_next(&random);
}

static cog_status build(const uint8_t *bytes, size_t rows, cog_method method,
                        cog_signatures **signatures, cog_index **index, cog_error *error) {
    cog_index_options options;
    cog_index_options_init(&options);
    options.method = method;
    cog_status status = cog_signatures_from_memory(bytes, rows, BITS, signatures, error);
    return status == COG_OK
               ? cog_index_build_signatures(*signatures, &options, NULL, index, NULL, error)
               : status;
}

/* What the process once held is not the index's. */
TEST(search_counts_the_index_and_not_the_process) {
    enum { ROWS = 3000, QUERIES = 500, HELD = 300 << 20 };
    static uint8_t rows[ROWS * BYTES];
    cog_signatures *signatures = NULL, *queries = NULL;
    cog_index *index = NULL;
    cog_hits *hits = NULL;
    make_rows(rows, ROWS, 1);
    CHECK_OK(build(rows, ROWS, COG_METHOD_FLAT, &signatures, &index, error));
    CHECK_OK(cog_signatures_from_memory(rows, QUERIES, BITS, &queries, error));
    volatile uint8_t *held = malloc(HELD);
    for (size_t i = 0; i < HELD; i += 4096)
        held[i] = 1;
    free((void *)held);
    cog_search_options options;
    cog_search_options_init(&options);
    options.method = COG_METHOD_FLAT;
    cog_run_options run = {.threads = 4, .memory_bytes = 100 << 20};
    CHECK_OK(cog_index_search_signatures(index, queries, NULL, &options, &run, &hits, NULL, error));
    cog_hits_free(hits);
    /* 32 MB of hits fit, and the nearest of each thread do not. */
    options.k = 2000;
    CHECK(cog_index_search_signatures(index, queries, NULL, &options, &run, &hits, NULL, NULL) ==
          COG_ERR_MEMORY);
    cog_index_close(index);
    cog_signatures_free(queries);
    cog_signatures_free(signatures);
}

TEST(search_refuses_numbers_that_are_no_method) {
    enum { ROWS = 20 };
    static uint8_t rows[ROWS * BYTES];
    cog_signatures *signatures = NULL;
    cog_index *index = NULL, *none = NULL;
    cog_hits *hits = NULL;
    make_rows(rows, ROWS, 2);
    CHECK_OK(build(rows, ROWS, COG_METHOD_FLAT, &signatures, &index, error));
    cog_search_options options;
    cog_search_options_init(&options);
    static const int wrong[] = {-1, 4711, COG_METHOD_COUNT + 100};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cog_signatures *again = NULL;
        options.method = (cog_method)wrong[i];
        CHECK(cog_index_search_signatures(index, signatures, NULL, &options, NULL, &hits, NULL,
                                          NULL) == COG_ERR_USAGE);
        CHECK(build(rows, ROWS, (cog_method)wrong[i], &again, &none, NULL) == COG_ERR_USAGE);
        CHECK(!cog_method_name((cog_method)wrong[i]) && !cog_method_answers((cog_method)wrong[i]));
        cog_signatures_free(again);
    }
    options.method = COG_METHOD_FLAT;
    CHECK_OK(
        cog_index_search_signatures(index, signatures, NULL, &options, NULL, &hits, NULL, error));
    size_t size = 1;
    CHECK(cog_hits_get(hits, cog_hits_count(hits)).rank == 0);
    CHECK(cog_hits_first(hits, ROWS + 5) == cog_hits_count(hits));
    CHECK(!cog_hits_query_id(hits, ROWS + 5, &size) && size == 0);
    CHECK(!cog_index_id(index, ROWS + 5, &size) && size == 0);
    cog_hits_free(hits);
    cog_index_close(index);
    cog_signatures_free(signatures);
}

/* A recall is measured only if that is asked for; otherwise it is that of the build, or not known.
 */
TEST(search_measures_recall_only_if_asked) {
    enum { ROWS = 20000, QUERIES = 40, FLIPPED = 60 };
    static uint8_t rows[ROWS * BYTES], queries[QUERIES * BYTES];
    cog_signatures *signatures = NULL, *asked = NULL;
    cog_index *index = NULL;
    struct random random = random_seeded(4);
    make_rows(rows, ROWS, 3);
    memcpy(queries, rows, sizeof queries);
    for (size_t query = 1; query < QUERIES; query += 2)
        for (int i = 0; i < FLIPPED; i++) {
            size_t bit = random_below(&random, BITS);
            queries[query * BYTES + bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    CHECK_OK(build(rows, ROWS, COG_METHOD_SLICES, &signatures, &index, error));
    CHECK_OK(cog_signatures_from_memory(queries, QUERIES, BITS, &asked, error));
    cog_search_options options;
    cog_search_options_init(&options);
    options.method = COG_METHOD_SLICES;
    options.knobs = (cog_knobs){.method = COG_METHOD_SLICES, .given = 2, .values = {0, 1}};
    for (size_t sample = 0; sample <= QUERIES; sample += QUERIES) {
        cog_hits *hits = NULL;
        cog_report *report = NULL;
        options.recall_sample = sample;
        CHECK_OK(cog_report_create(&report, error));
        CHECK_OK(
            cog_index_search_signatures(index, asked, NULL, &options, NULL, &hits, report, error));
        bool measured = strstr(cog_report_json(report), "measured_recall") != NULL;
        CHECK_MSG(measured == (sample > 0), "%s", cog_report_json(report));
        CHECK(!measured || cog_report_number(report, "recall_sample_queries") == QUERIES);
        cog_report_free(report);
        cog_hits_free(hits);
    }
    cog_index_close(index);
    cog_signatures_free(asked);
    cog_signatures_free(signatures);
}

static bool delete_segment(void *context, const cog_progress *progress) {
    (void)progress;
    unlink(context);
    return true;
}

/* A file of the index vanishes while documents are added: the addition is durable, and the handle,
 * which has the file mapped, shows it. A new handle cannot. */
TEST(index_change_that_is_saved_is_no_error) {
    static cog_document items[] = {{.text = "one little text", .text_size = 15},
                                   {.text = "another longer text", .text_size = 19}};
    const char *folder = test_path("index");
    char segment[4096];
    cog_documents *documents = NULL;
    cog_index *index = NULL;
    cog_report *report = NULL;
    cog_index_options options;
    cog_index_options_init(&options);
    CHECK_OK(cog_documents_from_memory(items, 1, &documents, error));
    CHECK_OK(cog_index_build(documents, &options, NULL, &index, NULL, error));
    CHECK_OK(cog_index_save(index, folder, error));
    cog_documents_close(documents);
    cog_index_close(index);
    CHECK_OK(cog_index_open(folder, &index, error));
    items[1].id = "new";
    items[1].id_size = 3;
    CHECK_OK(cog_documents_from_memory(items + 1, 1, &documents, error));
    CHECK_OK(cog_report_create(&report, error));
    snprintf(segment, sizeof segment, "%s/segment-00000000.cog", folder);
    cog_run_options run = {.progress = delete_segment, .progress_context = segment};
    CHECK_OK(cog_index_add(index, documents, &run, report, error));
    CHECK(access(segment, F_OK) != 0);
    uint32_t row;
    CHECK(cog_index_find(index, "new", 3, &row) && row == 1);
    cog_report_free(report);
    cog_documents_close(documents);
    cog_index_close(index);
    index = NULL;
    CHECK(cog_index_open(folder, &index, &(cog_error){0}) != COG_OK);
}
