/* Documents from Arrow streams, results as Arrow streams, signatures into the caller's memory, and
 * the cancel token. */
#include <pthread.h>

#include "api/arrow_streams.h"
#include "input/arrow_column.h"
#include "test.h"

static const struct arrow_row rows[] = {
    {"the quick brown fox jumps over the lazy dog near the old river bank", "a", "en"},
    {NULL, "b", NULL},
    {"the quick brown fox jumps over the lazy dog near the old river bend", "c", NULL},
    {"", "d", "en"},
    {"one document says nothing of the other and stands alone in the cold", "e", NULL},
    {"not \xff text", "f", NULL},
    {"the quick brown fox jumps over the lazy dog near the old river bank", NULL, "en"},
};
enum { ROWS = sizeof rows / sizeof *rows };

static struct arrow_producer producer_of(const char *format, bool bare) {
    return (struct arrow_producer){.format = format,
                                   .bare = bare,
                                   .rows = rows,
                                   .sizes = {3, 0, 4},
                                   .chunk_count = 3,
                                   .fails_at = -1};
}

/* ---- Documents in ---------------------------------------------------------------------------- */

static void find_pairs(struct arrow_producer producer, bool with_ids) {
    struct ArrowArrayStream stream = arrow_stream_of(&producer), out;
    cog_documents *documents = NULL;
    cog_pairs_options options;
    cog_pairs *pairs = NULL;
    struct arrow_result table;
    const uint64_t *skipped = NULL;
    cog_pairs_options_init(&options, COG_MEASURE_JACCARD);
    CHECK_OK(cog_documents_from_arrow(&stream, NULL, &documents, error));
    CHECK(!stream.release && cog_documents_count(documents) == ROWS && arrow_live_arrays == 2);
    CHECK_OK(cog_pairs_find(documents, NULL, &options, NULL, &pairs, NULL, error));
    CHECK(cog_documents_skipped(documents, &skipped) == 2 && skipped[0] == 1 && skipped[1] == 5);
    CHECK_OK(cog_pairs_to_arrow(pairs, true, &out, error));
    cog_pairs_free(pairs);
    cog_documents_close(documents);
    CHECK(arrow_live_arrays == 0 && arrow_result_read(&out, &table));
    CHECK(table.array.length == 3 && table.schema.n_children == 6);
    CHECK(arrow_whole(&table, "a", 0) == 0 && arrow_whole(&table, "b", 0) == 2);
    CHECK(arrow_whole(&table, "a", 1) == 0 && arrow_whole(&table, "b", 1) == 6);
    CHECK(arrow_whole(&table, "a", 2) == 2 && arrow_whole(&table, "b", 2) == 6);
    CHECK(arrow_real(&table, "similarity", 1) == 1 && arrow_real(&table, "similarity", 0) < 0.9);
    CHECK(arrow_column_named(&table, "distance")->null_count == 3);
    CHECK(arrow_text_is(&table, "a_id", 2, with_ids ? "c" : "2"));
    CHECK(arrow_text_is(&table, "b_id", 2, "6")); /* without an id: its number */
    arrow_result_free(&table);
}

TEST(arrow_strings) {
    find_pairs(producer_of("u", false), true);
    find_pairs(producer_of("u", true), false);
}

TEST(arrow_large_strings) {
    find_pairs(producer_of("U", false), true);
    find_pairs(producer_of("U", true), false);
}

TEST(arrow_string_views) {
    find_pairs(producer_of("vu", false), true);
    find_pairs(producer_of("vu", true), false);
}

TEST(arrow_sliced_arrays) {
    static const char *const formats[] = {"u", "U", "vu"};
    for (int i = 0; i < 3; i++) {
        struct arrow_producer producer = producer_of(formats[i], false);
        producer.lead = 3;
        find_pairs(producer, true);
    }
}

TEST(arrow_binary_columns) {
    static const char *const formats[] = {"z", "Z", "vz"};
    for (int i = 0; i < 3; i++) {
        find_pairs(producer_of(formats[i], false), true);
        find_pairs(producer_of(formats[i], true), false);
    }
}

