/* Merges of a live index next to additions, replacements, removals, searches and compactions,
 * against a model in memory: each writer knows what it has put where. */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/hash.h"
#include "cognate.h"
#include "index/merging.h"
#include "jobs/index/index_pending.h"
#include "jobs/index/merge_job.h"
#include "jobs/index/segment_change.h"
#include "test.h"

enum { WRITERS = 4, IDS = 40, STEPS = 150, LOG_DOCUMENTS = 12, TEXT_BYTES = 200 };

/* The text of a version of an id: no two are equal. */
static size_t make_text(unsigned writer, unsigned id, unsigned version, char *text) {
    return (size_t)snprintf(text, TEXT_BYTES, "common words of all x%u y%u z%u v%ux%ux%u", writer,
                            id % 7, id, writer, id, version);
}

static cog_status make_index(const char *folder, bool vectors, cog_error *error) {
    cog_document document = {"first", 5, "the first document of all", 25, "en", 2};
    cog_documents *documents = NULL;
    cog_index *index = NULL;
    cog_index_options options;
    cog_index_options_init(&options);
    options.method = COG_METHOD_FLAT;
    options.vectors = vectors;
    options.sign.signature.bits = 128;
    cog_status status = cog_documents_from_memory(&document, 1, &documents, error);
    if (status == COG_OK)
        status = cog_index_build(documents, &options, NULL, &index, NULL, error);
    if (status == COG_OK)
        status = cog_index_save(index, folder, error);
    cog_documents_close(documents);
    cog_index_close(index);
    return status;
}

struct writer {
    cog_live *live;
    unsigned number;
    unsigned versions[IDS]; /* 0: the id is not there */
    unsigned next_version, failed;
    bool *stop;
};

static void name(const struct writer *writer, unsigned id, char text[32]) {
    snprintf(text, 32, "w%u-%u", writer->number, id);
}

/* A snapshot shows the last change that the writer of an id made. */
static bool is_right(const struct writer *writer, cog_index *state, unsigned id) {
    char own[32];
    uint32_t row;
    name(writer, id, own);
    return cog_index_find(state, own, strlen(own), &row) == (writer->versions[id] > 0);
}

static bool change_one(struct writer *writer, struct random *random) {
    unsigned id = (unsigned)random_below(random, IDS);
    char own[32], text[TEXT_BYTES];
    name(writer, id, own);
    if (writer->versions[id] && random_below(random, 3) == 0) {
        bool removed = false;
        writer->versions[id] = 0;
        return cog_live_remove(writer->live, own, strlen(own), &removed, NULL) == COG_OK && removed;
    }
    cog_add_options options;
    cog_add_options_init(&options);
    options.upsert = true;
    writer->versions[id] = ++writer->next_version;
    size_t size = make_text(writer->number, id, writer->versions[id], text);
    cog_document document = {own, strlen(own), text, size, "en", 2};
    return cog_live_add(writer->live, &document, &options, NULL, NULL) == COG_OK;
}

static void *write_some(void *context) {
    struct writer *writer = context;
    struct random random = random_seeded(writer->number);
    for (unsigned i = 0; i < STEPS; i++) {
        cog_index *snapshot = NULL;
        writer->failed += !change_one(writer, &random);
        if (cog_live_snapshot(writer->live, &snapshot, NULL) != COG_OK)
            writer->failed++;
        for (unsigned n = 0; snapshot && n < 4; n++)
            writer->failed += !is_right(writer, snapshot, (unsigned)random_below(&random, IDS));
        cog_index_close(snapshot);
    }
    return NULL;
}

/* The document that nobody changes is found, with the similarity of itself. */
static void *search_some(void *context) {
    struct writer *reader = context;
    cog_search_options options;
    cog_search_options_init(&options);
    options.k = 1;
    while (!__atomic_load_n(reader->stop, __ATOMIC_RELAXED)) {
        cog_index *snapshot = NULL;
        cog_searcher *searcher = NULL;
        const cog_hits *hits = NULL;
        size_t size = 0;
        cog_status status = cog_live_snapshot(reader->live, &snapshot, NULL);
        if (status == COG_OK)
            status = cog_searcher_create(snapshot, &options, &searcher, NULL);
        if (status == COG_OK)
            status = cog_searcher_find_text(searcher, "the first document of all", 25, "en", &hits,
                                            NULL);
        bool found = status == COG_OK && cog_hits_count(hits) == 1;
        const char *id = found ? cog_index_id(snapshot, cog_hits_get(hits, 0).row, &size) : NULL;
        reader->failed += !id || size != 5 || memcmp(id, "first", 5) != 0;
        cog_searcher_free(searcher);
        cog_index_close(snapshot);
    }
    return NULL;
}

static void *compact_some(void *context) {
    struct writer *own = context;
    while (!__atomic_load_n(own->stop, __ATOMIC_RELAXED)) {
        own->failed += cog_live_compact(own->live, NULL, NULL, NULL) != COG_OK;
        usleep(50000);
    }
    return NULL;
}

