/* An index of given signatures that changes against a model in memory: after any sequence of
 * additions, removals, merges and openings, by two handles of a folder or in memory, it answers as
 * the signatures themselves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "cognate.h"
#include "hamming/hamming.h"
#include "index/change_log.h"
#include "index/changes.h"
#include "jobs/index/index_job.h"
#include "test.h"

enum { ROWS_MAX = 9000, BYTES_MAX = 128, QUERIES = 5, K = 6, STEPS = 40, LOG_ROWS_MAX = 1024 };

struct world {
    struct random random;
    unsigned bits;
    size_t bytes; /* of a row in an array */
    uint8_t rows[ROWS_MAX][BYTES_MAX], packed[ROWS_MAX * BYTES_MAX];
    bool is_there[ROWS_MAX]; /* by id */
    size_t made;
    cog_signatures *given[STEPS + 1]; /* an index in memory borrows them */
    size_t given_count;
    char folder[4096];
    cog_index *index;
};

/* Rows lie around a few centres, so that some are equal and many are as near as others. */
static void make_row(struct world *world, uint8_t *row) {
    struct random centre = random_seeded(random_below(&world->random, 12));
    memset(row, 0, BYTES_MAX);
    for (size_t i = 0; i < world->bytes; i++)
        row[i] = (uint8_t)random_next(&centre);
    for (uint64_t flips = random_below(&world->random, 9); flips > 1; flips--) {
        uint64_t bit = random_below(&world->random, world->bits);
        row[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
    }
}

static cog_status next_rows(struct world *world, size_t count, cog_signatures **rows,
                            cog_error *error) {
    uint8_t *packed = world->packed + world->made * world->bytes;
    for (size_t i = 0; i < count; i++) {
        make_row(world, world->rows[world->made]);
        memcpy(packed + i * world->bytes, world->rows[world->made], world->bytes);
        world->is_there[world->made++] = true;
    }
    return cog_signatures_from_memory(packed, count, world->bits, rows, error);
}

static cog_status add_rows(struct world *world, size_t count, cog_error *error) {
    cog_signatures *rows = NULL;
    cog_status status = next_rows(world, count, &rows, error);
    if (status == COG_OK)
        status = cog_index_add_signatures(world->index, rows, NULL, NULL, error);
    if (rows)
        world->given[world->given_count++] = rows;
    return status;
}

static cog_status remove_some(struct world *world, cog_error *error) {
    char names[4][24];
    const char *ids[4];
    size_t count = 0;
    for (uint64_t tries = 1 + random_below(&world->random, 4); tries > 0; tries--) {
        /* Not the last row: if nothing is left of it, its number is given again. */
        size_t number = (size_t)random_below(&world->random, world->made - 1);
        snprintf(names[count], sizeof *names, "%zu", number);
        ids[count] = names[count];
        count++;
        world->is_there[number] = false;
    }
    return cog_index_remove(world->index, ids, count, NULL, error);
}

/* Another handle adds one row. The first one sees it when it changes the index or is opened again.
 */
static cog_status add_beside(struct world *world, cog_error *error) {
    cog_index *own = world->index;
    if (!world->folder[0])
        return COG_OK;
    cog_status status = cog_index_open(world->folder, &world->index, error);
    if (status == COG_OK)
        status = add_rows(world, 1, error);
    cog_index_close(world->index);
    world->index = own;
    return status == COG_OK ? index_reload(own, error) : status;
}

static cog_status reopen(struct world *world, cog_error *error) {
    if (!world->folder[0])
        return COG_OK;
    cog_index_close(world->index);
    world->index = NULL;
    return cog_index_open(world->folder, &world->index, error);
}

static cog_status step(struct world *world, cog_error *error) {
    switch (random_below(&world->random, 12)) {
    case 0:
        return cog_index_compact(world->index, NULL, NULL, error);
    case 1:
        return reopen(world, error);
    case 2:
    case 3:
        return remove_some(world, error);
    case 4:
        return add_rows(world, LOG_ROWS_MAX + 1, error); /* too many for the log */
    case 5:
        return add_beside(world, error);
    default:
        return add_rows(world, 1 + (size_t)random_below(&world->random, 3), error);
    }
}

/* ---- The answers ----------------------------------------------------------------------------- */

static size_t rows_within(const struct world *world, const uint8_t *query, uint32_t radius) {
    size_t count = 0;
    for (size_t row = 0; row < world->made; row++)
        count += world->is_there[row] &&
                 hamming_distance(query, world->rows[row], world->bits) <= radius;
    return count;
}

static bool hit_is_right(const struct world *world, cog_hit hit, const uint8_t *query) {
    size_t size;
    char id[24] = {0};
    const char *bytes = cog_index_id(world->index, hit.row, &size);
    if (bytes && size < sizeof id)
        memcpy(id, bytes, size);
    size_t row = bytes ? strtoull(id, NULL, 10) : hit.row; /* a build in memory has no ids */
    return row < world->made && world->is_there[row] &&
           hamming_distance(query, world->rows[row], world->bits) == (uint32_t)hit.distance;
}

/* The hits of a query are right, as many as there must be, and none is farther than the k-th. */
static bool answer_is_right(const struct world *world, const cog_hits *hits, uint32_t query,
                            const uint8_t *signature, size_t k, uint32_t radius) {
    size_t first = cog_hits_first(hits, query), end = cog_hits_first(hits, query + 1);
    int64_t last = 0;
    for (size_t i = first; i < end; i++) {
        cog_hit hit = cog_hits_get(hits, i);
        if (!hit_is_right(world, hit, signature) || hit.distance < last)
            return false;
        last = hit.distance;
    }
    if (k == 0)
        return end - first == rows_within(world, signature, radius);
    return end - first == k && (last == 0 || rows_within(world, signature, (uint32_t)last - 1) < k);
}

static bool answers_are_right(struct world *world, cog_error *error) {
    static const uint32_t radii[] = {COG_RADIUS_NONE, 0, 3};
    static uint8_t asked[QUERIES][BYTES_MAX];
    uint8_t packed[QUERIES * BYTES_MAX];
    bool right = cog_index_check(world->index, error) == COG_OK;
    for (size_t i = 0; i < QUERIES; i++) {
        make_row(world, asked[i]);
        memcpy(packed + i * world->bytes, asked[i], world->bytes);
    }
    cog_signatures *queries = NULL;
    right = right && cog_signatures_from_memory(packed, QUERIES, world->bits, &queries, error) == 0;
    for (size_t i = 0; i < 3 && right; i++) {
        cog_search_options options;
        cog_hits *hits = NULL;
        cog_search_options_init(&options);
        options.recall = 1;
        options.k = i ? 0 : K;
        options.radius_bits = radii[i];
        right = cog_index_search_signatures(world->index, queries, NULL, &options, NULL, &hits,
                                            NULL, error) == COG_OK;
        for (uint32_t q = 0; q < QUERIES && right; q++)
            right = answer_is_right(world, hits, q, asked[q], options.k, radii[i]);
        cog_hits_free(hits);
    }
    cog_signatures_free(queries);
    cog_index_info info;
    cog_index_describe(world->index, &info);
    size_t there = 0;
    for (size_t row = 0; row < world->made; row++)
        there += world->is_there[row];
    return right && info.rows == there;
}

static struct world *begin(unsigned bits, cog_method method, bool in_folder, cog_error *error) {
    enum { FIRST_ROWS = 50 };
    struct world *world = calloc(1, sizeof *world);
    world->random = random_seeded(bits + method);
    world->bits = bits;
    world->bytes = bits / 8;
    cog_signatures *rows = NULL;
    cog_index_options options;
    cog_index_options_init(&options);
    options.method = method;
    if (method == COG_METHOD_BPHS)
        options.radius_bits = 3;
    cog_status status = next_rows(world, FIRST_ROWS, &rows, error);
    if (status == COG_OK)
        status = cog_index_build_signatures(rows, &options, NULL, &world->index, NULL, error);
    world->given[world->given_count++] = rows;
    if (status == COG_OK && in_folder) {
        snprintf(world->folder, sizeof world->folder, "%s", test_path("rows"));
        status = cog_index_save(world->index, world->folder, error);
        if (status == COG_OK)
            status = reopen(world, error);
    }
    if (status == COG_OK)
        return world;
    free(world);
    return NULL;
}

static void end(struct world *world) {
    cog_index_close(world->index);
    for (size_t i = 0; i < world->given_count; i++)
        cog_signatures_free(world->given[i]);
    free(world);
}

TEST(row_index_answers_as_its_rows_after_any_changes) {
    static const struct {
        unsigned bits;
        cog_method method;
        bool in_folder;
    } kinds[] = {{64, COG_METHOD_AUTO, true},     {64, COG_METHOD_BPHS, true},
                 {40, COG_METHOD_AUTO, true},     {1024, COG_METHOD_SLICES, true},
                 {256, COG_METHOD_COLUMNS, true}, {128, COG_METHOD_AUTO, false}};
    cog_error fault = {0};
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        struct world *world =
            begin(kinds[kind].bits, kinds[kind].method, kinds[kind].in_folder, &fault);
        CHECK_MSG(world, "kind %zu: %s", kind, fault.message);
        for (int i = 0; i < STEPS - 1 && world->made + LOG_ROWS_MAX + 2 < ROWS_MAX; i++) {
            CHECK_MSG(step(world, &fault) == COG_OK, "kind %zu, step %d: %s", kind, i,
                      fault.message);
            CHECK_MSG(i % 2 || answers_are_right(world, &fault), "kind %zu, step %d: %s", kind, i,
                      fault.message);
        }
        end(world);
    }
}

