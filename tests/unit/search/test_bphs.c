#include "rivals/bphs_published.h"
#include "short_data.h"
#include "test.h"

TEST(bphs_layout_permutes_there_and_back) {
    struct random random = random_seeded(61);
    for (unsigned words = 1; words <= 2; words++)
        for (unsigned blocks = 1; blocks <= 7; blocks++)
            for (unsigned chosen = 1; chosen <= blocks; chosen++) {
                struct block_layout layout;
                CHECK_OK(block_layout_init(&layout, 64 * words, blocks, chosen, 0, error));
                for (unsigned c = 0; c < layout.choice_count; c++) {
                    short_key key = (short_key)random_next(&random) << 64;
                    if (words == 2)
                        key |= random_next(&random);
                    short_key permuted = block_permute(&layout, &layout.choices[c], key);
                    CHECK(c > 0 || permuted == key);
                    CHECK(short_key_distance(permuted, 0) == short_key_distance(key, 0));
                    CHECK(block_permute_back(&layout, &layout.choices[c], permuted) == key);
                }
            }
}

/* G and g, with G >= g + radius and with fewer. */
static void check_round(uint64_t seed, size_t rows, unsigned bits, unsigned radius, unsigned blocks,
                        unsigned chosen) {
    struct short_data stored = short_data_make(seed, 5, rows, bits, rows / 8 + 1, 4);
    const size_t some = rows < 900 ? rows / 3 : 300;
    struct short_data asked = short_data_make(seed + 1, 5, some, bits, rows / 8 + 1, 4);
    struct match_list expected = short_data_brute_force(&stored.view, &asked.view, radius);
    struct bphs_index index;
    CHECK_OK(bphs_build(&index, &stored.view, blocks, chosen, radius, 2, error));
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct short_search search = {
            .radius_bits = radius, .batch = threads == 2, .threads = threads};
        struct match_list hits = {0}, first = {0};
        CHECK_OK(bphs_search(&index, &asked.view, &search, &hits, error));
        CHECK_MSG(short_hits_equal(&hits, &expected), "%zu rows, radius %u: %zu hits, expected %zu",
                  rows, radius, hits.count, expected.count);
        search.first_only = true;
        CHECK_OK(bphs_search(&index, &asked.view, &search, &first, error));
        CHECK(short_hits_are_first_of(&first, &expected));
        match_list_free(&hits);
        match_list_free(&first);
    }
    match_list_free(&expected);
    bphs_free(&index);
    short_data_free(&stored);
    short_data_free(&asked);
}

TEST(bphs_finds_all_within_the_radius) {
    static const size_t sizes[] = {0, 1, 2, 60, 900, 3000};
    for (unsigned s = 0; s < 6; s++)
        for (unsigned radius = 0; radius <= 4; radius++)
            for (unsigned words = 1; words <= 2; words++) {
                check_round(10 * s + radius, sizes[s], 64 * words, radius, radius + 2, 2);
                check_round(10 * s + radius, sizes[s], 64 * words, radius, radius + 1, 1);
                check_round(10 * s + radius, sizes[s], 64 * words, radius, 2, 1);
            }
}

TEST(bphs_serves_smaller_radii_too) {
    struct short_data data = short_data_make(3, 5, 2000, 64, 200, 4);
    struct bphs_index index;
    CHECK_OK(bphs_build(&index, &data.view, 5, 2, 3, 1, error));
    for (unsigned radius = 0; radius <= 3; radius++) {
        struct short_search search = {.radius_bits = radius, .threads = 1};
        struct match_list hits = {0};
        struct match_list expected = short_data_brute_force(&data.view, &data.view, radius);
        CHECK_OK(bphs_search(&index, &data.view, &search, &hits, error));
        CHECK(short_hits_equal(&hits, &expected));
        match_list_free(&hits);
        match_list_free(&expected);
    }
    cog_error failure = {0};
    struct short_search search = {.radius_bits = 4, .threads = 1};
    struct match_list none = {0};
    CHECK(bphs_search(&index, &data.view, &search, &none, &failure) == COG_ERR_USAGE);
    bphs_free(&index);
    short_data_free(&data);
}

TEST(bphs_in_chunks_finds_what_one_index_does) {
    static const size_t chunks[] = {700, 1999, 9000};
    for (unsigned words = 1; words <= 2; words++) {
        struct short_data stored = short_data_make(7, 9, 2000, 64 * words, 200, 4);
        struct short_data asked = short_data_make(8, 9, 500, 64 * words, 200, 4);
        struct match_list expected = short_data_brute_force(&stored.view, &asked.view, 3);
        for (int c = 0; c < 3; c++)
            for (int first_only = 0; first_only <= 1; first_only++) {
                struct short_search search = {
                    .radius_bits = 3, .first_only = first_only, .batch = true, .threads = 2};
                struct match_list hits = {0};
                CHECK_OK(bphs_search_chunks(&stored.view, chunks[c], 4 + c % 2, 1, &asked.view,
                                            &search, &hits, error));
                CHECK(short_hits_answer(&hits, &expected, first_only));
                match_list_free(&hits);
            }
        match_list_free(&expected);
        short_data_free(&stored);
        short_data_free(&asked);
    }
}

TEST(bphs_as_published_finds_the_same) {
    for (unsigned words = 1; words <= 2; words++)
        for (unsigned radius = 0; radius <= 4; radius++) {
            struct short_data stored = short_data_make(17, 9, 2000, 64 * words, 300, 4);
            struct short_data asked = short_data_make(18, 9, 500, 64 * words, 300, 4);
            struct match_list expected = short_data_brute_force(&stored.view, &asked.view, radius);
            struct bphs_published index;
            CHECK_OK(bphs_published_build(&index, &stored.view, radius + 2, 2, radius, 2, error));
            struct short_search search = {.radius_bits = radius, .threads = 2};
            struct match_list hits = {0}, first = {0}, batch = {0};
            CHECK_OK(bphs_published_search(&index, &asked.view, &search, &hits, error));
            CHECK(short_hits_equal(&hits, &expected));
            search.first_only = true;
            CHECK_OK(bphs_published_search(&index, &asked.view, &search, &first, error));
            CHECK(short_hits_are_first_of(&first, &expected));
            CHECK_OK(bphs_published_search_batch(&stored.view, &asked.view, radius + 1, 1, radius,
                                                 2, &batch, error));
            CHECK(short_hits_equal(&batch, &expected));
            match_list_free(&hits);
            match_list_free(&first);
            match_list_free(&batch);
            match_list_free(&expected);
            bphs_published_free(&index);
            short_data_free(&stored);
            short_data_free(&asked);
        }
}

TEST(bphs_refuses_what_it_cannot_do) {
    struct short_data data = short_data_make(3, 5, 100, 64, 20, 4);
    struct bphs_index index;
    struct bphs_published published;
    cog_error failure = {0};
    CHECK(bphs_build(&index, &data.view, 3, 4, 3, 1, &failure) == COG_ERR_USAGE);
    CHECK(bphs_build(&index, &data.view, 16, 8, 3, 1, &failure) == COG_ERR_USAGE);
    CHECK(bphs_build(&index, &data.view, 4, 1, 9, 1, &failure) == COG_ERR_USAGE);
    CHECK(bphs_published_build(&published, &data.view, 4, 2, 3, 1, &failure) == COG_ERR_USAGE);
    data.view.bits = 32;
    CHECK(bphs_build(&index, &data.view, 4, 1, 3, 1, &failure) == COG_ERR_USAGE);
    short_data_free(&data);
}
