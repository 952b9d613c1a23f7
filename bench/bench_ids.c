/* Finding rows by their ids in a mapped segment, next to two rivals in the same run: reading all
 * ids, as is necessary without a table of ids, and a binary search of row numbers in the order of
 * their ids. Half of the searched ids exist. One thread, processor time.
 *
 * bench_ids [ROWS] 10 million by default; a file of 35 bytes per row is written here */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "bench_timing.h"
#include "index/segment.h"

enum { DEFAULT_ROWS = 10000000, LOOKUPS = 200000, LINEAR_LOOKUPS = 3, REPEATS = 5, ID_BYTES = 22 };

static void require(cog_status status, const cog_error *error) {
    if (status == COG_OK)
        return;
    fprintf(stderr, "bench_ids: %s\n", error->message);
    exit(1);
}

/* Ids like those of exports: a name and a number unrelated to the row. */
static struct bytes_view make_id(uint64_t number, char text[ID_BYTES]) {
    int length = snprintf(text, ID_BYTES, "page-%016llx", (unsigned long long)hash_mix(number));
    return view_of(text, (size_t)length);
}

/* ---- The segment ----------------------------------------------------------------------------- */

static void write_segment(const char *path, size_t rows, double *build_seconds) {
    cog_error error = {0};
    struct buffer bytes = {0};
    struct id_buckets buckets = {0};
    uint64_t *offsets = memory_zeroed_array(rows + 1, sizeof *offsets);
    for (size_t row = 0; row < rows; row++) {
        char text[ID_BYTES];
        struct bytes_view id = make_id(row, text);
        if (!offsets || !buffer_append(&bytes, id.data, id.size))
            exit(1);
        offsets[row + 1] = bytes.size;
    }
    const struct segment named = {
        .rows = rows, .id_offsets = offsets, .id_bytes = {bytes.data, bytes.size}};
    uint64_t start = bench_cpu_ns();
    require(id_buckets_build(&named, &buckets, &error), &error);
    *build_seconds = bench_cpu_seconds_since(start);
    const struct segment_parts parts = {
        .rows = rows, .id_offsets = offsets, .id_bytes = bytes.data, .id_buckets = &buckets};
    require(segment_write(path, &parts, &error), &error);
    id_buckets_free(&buckets);
    buffer_free(&bytes);
    free(offsets);
}

/* ---- Three ways to the row ------------------------------------------------------------------- */

/* A number below the rows is the row of its id; others are not there. */
struct wanted {
    uint64_t number;
    struct bytes_view id;
    char text[ID_BYTES];
};

struct world {
    struct segment segment;
    uint32_t *order; /* rows by id */
    struct wanted wanted[LOOKUPS];
};

typedef uint64_t finder(const struct world *world, struct bytes_view id);

static uint64_t find_in_buckets(const struct world *world, struct bytes_view id) {
    uint64_t row;
    cog_error error;
    require(id_buckets_find(&world->segment.id_buckets, &world->segment, id, &row, &error), &error);
    return row;
}

static struct bytes_view id_of(const struct world *world, size_t row) {
    struct bytes_view id = {0};
    segment_id(&world->segment, row, &id);
    return id;
}

static uint64_t find_by_reading(const struct world *world, struct bytes_view id) {
    uint64_t found = UINT64_MAX;
    for (size_t row = 0; row < world->segment.rows; row++)
        if (view_equals(id, id_of(world, row)))
            found = row;
    return found;
}

/* All ids are of one length. */
static uint64_t find_by_halving(const struct world *world, struct bytes_view id) {
    const size_t rows = world->segment.rows;
    size_t at;
    FIND_FIRST_NOT(at, 0, rows, memcmp(id_of(world, world->order[at]).data, id.data, id.size) < 0);
    bool found = at < rows && view_equals(id, id_of(world, world->order[at]));
    return found ? world->order[at] : UINT64_MAX;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

static int by_id(const void *a, const void *b, void *world) {
    struct bytes_view x = id_of(world, *(const uint32_t *)a),
                      y = id_of(world, *(const uint32_t *)b);
    return memcmp(x.data, y.data, x.size);
}

static void sort_rows(struct world *world) {
    size_t rows = world->segment.rows;
    world->order = memory_array(rows + 1, sizeof *world->order);
    if (!world->order)
        exit(1);
    for (size_t row = 0; row < rows; row++)
        world->order[row] = (uint32_t)row;
    qsort_r(world->order, rows, sizeof *world->order, by_id, world);
}

static void choose_wanted(struct world *world) {
    struct random random = random_seeded(7);
    for (size_t i = 0; i < LOOKUPS; i++) {
        struct wanted *wanted = &world->wanted[i];
        wanted->number = random_below(&random, 2 * world->segment.rows);
        wanted->id = make_id(wanted->number, wanted->text);
    }
}

/* Nanoseconds a lookup. */
static double measure(const struct world *world, finder *find, size_t lookups) {
    double seconds[REPEATS];
    size_t wrong = 0;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        uint64_t start = bench_cpu_ns();
        for (size_t i = 0; i < lookups; i++) {
            uint64_t number = world->wanted[i].number, row = find(world, world->wanted[i].id);
            wrong += row != (number < world->segment.rows ? number : UINT64_MAX);
        }
        seconds[repeat] = bench_cpu_seconds_since(start);
    }
    if (wrong)
        printf("WRONG ROWS: %zu\n", wrong);
    return bench_median(seconds, REPEATS) / (double)lookups * 1e9;
}

int main(int argc, char **argv) {
    static struct world world;
    size_t rows = argc > 1 ? strtoull(argv[1], NULL, 10) : DEFAULT_ROWS;
    char path[] = "bench_ids.XXXXXX";
    double build_seconds;
    cog_error error = {0};
    if (argc > 2 || rows == 0) {
        fprintf(stderr, "usage: bench_ids [ROWS]\n");
        return 2;
    }
    close(mkstemp(path));
    write_segment(path, rows, &build_seconds);
    uint64_t start = bench_cpu_ns();
    require(segment_open(path, &world.segment, &error), &error);
    double open_seconds = bench_cpu_seconds_since(start);
    sort_rows(&world);
    choose_wanted(&world);
    double ours = measure(&world, find_in_buckets, LOOKUPS);
    double halving = measure(&world, find_by_halving, LOOKUPS);
    double reading = measure(&world, find_by_reading, LINEAR_LOOKUPS);
    printf("%zu ids: table built in %.2f s, file opened in %.0f us\n", rows, build_seconds,
           open_seconds * 1e6);
    printf("%-34s | %14s | %12s | %8s\n", "", "ns per lookup", "bytes per row", "ratio");
    printf("%-34s | %14.0f | %12.1f |\n", "buckets of ids", ours,
           ID_ENTRY_BYTES + 4.0 / ID_BUCKET_ROWS);
    printf("%-34s | %14.0f | %12d | %8.1f\n", "binary search of sorted rows", halving, 4,
           halving / ours);
    printf("%-34s | %14.0f | %12d | %8.0f\n", "reading all ids", reading, 0, reading / ours);
    segment_close(&world.segment);
    free(world.order);
    unlink(path);
    return 0;
}
