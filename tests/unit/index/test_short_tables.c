#include <unistd.h>

#include "index/segment.h"
#include "search/bphs/bphs_method.h"
#include "search/psm/psm.h"
#include "search/psm/psm_method.h"
#include "search/short_data.h"
#include "test.h"

enum { ROWS = 3000, RADIUS = 3, IMAGE_MAX = 4 << 20 };

/* The bytes of a segment with tables, aligned as a map would be. */
struct image {
    uint8_t *bytes;
    size_t size;
};

/* Tables of a method; a segment's, or built here. */
struct tables {
    const struct search_method *method;
    void *own;
};

static bool make_image(const struct short_data *data, struct tables tables, struct image *image) {
    char path[] = "/tmp/cognate-test-XXXXXX";
    int descriptor = mkstemp(path);
    struct settings settings = {0};
    struct segment_parts parts = {.rows = data->view.rows,
                                  .settings = &settings,
                                  .signatures = data->view,
                                  .tables = &(struct method_tables){tables.method, tables.own},
                                  .table_count = 1};
    bool made = descriptor >= 0 && segment_write(path, &parts, NULL) == COG_OK;
    FILE *file = made ? fopen(path, "rb") : NULL;
    image->bytes = aligned_alloc(64, IMAGE_MAX);
    image->size = file ? fread(image->bytes, 1, IMAGE_MAX, file) : 0;
    if (file)
        fclose(file);
    if (descriptor >= 0)
        close(descriptor);
    unlink(path);
    return image->size > 0;
}

/* All within the radius, or the share that the recall asks for. */
static cog_status search(struct tables tables, const struct signatures_view *stored,
                         const struct short_data *asked, double recall, struct match_list *hits,
                         cog_error *error) {
    struct method_search request = {
        .rows = {.signatures = stored},
        .queries = {.signatures = &asked->view, .margins = asked->margins},
        .radius_bits = RADIUS,
        .recall = recall,
        .threads = 2};
    struct hit_lists lists = {0};
    cog_status status = tables.method->search(tables.own, &request, &lists, error);
    for (size_t i = 0; status == COG_OK && i < lists.offsets[lists.queries]; i++)
        match_list_add(hits, lists.items[i], NULL);
    hit_lists_free(&lists);
    return status;
}

/* Knobs by the rows, and given. */
enum { PSM, BPHS, METHODS, KNOBS = 3 };
static const struct search_method *const methods[METHODS] = {&psm_method, &bphs_method};
static const cog_knobs knobs[METHODS][KNOBS] = {
    {{0}, {.given = 1, .values = {7}}, {.given = 1, .values = {1}}},
    {{0}, {.given = 1, .values = {4}}, {.given = 3, .values = {6, 2}}}};

static struct tables make_tables(const struct short_data *data, int method, int knob) {
    struct tables tables = {methods[method], NULL};
    struct method_build build = {.rows = {.signatures = &data->view, .margins = data->margins},
                                 .radius_bits = RADIUS,
                                 .knobs = &knobs[method][knob],
                                 .threads = 2};
    method_build(tables.method, &build, &tables.own, NULL);
    return tables;
}

TEST(short_tables_in_a_file_answer_as_in_memory) {
    for (unsigned round = 0; round < 8; round++) {
        unsigned bits = 64 * (1 + round % 2);
        int method = round / 2 % 2;
        size_t rows = round < 4 ? ROWS : 2;
        struct short_data stored = short_data_make(31, 5, rows, bits, rows / 8 + 1, 4);
        struct short_data asked = short_data_make(32, 5, 400, bits, rows / 8 + 1, 4);
        struct match_list expected = short_data_brute_force(&stored.view, &asked.view, RADIUS);
        struct tables tables = make_tables(&stored, method, round % 3);
        struct image image;
        struct segment segment;
        CHECK(tables.own != NULL);
        CHECK(make_image(&stored, tables, &image));
        CHECK_OK(segment_open_memory("image", image.bytes, image.size, &segment, error));
        CHECK(segment.table_count == 1 && segment.tables[0].method == tables.method);
        CHECK_OK(segment_verify(&segment, error));
        const struct tables both[] = {tables, {segment.tables[0].method, segment.tables[0].data}};
        for (int i = 0; i < 2; i++) {
            struct match_list hits = {0};
            CHECK_OK(search(both[i], &stored.view, &asked, 1, &hits, error));
            CHECK(short_hits_equal(&hits, &expected));
            match_list_free(&hits);
        }
        segment_close(&segment);
        free(image.bytes);
        method_release(tables.method, tables.own);
        match_list_free(&expected);
        short_data_free(&stored);
        short_data_free(&asked);
    }
}