TEST(arrow_columns_encoded_by_dictionaries) {
    static const char *const formats[] = {"u", "U", "vu"};
    static const char *const places[] = {"c", "C", "s", "S", "i", "I", "l", "L"};
    for (int i = 0; i < 24; i++) {
        struct arrow_producer producer = producer_of(formats[i % 3], i % 2);
        producer.index = places[i / 3];
        producer.lead = i % 4;
        find_pairs(producer, !producer.bare);
    }
}

TEST(arrow_places_outside_a_dictionary_are_skipped) {
    for (int bare = 0; bare < 2; bare++)
        for (int integers = 0; integers < 2; integers++) {
            static const struct arrow_row two[] = {{"the first text", "1", "en"},
                                                   {"another", "2", "en"}};
            struct arrow_producer producer = {.format = "u",
                                              .index = "i",
                                              .bad_index = true,
                                              .bare = bare,
                                              .rows = two,
                                              .sizes = {2},
                                              .chunk_count = 1,
                                              .fails_at = -1,
                                              .id_format = integers ? "i" : NULL};
            struct ArrowArrayStream stream = arrow_stream_of(&producer);
            cog_documents *documents = NULL;
            cog_pairs_options options;
            cog_pairs *pairs = NULL;
            const uint64_t *skipped = NULL;
            cog_pairs_options_init(&options, COG_MEASURE_JACCARD);
            CHECK_OK(cog_documents_from_arrow(&stream, NULL, &documents, error));
            CHECK_OK(cog_pairs_find(documents, NULL, &options, NULL, &pairs, NULL, error));
            CHECK(cog_documents_skipped(documents, &skipped) == 1 && skipped[0] == 1);
            cog_pairs_free(pairs);
            cog_documents_close(documents);
        }
}

/* A column of nulls has no type and no buffers; a dictionary without values has none either. */
TEST(arrow_columns_of_nulls) {
    struct ArrowArray array = {.length = 3, .null_count = 3};
    struct arrow_column column;
    struct arrow_column_type type;
    const struct ArrowSchema nulls = {.format = "n", .name = "lang"};
    CHECK(arrow_column_type_of(&nulls, &type) && type.type == ARROW_NULL);
    CHECK_OK(arrow_column_open(&column, type, &array, 1, 2, "lang", error));
    CHECK(arrow_column_is_null(&column, 0) && arrow_column_is_null(&column, 1));
    CHECK(arrow_column_bytes(&column, 2) == 0);

    struct ArrowSchema texts = {.format = "u", .name = ""}, deeper = {.format = "i", .name = ""};
    const struct ArrowSchema encoded = {.format = "c", .name = "lang", .dictionary = &texts};
    const uint8_t none = 0;
    const int8_t places[3] = {0, 0, 0};
    const void *buffers[] = {&none, places};
    struct ArrowArray dictionary = {0};
    array.buffers = buffers;
    array.n_buffers = 2;
    CHECK(arrow_column_type_of(&encoded, &type) && type.type == ARROW_STRING);
    cog_error wrong = {0};
    CHECK(arrow_column_open(&column, type, &array, 0, 3, "lang", &wrong) == COG_ERR_INPUT);
    array.dictionary = &dictionary;
    CHECK_OK(arrow_column_open(&column, type, &array, 0, 3, "lang", error));
    CHECK(arrow_column_is_null(&column, 0) && arrow_column_bytes(&column, 3) == 0);
    dictionary.n_buffers = 4; /* of views, and none there */
    type.type = ARROW_STRING_VIEW;
    CHECK_OK(arrow_column_open(&column, type, &array, 0, 3, "lang", error));
    CHECK(arrow_column_is_null(&column, 0) && arrow_column_bytes(&column, 3) == 0);
    texts.dictionary = &deeper;
    CHECK(!arrow_column_type_of(&encoded, &type));
}