/* The index has the documents of the model and no others. */
static bool has_model(cog_index *index, const struct writer *writers) {
    cog_index_info info;
    uint64_t count = 1;
    bool right = cog_index_check(index, NULL) == COG_OK;
    for (unsigned w = 0; w < WRITERS; w++)
        for (unsigned id = 0; id < IDS; id++) {
            count += writers[w].versions[id] > 0;
            right = right && is_right(&writers[w], index, id);
        }
    cog_index_describe(index, &info);
    return right && info.rows == count;
}

/* Each document of the model is the nearest to its own text, with similarity 1. */
static bool finds_model(cog_index *index, const struct writer *writers) {
    cog_search_options options;
    cog_searcher *searcher = NULL;
    cog_search_options_init(&options);
    options.k = 1;
    options.method = COG_METHOD_EXACT;
    bool right = cog_searcher_create(index, &options, &searcher, NULL) == COG_OK;
    for (unsigned w = 0; w < WRITERS; w++)
        for (unsigned id = 0; id < IDS && right; id++) {
            char own[32], text[TEXT_BYTES];
            const cog_hits *hits = NULL;
            size_t size = 0;
            if (!writers[w].versions[id])
                continue;
            name(&writers[w], id, own);
            size_t text_size = make_text(w, id, writers[w].versions[id], text);
            right =
                cog_searcher_find_text(searcher, text, text_size, "en", &hits, NULL) == COG_OK &&
                cog_hits_count(hits) == 1;
            cog_hit hit = right ? cog_hits_get(hits, 0) : (cog_hit){0};
            const char *found = right ? cog_index_id(index, hit.row, &size) : NULL;
            right = found && size == strlen(own) && memcmp(found, own, size) == 0 &&
                    hit.similarity > 0.999999;
        }
    cog_searcher_free(searcher);
    return right;
}

static unsigned count_files(const char *folder, const char *prefix) {
    DIR *files = opendir(folder);
    unsigned count = 0;
    for (struct dirent *file; files && (file = readdir(files));)
        count += strncmp(file->d_name, prefix, strlen(prefix)) == 0;
    if (files)
        closedir(files);
    return count;
}