/* Whatever the value of a byte, opening and searching end, with hits or an error; a full check
 * finds the damage. */
TEST(short_tables_survive_damage) {
    struct random random = random_seeded(9);
    for (int method = 0; method < METHODS; method++) {
        struct short_data stored = short_data_make(33, 5, 1000, 64, 130, 4);
        struct short_data asked = short_data_make(34, 5, 40, 64, 130, 4);
        struct tables tables = make_tables(&stored, method, 1 + method);
        struct image image;
        CHECK(tables.own && make_image(&stored, tables, &image));
        for (int round = 0; round < 1500; round++) {
            struct segment segment;
            struct match_list hits = {0};
            size_t place = random_below(&random, image.size);
            uint8_t change = (uint8_t)(1 + random_below(&random, 255));
            image.bytes[place] ^= change;
            if (segment_open_memory("image", image.bytes, image.size, &segment, NULL) == COG_OK) {
                if (segment.table_count)
                    search((struct tables){segment.tables[0].method, segment.tables[0].data},
                           &stored.view, &asked, 1, &hits, NULL);
                CHECK_MSG(segment_verify(&segment, NULL) != COG_OK, "byte %zu", place);
                segment_close(&segment);
            }
            match_list_free(&hits);
            image.bytes[place] ^= change;
        }
        free(image.bytes);
        method_release(tables.method, tables.own);
        short_data_free(&stored);
        short_data_free(&asked);
    }
}

/* Searches at several recalls find at least that share of all hits. */
static void check_recalls(struct tables tables, const struct short_data *stored) {
    struct short_data asked = short_data_make(36, 5, 1000, 64, 2500, 4);
    struct match_list all = short_data_brute_force(&stored->view, &asked.view, RADIUS);
    for (double recall = 0.6; recall < 0.96; recall += 0.1) {
        struct match_list hits = {0};
        CHECK_OK(search(tables, &stored->view, &asked, recall, &hits, error));
        CHECK_MSG((double)hits.count >= (recall - 0.03) * (double)all.count,
                  "recall %.3f, wanted %.2f", (double)hits.count / (double)all.count, recall);
        match_list_free(&hits);
    }
    match_list_free(&all);
    short_data_free(&asked);
}

TEST(psm_learns_the_bound_of_a_recall) {
    struct short_data stored = short_data_make(35, 5, 20000, 64, 2500, 4);
    struct tables tables = make_tables(&stored, PSM, 0);
    const struct psm_index *index = tables.own;
    CHECK(index && index->learned.pairs > 100);
    check_recalls(tables, &stored);
    method_release(tables.method, tables.own);
    short_data_free(&stored);
}

/* Rows that come without margins take over what the first segment learned; a longer header needs
 * higher bounds for the same recall. */
