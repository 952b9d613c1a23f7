#include <signal.h>
#include <sys/resource.h>

#include "base/threads.h"
#include "search/multisort/multisort_join.h"
#include "search/multisort/multisort_pairs.h"
#include "short_data.h"
#include "test.h"

/* All pairs by brute force, sorted. */
static struct match_list brute_force(const struct signatures_view *first,
                                     const struct signatures_view *second, unsigned radius) {
    struct match_list matches = {0};
    struct match_list hits = short_data_brute_force(second ? second : first, first, radius);
    for (size_t i = 0; i < hits.count; i++) {
        struct match hit = hits.items[i];
        if (second || hit.a < hit.b)
            match_list_add(&matches, (struct match){hit.a, hit.b, hit.distance, 0}, NULL);
    }
    match_list_free(&hits);
    return matches;
}

static bool lists_equal(const struct match_list *found, const struct match_list *expected) {
    bool equal = found->count == expected->count;
    for (size_t i = 0; equal && i < found->count; i++)
        equal = found->items[i].a == expected->items[i].a &&
                found->items[i].b == expected->items[i].b &&
                found->items[i].distance == expected->items[i].distance &&
                found->items[i].similarity <= 1 && found->items[i].similarity > 0.9f;
    return equal;
}

static void check(const struct signatures_view *first, const struct signatures_view *second,
                  struct multisort_options options, const struct match_list *expected) {
    struct match_list found = {0};
    CHECK_OK(multisort_join(first, second, &options, &found, error));
    CHECK_MSG(lists_equal(&found, expected),
              "%zu rows of %u bits, radius %u, %u blocks, %u threads, %zu bytes: %zu matches, "
              "expected %zu",
              first->rows, first->bits, options.radius_bits, options.blocks, options.threads,
              options.memory_bytes, found.count, expected->count);
    match_list_free(&found);
}

TEST(multisort_join_finds_all_pairs_of_a_collection) {
    static const size_t sizes[] = {0, 1, 2, 3, 100, 2500};
    for (unsigned s = 0; s < 6; s++)
        for (unsigned radius = 0; radius <= 4; radius++)
            for (unsigned words = 1; words <= 2; words++) {
                struct short_data data =
                    short_data_make(s, 5, sizes[s], 64 * words, sizes[s] / 8 + 1, 4);
                struct match_list expected = brute_force(&data.view, NULL, radius);
                for (unsigned blocks = radius + 1; blocks <= radius + 3; blocks++)
                    check(&data.view, NULL,
                          (struct multisort_options){radius, 1 + blocks % 3, blocks, 0}, &expected);
                for (unsigned threads = 1; threads <= 3; threads++)
                    check(&data.view, NULL, (struct multisort_options){radius, threads, 0, 0},
                          &expected);
                match_list_free(&expected);
                short_data_free(&data);
            }
}

TEST(multisort_join_finds_all_pairs_between_collections) {
    for (unsigned radius = 0; radius <= 4; radius++)
        for (unsigned words = 1; words <= 2; words++) {
            struct short_data first = short_data_make(70, 5, 1500, 64 * words, 150, 4);
            struct short_data second = short_data_make(71, 5, 700, 64 * words, 150, 4);
            struct short_data empty = short_data_make(72, 5, 0, 64 * words, 1, 4);
            struct match_list expected = brute_force(&first.view, &second.view, radius);
            struct match_list nothing = {0};
            struct multisort_options options = {radius, 2, 0, 0};
            check(&first.view, &second.view, options, &expected);
            check(&first.view, &empty.view, options, &nothing);
            check(&empty.view, &first.view, options, &nothing);
            options.memory_bytes = 20000;
            check(&first.view, &second.view, options, &expected);
            match_list_free(&expected);
            short_data_free(&first);
            short_data_free(&second);
            short_data_free(&empty);
        }
}

TEST(multisort_join_on_disk_equals_that_in_memory) {
    for (unsigned words = 1; words <= 2; words++)
        for (unsigned radius = 0; radius <= 3; radius++) {
            struct short_data data = short_data_make(80, 5, 4000, 64 * words, 2000, 4);
            struct match_list expected = brute_force(&data.view, NULL, radius);
            static const size_t budgets[] = {8000, 30000, 100000, 200000};
            for (int b = 0; b < 4; b++)
                check(&data.view, NULL, (struct multisort_options){radius, 2, 0, budgets[b]},
                      &expected);
            match_list_free(&expected);
            short_data_free(&data);
        }
}

