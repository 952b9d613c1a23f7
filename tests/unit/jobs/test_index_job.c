/* Indexes through the public API, from memory: several segments with removed rows must answer as a
 * brute-force comparison of what remains. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "hamming/hamming.h"
#include "jobs/index/index_job.h"
#include "test.h"

enum { ROWS = 900, QUERIES = 40, BITS = 128, BYTES = BITS / 8, K = 7 };

/* Rows around a few centres, so that there are near neighbours and ties. */
static void make_signatures(uint8_t *data, size_t rows, uint64_t seed) {
    for (size_t row = 0; row < rows; row++) {
        struct random random = random_seeded(seed + row);
        struct random centre = random_seeded(random_below(&random, 20));
        for (int byte = 0; byte < BYTES; byte++)
            data[row * BYTES + (size_t)byte] = (uint8_t)random_next(&centre);
        for (uint64_t flips = random_below(&random, 30); flips > 0; flips--) {
            uint64_t bit = random_below(&random, BITS);
            data[row * BYTES + bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    }
}

struct world {
    uint8_t rows[ROWS * BYTES], queries[QUERIES * BYTES];
    bool removed[ROWS];
    cog_signatures *parts[2], *query_signatures;
    cog_index *index;
    cog_report *report;
};

static void free_world(struct world *world) {
    cog_index_close(world->index);
    cog_signatures_free(world->parts[0]);
    cog_signatures_free(world->parts[1]);
    cog_signatures_free(world->query_signatures);
    cog_report_free(world->report);
    free(world);
}

/* Two segments, every third row removed, and among them a whole neighbourhood. */
static struct world *make_world(cog_method method, cog_error *error) {
    struct world *world = calloc(1, sizeof *world);
    enum { FIRST = 600 };
    make_signatures(world->rows, ROWS, 1);
    make_signatures(world->queries, QUERIES, 5000);
    cog_index_options options;
    cog_index_options_init(&options);
    options.method = method;
    cog_report_create(&world->report, error);
    cog_status status = COG_OK;
    if (method == COG_METHOD_SLICES)
        status = cog_knobs_set(&options.knobs, method, "slice-bits", 9, error);
    if (status == COG_OK)
        status = cog_signatures_from_memory(world->rows, FIRST, BITS, &world->parts[0], error);
    if (status == COG_OK)
        status = cog_signatures_from_memory(world->rows + FIRST * BYTES, ROWS - FIRST, BITS,
                                            &world->parts[1], error);
    if (status == COG_OK)
        status = cog_signatures_from_memory(world->queries, QUERIES, BITS, &world->query_signatures,
                                            error);
    if (status == COG_OK)
        status = cog_index_build_signatures(world->parts[0], &options, NULL, &world->index,
                                            world->report, error);
    if (status == COG_OK)
        status = cog_index_add_signatures(world->index, world->parts[1], NULL, NULL, error);
    for (uint32_t row = 0; row < ROWS && status == COG_OK; row++) {
        if (row % 3 && hamming_distance(world->rows + row * BYTES, world->queries, BITS) > 40)
            continue;
        char id[16];
        const char *ids[] = {id};
        snprintf(id, sizeof id, "%u", row);
        world->removed[row] = true;
        status = cog_index_remove(world->index, ids, 1, NULL, error);
    }
    if (status == COG_OK)
        return world;
    free_world(world);
    return NULL;
}

/* Whether the hits are the K nearest rows that remain, or all within the radius. */
static bool hits_are_right(const struct world *world, const cog_hits *hits, uint32_t radius) {
    for (uint32_t query = 0; query < QUERIES; query++) {
        size_t at = cog_hits_first(hits, query), wanted = 0;
        size_t end = query + 1 < QUERIES ? cog_hits_first(hits, query + 1) : cog_hits_count(hits);
        for (uint32_t distance = 0; distance <= BITS; distance++)
            for (uint32_t row = 0; row < ROWS; row++) {
                if (world->removed[row] ||
                    hamming_distance(world->rows + row * BYTES, world->queries + query * BYTES,
                                     BITS) != distance)
                    continue;
                if (radius == COG_RADIUS_NONE ? wanted == K : distance > radius)
                    continue;
                wanted++;
                if (at == end)
                    return false;
                cog_hit hit = cog_hits_get(hits, at++);
                if (hit.query != query || hit.row != row || hit.distance != (int)distance ||
                    hit.rank != wanted)
                    return false;
            }
        if (at != end)
            return false;
    }
    return true;
}

static bool search_is_right(const struct world *world, cog_method method, uint32_t radius,
                            unsigned threads, cog_error *error) {
    cog_search_options options;
    cog_search_options_init(&options);
    options.method = method;
    options.k = radius == COG_RADIUS_NONE ? K : 0;
    options.radius_bits = radius;
    options.recall = 1;
    cog_run_options run = {.threads = threads};
    cog_hits *hits = NULL;
    bool right = cog_index_search_signatures(world->index, world->query_signatures, NULL, &options,
                                             &run, &hits, NULL, error) == COG_OK &&
                 hits_are_right(world, hits, radius);
    cog_hits_free(hits);
    return right;
}

TEST(index_of_several_segments_answers_as_brute_force) {
    cog_error fault = {0};
    for (int made = 0; made < 2; made++) {
        cog_method own = made ? COG_METHOD_COLUMNS : COG_METHOD_SLICES;
        const cog_method methods[] = {COG_METHOD_FLAT, own, COG_METHOD_AUTO};
        struct world *world = make_world(own, &fault);
        CHECK_MSG(world, "%s", fault.message);
        for (int i = 0; i < 3; i++)
            for (unsigned threads = 1; threads <= 3; threads += 2) {
                bool certain = methods[i] != COG_METHOD_COLUMNS; /* of the nearest */
                CHECK(search_is_right(world, methods[i], COG_RADIUS_NONE, threads, &fault) ==
                      certain);
                CHECK(certain || strstr(fault.message, "the method columns is not"));
                CHECK(search_is_right(world, methods[i], 20, threads, &fault));
            }
        free_world(world);
    }
}

/* The same distances for the same ids. */
static bool same_hits(const cog_hits *a, const cog_index *index_a, const cog_hits *b,
                      const cog_index *index_b) {
    if (cog_hits_count(a) != cog_hits_count(b))
        return false;
    for (size_t i = 0; i < cog_hits_count(a); i++) {
        cog_hit x = cog_hits_get(a, i), y = cog_hits_get(b, i);
        char number[16];
        size_t x_size, y_size;
        const char *x_id = cog_index_id(index_a, x.row, &x_size);
        const char *y_id = cog_index_id(index_b, y.row, &y_size);
        if (!x_id) {
            x_size = (size_t)snprintf(number, sizeof number, "%u", x.row);
            x_id = number;
        }
        if (!y_id || x.query != y.query || x.rank != y.rank || x.distance != y.distance ||
            x.similarity != y.similarity || x_size != y_size || memcmp(x_id, y_id, x_size) != 0)
            return false;
    }
    return true;
}

TEST(index_saved_opened_and_compacted_answers_the_same) {
    cog_error fault = {0};
    struct world *world = make_world(COG_METHOD_FLAT, &fault);
    CHECK_MSG(world, "%s", fault.message);
    const char *folder = test_path("saved-index");
    cog_index *saved = NULL;
    cog_hits *before = NULL, *after = NULL;
    cog_search_options options;
    cog_search_options_init(&options);
    CHECK_OK(cog_index_search_signatures(world->index, world->query_signatures, NULL, &options,
                                         NULL, &before, NULL, error));
    CHECK_OK(cog_index_save(world->index, folder, error));
    CHECK(cog_index_exists(folder));
    CHECK(cog_index_save(world->index, folder, &fault) == COG_ERR_USAGE);
    cog_index_claim *claim = NULL, *other = NULL;
    const char *claimed = test_path("claimed");
    CHECK_OK(cog_index_claim_folder(claimed, &claim, error));
    CHECK(cog_index_claim_folder(claimed, &other, &fault) == COG_ERR_BUSY && !other);
    CHECK(cog_index_save(world->index, claimed, &fault) == COG_ERR_BUSY);
    cog_index_claim_release(claim);
    CHECK(access(claimed, F_OK) != 0);
    CHECK_OK(cog_index_claim_folder(claimed, &claim, error));
    CHECK_OK(cog_index_save_claimed(world->index, claim, error));
    cog_index_claim_release(claim);
    CHECK(cog_index_exists(claimed));
    CHECK_OK(cog_index_open(folder, &saved, error));
    for (int compacted = 0; compacted < 2; compacted++) {
        cog_index_info info;
        cog_index_describe(saved, &info);
        CHECK(info.segments == (compacted ? 1u : 2u));
        CHECK(compacted ? info.removed_rows == 0 : info.rows + info.removed_rows == ROWS);
        CHECK_OK(cog_index_check(saved, error));
        CHECK_OK(cog_index_search_signatures(saved, world->query_signatures, NULL, &options, NULL,
                                             &after, NULL, error));
        CHECK(same_hits(before, world->index, after, saved));
        cog_hits_free(after);
        CHECK_OK(cog_index_compact(saved, NULL, NULL, error));
    }
    cog_hits_free(before);
    cog_index_close(saved);
    free_world(world);
}

/* Whether every row that remains is found by its number, and nothing else is. */
static bool ids_are_found(const struct world *world, const cog_index *index, cog_error *error) {
    static const char *const absent[] = {"", "00", "07", "900", "4294967297", "1x", "-1"};
    uint32_t row;
    for (uint32_t number = 0; number < ROWS; number++) {
        char id[16];
        size_t size = (size_t)snprintf(id, sizeof id, "%u", number);
        if (cog_index_find(index, id, size, &row) == world->removed[number] ||
            (!world->removed[number] && row != number)) {
            error->position = number;
            return false;
        }
    }
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        if (cog_index_find(index, absent[i], strlen(absent[i]), &row))
            return false;
    return true;
}

/* As files were before they had a table of ids. */
static cog_status save_without_buckets(const cog_index *index, const char *folder,
                                       cog_error *error) {
    struct manifest manifest = {0};
    cog_status status = COG_OK;
    for (size_t i = 0; i < index->parts.manifest.count && status == COG_OK; i++) {
        struct segment_parts parts = index_parts_of(&index->parts.segments[i]);
        parts.id_buckets = NULL;
        status = manifest_add_segment(folder, &manifest, &parts, error);
    }
    struct buffer removed = {0};
    uint64_t first = 0;
    for (size_t i = 0; i < manifest.count; i++) {
        const struct manifest_entry *entry = &index->parts.manifest.entries[i];
        for (size_t r = 0; r < entry->removed_count; r++)
            buffer_append(&removed, &(uint64_t){first + entry->removed[r]}, sizeof(uint64_t));
        first += entry->rows;
    }
    if (status == COG_OK)
        status = manifest_remove_rows(&manifest, (const uint64_t *)(const void *)removed.data,
                                      removed.size / sizeof(uint64_t), error);
    if (status == COG_OK)
        status = manifest_write(folder, &manifest, error);
    buffer_free(&removed);
    manifest_free(&manifest);
    return status;
}

TEST(index_finds_ids_in_memory_in_files_and_in_files_without_their_table) {
    cog_error fault = {0};
    struct world *world = make_world(COG_METHOD_FLAT, &fault);
    CHECK_MSG(world, "%s", fault.message);
    cog_index *saved = NULL, *old = NULL;
    const char *again[] = {"1", "2", "1", "nobody"};
    CHECK(ids_are_found(world, world->index, &fault));
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", test_path("with-ids"));
    CHECK_OK(cog_index_save(world->index, folder, error));
    CHECK_OK(cog_index_open(folder, &saved, error));
    CHECK(ids_are_found(world, saved, &fault));
    const char *old_folder = test_path("without-ids");
    CHECK_OK(save_without_buckets(saved, old_folder, error));
    CHECK_OK(cog_index_open(old_folder, &old, error));
    CHECK(!old->parts.segments[0].id_buckets.starts && !old->parts.segments[1].id_buckets.starts);
    CHECK_OK(cog_index_check(old, error));
    CHECK(ids_are_found(world, old, &fault));
    CHECK_OK(cog_index_remove(old, again, 4, NULL, error));
    world->removed[1] = world->removed[2] = true;
    CHECK(ids_are_found(world, old, &fault));
    CHECK_OK(cog_index_compact(old, NULL, NULL, error));
    CHECK(old->parts.segments[0].id_buckets.starts);
    CHECK_OK(cog_index_check(old, error));
    cog_index_close(saved);
    cog_index_close(old);
    free_world(world);
}

/* An id that was removed and added again is the new row. */
TEST(index_finds_the_last_of_an_id) {
    cog_document items[] = {{.id = "a", .id_size = 1, .text = "one two three", .text_size = 13},
                            {.id = "b", .id_size = 1, .text = "one four five", .text_size = 13}};
    cog_documents *documents = NULL;
    cog_index *index = NULL;
    cog_index_options options;
    const char *b = "b";
    uint32_t row = 99;
    cog_index_options_init(&options);
    CHECK_OK(cog_documents_from_memory(items, 2, &documents, error));
    CHECK_OK(cog_index_build(documents, &options, NULL, &index, NULL, error));
    CHECK_OK(cog_index_remove(index, &b, 1, NULL, error));
    CHECK(!cog_index_find(index, "b", 1, &row));
    CHECK_OK(cog_index_add(index, documents, NULL, NULL, error));
    CHECK(cog_index_find(index, "b", 1, &row) && row == 2);
    CHECK(cog_index_find(index, "a", 1, &row) && row == 0);
    cog_index_close(index);
    cog_documents_close(documents);
}

/* ---- Documents ------------------------------------------------------------------------------- */

enum { DOCUMENTS = 120, WORDS = 30, TEXT_BYTES = WORDS * 8 };

/* Documents over a small vocabulary, every fourth a changed copy of the one before. */
static void make_texts(char texts[][TEXT_BYTES], cog_document *documents, char ids[][8]) {
    struct random random = random_seeded(3);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        if (i % 4) {
            memcpy(texts[i], texts[i - 1], TEXT_BYTES);
            snprintf(texts[i], 8, "w%05u", (unsigned)random_below(&random, 300));
            texts[i][6] = ' ';
        } else {
            for (size_t word = 0; word < WORDS; word++)
                snprintf(texts[i] + word * 7, 8, "w%05u ", (unsigned)random_below(&random, 300));
        }
        snprintf(ids[i], 8, "d%zu", i);
        documents[i] = (cog_document){ids[i], strlen(ids[i]), texts[i], strlen(texts[i]), "en", 2};
    }
}

/* The number of hits of all documents; 0 where the search fails. */
static size_t count_hits(const cog_index *index, cog_documents *queries, cog_error *error) {
    cog_search_options options;
    cog_search_options_init(&options);
    cog_hits *hits = NULL;
    size_t count = 0;
    if (cog_index_search(index, queries, &options, NULL, &hits, NULL, error) == COG_OK)
        count = cog_hits_count(hits);
    cog_hits_free(hits);
    return count;
}

TEST(index_handles_keep_their_state_when_a_change_fails) {
    static char texts[DOCUMENTS][TEXT_BYTES], ids[DOCUMENTS][8];
    static cog_document items[DOCUMENTS];
    make_texts(texts, items, ids);
    cog_documents *none = NULL, *first = NULL, *rest = NULL;
    cog_index *made = NULL, *one = NULL, *other = NULL;
    cog_index_options options;
    cog_sign_options sign;
    cog_error fault = {0};
    cog_index_options_init(&options);
    const char *folder = test_path("filled-index");
    char manifest[4200], hidden[4200];
    snprintf(manifest, sizeof manifest, "%s/manifest", folder);
    snprintf(hidden, sizeof hidden, "%s/.hidden", folder);
    CHECK_OK(cog_documents_from_memory(items, 0, &none, error));
    CHECK_OK(cog_documents_from_memory(items, 80, &first, error));
    CHECK_OK(cog_documents_from_memory(items + 80, DOCUMENTS - 80, &rest, error));
    CHECK_OK(cog_index_build(none, &options, NULL, &made, NULL, error));
    CHECK_OK(cog_index_save(made, folder, error));
    /* Two handles of an empty index: the statistics come with the first documents. */
    CHECK_OK(cog_index_open(folder, &one, error));
    CHECK_OK(cog_index_open(folder, &other, error));
    CHECK_OK(cog_index_add(one, first, NULL, NULL, error));
    CHECK_OK(cog_index_add(other, rest, NULL, NULL, error));
    size_t hits = count_hits(other, rest, &fault);
    CHECK(hits > 0);
    CHECK(rename(manifest, hidden) == 0);
    CHECK(cog_index_add(other, first, NULL, NULL, &fault) != COG_OK);
    CHECK(cog_index_remove(other, (const char *[]){"d1"}, 1, NULL, &fault) != COG_OK);
    CHECK(cog_index_sign_options(other, &sign) && strcmp(sign.terms.lang, "auto") == 0);
    CHECK(count_hits(other, rest, &fault) == hits);
    CHECK(rename(hidden, manifest) == 0);
    CHECK_OK(cog_index_compact(other, NULL, NULL, error));
    CHECK(count_hits(other, rest, &fault) == hits);
    cog_index_close(made);
    cog_index_close(one);
    cog_index_close(other);
    cog_documents_close(none);
    cog_documents_close(first);
    cog_documents_close(rest);
}

TEST(index_of_documents_finds_them_by_every_method) {
    static char texts[DOCUMENTS][TEXT_BYTES], ids[DOCUMENTS][8];
    static cog_document items[DOCUMENTS];
    make_texts(texts, items, ids);
    cog_documents *first = NULL, *rest = NULL, *all = NULL;
    cog_index *index = NULL;
    cog_index_options options;
    cog_index_options_init(&options);
    options.method = COG_METHOD_SLICES;
    CHECK_OK(cog_documents_from_memory(items, 80, &first, error));
    CHECK_OK(cog_documents_from_memory(items + 70, DOCUMENTS - 70, &rest, error));
    CHECK_OK(cog_documents_from_memory(items, DOCUMENTS, &all, error));
    CHECK_OK(cog_index_build(first, &options, NULL, &index, NULL, error));
    CHECK_OK(cog_index_add(index, rest, NULL, NULL, error)); /* ten ids are there already */
    cog_index_info info;
    cog_index_describe(index, &info);
    CHECK(info.rows == DOCUMENTS && info.segments == 2);
    const cog_method methods[] = {COG_METHOD_EXACT, COG_METHOD_FLAT, COG_METHOD_SLICES};
    cog_hits *exact = NULL;
    for (int i = 0; i < 3; i++) {
        cog_search_options search;
        cog_search_options_init(&search);
        search.method = methods[i];
        search.k = 3;
        cog_hits *hits = NULL;
        CHECK_OK(cog_index_search(index, all, &search, NULL, &hits, NULL, error));
        CHECK(cog_hits_count(hits) == DOCUMENTS * 3);
        for (uint32_t query = 0; query < DOCUMENTS; query++) {
            cog_hit hit = cog_hits_get(hits, query * 3u);
            CHECK(hit.rank == 1 && hit.similarity > 0.999999);
            /* All rows are candidates here, so that the methods agree. */
            for (size_t rank = 0; exact && rank < 3; rank++)
                CHECK(cog_hits_get(hits, query * 3u + rank).row ==
                      cog_hits_get(exact, query * 3u + rank).row);
        }
        if (exact)
            cog_hits_free(hits);
        else
            exact = hits;
    }
    cog_hits_free(exact);
    cog_index_close(index);
    cog_documents_close(first);
    cog_documents_close(rest);
    cog_documents_close(all);
}

TEST(index_refuses_queries_that_were_made_otherwise) {
    static char texts[DOCUMENTS][TEXT_BYTES], ids[DOCUMENTS][8];
    static cog_document items[DOCUMENTS];
    static uint8_t narrow[8];
    make_texts(texts, items, ids);
    cog_error fault = {0};
    cog_documents *documents = NULL;
    cog_signatures *signatures = NULL;
    cog_index *index = NULL;
    cog_hits *hits = NULL;
    cog_index_options options;
    cog_index_options_init(&options);
    cog_search_options search;
    cog_search_options_init(&search);
    CHECK_OK(cog_documents_from_memory(items, 10, &documents, error));
    CHECK_OK(cog_signatures_from_memory(narrow, 1, 64, &signatures, error));
    CHECK_OK(cog_index_build(documents, &options, NULL, &index, NULL, error));
    cog_sign_options sign;
    CHECK(cog_index_sign_options(index, &sign));
    CHECK_OK(cog_index_expect(index, &sign, error));
    sign.terms.stem = false;
    CHECK(cog_index_expect(index, &sign, &fault) == COG_ERR_USAGE);
    CHECK(strstr(fault.message, "stem"));
    CHECK(cog_index_search_signatures(index, signatures, NULL, &search, NULL, &hits, NULL,
                                      &fault) == COG_ERR_USAGE);
    CHECK(strstr(fault.message, "64 bits") && strstr(fault.message, "1024 bits"));
    search.method = COG_METHOD_SLICES;
    CHECK(cog_index_search(index, documents, &search, NULL, &hits, NULL, &fault) == COG_ERR_USAGE);
    cog_index_close(index);
    cog_signatures_free(signatures);
    cog_documents_close(documents);
}
