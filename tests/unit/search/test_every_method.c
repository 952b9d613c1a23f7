/* Tests that every method of the table that searches signatures must pass: the answers of the
 * exhaustive search (all of them, if the method is certain; true ones, if not), at all its widths,
 * for empty collections and equal rows, for any number of threads, from memory and from a file, and
 * without an access outside if the file is damaged. */
#include "base/hash.h"
#include "base/io/files.h"
#include "base/numbers.h"
#include "index/segment.h"
#include "search/flat/flat.h"
#include "test.h"

enum { ROWS = 700, QUERIES = 40, BITS_MAX = 256, K = 5, RADIUS = 3 };

struct collection {
    uint64_t words[(ROWS + QUERIES) * BITS_MAX / 64];
    float margins[(ROWS + QUERIES) * BITS_MAX];
    struct signatures_view rows, queries;
};

static struct collection made;

/* Queries are rows with up to three bits flipped, those of the smallest margins. */
static void make_collection(unsigned bits, size_t rows, size_t queries, bool equal) {
    size_t stride = signature_stride_bytes(bits);
    uint8_t *bytes = (uint8_t *)made.words;
    struct random random = random_seeded(bits + rows);
    memset(&made, 0, sizeof made);
    for (size_t i = 0; i < rows + queries; i++)
        for (unsigned bit = 0; bit < bits; bit++) {
            float *margin = &made.margins[i * bits + bit];
            size_t model = equal ? 0 : i % (ROWS / 4);
            bool flips = random_below(&random, bits) < 2;
            if (i < ROWS / 4 && (i == 0 || !equal))
                *margin = (float)(random_unit(&random) - 0.5);
            else
                *margin = made.margins[model * bits + bit] * (flips && !equal ? -0.1f : 1);
            if (*margin > 0)
                bytes[i * stride + bit / 8] |= (uint8_t)(0x80 >> bit % 8);
        }
    made.rows = (struct signatures_view){bytes, rows, bits, stride};
    made.queries = (struct signatures_view){bytes + rows * stride, queries, bits, stride};
}

/* What a method is asked, for a radius (k 0) or the k nearest. */
static struct method_search ask(size_t k, double recall, unsigned threads) {
    return (struct method_search){
        .rows = {.signatures = &made.rows},
        .queries = {.signatures = &made.queries,
                    .margins = made.margins + made.rows.rows * made.rows.bits},
        .k = k,
        .radius_bits = RADIUS,
        .recall = recall,
        .candidates = 50,
        .threads = threads};
}

static cog_status build_tables(const struct search_method *method, void **tables,
                               cog_error *error) {
    struct method_size size = {.rows = made.rows.rows,
                               .queries = made.queries.rows,
                               .bits = made.rows.bits,
                               .radius_bits = RADIUS,
                               .recall = 0.9,
                               .threads = 2};
    cog_knobs knobs = {0};
    struct method_build asked = {.rows = {.signatures = &made.rows, .margins = made.margins},
                                 .radius_bits = RADIUS,
                                 .knobs = &knobs,
                                 .threads = 2};
    if (!method->build)
        return COG_OK;
    TRY(method->settings ? method->settings(&size, &knobs, error) : COG_OK);
    return method_build(method, &asked, tables, error);
}

static bool same_lists(const struct hit_lists *a, const struct hit_lists *b) {
    bool same = a->queries == b->queries &&
                memcmp(a->offsets, b->offsets, (a->queries + 1) * sizeof *a->offsets) == 0;
    for (size_t i = 0; same && i < a->offsets[a->queries]; i++)
        same = a->items[i].a == b->items[i].a && a->items[i].b == b->items[i].b &&
               a->items[i].distance == b->items[i].distance;
    return same;
}

