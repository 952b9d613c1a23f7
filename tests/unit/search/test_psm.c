#include "rivals/psm_published.h"
#include "short_data.h"
#include "test.h"

static bool learn(struct volatility *volatility) {
    float differences[1000];
    struct random random = random_seeded(51);
    for (int i = 0; i < 1000; i++)
        differences[i] = (float)(random_unit(&random) * random_unit(&random));
    return volatility_learn(volatility, differences, 1000, NULL) == COG_OK;
}

/* What a bound lets through: hits whose header differs in bits of that penalty at most. */
static void keep_below(struct match_list *hits, const struct short_data *stored,
                       const struct psm_queries *queries, unsigned header_bits, uint32_t bound) {
    size_t kept = 0;
    for (size_t i = 0; i < hits->count; i++) {
        struct match hit = hits->items[i];
        short_key difference =
            short_key_of_row(&queries->signatures, hit.a) ^ short_key_of_row(&stored->view, hit.b);
        uint64_t sum = 0;
        for (unsigned bit = 0; bit < header_bits; bit++)
            if (difference >> (127 - bit) & 1)
                sum += volatility_penalty(queries->volatility,
                                          queries->margins[hit.a * queries->signatures.bits + bit]);
        if (sum <= bound)
            hits->items[kept++] = hit;
    }
    hits->count = kept;
}

static struct volatility volatility;

static void check_round(uint64_t seed, size_t rows, unsigned bits, unsigned radius,
                        uint32_t bound) {
    struct short_data stored = short_data_make(seed, 5, rows, bits, rows / 8 + 1, 4);
    const size_t some = rows < 900 ? rows / 3 : 300;
    struct short_data asked = short_data_make(seed + 1, 5, some, bits, rows / 8 + 1, 4);
    struct psm_queries queries = {asked.view, asked.margins, &volatility, false};
    struct psm_index index;
    CHECK_OK(psm_build(&index, &stored.view, BUCKET_LIMITS_DEFAULT, 1, error));
    struct match_list expected = short_data_brute_force(&stored.view, &asked.view, radius);
    keep_below(&expected, &stored, &queries, index.stored.tables[0].header_bits, bound);
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct short_search search = {.radius_bits = radius,
                                      .penalty_bound = bound,
                                      .batch = threads == 2,
                                      .threads = threads};
        struct match_list hits = {0}, first = {0};
        CHECK_OK(psm_search(&index, &queries, &search, &hits, error));
        CHECK_MSG(short_hits_equal(&hits, &expected), "%zu rows, radius %u: %zu hits, expected %zu",
                  rows, radius, hits.count, expected.count);
        search.first_only = true;
        CHECK_OK(psm_search(&index, &queries, &search, &first, error));
        CHECK(short_hits_are_first_of(&first, &expected));
        match_list_free(&hits);
        match_list_free(&first);
    }
    match_list_free(&expected);
    psm_free(&index);
    short_data_free(&stored);
    short_data_free(&asked);
}

TEST(psm_finds_what_its_bound_lets_through) {
    CHECK(learn(&volatility));
    static const size_t sizes[] = {0, 1, 2, 60, 900, 4000};
    for (unsigned s = 0; s < 6; s++)
        for (unsigned radius = 0; radius <= 4; radius++)
            for (unsigned words = 1; words <= 2; words++) {
                check_round(100 * s + radius, sizes[s], 64 * words, radius, PROBE_BOUND_NONE);
                check_round(100 * s + radius, sizes[s], 64 * words, radius, 3 * PROBE_PENALTY_ONE);
            }
}

TEST(psm_in_chunks_finds_what_one_table_does) {
    CHECK(learn(&volatility));
    for (unsigned words = 1; words <= 2; words++) {
        struct short_data stored = short_data_make(7, 9, 5000, 64 * words, 500, 4);
        struct short_data asked = short_data_make(8, 9, 800, 64 * words, 500, 4);
        struct psm_queries queries = {asked.view, asked.margins, &volatility, false};
        struct match_list expected = short_data_brute_force(&stored.view, &asked.view, 3);
        static const size_t chunks[] = {1500, 4999, 9000};
        for (int c = 0; c < 3; c++)
            for (int first_only = 0; first_only <= 1; first_only++) {
                struct short_search search = {.radius_bits = 3,
                                              .penalty_bound = PROBE_BOUND_NONE,
                                              .first_only = first_only,
                                              .threads = 2};
                struct match_list hits = {0};
                struct psm_chunks stream = {&stored.view, chunks[c], BUCKET_LIMITS_DEFAULT, 0};
                CHECK_OK(psm_search_chunks(&stream, &queries, &search, &hits, error));
                CHECK(short_hits_answer(&hits, &expected, first_only));
                match_list_free(&hits);
            }
        match_list_free(&expected);
        short_data_free(&stored);
        short_data_free(&asked);
    }
}