TEST(arrow_integer_ids_and_first_number) {
    static const struct arrow_row numbered[] = {{"the same words in both of these", "-7", NULL},
                                                {"the same words in both of these", "12", NULL}};
    for (int i = 0; i < 4; i++) {
        const bool integers = i % 2;
        struct arrow_producer producer = {.format = "u",
                                          .index = i / 2 ? "C" : NULL,
                                          .bare = !integers,
                                          .rows = numbered,
                                          .sizes = {2},
                                          .chunk_count = 1,
                                          .fails_at = -1,
                                          .id_format = "i"};
        struct ArrowArrayStream stream = arrow_stream_of(&producer), out;
        cog_documents *documents = NULL;
        cog_input_options input;
        cog_dedup_options options;
        cog_clusters *clusters = NULL;
        struct arrow_result table;
        cog_input_options_init(&input);
        input.first_number = 100;
        cog_dedup_options_init(&options);
        CHECK_OK(cog_documents_from_arrow(&stream, &input, &documents, error));
        CHECK_OK(cog_dedup(documents, &options, NULL, NULL, &clusters, NULL, error));
        CHECK_OK(cog_clusters_to_arrow(clusters, true, &out, error));
        CHECK(arrow_result_read(&out, &table) && table.array.length == 2);
        CHECK(arrow_text_is(&table, "id", 0, integers ? "-7" : "100"));
        CHECK(arrow_text_is(&table, "id", 1, integers ? "12" : "101"));
        CHECK(((const uint8_t *)arrow_column_named(&table, "kept")->buffers[1])[0] == 1);
        arrow_result_free(&table);
        cog_clusters_free(clusters);
        cog_documents_close(documents);
    }
}

static void refuse(struct arrow_producer producer, const char *text_field, const char *message) {
    struct ArrowArrayStream stream = arrow_stream_of(&producer);
    cog_documents *documents = NULL;
    cog_input_options input;
    cog_error error = {0};
    cog_input_options_init(&input);
    input.text_field = text_field;
    CHECK(cog_documents_from_arrow(&stream, &input, &documents, &error) != COG_OK);
    CHECK_MSG(strstr(error.message, message), "%s", error.message);
    CHECK(!documents && !stream.release && arrow_live_arrays == 0);
}

TEST(arrow_streams_that_fail_are_released) {
    struct arrow_producer producer = producer_of("u", false);
    refuse(producer, "body",
           "no column \"body\": name the column that has the texts; there are "
           "\"text\", \"id\", \"lang\"");
    producer.fails_at = 2;
    refuse(producer, "text", "the disk of the test is broken");
    producer = producer_of("w:4", true);
    refuse(producer, "text", "has the format \"w:4\": cast it to string");
    producer.index = "f"; /* no integer */
    refuse(producer, "text", "has the format \"w:4\" in a dictionary: cast it to string");
    producer = producer_of("l", true);
    refuse(producer, "text", "has the format \"l\": cast it to string");
    cog_error error = {0};
    cog_documents *documents = NULL;
    struct ArrowArrayStream released = {0};
    CHECK(cog_documents_from_arrow(NULL, NULL, &documents, &error) == COG_ERR_USAGE);
    CHECK(cog_documents_from_arrow(&released, NULL, &documents, &error) == COG_ERR_USAGE);
}

/* ---- Results out ----------------------------------------------------------------------------- */

static bool open_rows(cog_documents **documents) {
    static struct arrow_producer producer;
    producer = producer_of("u", false);
    struct ArrowArrayStream stream = arrow_stream_of(&producer);
    return cog_documents_from_arrow(&stream, NULL, documents, NULL) == COG_OK;
}

TEST(arrow_kept_rows_leave_out_skipped_ones) {
    cog_documents *documents = NULL;
    cog_dedup_options options;
    cog_clusters *clusters = NULL;
    struct ArrowArrayStream out;
    struct arrow_result table;
    cog_dedup_options_init(&options);
    CHECK(open_rows(&documents));
    CHECK_OK(cog_dedup(documents, &options, NULL, NULL, &clusters, NULL, error));
    CHECK_OK(cog_clusters_kept_to_arrow(clusters, &out, error));
    CHECK(arrow_result_read(&out, &table) && table.array.length == 3);
    CHECK(arrow_whole(&table, "row", 0) == 0 && arrow_whole(&table, "row", 1) == 3 &&
          arrow_whole(&table, "row", 2) == 4);
    arrow_result_free(&table);
    CHECK_OK(cog_clusters_removed_to_arrow(clusters, &out, error));
    CHECK(arrow_result_read(&out, &table) && table.array.length == 2);
    CHECK(arrow_whole(&table, "removed", 0) == 2 && arrow_whole(&table, "kept", 0) == 0);
    CHECK(arrow_whole(&table, "removed", 1) == 6 && arrow_whole(&table, "kept", 1) == 0);
    CHECK(arrow_real(&table, "similarity", 1) == 1);
    arrow_result_free(&table);
    cog_clusters_free(clusters);
    cog_documents_close(documents);
}

