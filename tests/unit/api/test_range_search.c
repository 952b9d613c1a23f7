/* Searches of given ranges of rows, against brute force. */
#include "base/error.h"
#include "base/hash.h"
#include "cognate.h"
#include "cognate_arrow.h"
#include "test.h"

enum { ROWS = 3000, QUERIES = 40, BITS = 72, BYTES = BITS / 8, RANGES = 5 };

struct fixture {
    uint8_t rows[ROWS][BYTES];
    uint64_t offsets[QUERIES + 1];
    uint32_t begins[QUERIES * RANGES], ends[QUERIES * RANGES];
    cog_row_ranges ranges;
    cog_signatures *signatures, *queries;
};

/* Rows of few values, so that many have one distance; ranges that do not overlap, some empty, the
 * last queries without any. */
static cog_status make(struct fixture *fixture, cog_error *error) {
    struct random random = random_seeded(5);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t k = 0; k < BYTES; k++)
            fixture->rows[i][k] = (uint8_t)(1u << random_below(&random, 8));
    size_t count = 0;
    for (size_t q = 0; q < QUERIES; q++) {
        fixture->offsets[q] = count;
        for (uint32_t i = 0; q < QUERIES - 3 && i < RANGES; i++, count++) {
            uint32_t place = (i * 3 + (uint32_t)q) % RANGES * (ROWS / RANGES);
            fixture->begins[count] = place + (uint32_t)random_below(&random, 100);
            fixture->ends[count] =
                fixture->begins[count] + (uint32_t)random_below(&random, i == 2 ? 1 : 500);
        }
    }
    fixture->offsets[QUERIES] = count;
    fixture->ranges = (cog_row_ranges){fixture->offsets, fixture->begins, fixture->ends, count};
    TRY(cog_signatures_from_memory(&fixture->rows[0][0], ROWS, BITS, &fixture->signatures, error));
    return cog_signatures_from_memory(&fixture->rows[0][0], QUERIES, BITS, &fixture->queries,
                                      error);
}

static void drop(struct fixture *fixture) {
    cog_signatures_free(fixture->signatures);
    cog_signatures_free(fixture->queries);
}

struct found {
    uint32_t distance, row;
};

static int compare_found(const void *x, const void *y) {
    const struct found *a = x, *b = y;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static size_t expected(const struct fixture *fixture, size_t query, size_t k, uint32_t radius,
                       struct found *found) {
    size_t count = 0;
    for (uint64_t i = fixture->offsets[query]; i < fixture->offsets[query + 1]; i++)
        for (uint32_t row = fixture->begins[i]; row < fixture->ends[i]; row++) {
            uint32_t distance = 0;
            for (size_t b = 0; b < BYTES; b++)
                distance +=
                    (uint32_t)__builtin_popcount(fixture->rows[query][b] ^ fixture->rows[row][b]);
            if (distance <= radius)
                found[count++] = (struct found){distance, row};
        }
    qsort(found, count, sizeof *found, compare_found);
    return k && count > k ? k : count;
}

static bool stream_is_right(struct ArrowArrayStream *stream, const struct fixture *fixture,
                            size_t k, uint32_t radius) {
    static struct found found[ROWS];
    struct ArrowArray array;
    if (stream->get_next(stream, &array) != 0 || !array.release)
        return false;
    const int64_t *queries = array.children[0]->buffers[1], *rows = array.children[1]->buffers[1];
    const int32_t *distances = array.children[2]->buffers[1];
    int64_t at = 0;
    bool right = true;
    for (size_t query = 0; query < QUERIES; query++) {
        size_t count = expected(fixture, query, k, radius, found);
        for (size_t i = 0; i < count && right; i++, at++)
            right = at < array.length && queries[at] == (int64_t)query &&
                    rows[at] == found[i].row && distances[at] == (int32_t)found[i].distance;
    }
    right = right && at == array.length && at > 0;
    array.release(&array);
    stream->release(stream);
    return right;
}

TEST(range_search_is_that_of_brute_force) {
    static const struct {
        size_t k;
        uint32_t radius;
    } asked[] = {{1, COG_RADIUS_NONE},
                 {10, COG_RADIUS_NONE},
                 {5000, COG_RADIUS_NONE},
                 {0, 12},
                 {0, BITS},
                 {7, 11}};
    static struct fixture fixture;
    CHECK_OK(make(&fixture, error));
    for (unsigned threads = 1; threads <= 3; threads += 2)
        for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
            const cog_run_options run = {.threads = threads};
            const uint32_t radius = asked[i].radius < BITS ? asked[i].radius : BITS;
            struct ArrowArrayStream stream;
            CHECK_OK(cog_range_search(fixture.queries, fixture.signatures, &fixture.ranges,
                                      asked[i].k, asked[i].radius, &run, &stream, error));
            CHECK(stream_is_right(&stream, &fixture, asked[i].k, radius));
        }
    drop(&fixture);
}

TEST(range_search_refuses_ranges_outside_the_rows) {
    static struct fixture fixture;
    struct ArrowArrayStream stream;
    cog_error refused = {0};
    CHECK_OK(make(&fixture, error));
    CHECK(cog_range_search(fixture.queries, fixture.signatures, &fixture.ranges, 0, COG_RADIUS_NONE,
                           NULL, &stream, &refused) == COG_ERR_USAGE);
    fixture.ends[7] = ROWS + 1;
    CHECK(cog_range_search(fixture.queries, fixture.signatures, &fixture.ranges, 1, COG_RADIUS_NONE,
                           NULL, &stream, &refused) == COG_ERR_USAGE);
    fixture.ends[7] = fixture.begins[7];
    fixture.offsets[3] = fixture.ranges.count + 1;
    CHECK(cog_range_search(fixture.queries, fixture.signatures, &fixture.ranges, 1, COG_RADIUS_NONE,
                           NULL, &stream, &refused) == COG_ERR_USAGE);
    drop(&fixture);
}