/* Hits are sorted, correct, and no more than the truth has. */
static bool are_right(const struct hit_lists *hits, const struct hit_lists *truth) {
    bool right = hits->queries == truth->queries;
    for (size_t query = 0; right && query < hits->queries; query++) {
        size_t begin = hits->offsets[query], end = hits->offsets[query + 1];
        right = end - begin <= truth->offsets[query + 1] - truth->offsets[query];
        for (size_t i = begin; right && i < end; i++) {
            const struct match *hit = &hits->items[i];
            right = hit->a == query && hit->b < made.rows.rows &&
                    hit->distance == hamming_distance(signature_row(&made.queries, query),
                                                      signature_row(&made.rows, hit->b),
                                                      made.rows.bits) &&
                    (i == begin || hit[-1].distance < hit->distance ||
                     (hit[-1].distance == hit->distance && hit[-1].b < hit->b));
        }
    }
    return right;
}

/* All that the method answers, at a recall below 1 and, where it is certain, at 1. */
static void check_answers(const struct search_method *method, const void *tables) {
    for (int within = 0; within < 2; within++) {
        unsigned answer = within ? COG_ANSWERS_WITHIN : COG_ANSWERS_NEAREST;
        size_t k = within ? 0 : K;
        if (!(method->answers & answer))
            continue;
        struct hit_lists truth = {0};
        CHECK_OK(within ? flat_search_radius(&made.rows, &made.queries, RADIUS, 1, &truth, error)
                        : flat_search_topk(&made.rows, &made.queries, K, 1, &truth, error));
        for (int certain = 0; certain <= ((method->certain & answer) != 0); certain++) {
            struct hit_lists first = {0};
            for (unsigned threads = 1; threads <= 3; threads++) {
                struct method_search asked = ask(k, certain ? 1 : 0.9, threads);
                struct hit_lists hits = {0};
                CHECK_OK(method->search(tables, &asked, &hits, error));
                CHECK_MSG(are_right(&hits, &truth), "%s", method->name);
                CHECK_MSG((!certain && !asked.is_exact_out) || same_lists(&hits, &truth),
                          "%s, %s, %zu rows of %u bits", method->name, within ? "radius" : "k",
                          made.rows.rows, made.rows.bits);
                if (threads == 1)
                    first = hits;
                else
                    CHECK_MSG(same_lists(&hits, &first), "%s on %u threads", method->name, threads);
                if (threads > 1)
                    hit_lists_free(&hits);
            }
            hit_lists_free(&first);
        }
        hit_lists_free(&truth);
    }
}

/* The k-th method that searches signatures; NULL after the last. */
static const struct search_method *searching_method(int k) {
    const struct search_method *method;
    for (int i = COG_METHOD_AUTO + 1; (method = method_of((cog_method)i)); i++)
        if (method->search && !(method->needs & NEEDS_VECTORS) && k-- == 0)
            return method;
    return NULL;
}

static void check_collection(unsigned bits, size_t rows, size_t queries, bool equal) {
    make_collection(bits, rows, queries, equal);
    const struct search_method *method;
    for (int i = 0; (method = searching_method(i)); i++) {
        void *tables = NULL;
        if (!method_takes_bits(method, bits) ||
            (rows < 2 && method->needs & NEEDS_ROW_MARGINS)) /* nothing to learn from */
            continue;
        CHECK_OK(build_tables(method, &tables, error));
        check_answers(method, tables);
        method_release(method, tables);
    }
}

TEST(every_method_answers_as_the_exhaustive_search) {
    static const unsigned widths[] = {1, 8, 63, 64, 65, 128, 200, 256};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        check_collection(widths[i], ROWS, QUERIES, false);
}

TEST(every_method_takes_empty_collections_and_equal_rows) {
    for (unsigned bits = 64; bits <= 128; bits += 64) {
        check_collection(bits, 0, QUERIES, false);
        check_collection(bits, 1, QUERIES, false);
        check_collection(bits, ROWS, 0, false);
        check_collection(bits, ROWS, QUERIES, true);
    }
}