/* Keys that agree in nearly all blocks: the fast way gives up, and runs are split again. */
TEST(multisort_join_of_keys_that_agree_in_most_bits) {
    enum { ROWS = 1200 };
    static uint64_t words[2 * ROWS];
    struct random random = random_seeded(81);
    for (unsigned width = 1; width <= 2; width++)
        for (unsigned shape = 0; shape < 3; shape++) {
            for (size_t row = 0; row < ROWS; row++) {
                uint64_t low = shape == 0   ? random_below(&random, 1 << 14)
                               : shape == 1 ? random_next(&random) >> 34
                                            : random_next(&random) & 0x00ff00ff00ff00ff;
                words[row * width] = __builtin_bswap64(low);
                words[row * width + width - 1] = __builtin_bswap64(low);
            }
            struct signatures_view view = {(const uint8_t *)words, ROWS, 64 * width, 8 * width};
            for (unsigned radius = 1; radius <= 4; radius++) {
                struct match_list expected = brute_force(&view, NULL, radius);
                for (unsigned blocks = radius + 1; blocks <= radius + 3; blocks++)
                    check(&view, NULL, (struct multisort_options){radius, 2, blocks, 0}, &expected);
                match_list_free(&expected);
            }
        }
}

TEST(multisort_pair_blocks_are_even_and_cover_all) {
    struct random random = random_seeded(82);
    for (int round = 0; round < 500; round++) {
        short_key from = (short_key)random_next(&random) << 64 | random_next(&random);
        unsigned bits = short_key_distance(from, 0),
                 blocks = 1 + (unsigned)random_below(&random, 10);
        short_key masks[10], all = 0;
        pair_blocks(from, blocks, masks);
        for (unsigned b = 0; b < blocks; b++) {
            unsigned count = short_key_distance(masks[b], 0);
            CHECK(count >= bits / blocks && count <= (bits + blocks - 1) / blocks);
            CHECK((masks[b] & all) == 0);
            all |= masks[b];
        }
        CHECK(all == from);
    }
}

/* Counts pairs and keeps none: more pairs than memory holds can be counted. */
static cog_status count_only(void *context, struct match *matches, size_t *count,
                             cog_error *error) {
    (void)matches;
    (void)error;
    __atomic_fetch_add((size_t *)context, *count, __ATOMIC_RELAXED);
    *count = 0;
    return COG_OK;
}

static cog_status refuse(void *context, struct match *matches, size_t *count, cog_error *error) {
    (void)context;
    (void)matches;
    (void)count;
    return error_set(error, COG_ERR_CANCELLED, "enough");
}

TEST(multisort_join_sieves_copies_of_one_signature) {
    enum { COPIES = 1500 };
    struct short_data data = short_data_make(90, 5, COPIES, 64, 1, 0);
    size_t found = 0;
    const struct match_sieve counting = {count_only, &found}, refusing = {refuse, NULL};
    struct match_list matches = {.sieve = &counting};
    struct multisort_options options = {3, 3, 0, 0};
    CHECK_OK(multisort_join(&data.view, NULL, &options, &matches, error));
    CHECK(found == COPIES * (COPIES - 1) / 2 && matches.count == 0);
    cog_error failure = {0};
    match_list_free(&matches);
    matches.sieve = &refusing;
    CHECK(multisort_join(&data.view, NULL, &options, &matches, &failure) == COG_ERR_CANCELLED);
    matches.sieve = &counting;
    options.memory_bytes = 10000;
    CHECK(multisort_join(&data.view, NULL, &options, &matches, &failure) == COG_ERR_MEMORY);
    short_data_free(&data);
}

TEST(multisort_join_on_a_full_disk_delivers_nothing) {
    struct rlimit old, none;
    CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
    none = old;
    none.rlim_cur = 4096;
    struct short_data data = short_data_make(91, 5, 3000, 64, 300, 4);
    struct multisort_options options = {3, 1, 0, 30000};
    size_t delivered = 0;
    const struct match_sieve counting = {count_only, &delivered};
    struct match_list matches = {.sieve = &counting};
    cog_error failure = {0};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &none);
    cog_status status = multisort_join(&data.view, NULL, &options, &matches, &failure);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, handler);
    CHECK(status == COG_ERR_DISK && delivered == 0 && failure.message[0]);
    short_data_free(&data);
}

TEST(multisort_join_refuses_what_it_cannot_do) {
    struct short_data data = short_data_make(92, 5, 10, 64, 3, 4);
    struct short_data other = short_data_make(93, 5, 10, 128, 3, 4);
    struct match_list matches = {0};
    struct multisort_options options = {3, 1, 3, 0};
    cog_error failure = {0};
    CHECK(multisort_join(&data.view, NULL, &options, &matches, &failure) == COG_ERR_USAGE);
    options.blocks = 7;
    CHECK(multisort_join(&data.view, NULL, &options, &matches, &failure) == COG_ERR_USAGE);
    options.blocks = 0;
    CHECK(multisort_join(&data.view, &other.view, &options, &matches, &failure) == COG_ERR_USAGE);
    data.view.bits = 32;
    CHECK(multisort_join(&data.view, NULL, &options, &matches, &failure) == COG_ERR_USAGE);
    short_data_free(&data);
    short_data_free(&other);
}
