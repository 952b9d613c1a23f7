#include "search/hits/graded_query.h"

#include <math.h>

#include "base/hash.h"
#include "test.h"

/* Rows, queries that have margins, and for each query a list of some of the rows. */
enum { ROWS = 300, QUERIES = 40, FIRST_ROW = 1000, MOST_BITS = 1024 };

static uint64_t rows_words[ROWS][MOST_BITS / 64], query_words[QUERIES][MOST_BITS / 64];
static float margins[QUERIES * MOST_BITS];

static double normal(struct random *random) {
    double radius = sqrt(-2 * log(1 - random_unit(random)));
    return radius * cos(2 * M_PI * random_unit(random));
}

static struct signatures_view rows_of(uint64_t (*words)[MOST_BITS / 64], size_t rows,
                                      unsigned bits) {
    return (struct signatures_view){(const uint8_t *)words, rows, bits, MOST_BITS / 8};
}

static void set_bit(uint64_t *words, unsigned bit) {
    ((uint8_t *)words)[bit / 8] |= (uint8_t)(0x80u >> bit % 8);
}

static void make_data(unsigned bits, uint64_t seed) {
    struct random random = random_seeded(seed);
    memset(rows_words, 0, sizeof rows_words);
    memset(query_words, 0, sizeof query_words);
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned bit = 0; bit < bits; bit++)
            if (random_next(&random) & 1)
                set_bit(rows_words[row], bit);
    for (unsigned query = 0; query < QUERIES; query++)
        for (unsigned bit = 0; bit < bits; bit++) {
            float value = (float)normal(&random);
            margins[query * bits + bit] = value;
            if (value > 0)
                set_bit(query_words[query], bit);
        }
}

/* Every query lists every third row and the rows that follow its number. */
static void list_rows(struct hit_lists *lists, unsigned bits) {
    size_t at = 0;
    for (size_t query = 0; query < QUERIES; query++) {
        for (uint32_t row = 0; row < ROWS; row++)
            if (row % 3 == 0 || row > query * 7)
                lists->items[at++] = (struct match){
                    .a = (uint32_t)query,
                    .b = row + FIRST_ROW,
                    .distance = hamming_distance((const uint8_t *)rows_words[row],
                                                 (const uint8_t *)query_words[query], bits)};
        lists->offsets[query + 1] = at;
    }
}

/* The product of a row of +1 and -1 with the sums rounded to odd numbers, in plain loops. */
static int64_t product(const float *sums, uint32_t row, unsigned bits) {
    double squares = 0;
    int64_t sum = 0;
    for (unsigned bit = 0; bit < bits; bit++)
        squares += (double)sums[bit] * (double)sums[bit];
    float step = (float)(0.335 * sqrt(squares / bits));
    for (unsigned bit = 0; bit < bits; bit++) {
        int level = (int)(fabsf(sums[bit]) / step);
        int size = 2 * (level < 7 ? level : 7) + 1;
        bool is_set = signature_bit((const uint8_t *)rows_words[row], bit);
        sum += (sums[bit] > 0) == is_set ? size : -size;
    }
    return sum;
}

/* No row that was let go has a greater product than one that stays. */
static bool keeps_the_best(const struct hit_lists *before, const struct hit_lists *after,
                           size_t query, size_t keep, unsigned bits) {
    size_t count = before->offsets[query + 1] - before->offsets[query];
    size_t kept = after->offsets[query + 1] - after->offsets[query];
    int64_t worst = INT64_MAX;
    const float *sums = margins + query * bits;
    if (kept != (keep < count ? keep : count))
        return false;
    for (size_t i = after->offsets[query]; i < after->offsets[query + 1]; i++) {
        int64_t own = product(sums, after->items[i].b - FIRST_ROW, bits);
        worst = own < worst ? own : worst;
        if (after->items[i].a != query)
            return false;
    }
    size_t above = 0;
    for (size_t i = before->offsets[query]; i < before->offsets[query + 1]; i++)
        above += product(sums, before->items[i].b - FIRST_ROW, bits) > worst;
    return kept == count || above < kept;
}

TEST(graded_queries_keep_the_rows_of_the_greatest_products) {
    static const unsigned widths[] = {64, 72, 256, 1000, 1024};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        unsigned bits = widths[w];
        make_data(bits, w + 1);
        struct signatures_view rows = rows_of(rows_words, ROWS, bits),
                               queries = rows_of(query_words, QUERIES, bits);
        const struct method_rows stored = {.signatures = &rows},
                                 asked = {.signatures = &queries, .margins = margins};
        for (size_t keep = 1; keep <= 400; keep *= 5) {
            struct hit_lists before = {0}, after = {0};
            CHECK_OK(hit_lists_init(&before, QUERIES, ROWS * QUERIES, error));
            CHECK_OK(hit_lists_init(&after, QUERIES, ROWS * QUERIES, error));
            list_rows(&before, bits);
            list_rows(&after, bits);
            CHECK_OK(hits_keep_graded(&after, &stored, &asked, FIRST_ROW, keep, 2, error));
            for (size_t query = 0; query < QUERIES; query++)
                CHECK_MSG(keeps_the_best(&before, &after, query, keep, bits),
                          "%u bits, query %zu, %zu kept", bits, query, keep);
            hit_lists_free(&before);
            hit_lists_free(&after);
        }
    }
}
