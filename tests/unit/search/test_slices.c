#include <math.h>

#include "base/hash.h"
#include "hamming/hamming.h"
#include "search/slices/slices.h"
#include "search/slices/slices_search.h"
#include "test.h"

enum { MAX_ROWS = 3000, MAX_STRIDE = 32 };

/* Rows around a few centres at different distances, with some equal rows. */
struct collection {
    uint64_t words[MAX_ROWS * MAX_STRIDE / 8];
    struct signatures_view view;
};

static uint8_t *row_bytes(struct collection *set, size_t row) {
    return (uint8_t *)set->words + row * set->view.stride_bytes;
}

static void make_collection(struct collection *set, size_t rows, unsigned bits, uint64_t seed) {
    struct random random = random_seeded(seed);
    memset(set, 0, sizeof *set);
    set->view = (struct signatures_view){(const uint8_t *)set->words, rows, bits,
                                         signature_stride_bytes(bits)};
    for (size_t row = 0; row < rows; row++) {
        uint8_t *bytes = row_bytes(set, row);
        uint64_t centre = random_below(&random, 1 + rows / 20);
        uint64_t noise = random_below(&random, 50);
        for (unsigned bit = 0; bit < bits; bit++) {
            unsigned value = hash_sequence(centre + seed, bit) & 1;
            value ^= random_below(&random, 100) < noise;
            bytes[bit / 8] |= (uint8_t)(value << (7 - bit % 8));
        }
    }
}

static unsigned plain_distance(const uint8_t *a, const uint8_t *b, unsigned first, unsigned width) {
    unsigned distance = 0;
    for (unsigned bit = first; bit < first + width; bit++)
        distance += signature_bit(a, bit) != signature_bit(b, bit);
    return distance;
}

/* The answer by looking at every row. */
static size_t plain_search(const struct collection *set, const uint8_t *query,
                           const struct slices_request *request, struct neighbour *hits) {
    size_t count = 0;
    for (size_t row = 0; row < set->view.rows; row++) {
        unsigned distance =
            plain_distance(query, signature_row(&set->view, row), 0, set->view.bits);
        if (request->k || distance <= request->radius_bits)
            hits[count++] = (struct neighbour){(uint32_t)row, distance};
    }
    qsort(hits, count, sizeof *hits, neighbour_compare);
    return request->k && count > request->k ? request->k : count;
}

