/* Merges of segments of sets in a folder: the bytes of a build, a heap that does not grow with the
 * index, and stopping on request. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/heap.h"
#include "base/io/files.h"
#include "cognate.h"
#include "jobs/index/index_job.h"
#include "test.h"

enum { WORDS = 60, TEXT_BYTES = WORDS * 8, BATCH = 4000, REMOVED_EVERY = 7 };

static size_t make_text(size_t number, char *text) {
    struct random random = random_seeded(number);
    size_t size = 0;
    const size_t words = number % 11 == 0 ? number % 4 : WORDS;
    for (size_t i = 0; i < words; i++)
        size += (size_t)snprintf(text + size, TEXT_BYTES - size, "w%zu ",
                                 (size_t)random_below(&random, 60000));
    return size;
}

/* Documents first .. first + count; those that will be removed are left out if `left_out`. */
static cog_status make_documents(size_t first, size_t count, bool left_out, char *texts,
                                 char (*ids)[16], cog_document *items, cog_documents **documents,
                                 cog_error *error) {
    size_t kept = 0;
    for (size_t i = first; i < first + count; i++) {
        char *text = texts + (i - first) * TEXT_BYTES;
        if (left_out && i % REMOVED_EVERY == 3)
            continue;
        const size_t id_size = (size_t)snprintf(ids[i - first], 16, "d%zu", i);
        items[kept++] = (cog_document){ids[i - first], id_size, text, make_text(i, text), "en", 2};
    }
    return cog_documents_from_memory(items, kept, documents, error);
}

/* An index in a folder, of batches that are segments each; or of one build without the removed. */
static cog_status make_index(const char *folder, size_t count, bool at_once, cog_index **index,
                             cog_error *error) {
    const size_t batch = at_once ? count : BATCH;
    char *texts = malloc(batch * TEXT_BYTES);
    char(*ids)[16] = malloc(batch * sizeof *ids);
    cog_document *items = malloc(batch * sizeof *items);
    cog_index_options options;
    cog_index_options_init_for(&options, COG_MEASURE_JACCARD);
    cog_status status = texts && ids && items ? COG_OK : COG_ERR_MEMORY;
    for (size_t first = 0; first < count && status == COG_OK; first += batch) {
        cog_documents *documents = NULL;
        status = make_documents(first, batch, at_once, texts, ids, items, &documents, error);
        if (status == COG_OK && first == 0) {
            status = cog_index_build(documents, &options, NULL, index, NULL, error);
            if (status == COG_OK)
                status = cog_index_save(*index, folder, error);
            cog_index_close(*index);
            *index = NULL;
            if (status == COG_OK)
                status = cog_index_open(folder, index, error);
        } else if (status == COG_OK)
            status = cog_index_add(*index, documents, NULL, NULL, error);
        cog_documents_close(documents);
    }
    free(texts);
    free(ids);
    free(items);
    return status;
}

static cog_status remove_some(cog_index *index, size_t count, cog_error *error) {
    char(*ids)[16] = malloc(count * sizeof *ids);
    const char **names = malloc(count * sizeof *names);
    size_t removed = 0;
    for (size_t i = 3; ids && names && i < count; i += REMOVED_EVERY) {
        snprintf(ids[removed], sizeof *ids, "d%zu", i);
        names[removed] = ids[removed];
        removed++;
    }
    cog_status status = cog_index_remove(index, names, removed, NULL, error);
    free(ids);
    free(names);
    return status;
}

/* The file of the one segment that a compacted index has. */
static cog_status map_segment(const cog_index *index, struct mapping *mapping, cog_error *error) {
    return mapping_open(index->parts.segments[0].container.path, mapping, error);
}

TEST(merged_sets_are_those_of_a_build) {
    enum { COUNT = 2 * BATCH };
    cog_index *grown = NULL, *built = NULL;
    struct mapping a = {0}, b = {0};
    CHECK_OK(make_index(test_path("sets-grown"), COUNT, false, &grown, error));
    CHECK_OK(make_index(test_path("sets-built"), COUNT, true, &built, error));
    CHECK_OK(remove_some(grown, COUNT, error));
    CHECK(grown->parts.manifest.count == 2);
    CHECK_OK(cog_index_compact(grown, NULL, NULL, error));
    CHECK_OK(cog_index_check(grown, error));
    CHECK(grown->parts.manifest.count == 1 && grown->parts.rows == built->parts.rows);
    CHECK_OK(map_segment(grown, &a, error));
    CHECK_OK(map_segment(built, &b, error));
    CHECK(a.size == b.size && memcmp(a.data, b.data, a.size) == 0);
    mapping_close(&a);
    mapping_close(&b);
    cog_index_close(grown);
    cog_index_close(built);
}

/* The most that the heap holds while an index of that many documents is compacted. */
static cog_status compact_counted(const char *folder, size_t count, uint64_t *peak,
                                  uint64_t *file_bytes, cog_error *error) {
    struct heap_account account = {0};
    cog_index *index = NULL;
    cog_index_info info = {0};
    cog_status status = make_index(folder, count, false, &index, error);
    if (status == COG_OK) {
        struct heap_account *previous = heap_account_set(&account);
        status = cog_index_compact(index, NULL, NULL, error);
        heap_account_set(previous);
        cog_index_describe(index, &info);
    }
    *peak = heap_account_peak(&account);
    *file_bytes = info.file_bytes;
    cog_index_close(index);
    return status;
}

/* Ten bytes per document are those of the table of ids and of arrays below a megabyte. */
TEST(merges_of_sets_stream) {
    uint64_t single, doubled, single_bytes, doubled_bytes;
    CHECK_OK(compact_counted(test_path("sets-single"), 4 * BATCH, &single, &single_bytes, error));
    CHECK_OK(compact_counted(test_path("sets-double"), 8 * BATCH, &doubled, &doubled_bytes, error));
    CHECK_MSG(doubled < single + 10 * 4 * BATCH + (256 << 10), "%llu bytes, doubled %llu",
              (unsigned long long)single, (unsigned long long)doubled);
    CHECK_MSG(doubled_bytes > 10 * doubled && doubled_bytes > single_bytes * 3 / 2,
              "%llu bytes of memory for a file of %llu", (unsigned long long)doubled,
              (unsigned long long)doubled_bytes);
}

TEST(merges_of_sets_stop_when_told) {
    cog_index *index = NULL;
    cog_cancel *cancel = NULL;
    cog_run_options run = {0};
    CHECK_OK(make_index(test_path("sets-stopped"), 2 * BATCH, false, &index, error));
    CHECK_OK(cog_cancel_create(&cancel, error));
    run.cancel = cancel;
    cog_cancel_set(cancel);
    CHECK(cog_index_compact(index, &run, NULL, NULL) == COG_ERR_CANCELLED);
    CHECK(index->parts.manifest.count == 2);
    CHECK_OK(cog_index_check(index, error));
    run.cancel = NULL;
    CHECK_OK(cog_index_compact(index, &run, NULL, error));
    CHECK(index->parts.manifest.count == 1);
    cog_cancel_free(cancel);
    cog_index_close(index);
}