/* ---- Damaged logs ---------------------------------------------------------------------------- */

/* Appends a frame with one addition to the log of the folder. */
static cog_status append_to_log(const char *folder, const struct buffer *payload,
                                cog_error *error) {
    struct change_log log = {.descriptor = -1};
    struct buffer buffer = {0};
    struct bytes_view frame;
    bool found = true;
    cog_status status = change_log_open(folder, 1, &log, error);
    while (status == COG_OK && found)
        status = change_log_next(&log, &buffer, &frame, &found, error);
    if (status == COG_OK)
        status = change_log_append(&log, payload->data, payload->size, error);
    change_log_close(&log);
    buffer_free(&buffer);
    return status;
}

/* A complete frame with an addition that does not belong to this index. */
TEST(row_index_refuses_other_additions_in_its_log) {
    static const uint64_t words[2] = {1, 2};
    static const uint32_t frequencies[2] = {1, 1};
    const struct bag_view bag = {words, frequencies, 2, 2, NULL};
    cog_error fault = {0};
    for (int wrong = 0; wrong < 2; wrong++) {
        struct world *world = begin(64, COG_METHOD_AUTO, true, &fault);
        struct buffer payload = {0};
        CHECK_MSG(world, "%s", fault.message);
        CHECK_OK(add_rows(world, 1, error));
        CHECK(wrong ? changes_add_signature(&payload, view_of("51", 2),
                                            view_of((const char *)words, sizeof words))
                    : changes_add_document(&payload, view_of("51", 2), &bag));
        CHECK_OK(append_to_log(world->folder, &payload, error));
        CHECK(reopen(world, &fault) == COG_ERR_FORMAT);
        CHECK_MSG(strstr(fault.message, "belongs to another index"), "%s", fault.message);
        buffer_free(&payload);
        end(world);
    }
}