TEST(psm_bounds_hold_for_a_header_that_grows) {
    struct short_data stored = short_data_make(35, 5, 20000, 64, 2500, 4);
    struct tables first = make_tables(&stored, PSM, 2), grown = {&psm_method, NULL};
    static const cog_knobs longer = {.given = 1, .values = {14}};
    struct method_build build = {.rows = {.signatures = &stored.view},
                                 .radius_bits = RADIUS,
                                 .knobs = &longer,
                                 .earlier = first.own,
                                 .threads = 2};
    struct image image;
    struct segment segment;
    CHECK_OK(method_build(&psm_method, &build, &grown.own, error));
    check_recalls(grown, &stored);
    CHECK(make_image(&stored, first, &image)); /* and when it was read from a file */
    CHECK_OK(segment_open_memory("image", image.bytes, image.size, &segment, error));
    build.earlier = segment.tables[0].data;
    method_release(grown.method, grown.own);
    grown.own = NULL;
    CHECK_OK(method_build(&psm_method, &build, &grown.own, error));
    check_recalls(grown, &stored);
    segment_close(&segment);
    free(image.bytes);
    method_release(first.method, first.own);
    method_release(grown.method, grown.own);
    short_data_free(&stored);
}

/* Copies of one page: their number must not be squared anywhere. */
TEST(short_tables_take_many_equal_rows) {
    enum { COPIES = 200000, ASKED = 5 };
    struct short_data stored = short_data_make(37, 5, COPIES, 64, 1, 0);
    struct signatures_view some = {stored.view.data, ASKED, 64, 8};
    struct short_data asked = {stored.words, stored.margins, some};
    for (int method = 0; method < METHODS; method++) {
        struct tables tables = make_tables(&stored, method, 1 + method);
        struct match_list hits = {0};
        struct method_rows rows = {.signatures = &stored.view};
        CHECK(tables.own != NULL);
        CHECK_OK(tables.method->check(tables.own, &rows, error));
        CHECK_OK(search(tables, &stored.view, &asked, 1, &hits, error));
        CHECK(hits.count == (size_t)COPIES * ASKED);
        match_list_free(&hits);
        method_release(tables.method, tables.own);
    }
    short_data_free(&stored);
}

/* Of hits that are not equal to their query, which are always found. */
static size_t count_apart(const struct match_list *hits) {
    size_t count = 0;
    for (size_t i = 0; i < hits->count; i++)
        count += hits->items[i].distance > 0;
    return count;
}

/* A few hundred neighbours to learn from do not show a recall exactly: psm is cautious, so nearly
 * all of many small collections reach it, as far as so few can show it. */
TEST(psm_reaches_the_recall_learned_from_few_neighbours) {
    enum { COLLECTIONS = 20, FEW_ROWS = 600, QUERIES = 2000, CENTRES = 1200, RECALLS = 4 };
    static const double recalls[RECALLS] = {0.8, 0.9, 0.95, 0.99};
    unsigned reached[RECALLS] = {0};
    for (uint64_t seed = 0; seed < COLLECTIONS; seed++) {
        struct short_data stored = short_data_make(50 + seed, 7, FEW_ROWS, 64, CENTRES, 4);
        struct short_data asked = short_data_make(500 + seed, 7, QUERIES, 64, CENTRES, 4);
        struct match_list all = short_data_brute_force(&stored.view, &asked.view, RADIUS);
        struct tables tables = make_tables(&stored, PSM, 0);
        for (int r = 0; r < RECALLS; r++) {
            struct match_list hits = {0};
            CHECK_OK(search(tables, &stored.view, &asked, recalls[r], &hits, error));
            double share = (double)count_apart(&hits) / (double)count_apart(&all);
            reached[r] += share >= recalls[r];
            CHECK_MSG(share > recalls[r] - 0.03, "recall %g of %g, seed %u", share, recalls[r],
                      (unsigned)seed);
            match_list_free(&hits);
        }
        match_list_free(&all);
        method_release(tables.method, tables.own);
        short_data_free(&stored);
        short_data_free(&asked);
    }
    for (int r = 0; r < RECALLS; r++)
        CHECK_MSG(reached[r] * 10 >= COLLECTIONS * (recalls[r] < 0.99 ? 9 : 6),
                  "recall %g: reached by %u of %d", recalls[r], reached[r], COLLECTIONS);
}