/* Runs writers and readers, and a thread that compacts if `compacts`. */
static void run_threads(struct writer *workers, bool compacts) {
    void *(*const work[])(void *) = {search_some, compact_some};
    pthread_t threads[WRITERS + 2];
    unsigned others = compacts ? 2 : 1;
    for (unsigned i = 0; i < WRITERS + others; i++)
        pthread_create(&threads[i], NULL, i < WRITERS ? write_some : work[i - WRITERS],
                       &workers[i]);
    for (unsigned i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    __atomic_store_n(workers[0].stop, true, __ATOMIC_RELAXED);
    for (unsigned i = WRITERS; i < WRITERS + others; i++)
        pthread_join(threads[i], NULL);
}

static void merge_while_changing(const char *folder, bool vectors, bool compacts) {
    struct writer workers[WRITERS + 2] = {{0}};
    bool stop = false;
    cog_live *live = NULL;
    cog_index *index = NULL;
    cog_index_info info;
    CHECK_OK(make_index(folder, vectors, error));
    CHECK_OK(cog_live_open(folder, &live, error));
    for (unsigned i = 0; i < WRITERS + 2; i++)
        workers[i] = (struct writer){.live = live, .number = i, .stop = &stop};
    run_threads(workers, compacts);
    for (unsigned i = 0; i < WRITERS + 2; i++)
        CHECK_MSG(workers[i].failed == 0, "thread %u: %u failures", i, workers[i].failed);
    CHECK_OK(cog_live_settle(live, error));
    CHECK_OK(cog_live_snapshot(live, &index, error));
    CHECK(has_model(index, workers));
    cog_index_describe(index, &info);
    /* Without merges every twelfth document would have left a segment. */
    CHECK_MSG(info.segments < 24, "%llu segments", (unsigned long long)info.segments);
    cog_index_close(index);
    cog_live_close(live);
    CHECK(count_files(folder, "merging") == 0);
    CHECK_OK(cog_index_open(folder, &index, error));
    CHECK(has_model(index, workers));
    CHECK(!vectors || finds_model(index, workers));
    cog_index_close(index);
}

TEST(live_merges_run_beside_changes_and_searches) {
    log_set_most_documents(LOG_DOCUMENTS);
    merge_while_changing(test_path("merge-tiers"), true, false);
    merge_while_changing(test_path("merge-compact"), true, true);
    merge_while_changing(test_path("merge-bare"), false, true);
    log_set_most_documents(0);
}

/* ---- Steps of one merge ---------------------------------------------------------------------- */

static cog_status add_numbered(cog_index *index, unsigned first, unsigned count, cog_error *error) {
    cog_document items[64];
    char ids[64][16], texts[64][TEXT_BYTES];
    cog_documents *documents = NULL;
    for (unsigned i = 0; i < count; i++) {
        size_t size = make_text(9, first + i, 1, texts[i]);
        snprintf(ids[i], sizeof ids[i], "n%u", first + i);
        items[i] = (cog_document){ids[i], strlen(ids[i]), texts[i], size, "en", 2};
    }
    cog_status status = cog_documents_from_memory(items, count, &documents, error);
    if (status == COG_OK)
        status = cog_index_add(index, documents, NULL, NULL, error);
    cog_documents_close(documents);
    return status;
}

/* Chooses and writes, without committing. */
static cog_status start_merge(cog_index *index, struct merge_job *job, cog_error *error) {
    int lock;
    cog_status status = change_begin(index, 0, &lock, NULL, error);
    if (status == COG_OK)
        status = change_flush(index, 1, NULL, error);
    if (status == COG_OK)
        status = merge_choose(index, MERGE_ALL, job, error);
    index_unlock(lock);
    return status == COG_OK ? merge_write(job, 1, error) : status;
}

static cog_status end_merge(cog_index *index, struct merge_job *job, cog_error *error) {
    int lock;
    cog_status status = change_begin(index, 0, &lock, NULL, error);
    if (status == COG_OK)
        status = merge_commit(index, job, NULL, error);
    index_unlock(lock);
    return status;
}

static bool knows(cog_index *index, const char *id) {
    uint32_t row;
    return cog_index_find(index, id, strlen(id), &row);
}

/* Another handle removes and adds between the steps of a merge; its files stay until the end. */
TEST(merge_keeps_changes_of_others) {
    const char *folder = test_path("merge-steps");
    cog_index *own = NULL, *other = NULL, *old = NULL;
    struct merge_job job = {.lock = -1}, second = {.lock = -1};
    const char *gone[] = {"n3", "n40"};
    CHECK_OK(make_index(folder, true, error));
    CHECK_OK(cog_index_open(folder, &own, error));
    CHECK_OK(cog_index_open(folder, &other, error));
    CHECK_OK(add_numbered(own, 0, 30, error));
    CHECK_OK(start_merge(own, &job, error));
    merge_job_free(&job); /* left alone: nothing is there */
    CHECK(count_files(folder, "merging") == 0);
    CHECK_OK(add_numbered(own, 30, 30, error));
    CHECK_OK(start_merge(own, &job, error));
    CHECK_OK(cog_index_snapshot(own, &old, error));
    CHECK(start_merge(other, &second, NULL) == COG_ERR_BUSY);
    merge_job_free(&second);
    CHECK_OK(cog_index_remove(other, gone, 2, NULL, error));
    CHECK_OK(add_numbered(other, 60, 10, error));
    CHECK(count_files(folder, "merging") == 2);
    CHECK_OK(end_merge(own, &job, error));
    merge_job_free(&job);
    CHECK(count_files(folder, "merging") == 0 && count_files(folder, "segment-") == 1);
    cog_index_info info;
    cog_index_describe(own, &info);
    CHECK(info.rows == 69 && !knows(own, "n3") && !knows(own, "n40") && knows(own, "n4") &&
          knows(own, "n65") && knows(own, "first"));
    CHECK(knows(old, "n3") && !knows(old, "n65"));
    CHECK_OK(cog_index_check(own, error));
    cog_index_close(old);
    cog_index_close(own);
    CHECK_OK(cog_index_open(folder, &own, error));
    CHECK_OK(cog_index_check(own, error));
    cog_index_describe(own, &info);
    CHECK(info.rows == 69 && !knows(own, "n40") && knows(own, "n65"));
    /* What another process has compacted meanwhile is not put in place. */
    CHECK_OK(start_merge(own, &job, error));
    int lock = job.lock;
    CHECK(flock(lock, LOCK_UN) == 0); /* as if it had been killed */
    CHECK_OK(cog_index_compact(other, NULL, NULL, error));
    CHECK(end_merge(own, &job, NULL) == COG_ERR_BUSY);
    merge_job_free(&job);
    CHECK_OK(cog_index_check(own, error));
    cog_index_close(own);
    cog_index_close(other);
}

/* Files of a merge that was killed go with the next change of segments. */
TEST(merge_leftovers_are_swept) {
    const char *folder = test_path("merge-killed");
    cog_index *index = NULL;
    struct merge_job job = {.lock = -1};
    CHECK_OK(make_index(folder, true, error));
    CHECK_OK(cog_index_open(folder, &index, error));
    CHECK_OK(add_numbered(index, 0, 20, error));
    CHECK_OK(start_merge(index, &job, error));
    int copy = dup(job.lock);
    CHECK(count_files(folder, "merging") == 2);
    CHECK(flock(copy, LOCK_UN) == 0);
    CHECK_OK(add_numbered(index, 20, 20, error)); /* a new log: a new manifest, nothing is swept */
    CHECK_OK(cog_index_compact(index, NULL, NULL, error));
    CHECK(count_files(folder, "merging") == 0);
    CHECK_OK(cog_index_check(index, error));
    close(copy);
    merge_job_free(&job);
    cog_index_close(index);
}