/* A changed byte of the log is noticed, or hides only the last row. */
TEST(row_index_notices_a_damaged_log) {
    cog_error fault = {0};
    struct world *world = begin(64, COG_METHOD_AUTO, true, &fault);
    CHECK_MSG(world, "%s", fault.message);
    CHECK_OK(add_rows(world, 2, error));
    CHECK_OK(add_rows(world, 1, error));
    char *path = change_log_path(world->folder, 1);
    uint8_t bytes[512];
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file)
        fclose(file);
    unsigned hidden = 0, refused = 0;
    for (size_t at = 0; at < size; at++) {
        bytes[at] ^= 0x10;
        file = fopen(path, "r+b");
        fwrite(bytes, 1, size, file);
        fclose(file);
        bytes[at] ^= 0x10;
        cog_index *index = NULL;
        cog_index_info info = {0};
        cog_status status = cog_index_open(world->folder, &index, &fault);
        if (status == COG_OK)
            cog_index_describe(index, &info);
        cog_index_close(index);
        CHECK_MSG(status == COG_ERR_FORMAT ||
                      (status == COG_OK && info.rows >= 52 && info.rows <= 53),
                  "byte %zu: status %d, %d rows", at, status, (int)info.rows);
        hidden += status == COG_OK && info.rows == 52;
        refused += status != COG_OK;
    }
    CHECK_MSG(hidden > 40 && refused > 80, "%u hidden, %u refused", hidden, refused);
    free(path);
    end(world);
}
