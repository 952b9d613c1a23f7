#include <unistd.h>

#include "index/segment.h"
#include "search/short_data.h"
#include "test.h"

enum { ROWS = 3000, RADIUS = 3, IMAGE_MAX = 4 << 20 };

/* The bytes of a segment with tables, aligned as a map would be. */
struct image {
    uint8_t *bytes;
    size_t size;
};

static bool make_image(const struct short_data *data, const struct short_tables *tables,
                       struct image *image) {
    char path[] = "/tmp/cognate-test-XXXXXX";
    int descriptor = mkstemp(path);
    struct settings settings = {0};
    struct segment_parts parts = {
        .rows = data->view.rows, .settings = &settings, .signatures = data->view, .tables = tables};
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

static cog_status search(const struct short_tables *tables, const struct short_data *asked,
                         struct short_hits *hits, cog_error *error) {
    struct psm_queries queries = {asked->view, asked->margins, &tables->psm.learned.volatility,
                                  true};
    struct short_search psm = {
        .radius_bits = RADIUS, .penalty_bound = PROBE_BOUND_NONE, .threads = 1};
    struct short_search bphs = {.radius_bits = RADIUS, .threads = 1};
    return tables->kind == BUCKETS_PSM
               ? psm_search(&tables->psm, &queries, &psm, hits, error)
               : bphs_search(&tables->bphs, &asked->view, &bphs, hits, error);
}

/* By the rows, and given. */
static const struct bucket_settings forms[] = {
    {0}, {.header_bits = 7, .blocks = 4}, {.header_bits = 1, .blocks = 6, .chosen = 2}};

static struct short_tables *make_tables(const struct short_data *data, int kind,
                                        struct bucket_settings form) {
    struct short_tables *tables = NULL;
    form.radius_bits = RADIUS;
    if (bphs_complete(&form, data->view.bits, NULL) == COG_OK)
        short_tables_build((enum bucket_kind)kind, &data->view, data->margins, NULL, &form, 2,
                           &tables, NULL);
    return tables;
}

TEST(short_tables_in_a_file_answer_as_in_memory) {
    for (unsigned round = 0; round < 8; round++) {
        unsigned bits = 64 * (1 + round % 2);
        int kind = 1 + round / 2 % 2;
        size_t rows = round < 4 ? ROWS : 2;
        struct short_data stored = short_data_make(31, 5, rows, bits, rows / 8 + 1, 4);
        struct short_data asked = short_data_make(32, 5, 400, bits, rows / 8 + 1, 4);
        struct short_hits expected = short_data_brute_force(&stored.view, &asked.view, RADIUS);
        struct short_tables *tables = make_tables(&stored, kind, forms[round % 3]);
        struct image image;
        struct segment segment;
        CHECK(tables != NULL);
        CHECK(make_image(&stored, tables, &image));
        CHECK_OK(segment_open_memory("image", image.bytes, image.size, &segment, error));
        CHECK(segment.tables && segment.tables->kind == tables->kind);
        CHECK_OK(segment_verify(&segment, error));
        const struct short_tables *both[] = {tables, segment.tables};
        for (int i = 0; i < 2; i++) {
            struct short_hits hits = {0};
            CHECK_OK(search(both[i], &asked, &hits, error));
            CHECK(short_hits_equal(&hits, &expected));
            short_hits_free(&hits);
        }
        segment_close(&segment);
        free(image.bytes);
        short_tables_free(tables);
        short_hits_free(&expected);
        short_data_free(&stored);
        short_data_free(&asked);
    }
}

/* Whatever a byte says, opening and searching end, with hits or an error; a full check finds it. */
TEST(short_tables_survive_damage) {
    struct random random = random_seeded(9);
    for (int kind = BUCKETS_PSM; kind <= BUCKETS_BPHS; kind++) {
        struct short_data stored = short_data_make(33, 5, ROWS, 64, 400, 4);
        struct short_data asked = short_data_make(34, 5, 100, 64, 400, 4);
        struct short_tables *tables = make_tables(&stored, kind, forms[kind]);
        struct image image;
        CHECK(tables && make_image(&stored, tables, &image));
        for (int round = 0; round < 1500; round++) {
            struct segment segment;
            struct short_hits hits = {0};
            size_t place = random_below(&random, image.size);
            uint8_t change = (uint8_t)(1 + random_below(&random, 255));
            image.bytes[place] ^= change;
            if (segment_open_memory("image", image.bytes, image.size, &segment, NULL) == COG_OK) {
                if (segment.tables)
                    search(segment.tables, &asked, &hits, NULL);
                CHECK_MSG(segment_verify(&segment, NULL) != COG_OK, "byte %zu", place);
                segment_close(&segment);
            }
            short_hits_free(&hits);
            image.bytes[place] ^= change;
        }
        free(image.bytes);
        short_tables_free(tables);
        short_data_free(&stored);
        short_data_free(&asked);
    }
}

TEST(psm_learns_the_bound_of_a_recall) {
    struct short_data stored = short_data_make(35, 5, 20000, 64, 2500, 4);
    struct short_data asked = short_data_make(36, 5, 2000, 64, 2500, 4);
    struct short_hits all = short_data_brute_force(&stored.view, &asked.view, RADIUS);
    struct short_tables *tables = make_tables(&stored, BUCKETS_PSM, forms[0]);
    CHECK(tables && tables->psm.learned.pairs > 100);
    struct psm_queries queries = {asked.view, asked.margins, &tables->psm.learned.volatility, true};
    for (double recall = 0.6; recall < 0.96; recall += 0.1) {
        struct short_search asking = {.radius_bits = RADIUS, .threads = 2};
        struct short_hits hits = {0};
        CHECK_OK(psm_learned_bound(&tables->psm.learned, &queries,
                                   tables->psm.stored.tables[0].header_bits, RADIUS, recall,
                                   &asking.penalty_bound, error));
        CHECK_OK(psm_search(&tables->psm, &queries, &asking, &hits, error));
        CHECK_MSG((double)hits.count >= (recall - 0.03) * (double)all.count,
                  "recall %.3f, wanted %.2f", (double)hits.count / (double)all.count, recall);
        short_hits_free(&hits);
    }
    short_tables_free(tables);
    short_hits_free(&all);
    short_data_free(&stored);
    short_data_free(&asked);
}

/* Copies of one page: their number must not be squared anywhere. */
TEST(short_tables_take_many_equal_rows) {
    enum { COPIES = 300000 };
    struct short_data stored = short_data_make(37, 5, COPIES, 64, 1, 0);
    struct signatures_view some = {stored.view.data, 50, 64, 8};
    struct short_data asked = {stored.words, stored.margins, some};
    for (int kind = BUCKETS_PSM; kind <= BUCKETS_BPHS; kind++) {
        struct short_tables *tables = make_tables(&stored, kind, forms[kind]);
        struct short_hits hits = {0};
        CHECK(tables != NULL);
        CHECK_OK(short_tables_check(tables, &stored.view, error));
        CHECK_OK(search(tables, &asked, &hits, error));
        CHECK(hits.count == (size_t)COPIES * 50);
        short_hits_free(&hits);
        short_tables_free(tables);
    }
    short_data_free(&stored);
}