TEST(arrow_removed_documents_name_their_rows_of_an_index) {
    cog_document items[] = {{.text = "one two three four five"},
                            {.text = "six seven eight nine ten"},
                            {.text = "red green blue black white"}};
    cog_documents *documents = NULL;
    cog_index_options building;
    cog_index *index = NULL;
    cog_dedup_options options;
    cog_clusters *clusters = NULL;
    struct ArrowArrayStream out;
    struct arrow_result table;
    for (size_t i = 0; i < 3; i++)
        items[i].text_size = strlen(items[i].text);
    cog_index_options_init(&building);
    building.measure = COG_MEASURE_JACCARD;
    cog_dedup_options_init(&options);
    CHECK_OK(cog_documents_from_memory(items, 3, &documents, error));
    CHECK_OK(cog_index_build(documents, &building, NULL, &index, NULL, error));
    options.pairs.measure = COG_MEASURE_JACCARD;
    options.pairs.sign.terms = building.sign.terms;
    options.against_index = index;
    cog_documents_close(documents);
    CHECK_OK(cog_documents_from_memory(items + 1, 2, &documents, error));
    CHECK_OK(cog_dedup(documents, &options, NULL, NULL, &clusters, NULL, error));
    CHECK_OK(cog_clusters_removed_to_arrow(clusters, &out, error));
    CHECK(arrow_result_read(&out, &table) && table.array.length == 2);
    CHECK(arrow_whole(&table, "removed", 0) == 0 && arrow_whole(&table, "kept", 0) == 1);
    CHECK(arrow_whole(&table, "removed", 1) == 1 && arrow_whole(&table, "kept", 1) == 2);
    arrow_result_free(&table);
    cog_clusters_free(clusters);
    cog_documents_close(documents);
    cog_index_close(index);
}

/* Rows 0, 2 and 6 are near-duplicates; their ids are a, c and null. */
TEST(arrow_dedup_keeps_by_a_column) {
    static const char *const formats[] = {"u", "U", "vu"};
    for (int i = 0; i < 12; i++) {
        struct arrow_producer producer = producer_of(formats[i % 3], false);
        producer.index = i / 3 % 2 ? "S" : NULL;
        producer.lead = i / 6;
        struct ArrowArrayStream stream = arrow_stream_of(&producer);
        cog_documents *documents = NULL;
        cog_dedup_options options;
        cog_clusters *clusters = NULL;
        struct ArrowArrayStream out;
        struct arrow_result table;
        cog_dedup_options_init(&options);
        options.keep = COG_KEEP_FIELD;
        options.keep_field = "id";
        options.keep_least = i % 2;
        CHECK_OK(cog_documents_from_arrow(&stream, NULL, &documents, error));
        CHECK_OK(cog_dedup(documents, &options, NULL, NULL, &clusters, NULL, error));
        CHECK_OK(cog_clusters_removed_to_arrow(clusters, &out, error));
        CHECK(arrow_result_read(&out, &table) && table.array.length == 2);
        CHECK(arrow_whole(&table, "kept", 0) == (options.keep_least ? 0 : 2));
        CHECK(arrow_whole(&table, "kept", 1) == (options.keep_least ? 0 : 2));
        arrow_result_free(&table);
        cog_clusters_free(clusters);
        cog_error wrong = {0};
        options.keep_field = "stars";
        CHECK(cog_dedup(documents, &options, NULL, NULL, &clusters, NULL, &wrong) == COG_ERR_USAGE);
        CHECK_MSG(strstr(wrong.message, "no column \"stars\"") && strcmp(wrong.option, "keep") == 0,
                  "%s", wrong.message);
        cog_documents_close(documents);
    }
}

