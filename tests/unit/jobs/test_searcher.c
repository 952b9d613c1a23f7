/* A searcher gives the answers of cog_index_search, one query at a time, whatever the method and
 * however many queries came before. */
#include "base/hash.h"
#include "cognate.h"
#include "test.h"

enum { BITS = 64, BYTES = BITS / 8, ROWS = 3000, QUERIES = 60 };

struct data {
    uint8_t rows[ROWS * BYTES];
    float margins[ROWS * BITS];
};

/* Every third row repeats the one before it but for two bits, whose margins are small. */
static void make_rows(struct data *data) {
    struct random random = random_seeded(7);
    for (size_t row = 0; row < ROWS; row++) {
        uint8_t *bytes = data->rows + row * BYTES;
        float *margins = data->margins + row * BITS;
        for (size_t i = 0; i < BYTES; i++)
            bytes[i] = (uint8_t)random_next(&random);
        for (size_t bit = 0; bit < BITS; bit++)
            margins[bit] = 1;
        if (row % 3 == 2) {
            memcpy(bytes, bytes - BYTES, BYTES);
            for (int flip = 0; flip < 2; flip++) {
                size_t bit = random_next(&random) % BITS;
                bytes[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
                margins[bit] = 0.1f;
                (margins - BITS)[bit] = 0.1f;
            }
        }
        for (size_t bit = 0; bit < BITS; bit++)
            if (!(bytes[bit / 8] >> (7 - bit % 8) & 1))
                margins[bit] = -margins[bit];
    }
}

static bool same_hits(const cog_hits *one, const cog_hits *all, uint32_t query) {
    size_t first = cog_hits_first(all, query), end = cog_hits_first(all, query + 1);
    bool same = cog_hits_count(one) == end - first && cog_hits_queries(one) == 1 &&
                cog_hits_are_estimates(one) == cog_hits_are_estimates(all);
    for (size_t i = 0; i < end - first && same; i++) {
        cog_hit a = cog_hits_get(one, i), b = cog_hits_get(all, first + i);
        same = a.query == 0 && a.row == b.row && a.rank == b.rank && a.distance == b.distance &&
               a.similarity == b.similarity;
    }
    return same;
}

/* All queries in one call and one by one, twice. */
static void compare_signatures(const cog_index *index, const struct data *data, bool with_margins,
                               cog_search_options options, bool finds) {
    cog_signatures *queries = NULL;
    cog_searcher *searcher = NULL;
    cog_hits *all = NULL;
    const float *margins = with_margins ? data->margins : NULL;
    options.recall_sample = 0;
    CHECK_OK(cog_signatures_from_memory(data->rows, QUERIES, BITS, &queries, error));
    CHECK_OK(
        cog_index_search_signatures(index, queries, margins, &options, NULL, &all, NULL, error));
    CHECK_OK(cog_searcher_create(index, &options, &searcher, error));
    CHECK(cog_hits_count(all) > 0 || !finds);
    for (uint32_t i = 0; i < 2 * QUERIES; i++) {
        const cog_hits *one = NULL;
        uint32_t query = i % QUERIES;
        CHECK_OK(cog_searcher_find_signature(searcher, data->rows + query * BYTES,
                                             margins ? margins + query * BITS : NULL, &one, error));
        CHECK(same_hits(one, all, query));
    }
    cog_searcher_free(searcher);
    cog_hits_free(all);
    cog_signatures_free(queries);
}

static cog_index *build_index(const cog_signatures *rows, const struct data *data,
                              cog_method method, unsigned radius_bits) {
    cog_index_options options;
    cog_index *index = NULL;
    cog_error error = {0};
    cog_index_options_init(&options);
    options.method = method;
    options.radius_bits = radius_bits;
    options.weights = data->margins;
    if (cog_index_build_signatures(rows, &options, NULL, &index, NULL, &error) != COG_OK)
        printf("%s\n", error.message);
    return index;
}

TEST(searcher_of_signatures_answers_as_a_search) {
    static struct data data;
    cog_signatures *rows = NULL;
    make_rows(&data);
    CHECK_OK(cog_signatures_from_memory(data.rows, ROWS, BITS, &rows, error));
    static const cog_method nearest[] = {COG_METHOD_FLAT, COG_METHOD_SLICES, COG_METHOD_COLUMNS};
    cog_search_options options;
    cog_search_options_init(&options);
    for (size_t i = 0; i < 3; i++) {
        cog_index *index = build_index(rows, &data, nearest[i], 0);
        options.method = nearest[i];
        options.k = 5;
        compare_signatures(index, &data, true, options, true);
        compare_signatures(index, &data, false, options, true);
        /* More segments, and rows that are gone. */
        static const char *const removed[] = {"0", "1", "7"};
        CHECK_OK(cog_index_add_signatures(index, rows, NULL, NULL, error));
        CHECK_OK(cog_index_remove(index, removed, 3, NULL, error));
        compare_signatures(index, &data, true, options, true);
        options.method = COG_METHOD_AUTO;
        compare_signatures(index, &data, false, options, true);
        cog_index_close(index);
    }
    static const cog_method within[] = {COG_METHOD_PSM, COG_METHOD_BPHS, COG_METHOD_FLAT};
    options.k = 0;
    options.radius_bits = 3;
    for (size_t i = 0; i < 3; i++) {
        cog_index *index =
            build_index(rows, &data, within[i], within[i] == COG_METHOD_FLAT ? 0 : 3);
        options.method = within[i];
        compare_signatures(index, &data, true, options, true);
        options.method = COG_METHOD_AUTO;
        compare_signatures(index, &data, true, options, true);
        cog_index_close(index);
    }
    cog_signatures_free(rows);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

enum { TEXTS = 200, TEXT_BYTES = 256 };

static void make_texts(char texts[TEXTS][TEXT_BYTES], cog_document *items) {
    static const char *const words[] = {"storm",  "road",   "winter", "library",
                                        "garden", "river",  "bridge", "school",
                                        "market", "engine", "forest", "silver"};
    struct random random = random_seeded(11);
    for (size_t i = 0; i < TEXTS; i++) {
        size_t at = 0;
        for (int word = 0; word < 12; word++)
            at += (size_t)snprintf(texts[i] + at, TEXT_BYTES - at, "%s%llu ",
                                   words[random_next(&random) % 12],
                                   (unsigned long long)(random_next(&random) % 4));
        items[i] = (cog_document){.text = texts[i], .text_size = at};
    }
}

static void compare_texts(const cog_index *index, const cog_document *items,
                          cog_search_options options) {
    cog_documents *queries = NULL;
    cog_searcher *searcher = NULL;
    cog_hits *all = NULL;
    options.recall_sample = 0;
    CHECK_OK(cog_documents_from_memory(items, QUERIES, &queries, error));
    CHECK_OK(cog_index_search(index, queries, &options, NULL, &all, NULL, error));
    CHECK_OK(cog_searcher_create(index, &options, &searcher, error));
    CHECK(cog_hits_count(all) > QUERIES);
    for (uint32_t i = 0; i < 2 * QUERIES; i++) {
        const cog_hits *one = NULL;
        const cog_document *item = &items[i % QUERIES];
        CHECK_OK(cog_searcher_find_text(searcher, item->text, item->text_size, NULL, &one, error));
        CHECK(same_hits(one, all, i % QUERIES));
    }
    /* Nothing known matches nothing, and the next query is not disturbed. */
    const cog_hits *none = NULL;
    CHECK_OK(cog_searcher_find_text(searcher, "qqq", 3, "en", &none, error));
    CHECK(cog_hits_count(none) == 0);
    CHECK_OK(
        cog_searcher_find_text(searcher, items[0].text, items[0].text_size, NULL, &none, error));
    CHECK(same_hits(none, all, 0));
    CHECK(cog_searcher_find_text(searcher, "\xff", 1, NULL, &none, NULL) == COG_ERR_INPUT);
    cog_searcher_free(searcher);
    cog_hits_free(all);
    cog_documents_close(queries);
}

TEST(searcher_of_texts_answers_as_a_search) {
    static char texts[TEXTS][TEXT_BYTES];
    static cog_document items[TEXTS];
    static const cog_method methods[] = {COG_METHOD_AUTO, COG_METHOD_EXACT, COG_METHOD_FLAT,
                                         COG_METHOD_SLICES, COG_METHOD_COLUMNS};
    make_texts(texts, items);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        cog_documents *documents = NULL;
        cog_index_options build;
        cog_index *index = NULL;
        cog_index_options_init(&build);
        build.sign.terms.lang = "en";
        build.method = methods[i] == COG_METHOD_EXACT ? COG_METHOD_FLAT : methods[i];
        CHECK_OK(cog_documents_from_memory(items, TEXTS, &documents, error));
        CHECK_OK(cog_index_build(documents, &build, NULL, &index, NULL, error));
        cog_search_options options;
        cog_search_options_init(&options);
        options.method = methods[i];
        compare_texts(index, items, options);
        options.k = 0;
        options.threshold = 0.3;
        compare_texts(index, items, options);
        options.verify = false;
        if (methods[i] != COG_METHOD_EXACT)
            compare_texts(index, items, options);
        cog_index_close(index);
        cog_documents_close(documents);
    }
}

TEST(searcher_refuses_what_a_search_refuses) {
    static struct data data;
    cog_signatures *rows = NULL;
    cog_searcher *searcher = NULL;
    cog_search_options options;
    make_rows(&data);
    CHECK_OK(cog_signatures_from_memory(data.rows, ROWS, BITS, &rows, error));
    cog_index *index = build_index(rows, &data, COG_METHOD_FLAT, 0);
    cog_search_options_init(&options);
    options.method = COG_METHOD_SLICES;
    CHECK(cog_searcher_create(index, &options, &searcher, NULL) == COG_ERR_USAGE);
    options.method = COG_METHOD_AUTO;
    options.k = 0;
    CHECK(cog_searcher_create(index, &options, &searcher, NULL) == COG_ERR_USAGE);
    options.k = 1;
    options.reserved[0] = 1;
    CHECK(cog_searcher_create(index, &options, &searcher, NULL) == COG_ERR_USAGE);
    options.reserved[0] = 0;
    CHECK(cog_searcher_create(NULL, &options, &searcher, NULL) == COG_ERR_USAGE);
    CHECK(!searcher);
    CHECK_OK(cog_searcher_create(index, &options, &searcher, error));
    const cog_hits *hits = NULL;
    CHECK(cog_searcher_find_text(searcher, "text", 4, NULL, &hits, NULL) == COG_ERR_USAGE);
    CHECK(cog_searcher_find_signature(searcher, NULL, NULL, &hits, NULL) == COG_ERR_USAGE);
    cog_searcher_free(searcher);
    cog_searcher_free(NULL);
    cog_index_close(index);
    cog_signatures_free(rows);
}