/* Exactly the flips of VOSH: those that the published form finds with the same header. */
TEST(psm_with_so_many_flips_finds_what_the_published_form_does) {
    CHECK(learn(&volatility));
    struct short_data stored = short_data_make(27, 9, 3000, 64, 300, 4);
    struct short_data asked = short_data_make(28, 9, 500, 64, 300, 4);
    struct psm_queries queries = {asked.view, asked.margins, &volatility, false};
    struct psm_published published;
    struct psm_index index;
    CHECK_OK(psm_published_build(&published, &stored.view, 9, 1, error));
    CHECK_OK(psm_build(&index, &stored.view, (struct bucket_limits){9, 9, 115}, 1, error));
    CHECK(index.stored.tables[0].header_bits == 9);
    size_t before = 0;
    for (size_t flips = 1; flips <= 100; flips *= 3) {
        struct psm_published_search plain = {3, flips, false, 1};
        struct short_search search = {.radius_bits = 3, .flips = flips, .threads = 2};
        struct match_list expected = {0}, hits = {0}, first = {0};
        CHECK_OK(psm_published_search(&published, &queries, &plain, &expected, error));
        CHECK_OK(psm_search(&index, &queries, &search, &hits, error));
        CHECK(short_hits_sort(&expected, 0, 1, NULL) == COG_OK);
        CHECK(short_hits_sort(&hits, 0, 1, NULL) == COG_OK);
        CHECK(short_hits_equal(&hits, &expected));
        CHECK(hits.count > before);
        before = hits.count;
        search.first_only = true;
        CHECK_OK(psm_search(&index, &queries, &search, &first, error));
        CHECK(short_hits_are_first_of(&first, &expected));
        match_list_free(&expected);
        match_list_free(&hits);
        match_list_free(&first);
    }
    struct short_search search = {.radius_bits = 3, .flips = PSM_PROBES_MAX, .threads = 1};
    struct match_list none = {0};
    CHECK(psm_search(&index, &queries, &search, &none, NULL) == COG_ERR_USAGE);
    psm_free(&index);
    psm_published_free(&published);
    short_data_free(&stored);
    short_data_free(&asked);
}

TEST(psm_as_published_finds_the_same) {
    CHECK(learn(&volatility));
    for (unsigned words = 1; words <= 2; words++)
        for (unsigned radius = 0; radius <= 4; radius++) {
            struct short_data stored = short_data_make(17, 9, 3000, 64 * words, 300, 4);
            struct short_data asked = short_data_make(18, 9, 500, 64 * words, 300, 4);
            struct psm_queries queries = {asked.view, asked.margins, &volatility, false};
            struct psm_published index;
            CHECK_OK(psm_published_build(&index, &stored.view, 9, 1, error));
            struct match_list expected = short_data_brute_force(&stored.view, &asked.view, radius);
            struct psm_published_search search = {radius, SIZE_MAX, false, 2};
            struct match_list hits = {0}, first = {0}, some = {0};
            CHECK_OK(psm_published_search(&index, &queries, &search, &hits, error));
            CHECK(short_hits_equal(&hits, &expected));
            search.first_only = true;
            CHECK_OK(psm_published_search(&index, &queries, &search, &first, error));
            CHECK(short_hits_are_first_of(&first, &expected));
            search.first_only = false;
            search.flips = 2;
            CHECK_OK(psm_published_search(&index, &queries, &search, &some, error));
            CHECK(radius == 0 ? some.count == hits.count : some.count < hits.count);
            match_list_free(&hits);
            match_list_free(&first);
            match_list_free(&some);
            match_list_free(&expected);
            psm_published_free(&index);
            short_data_free(&stored);
            short_data_free(&asked);
        }
}

TEST(psm_bound_for_a_recall_is_met_on_average) {
    CHECK(learn(&volatility));
    struct short_data asked = short_data_make(28, 9, 500, 64, 300, 0);
    struct psm_queries queries = {asked.view, asked.margins, &volatility, false};
    for (double recall = 0.5; recall < 1; recall += 0.15) {
        uint32_t bound;
        CHECK_OK(psm_bound_for_recall(&queries, 16, 3, recall, 500, &bound, error));
        double held = 0;
        for (size_t q = 0; q < 500; q++) {
            double in = 0, total = 0;
            for (uint32_t set = 0; set < 1 << 16; set++) {
                if (__builtin_popcount(set) > 3)
                    continue;
                uint64_t penalty = 0;
                for (unsigned i = 0; i < 16; i++)
                    if (set >> i & 1)
                        penalty += volatility_penalty(&volatility, asked.margins[q * 64 + i]);
                double odds = __builtin_exp(-(double)penalty / PROBE_PENALTY_ONE);
                total += odds;
                in += penalty <= bound ? odds : 0;
            }
            held += in / total / 500;
        }
        CHECK_MSG(held >= recall - 1e-6 && held < recall + 0.03, "wanted %g, held %g", recall,
                  held);
    }
    short_data_free(&asked);
}

TEST(psm_refuses_queries_of_another_width) {
    struct short_data stored = short_data_make(1, 9, 10, 64, 3, 2);
    struct short_data asked = short_data_make(2, 9, 10, 128, 3, 2);
    struct psm_queries queries = {asked.view, asked.margins, &volatility, false};
    struct psm_index index;
    struct short_search search = {.radius_bits = 3, .threads = 1};
    struct match_list hits = {0};
    cog_error failure = {0};
    CHECK_OK(psm_build(&index, &stored.view, BUCKET_LIMITS_DEFAULT, 1, error));
    CHECK(psm_search(&index, &queries, &search, &hits, &failure) == COG_ERR_USAGE);
    psm_free(&index);
    short_data_free(&stored);
    short_data_free(&asked);
}