TEST(arrow_hits) {
    cog_documents *documents = NULL, *queries = NULL;
    cog_index_options options;
    cog_search_options search;
    cog_index *index = NULL;
    cog_hits *hits = NULL;
    struct ArrowArrayStream out;
    struct arrow_result table;
    cog_index_options_init(&options);
    cog_search_options_init(&search);
    search.k = 1;
    CHECK(open_rows(&documents) && open_rows(&queries));
    CHECK_OK(cog_index_build(documents, &options, NULL, &index, NULL, error));
    CHECK_OK(cog_index_search(index, queries, &search, NULL, &hits, NULL, error));
    CHECK_OK(cog_hits_to_arrow(hits, true, &out, error));
    CHECK(arrow_result_read(&out, &table) && table.array.length == 4);
    CHECK(arrow_whole(&table, "query", 2) == 4 && arrow_text_is(&table, "id", 2, "e"));
    CHECK(arrow_text_is(&table, "query_id", 2, "e") && arrow_whole(&table, "rank", 2) == 1);
    /* The first and the last row have the same text, and the first comes first. */
    CHECK(arrow_whole(&table, "query", 3) == 6 && arrow_text_is(&table, "id", 3, "a"));
    CHECK(arrow_column_named(&table, "row")->null_count == 4 &&
          arrow_real(&table, "similarity", 0) > 0.999);
    arrow_result_free(&table);
    cog_hits_free(hits);
    cog_index_close(index);
    cog_documents_close(documents);
    cog_documents_close(queries);
}

TEST(arrow_signatures) {
    const uint8_t bytes[6] = {1, 2, 3, 4, 5, 6};
    cog_signatures *signatures = NULL;
    struct ArrowArrayStream out;
    struct arrow_result table;
    CHECK_OK(cog_signatures_from_memory(bytes, 2, 24, &signatures, error));
    CHECK_OK(cog_signatures_to_arrow(signatures, &out, error));
    cog_signatures_free(signatures);
    CHECK(arrow_result_read(&out, &table) && table.array.length == 2);
    CHECK(strcmp(table.schema.children[0]->format, "w:3") == 0);
    CHECK(memcmp(table.array.children[0]->buffers[1], bytes, 6) == 0);
    arrow_result_free(&table);
}

TEST(arrow_streams_may_be_released_unread) {
    cog_documents *documents = NULL;
    cog_pairs_options options;
    cog_pairs *pairs = NULL;
    struct ArrowArrayStream out;
    cog_pairs_options_init(&options, COG_MEASURE_JACCARD);
    CHECK(open_rows(&documents));
    CHECK_OK(cog_pairs_find(documents, NULL, &options, NULL, &pairs, NULL, error));
    CHECK_OK(cog_pairs_to_arrow(pairs, true, &out, error));
    out.release(&out);
    CHECK(cog_pairs_to_arrow(NULL, true, &out, NULL) == COG_ERR_USAGE);
    CHECK(cog_pairs_to_arrow(pairs, true, NULL, NULL) == COG_ERR_USAGE);
    cog_pairs_free(pairs);
    cog_documents_close(documents);
}

/* ---- Signing into memory --------------------------------------------------------------------- */