static bool same_hits(const struct query_answer *answer, const struct neighbour *truth,
                      size_t count) {
    if (answer->count != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (answer->hits[i].row != truth[i].row || answer->hits[i].distance != truth[i].distance)
            return false;
    return true;
}

static const struct {
    size_t rows;
    unsigned bits, width;
} shapes[] = {{1, 64, 8},     {2, 64, 16},     {300, 64, 8},    {1000, 63, 8},
              {3000, 100, 7}, {3000, 128, 10}, {2500, 200, 13}, {700, 256, 3},
              {3000, 64, 1},  {500, 24, 24},   {3000, 130, 11}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static struct collection set;
static struct neighbour truth[MAX_ROWS];

TEST(slices_cover_the_signature) {
    for (unsigned bits = 1; bits <= 300; bits++)
        for (unsigned width = 1; width <= SLICE_WIDTH_MAX && width <= bits; width++) {
            struct slice_layout layout = slice_layout_of(bits, width);
            unsigned covered = 0;
            size_t offsets = 0;
            for (unsigned slice = 0; slice < layout.count; slice++) {
                unsigned slice_bits = slice_width(&layout, slice);
                CHECK(slice_first_bit(&layout, slice) == covered);
                CHECK(slice_first_offset(&layout, slice) == offsets);
                CHECK(slice_bits >= 1 && slice_bits <= width);
                CHECK(slice_bits + 1 >= slice_width(&layout, 0));
                covered += slice_bits;
                offsets += ((size_t)1 << slice_bits) + 1;
            }
            CHECK(covered == bits && slice_layout_offsets(&layout) == offsets);
        }
    struct slice_layout uneven = slice_layout_of(47, 24);
    CHECK(uneven.count == 2 && slice_width(&uneven, 0) == 24 && slice_width(&uneven, 1) == 23);
    CHECK(slice_width_for(1000000, 1024) == 16 && slice_width_for(2000000, 1024) == 17);
    CHECK(slice_width_for(500000000, 1024) == 25 && slice_width_for(1000, 3) == 3);
}

TEST(slices_lists_hold_every_row_once_a_slice) {
    for (size_t shape = 0; shape < SHAPES; shape++) {
        make_collection(&set, shapes[shape].rows, shapes[shape].bits, shape);
        struct slice_lists lists;
        CHECK_OK(slice_lists_build(&lists, &set.view, shapes[shape].width, 1, error));
        CHECK_OK(slices_check(&lists.view, error));
        const struct slice_layout *layout = &lists.view.layout;
        for (unsigned slice = 0; slice < layout->count; slice++)
            for (size_t row = 0; row < set.view.rows; row++) {
                uint64_t value = 0;
                for (unsigned bit = 0; bit < slice_width(layout, slice); bit++)
                    value = value << 1 | signature_bit(signature_row(&set.view, row),
                                                       slice_first_bit(layout, slice) + bit);
                const uint32_t *offsets = lists.offsets + slice_first_offset(layout, slice);
                const uint32_t *postings = lists.postings + slice * set.view.rows;
                bool found = false;
                for (uint32_t i = offsets[value]; i < offsets[value + 1]; i++)
                    found |= postings[i] == row;
                CHECK(found);
            }
        for (unsigned threads = 2; threads <= 3; threads++) {
            struct slice_lists other;
            CHECK_OK(slice_lists_build(&other, &set.view, shapes[shape].width, threads, error));
            CHECK(memcmp(lists.offsets, other.offsets, slice_layout_offsets(layout) * 4) == 0);
            CHECK(memcmp(lists.postings, other.postings, layout->count * set.view.rows * 4) == 0);
            slice_lists_free(&other);
        }
        slice_lists_free(&lists);
    }
}

/* The paper's text: first all lists within j bits, whose rows get a score; then those within i,
 * which add only to rows that have one. */
static void plain_scores(const struct slice_layout *layout, const uint8_t *query, unsigned i,
                         unsigned j, unsigned *scores) {
    memset(scores, 0, set.view.rows * sizeof *scores);
    for (int pass = 0; pass < 2; pass++)
        for (size_t row = 0; row < set.view.rows; row++) {
            bool seen = pass == 0 || scores[row] > 0;
            for (unsigned slice = 0; seen && slice < layout->count; slice++) {
                unsigned width = slice_width(layout, slice);
                unsigned distance = plain_distance(query, signature_row(&set.view, row),
                                                   slice_first_bit(layout, slice), width);
                scores[row] += pass == 0 ? distance <= j : distance > j && distance <= i;
            }
        }
}

static bool scores_agree(const struct slices_view *view, const uint8_t *query, unsigned i,
                         unsigned j, unsigned threshold) {
    static unsigned expected[MAX_ROWS];
    struct slice_reading reading = {0};
    struct slice_scores scores = {0};
    uint8_t admitted[256], reach[256];
    for (unsigned slice = 0; slice < view->layout.count; slice++) {
        unsigned rings = slice_width(&view->layout, slice) + 1;
        admitted[slice] = (uint8_t)(j + 1 < rings ? j + 1 : rings);
        reach[slice] = (uint8_t)(i + 1 < rings ? i + 1 : rings);
    }
    slice_scores_init(&scores, view->rows, view->layout.count, NULL);
    slice_reading_add_rings(&reading, view, query, NULL, admitted, NULL);
    slice_reading_locate(&reading, view, 0);
    size_t beyond = reading.count, expected_count = 0;
    slice_reading_add_rings(&reading, view, query, admitted, reach, NULL);
    slice_reading_locate(&reading, view, beyond);
    bool same = slice_scores_add(&scores, &reading, beyond, threshold, 0) == threshold;
    plain_scores(&view->layout, query, i, j, expected);
    for (size_t row = 0; row < view->rows; row++) {
        unsigned score = expected[row] < SLICE_SCORE_MAX ? expected[row] : SLICE_SCORE_MAX;
        same &= scores.scores[row] == score;
        expected_count += score >= threshold;
    }
    same &= scores.candidate_count == expected_count;
    for (size_t c = 0; c < scores.candidate_count; c++) {
        same &= scores.scores[scores.candidates[c]] >= threshold;
        for (size_t other = 0; c % 16 == 0 && other < c; other++)
            same &= scores.candidates[other] != scores.candidates[c];
    }
    slice_scores_clear(&scores, &reading);
    for (size_t row = 0; row < view->rows; row++)
        same &= scores.scores[row] == 0;
    slice_scores_free(&scores);
    slice_reading_free(&reading);
    return same;
}

TEST(slices_scores_are_those_of_the_paper) {
    for (size_t shape = 0; shape < SHAPES; shape++) {
        make_collection(&set, shapes[shape].rows, shapes[shape].bits, 50 + shape);
        struct slice_lists lists;
        CHECK_OK(slice_lists_build(&lists, &set.view, shapes[shape].width, 1, error));
        for (unsigned i = 0; i <= 3; i++)
            for (unsigned j = 0; j <= i; j++)
                for (unsigned threshold = 1; threshold <= 200; threshold = 3 * threshold + i)
                    CHECK_MSG(scores_agree(&lists.view, row_bytes(&set, 0), i, j, threshold),
                              "shape %zu, i %u, j %u, threshold %u", shape, i, j, threshold);
        slice_lists_free(&lists);
    }
}

/* Searches in all ways; what is called exact must be so, and what is listed must be true. */
static bool search_agrees(struct slices_searcher *searcher, const uint8_t *query,
                          struct slices_request request, bool must_be_exact, bool *exact) {
    struct query_answer answer;
    if (slices_search(searcher, query, &request, &answer, NULL) != COG_OK)
        return false;
    size_t count = plain_search(&set, query, &request, truth);
    *exact = answer.exact;
    if (answer.exact || must_be_exact)
        return answer.exact && same_hits(&answer, truth, count);
    bool same = answer.count <= count;
    for (size_t i = 0; i < answer.count; i++) {
        same &=
            answer.hits[i].distance ==
            plain_distance(query, signature_row(&set.view, answer.hits[i].row), 0, set.view.bits);
        same &= i == 0 || answer.hits[i - 1].distance < answer.hits[i].distance ||
                (answer.hits[i - 1].distance == answer.hits[i].distance &&
                 answer.hits[i - 1].row < answer.hits[i].row);
    }
    return same;
}

TEST(slices_certificate_never_lies) {
    size_t exact_count = 0, other_count = 0;
    for (size_t shape = 0; shape < SHAPES; shape++) {
        struct random random = random_seeded(shape);
        make_collection(&set, shapes[shape].rows, shapes[shape].bits, 100 + shape);
        struct slice_lists lists;
        struct slices_searcher *searcher = NULL;
        CHECK_OK(slice_lists_build(&lists, &set.view, shapes[shape].width, 2, error));
        CHECK_OK(slices_searcher_create(&lists.view, &set.view, &searcher, error));
        for (int trial = 0; trial < 60; trial++) {
            uint64_t query[MAX_STRIDE / 8];
            memcpy(query, row_bytes(&set, random_below(&random, set.view.rows)),
                   set.view.stride_bytes);
            for (uint64_t flips = random_below(&random, 8); flips > 0; flips--) {
                uint64_t bit = random_below(&random, set.view.bits);
                ((uint8_t *)query)[bit / 8] ^= (uint8_t)(1 << (7 - bit % 8));
            }
            struct slices_request request = {.k = 1 + random_below(&random, 12),
                                             .expand = (unsigned)random_below(&random, 4),
                                             .verify = random_below(&random, 60)};
            request.admit = (unsigned)random_below(&random, request.expand + 1);
            bool exact = false;
            CHECK_MSG(search_agrees(searcher, (uint8_t *)query, request, false, &exact),
                      "shape %zu, trial %d", shape, trial);
            exact_count += exact;
            other_count += !exact;
        }
        slices_searcher_free(searcher);
        slice_lists_free(&lists);
    }
    CHECK_MSG(exact_count > 50 && other_count > 50, "%zu exact, %zu not", exact_count, other_count);
}

TEST(slices_expanded_to_the_full_width_find_everything) {
    make_collection(&set, 500, 60, 7);
    struct slice_lists lists;
    struct slices_searcher *searcher = NULL;
    CHECK_OK(slice_lists_build(&lists, &set.view, 8, 1, error));
    CHECK_OK(slices_searcher_create(&lists.view, &set.view, &searcher, error));
    bool exact = false;
    for (size_t row = 0; row < 20; row++)
        for (unsigned beyond = 0; beyond <= 4; beyond += 4)
            CHECK(search_agrees(
                searcher, row_bytes(&set, row),
                (struct slices_request){
                    .k = 500, .expand = 8 + beyond, .admit = 8 + beyond, .verify = 500},
                true, &exact));
    slices_searcher_free(searcher);
    slice_lists_free(&lists);
}

TEST(slices_radius_and_certain_answers_are_exact) {
    for (size_t shape = 0; shape < SHAPES; shape++) {
        make_collection(&set, shapes[shape].rows, shapes[shape].bits, 200 + shape);
        struct slice_lists lists;
        struct slices_searcher *searcher = NULL;
        CHECK_OK(slice_lists_build(&lists, &set.view, shapes[shape].width, 1, error));
        CHECK_OK(slices_searcher_create(&lists.view, &set.view, &searcher, error));
        bool exact = false;
        for (uint32_t radius = 0; radius <= set.view.bits + 5; radius = radius * 5 / 4 + 1)
            CHECK_MSG(search_agrees(searcher, row_bytes(&set, radius % set.view.rows),
                                    (struct slices_request){.radius_bits = radius}, true, &exact),
                      "shape %zu, radius %u", shape, radius);
        for (uint32_t radius = 1u << 16; radius; radius = radius == UINT32_MAX ? 0 : UINT32_MAX)
            CHECK_MSG(search_agrees(searcher, row_bytes(&set, 0),
                                    (struct slices_request){.radius_bits = radius}, true, &exact),
                      "shape %zu, radius %u", shape, radius);
        for (size_t k = 1; k < 4000; k = 3 * k)
            CHECK_MSG(search_agrees(searcher, row_bytes(&set, k % set.view.rows),
                                    (struct slices_request){.k = k, .certain = true}, true, &exact),
                      "shape %zu, k %zu", shape, k);
        slices_searcher_free(searcher);
        slice_lists_free(&lists);
    }
}

/* What a list costs: -log of its probability when a bit of size x differs with odds exp(-x / mean).
 */
static double list_cost(const struct slice_layout *layout, unsigned slice, uint32_t flips,
                        const float *weights, double mean) {
    double cost = 0;
    unsigned width = slice_width(layout, slice);
    for (unsigned bit = 0; bit < width; bit++) {
        double size = (double)fabsf(weights[slice_first_bit(layout, slice) + bit]) / mean;
        cost += log1p(exp(-size)) + (flips >> (width - 1 - bit) & 1 ? size : 0);
    }
    return cost;
}

TEST(slices_probe_the_likeliest_lists) {
    enum { PROBE_BITS = 400, PROBE_SLICES = 37 };
    static bool read[PROBE_SLICES][1 << 11];
    struct random random = random_seeded(9);
    float weights[PROBE_BITS];
    double mean = 0;
    uint64_t query[7] = {0};
    for (int i = 0; i < 7; i++)
        query[i] = random_next(&random);
    for (int i = 0; i < PROBE_BITS; i++) {
        weights[i] = (float)(random_unit(&random) - 0.5);
        mean += (double)fabsf(weights[i]) / PROBE_BITS;
    }
    struct slices_view view = {.layout = slice_layout_of(PROBE_BITS, 11)};
    uint32_t *offsets = calloc(slice_layout_offsets(&view.layout), sizeof *offsets);
    view.offsets = offsets;
    CHECK(view.layout.count == PROBE_SLICES);
    struct slice_reading reading = {0};
    for (size_t probes = 50; probes < 4000; probes *= 2) {
        slice_reading_reset(&reading);
        CHECK_OK(
            slice_reading_add_probes(&reading, &view, (uint8_t *)query, weights, probes, error));
        CHECK(reading.count > probes / 2 && reading.count < probes * 2);
        memset(read, 0, sizeof read);
        double dearest = 0;
        for (size_t l = 0; l < reading.count; l++) {
            unsigned slice = reading.lists[l].slice;
            uint32_t flips = (uint32_t)(reading.lists[l].at - offsets -
                                        slice_first_offset(&view.layout, slice)) ^
                             slice_query_key(&view, (uint8_t *)query, slice);
            double cost = list_cost(&view.layout, slice, flips, weights, mean);
            CHECK(!read[slice][flips]);
            read[slice][flips] = true;
            dearest = cost > dearest ? cost : dearest;
        }
        /* No list that is clearly likelier than one that was read is missing; base costs are
         * rounded to steps of 1/16 a bit. */
        for (unsigned slice = 0; slice < PROBE_SLICES; slice++)
            for (uint32_t flips = 0; flips >> slice_width(&view.layout, slice) == 0; flips++)
                if (__builtin_popcount(flips) <= 4 && !read[slice][flips])
                    CHECK(list_cost(&view.layout, slice, flips, weights, mean) > dearest - 0.4);
    }
    slice_reading_free(&reading);
    free(offsets);
}

TEST(slices_batches_do_not_depend_on_threads) {
    static float weights[100 * 200];
    struct random random = random_seeded(4);
    make_collection(&set, 2500, 200, 400);
    for (size_t i = 0; i < 100 * 200; i++)
        weights[i] = (float)random_unit(&random);
    struct slice_lists lists;
    CHECK_OK(slice_lists_build(&lists, &set.view, 0, 1, error));
    struct signatures_view queries = set.view;
    queries.rows = 100;
    for (int weighted = 0; weighted < 2; weighted++) {
        struct slices_request request = {
            .k = 10, .expand = 1, .admit = 1, .verify = 50, .probes = 300};
        struct slices_batch batch = {&lists.view, &set.view, request};
        struct method_search asked = {
            .rows = {.signatures = &set.view},
            .queries = {.signatures = &queries, .margins = weighted ? weights : NULL},
            .threads = 1};
        struct hit_lists first = {0}, other = {0};
        CHECK_OK(query_batch_run(&slices_searching, &batch, &asked, &first, error));
        CHECK(first.offsets[1] == 10 && first.items[0].distance == 0);
        for (asked.threads = 2; asked.threads <= 3; asked.threads++) {
            CHECK_OK(query_batch_run(&slices_searching, &batch, &asked, &other, error));
            CHECK(memcmp(first.offsets, other.offsets, 101 * sizeof *first.offsets) == 0);
            CHECK(memcmp(first.items, other.items, first.offsets[100] * sizeof *first.items) == 0);
            hit_lists_free(&other);
        }
        hit_lists_free(&first);
    }
    slice_lists_free(&lists);
}

TEST(slices_damaged_lists_stay_inside) {
    make_collection(&set, 1000, 100, 500);
    struct random random = random_seeded(6);
    for (int trial = 0; trial < 200; trial++) {
        struct slice_lists lists;
        CHECK_OK(slice_lists_build(&lists, &set.view, 9, 1, error));
        size_t offsets = slice_layout_offsets(&lists.view.layout);
        size_t postings = lists.view.layout.count * lists.view.rows;
        for (int fault = 0; fault <= trial * 10; fault++) {
            lists.offsets[random_below(&random, offsets)] =
                (uint32_t)random_next(&random) >> random_below(&random, 32);
            lists.postings[random_below(&random, postings)] =
                (uint32_t)random_next(&random) >> random_below(&random, 32);
        }
        CHECK(slices_check(&lists.view, NULL) == COG_ERR_FORMAT);
        struct slices_searcher *searcher = NULL;
        struct query_answer answer;
        CHECK_OK(slices_searcher_create(&lists.view, &set.view, &searcher, error));
        for (int how = 0; how < 4; how++) {
            struct slices_request request = {.k = how < 3 ? 10 : 0,
                                             .radius_bits = 20,
                                             .expand = (unsigned)how,
                                             .admit = (unsigned)how,
                                             .certain = how == 2};
            CHECK_OK(slices_search(searcher, row_bytes(&set, 5), &request, &answer, error));
            for (size_t i = 0; i < answer.count; i++)
                CHECK(answer.hits[i].row < set.view.rows);
        }
        slices_searcher_free(searcher);
        slice_lists_free(&lists);
    }
}

TEST(slices_of_nothing) {
    make_collection(&set, 0, 64, 1);
    struct slice_lists lists;
    struct slices_searcher *searcher = NULL;
    struct query_answer answer;
    struct slices_request request = {.k = 3, .certain = true};
    uint64_t query = 0;
    CHECK_OK(slice_lists_build(&lists, &set.view, 0, 2, error));
    CHECK_OK(slices_check(&lists.view, error));
    CHECK_OK(slices_searcher_create(&lists.view, &set.view, &searcher, error));
    CHECK_OK(slices_search(searcher, (uint8_t *)&query, &request, &answer, error));
    CHECK(answer.count == 0 && answer.exact);
    slices_searcher_free(searcher);
    slice_lists_free(&lists);
    CHECK(slice_lists_build(&lists, &set.view, 27, 1, NULL) == COG_ERR_USAGE);
}

TEST(slices_scores_are_collected_alike_on_every_level) {
    enum { SCORES = 1000 };
    static uint8_t scores[SCORES + SCORE_BLOCK];
    static uint32_t collected[SCORES + SCORE_BLOCK];
    struct random random = random_seeded(3);
    for (size_t row = 0; row < SCORES; row++)
        scores[row] = (uint8_t)(random_next(&random) >> random_below(&random, 8));
    for (int level = 0; level < CPU_LEVEL_COUNT; level++)
        for (unsigned threshold = 1; threshold <= SLICE_SCORE_MAX; threshold++) {
            if (!cpu_supports((enum cpu_level)level))
                continue;
            size_t at = 0, found = score_collect_for((enum cpu_level)level)(scores, SCORES,
                                                                            threshold, collected);
            for (uint32_t row = 0; row < SCORES; row++)
                if (scores[row] >= threshold)
                    CHECK(at < found && collected[at++] == row);
            CHECK(at == found);
        }
}