/* The tables written, opened and searched again. */
static void check_file(const struct search_method *method, const void *tables, const char *path) {
    struct segment_parts parts = {.rows = made.rows.rows,
                                  .signatures = made.rows,
                                  .tables = &(struct method_tables){method, (void *)tables},
                                  .table_count = 1};
    struct segment segment;
    CHECK_OK(segment_write(path, &parts, error));
    CHECK_OK(segment_open(path, &segment, error));
    CHECK_OK(segment_verify(&segment, error));
    CHECK_MSG(segment_tables(&segment, method) && segment.table_count == 1, "%s", method->name);
    check_answers(method, segment_tables(&segment, method));
    segment_close(&segment);
}

/* Random bytes change: the file is refused, or is searched without an access outside. */
static void damage_file(const struct search_method *method, const char *path) {
    struct mapping file;
    CHECK_OK(mapping_open(path, &file, error));
    uint8_t *bytes = aligned_alloc(64, (file.size + 63) / 64 * 64);
    struct random random = random_seeded(3);
    for (int trial = 0; trial < 300; trial++) {
        struct segment segment;
        struct hit_lists hits = {0};
        struct method_search asked =
            ask(method->answers & COG_ANSWERS_NEAREST && trial % 2 ? K : 0, 0.9, 1);
        memcpy(bytes, file.data, file.size);
        for (int i = 0; i < 4; i++)
            bytes[64 + random_below(&random, file.size - 64)] ^= (uint8_t)random_next(&random);
        if (segment_open_memory("memory", bytes, file.size, &segment, NULL) != COG_OK)
            continue;
        asked.rows = segment_method_rows(&segment);
        if (segment_tables(&segment, method) && segment.signatures.bits == made.rows.bits)
            method->search(segment_tables(&segment, method), &asked, &hits, NULL);
        hit_lists_free(&hits);
        segment_close(&segment);
    }
    free(bytes);
    mapping_close(&file);
}

TEST(every_method_survives_its_file_and_damage) {
    const struct search_method *method;
    make_collection(64, ROWS, QUERIES, false);
    for (int i = 0; (method = searching_method(i)); i++) {
        void *tables = NULL;
        if (!method->build)
            continue;
        CHECK_OK(build_tables(method, &tables, error));
        const char *path = test_path(method->name);
        check_file(method, tables, path);
        method_release(method, tables);
        damage_file(method, path);
    }
}

/* Through the public functions: an index is built for a method that only the tests have. */
TEST(every_index_is_built_by_the_table) {
    cog_method method = COG_METHOD_AUTO;
    make_collection(64, ROWS, QUERIES, false);
    CHECK(cog_method_named("ones", &method) && cog_method_keeps_tables(method));
    cog_signatures *rows = NULL, *queries = NULL;
    cog_index *index = NULL;
    cog_hits *found = NULL, *truth = NULL;
    cog_index_options build;
    cog_search_options search;
    cog_index_options_init(&build);
    cog_search_options_init(&search);
    build.method = search.method = method;
    CHECK_OK(cog_signatures_from_memory(made.rows.data, ROWS, 64, &rows, error));
    CHECK_OK(cog_signatures_from_memory(made.queries.data, QUERIES, 64, &queries, error));
    CHECK_OK(cog_index_build_signatures(rows, &build, NULL, &index, NULL, error));
    const char *folder = test_path("ones");
    CHECK_OK(cog_index_save(index, folder, error));
    cog_index_close(index);
    CHECK_OK(cog_index_open(folder, &index, error));
    CHECK_OK(cog_index_check(index, error));
    CHECK_OK(cog_index_search_signatures(index, queries, NULL, &search, NULL, &found, NULL, error));
    search.method = COG_METHOD_FLAT;
    CHECK_OK(cog_index_search_signatures(index, queries, NULL, &search, NULL, &truth, NULL, error));
    CHECK(cog_hits_count(found) == cog_hits_count(truth) && cog_hits_count(found) > 0);
    for (size_t i = 0; i < cog_hits_count(found); i++)
        CHECK(cog_hits_get(found, i).row == cog_hits_get(truth, i).row);
    cog_hits_free(found);
    cog_hits_free(truth);
    cog_index_close(index);
    cog_signatures_free(rows);
    cog_signatures_free(queries);
}