static void sign_rows(cog_signature_kind kind) {
    enum { BITS = 64 };
    uint8_t signatures[ROWS][BITS / 8];
    float margins[ROWS][BITS];
    uint32_t term_counts[ROWS];
    cog_documents *documents = NULL;
    cog_sign_options options;
    cog_sign_options_init(&options, kind);
    options.signature.bits = BITS;
    cog_sign_buffers buffers = {ROWS, signatures[0], margins[0], term_counts};
    memset(signatures, 0xaa, sizeof signatures);
    CHECK(open_rows(&documents));
    CHECK_OK(cog_sign_rows(documents, &options, NULL, &buffers, NULL, NULL, error));
    CHECK(memcmp(signatures[0], signatures[6], BITS / 8) == 0 && term_counts[0] == term_counts[6]);
    CHECK(memcmp(margins[0], margins[6], sizeof margins[0]) == 0 && term_counts[0] > 5);
    CHECK(memcmp(signatures[0], signatures[4], BITS / 8) != 0);
    static const uint8_t zeros[sizeof margins[0]];
    for (int i = 1; i < ROWS; i += 4) { /* skipped: rows 1 and 5 */
        CHECK(memcmp(signatures[i], zeros, BITS / 8) == 0 && term_counts[i] == 0);
        CHECK(memcmp(margins[i], zeros, sizeof margins[i]) == 0);
    }
    CHECK(term_counts[3] == 0);
    for (int bit = 0; bit < BITS; bit++) { /* margins and bits are of the same row */
        bool is_set = signatures[4][bit / 8] >> (7 - bit % 8) & 1;
        CHECK(is_set ? margins[4][bit] >= 0 : margins[4][bit] <= 0);
    }
    buffers.rows = ROWS - 1;
    CHECK(cog_sign_rows(documents, &options, NULL, &buffers, NULL, NULL, NULL) == COG_ERR_USAGE);
    cog_documents_close(documents);
}

TEST(sign_rows_into_memory) {
    sign_rows(COG_SIGNATURE_SIMHASH);
    sign_rows(COG_SIGNATURE_RP); /* with a pass for statistics */
}

/* ---- Cancelling ------------------------------------------------------------------------------ */

static void *set_token(void *cancel) {
    cog_cancel_set(cancel);
    return NULL;
}

TEST(cancel_token_stops_jobs) {
    cog_documents *documents = NULL;
    cog_dedup_options options;
    cog_clusters *clusters = NULL;
    cog_cancel *cancel = NULL;
    cog_error error = {0};
    pthread_t thread;
    cog_dedup_options_init(&options);
    CHECK(open_rows(&documents) && cog_cancel_create(&cancel, NULL) == COG_OK);
    cog_run_options run = {.cancel = cancel};
    CHECK(cog_dedup(documents, &options, NULL, &run, &clusters, NULL, &error) == COG_OK);
    cog_clusters_free(clusters);
    clusters = NULL;
    CHECK(!cog_cancel_is_set(cancel));
    CHECK(pthread_create(&thread, NULL, set_token, cancel) == 0 && !pthread_join(thread, NULL));
    CHECK(cog_cancel_is_set(cancel));
    CHECK(cog_dedup(documents, &options, NULL, &run, &clusters, NULL, &error) == COG_ERR_CANCELLED);
    CHECK(!clusters);
    cog_cancel_free(cancel);
    cog_documents_close(documents);
}

/* ---- Options that grow ----------------------------------------------------------------------- */

TEST(reserved_words_are_refused) {
    cog_documents *documents = NULL;
    cog_dedup_options options;
    cog_clusters *clusters = NULL;
    cog_error error = {0};
    CHECK(open_rows(&documents));
    cog_dedup_options_init(&options);
    options.reserved[6] = 1;
    CHECK(cog_dedup(documents, &options, NULL, NULL, &clusters, NULL, &error) == COG_ERR_USAGE);
    CHECK_MSG(strstr(error.message, "cog_dedup_options has an option"), "%s", error.message);
    cog_dedup_options_init(&options);
    options.pairs.sign.terms.reserved[0] = 1;
    CHECK(cog_dedup(documents, &options, NULL, NULL, &clusters, NULL, &error) == COG_ERR_USAGE);
    CHECK_MSG(strstr(error.message, "cog_term_options has an option"), "%s", error.message);
    cog_dedup_options_init(&options);
    options.keep = (cog_keep)77;
    CHECK(cog_dedup(documents, &options, NULL, NULL, &clusters, NULL, &error) == COG_ERR_USAGE);
    CHECK(cog_dedup(NULL, &options, NULL, NULL, &clusters, NULL, &error) == COG_ERR_USAGE);
    CHECK(cog_dedup(documents, NULL, NULL, NULL, &clusters, NULL, &error) == COG_ERR_USAGE);
    cog_documents_close(documents);
}
