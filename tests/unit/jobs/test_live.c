/* Live indexes: threads that add, remove and search at the same time, and texts that were seen. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "cognate.h"
#include "jobs/index/index_job.h"
#include "jobs/live/live.h"
#include "test.h"

enum { WRITERS = 8, EACH = 60, TEXT_BYTES = 400 };

static void make_text(unsigned number, char *text) {
    size_t at = 0;
    for (unsigned i = 0; i < 20; i++)
        at += (size_t)snprintf(text + at, TEXT_BYTES - at, "w%u ",
                               i % 4 ? number * 31 + i * i : i + number % 7);
}

static cog_status build_index(bool of_minhash, cog_index **index, cog_error *error) {
    cog_document document = {"first", 5, "the first document of all", 25, "en", 2};
    cog_documents *documents = NULL;
    cog_index_options options;
    cog_index_options_init_for(&options, of_minhash ? COG_MEASURE_JACCARD : COG_MEASURE_COSINE);
    options.vectors = !of_minhash;
    options.method = COG_METHOD_FLAT;
    options.sign.signature.bits = 128;
    cog_status status = cog_documents_from_memory(&document, 1, &documents, error);
    if (status == COG_OK)
        status = cog_index_build(documents, &options, NULL, index, NULL, error);
    cog_documents_close(documents);
    return status;
}

static cog_status make_index_of(bool of_minhash, const char *folder, cog_error *error) {
    cog_index *index = NULL;
    cog_status status = build_index(of_minhash, &index, error);
    if (status == COG_OK)
        status = cog_index_save(index, folder, error);
    cog_index_close(index);
    return status;
}

static cog_status make_index(const char *folder, cog_error *error) {
    return make_index_of(false, folder, error);
}

struct writer {
    cog_live *live;
    unsigned number;
    double unless_similar;
    unsigned added, failed;
    bool *stop;
};

static cog_status add_one(cog_live *live, const char *id, const char *text, double unless_similar,
                          cog_live_outcome *outcome, cog_error *error) {
    cog_document document = {id, strlen(id), text, strlen(text), "en", 2};
    cog_add_options options;
    cog_add_options_init(&options);
    options.unless_similar = unless_similar;
    return cog_live_add(live, &document, &options, outcome, error);
}

static void *write_some(void *context) {
    struct writer *writer = context;
    for (unsigned i = 0; i < EACH; i++) {
        char id[32], text[TEXT_BYTES];
        cog_live_outcome outcome = {0};
        snprintf(id, sizeof id, "d%u-%u", writer->number, i);
        make_text(writer->number * EACH + i, text);
        bool added = add_one(writer->live, id, text, 0, &outcome, NULL) == COG_OK && outcome.added;
        writer->added += added;
        /* Every fifth goes again. */
        bool removed = false;
        if (i % 5 == 4 &&
            (cog_live_remove(writer->live, id, strlen(id), &removed, NULL) != COG_OK || !removed))
            writer->failed++;
    }
    return NULL;
}

/* A snapshot never has fewer documents than were acknowledged before, stays as it is, and each
 * document that it has finds itself. */
static void *read_some(void *context) {
    struct writer *reader = context;
    cog_searcher *searcher = NULL;
    cog_index *held = NULL;
    cog_search_options options;
    cog_search_options_init(&options);
    options.k = 1;
    options.method = COG_METHOD_EXACT;
    while (!__atomic_load_n(reader->stop, __ATOMIC_RELAXED)) {
        cog_index *snapshot = NULL;
        cog_index_info info, again;
        const cog_hits *hits = NULL;
        cog_status status = cog_live_snapshot(reader->live, &snapshot, NULL);
        if (status == COG_OK)
            status = searcher ? cog_searcher_move(searcher, snapshot, NULL)
                              : cog_searcher_create(snapshot, &options, &searcher, NULL);
        cog_index_close(held);
        held = snapshot;
        cog_index_describe(snapshot, &info);
        if (status == COG_OK)
            status = cog_searcher_find_text(searcher, "the first document of all", 25, "en", &hits,
                                            NULL);
        cog_index_describe(snapshot, &again);
        size_t size = 0;
        const char *id = hits && cog_hits_count(hits)
                             ? cog_index_id(snapshot, cog_hits_get(hits, 0).row, &size)
                             : NULL;
        bool right = status == COG_OK && id && size == 5 && memcmp(id, "first", 5) == 0 &&
                     info.rows == again.rows && info.segments == again.segments;
        reader->failed += !right;
        reader->added++;
    }
    cog_searcher_free(searcher);
    cog_index_close(held);
    return NULL;
}

static uint64_t rows_of(cog_live *live) {
    cog_index *snapshot = NULL;
    cog_index_info info = {0};
    if (cog_live_snapshot(live, &snapshot, NULL) == COG_OK)
        cog_index_describe(snapshot, &info);
    cog_index_close(snapshot);
    return info.rows;
}

/* Two handles of one folder, as two processes have them, with four threads each. */
TEST(live_handles_take_changes_of_many_threads) {
    const char *folder = test_path("many-threads");
    cog_live *lives[2] = {NULL, NULL};
    pthread_t threads[WRITERS + 2];
    struct writer writers[WRITERS + 2] = {{0}};
    bool stop = false;
    cog_index *index = NULL;
    CHECK_OK(make_index(folder, error));
    for (int i = 0; i < 2; i++)
        CHECK_OK(cog_live_open(folder, &lives[i], error));
    for (unsigned i = 0; i < WRITERS + 2; i++) {
        writers[i] = (struct writer){.live = lives[i % 2], .number = i, .stop = &stop};
        pthread_create(&threads[i], NULL, i < WRITERS ? write_some : read_some, &writers[i]);
    }
    for (unsigned i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (unsigned i = WRITERS; i < WRITERS + 2; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < WRITERS + 2; i++) {
        CHECK_MSG(writers[i].failed == 0, "%u failures of thread %u", writers[i].failed, i);
        CHECK(i >= WRITERS ? writers[i].added > 0 : writers[i].added == EACH);
    }
    const uint64_t rows = 1 + WRITERS * EACH * 4 / 5;
    for (int i = 0; i < 2; i++) {
        CHECK_OK(cog_live_refresh(lives[i], error));
        CHECK_MSG(rows_of(lives[i]) == rows, "%u rows", (unsigned)rows_of(lives[i]));
    }
    CHECK_OK(cog_live_compact(lives[0], NULL, NULL, error));
    CHECK(rows_of(lives[0]) == rows);
    CHECK_OK(cog_live_refresh(lives[1], error));
    CHECK(rows_of(lives[1]) == rows);
    for (int i = 0; i < 2; i++)
        cog_live_close(lives[i]);
    CHECK_OK(cog_index_open(folder, &index, error));
    CHECK_OK(cog_index_check(index, error));
    for (unsigned writer = 0; writer < WRITERS; writer++)
        for (unsigned i = 0; i < EACH; i++) {
            char id[32];
            uint32_t row;
            snprintf(id, sizeof id, "d%u-%u", writer, i);
            CHECK(cog_index_find(index, id, strlen(id), &row) == (i % 5 != 4));
        }
    cog_index_close(index);
}

static void *write_same(void *context) {
    struct writer *writer = context;
    for (unsigned i = 0; i < EACH / 4; i++) {
        char id[32], text[TEXT_BYTES];
        cog_live_outcome outcome = {0};
        snprintf(id, sizeof id, "s%u-%u", writer->number, i);
        make_text(i, text);
        if (add_one(writer->live, id, text, 0.9, &outcome, NULL) != COG_OK ||
            (!outcome.added && (outcome.similarity < 0.9 || outcome.match_id[0] != 's')))
            writer->failed++;
        writer->added += outcome.added;
    }
    return NULL;
}

/* Of texts that all threads have, each is added once, in a folder by two handles and in memory, by
 * cosine and by minhash signatures. */
TEST(live_adds_only_what_is_new) {
    for (int kind = 0; kind < 4; kind++) {
        const bool in_folder = kind % 2, of_minhash = kind / 2;
        const char *folder = test_path(of_minhash ? "same-signed" : "same-texts");
        cog_live *lives[2] = {NULL, NULL};
        pthread_t threads[WRITERS];
        struct writer writers[WRITERS] = {{0}};
        unsigned added = 0, handles = in_folder ? 2 : 1;
        if (in_folder)
            CHECK_OK(make_index_of(of_minhash, folder, error));
        for (unsigned i = 0; i < handles; i++) {
            cog_index *index = NULL;
            CHECK_OK(in_folder ? cog_index_open(folder, &index, error)
                               : build_index(of_minhash, &index, error));
            CHECK_OK(cog_live_create(index, &lives[i], error));
        }
        for (unsigned i = 0; i < WRITERS; i++) {
            writers[i] = (struct writer){.live = lives[i % handles], .number = i};
            pthread_create(&threads[i], NULL, write_same, &writers[i]);
        }
        for (unsigned i = 0; i < WRITERS; i++) {
            pthread_join(threads[i], NULL);
            CHECK_MSG(writers[i].failed == 0, "thread %u", i);
            added += writers[i].added;
        }
        CHECK_MSG(added == EACH / 4, "%u of %u texts", added, EACH / 4);
        for (unsigned i = 0; i < handles; i++)
            cog_live_close(lives[i]);
    }
}

/* Documents are noted for later requests only once a request asks for matches. One that was
 * prepared before that, and comes first in the same commit or in the one before, keeps a similar
 * one out. */
TEST(live_compares_what_was_not_noted) {
    static const uint64_t hashes[] = {3, 5, 7, 11};
    static const uint32_t frequencies[] = {1, 2, 1, 1};
    for (int in_one_commit = 0; in_one_commit < 2; in_one_commit++) {
        const char *folder = test_path(in_one_commit ? "one-commit" : "two-commits");
        struct live_request requests[2] = {{.id = view_of("plain", 5)}, {.id = view_of("like", 4)}};
        struct live_worker *worker = NULL;
        cog_live *live = NULL;
        bool found = true;
        requests[1].options.unless_similar = 0.9;
        CHECK_OK(make_index(folder, error));
        CHECK_OK(cog_live_open(folder, &live, error));
        CHECK_OK(live_take_worker(live, &worker, error));
        for (int i = 0; i < 2; i++) {
            requests[i].bag = (struct bag_view){hashes, frequencies, 4, 5, NULL};
            CHECK_OK(live_prepare_request(live, worker, &requests[i], &found, error));
            CHECK(!found && requests[i].has_vector == (i == 1));
        }
        live_return_worker(live, worker);
        if (in_one_commit)
            requests[0].next = &requests[1];
        else
            live_submit(live, &requests[0], &requests[0]);
        live_submit(live, in_one_commit ? &requests[0] : &requests[1], &requests[1]);
        CHECK(requests[0].outcome.added && !requests[1].outcome.added);
        CHECK(requests[1].status == COG_OK && requests[1].outcome.similarity > 0.99);
        CHECK(strcmp(requests[1].outcome.match_id, "plain") == 0);
        for (int i = 0; i < 2; i++)
            live_request_free(&requests[i]);
        cog_live_close(live);
    }
}

/* Without readers, documents of an index in memory still become segments. */
TEST(live_in_memory_leaves_few_documents_unprepared) {
    enum { DOCUMENTS = PENDING_DOCUMENTS_MAX + 600 };
    static char ids[DOCUMENTS][16];
    static cog_document items[DOCUMENTS];
    cog_documents *documents = NULL;
    cog_index *index = NULL;
    cog_live *live = NULL;
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        int size = snprintf(ids[i], sizeof ids[i], "w%u", i);
        items[i] = (cog_document){ids[i], (size_t)size, ids[i], (size_t)size, "en", 2};
    }
    CHECK_OK(build_index(false, &index, error));
    CHECK_OK(cog_live_create(index, &live, error));
    CHECK_OK(cog_documents_from_memory(items, DOCUMENTS, &documents, error));
    CHECK_OK(cog_live_add_documents(live, documents, NULL, NULL, NULL, NULL, NULL, error));
    CHECK(live->index->pending.corpus.rows < PENDING_DOCUMENTS_MAX);
    CHECK(rows_of(live) == DOCUMENTS + 1);
    cog_documents_close(documents);
    cog_live_close(live);
}

static void *add_named(void *context) {
    struct writer *writer = context;
    char id[16], text[TEXT_BYTES];
    snprintf(id, sizeof id, "d%u", writer->number);
    make_text(writer->number, text);
    writer->failed += add_one(writer->live, id, text, 0, NULL, NULL) != COG_OK;
    return NULL;
}

static bool shows(cog_live *live, const char *id) {
    cog_index *snapshot = NULL;
    uint32_t row;
    bool known = cog_live_snapshot(live, &snapshot, NULL) == COG_OK &&
                 cog_index_find(snapshot, id, strlen(id), &row);
    cog_index_close(snapshot);
    return known;
}

/* A commit that waits for another process keeps no reader from the last state that was shown; once
 * it is done, the next reader has it. */
TEST(live_readers_do_not_wait_for_commits) {
    const char *folder = test_path("live-readers");
    struct writer writers[3] = {{0}};
    pthread_t threads[3];
    struct timespec before, after;
    int lock;
    CHECK_OK(make_index(folder, error));
    CHECK_OK(cog_live_open(folder, &writers[0].live, error));
    cog_live *live = writers[0].live;
    for (unsigned i = 0; i < 3; i++)
        writers[i] = (struct writer){.live = live, .number = i};
    CHECK(shows(live, "first"));
    usleep(1100000); /* no readers: commits are not shown */
    for (unsigned i = 0; i < 2; i++) {
        CHECK(pthread_create(&threads[i], NULL, add_named, &writers[i]) == 0);
        pthread_join(threads[i], NULL);
    }
    CHECK_OK(index_lock(folder, &lock, error));
    CHECK(pthread_create(&threads[2], NULL, add_named, &writers[2]) == 0);
    usleep(100000); /* it waits for the folder */
    clock_gettime(CLOCK_MONOTONIC, &before);
    const bool known = shows(live, "first");
    for (unsigned i = 0; i < 1000; i++)
        (void)shows(live, "d1");
    const bool is_early = shows(live, "d2");
    clock_gettime(CLOCK_MONOTONIC, &after);
    index_unlock(lock);
    pthread_join(threads[2], NULL);
    CHECK(known && !is_early && after.tv_sec - before.tv_sec < 30);
    CHECK(shows(live, "d0") && shows(live, "d1") && shows(live, "d2"));
    CHECK(writers[0].failed + writers[1].failed + writers[2].failed == 0);
    cog_live_close(live);
}

/* What a thread has added it finds, however many others add, with readers or without. */
static void *read_own(void *context) {
    struct writer *writer = context;
    for (unsigned i = 0; i < EACH; i++) {
        char id[16], text[TEXT_BYTES];
        snprintf(id, sizeof id, "w%u-%u", writer->number, i);
        make_text(writer->number * EACH + i, text);
        writer->failed += add_one(writer->live, id, text, 0, NULL, NULL) != COG_OK;
        writer->failed += i % 10 == 9 && !shows(writer->live, id);
    }
    return NULL;
}

TEST(live_threads_see_their_own_changes) {
    struct writer writers[WRITERS];
    pthread_t threads[WRITERS];
    cog_live *live = NULL;
    const char *folder = test_path("live-own");
    CHECK_OK(make_index(folder, error));
    CHECK_OK(cog_live_open(folder, &live, error));
    for (unsigned i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){.live = live, .number = i};
        CHECK(pthread_create(&threads[i], NULL, read_own, &writers[i]) == 0);
    }
    for (unsigned i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < WRITERS; i++)
        CHECK_MSG(writers[i].failed == 0, "writer %u: %u failures", i, writers[i].failed);
    cog_live_close(live);
}

TEST(live_refuses_an_id_that_is_there) {
    const char *folder = test_path("known-id");
    cog_live *live = NULL;
    cog_live_outcome outcome;
    cog_error fault = {0};
    CHECK_OK(make_index(folder, error));
    CHECK_OK(cog_live_open(folder, &live, error));
    CHECK_OK(add_one(live, "new", "some words", 0, &outcome, error));
    CHECK(outcome.added && !outcome.replaced);
    CHECK(add_one(live, "new", "other words", 0, &outcome, &fault) == COG_ERR_INPUT);
    CHECK(!outcome.added && strstr(fault.message, "already"));
    cog_document document = {"new", 3, "other words", 11, "en", 2};
    cog_add_options options;
    cog_add_options_init(&options);
    options.upsert = true;
    CHECK_OK(cog_live_add(live, &document, &options, &outcome, error));
    CHECK(outcome.added && outcome.replaced && rows_of(live) == 2);
    CHECK_OK(add_one(live, "none", "", 0, &outcome, error));
    CHECK(!outcome.added && rows_of(live) == 2);
    options.unless_similar = 2;
    CHECK(cog_live_add(live, &document, &options, &outcome, &fault) == COG_ERR_USAGE);
    cog_live_close(live);
}

/* ---- Seen texts ------------------------------------------------------------------------------ */

enum { SEEN = 300 };

static void make_seen(char texts[SEEN][TEXT_BYTES], cog_document items[SEEN]) {
    struct random random = random_seeded(5);
    for (unsigned i = 0; i < SEEN; i++) {
        unsigned words = 1 + (unsigned)random_below(&random, 45);
        size_t at = 0;
        for (unsigned w = 0; w < words; w++)
            at += (size_t)snprintf(texts[i] + at, TEXT_BYTES - at, "w%u ",
                                   (unsigned)random_below(&random, words < 5 ? 3 : 500));
        if (i % 3) { /* an earlier one, with a word changed */
            memcpy(texts[i], texts[random_below(&random, i)], TEXT_BYTES);
            size_t size = strlen(texts[i]);
            if (i % 3 == 2 && size)
                texts[i][random_below(&random, size)] = 'x';
        }
        items[i] = (cog_document){NULL, 0, texts[i], strlen(texts[i]), "", 0};
    }
}

TEST(seen_texts_are_not_kept_in_the_folder_of_an_index) {
    static char texts[SEEN][TEXT_BYTES];
    static cog_document items[SEEN];
    const char *folder = test_path("index");
    cog_index_options index_options;
    cog_seen_options options;
    cog_documents *documents = NULL;
    cog_index *index = NULL;
    cog_seen *seen = NULL;
    cog_error refused = {0};
    make_seen(texts, items);
    cog_index_options_init(&index_options);
    cog_seen_options_init(&options);
    CHECK_OK(cog_documents_from_memory(items, 10, &documents, error));
    CHECK_OK(cog_index_build(documents, &index_options, NULL, &index, NULL, error));
    CHECK_OK(cog_index_save(index, folder, error));
    CHECK(cog_seen_open(&options, folder, &seen, &refused) == COG_ERR_USAGE && !seen);
    CHECK_MSG(strstr(refused.message, "holds an index"), "%s", refused.message);
    cog_index_close(index);
    cog_documents_close(documents);
}

/* The same as the pairs that are found with all texts at hand. */
TEST(seen_texts_are_those_of_pairs) {
    static char texts[SEEN][TEXT_BYTES];
    static cog_document items[SEEN];
    const char *folder = test_path("seen");
    cog_dedup_options dedup;
    cog_documents *documents = NULL;
    cog_pairs *pairs = NULL;
    cog_seen *seen = NULL;
    cog_seen_options options;
    double best[SEEN] = {0};
    make_seen(texts, items);
    cog_dedup_options_init(&dedup);
    cog_seen_options_init(&options);
    options.threshold = dedup.pairs.threshold = 0.6;
    CHECK_OK(cog_documents_from_memory(items, SEEN, &documents, error));
    CHECK_OK(cog_pairs_find(documents, NULL, &dedup.pairs, NULL, &pairs, NULL, error));
    for (size_t i = 0; i < cog_pairs_count(pairs); i++) {
        cog_pair pair = cog_pairs_get(pairs, i);
        uint32_t later = pair.a > pair.b ? pair.a : pair.b;
        best[later] = pair.similarity > best[later] ? pair.similarity : best[later];
    }
    CHECK(cog_pairs_count(pairs) > SEEN / 2);
    for (unsigned i = 0; i < SEEN; i++) {
        uint64_t number;
        double similarity;
        if (i % 100 == 0) { /* from the folder again */
            cog_seen_close(seen);
            seen = NULL;
            CHECK_OK(cog_seen_open(&options, folder, &seen, error));
            CHECK(cog_seen_count(seen) == i);
        }
        CHECK_OK(cog_seen_check(seen, texts[i], strlen(texts[i]), &number, &similarity, error));
        CHECK_MSG(
            (number == COG_SEEN_NONE) == (best[i] == 0) &&
                (best[i] == 0 || (similarity - best[i] < 1e-6 && best[i] - similarity < 1e-6)),
            "text %u: %g, expected %g", i, similarity, best[i]);
        CHECK(number == COG_SEEN_NONE || number < i);
    }
    cog_error fault = {0};
    cog_seen *second = NULL;
    CHECK(cog_seen_open(&options, folder, &second, &fault) == COG_ERR_BUSY);
    cog_seen_close(seen);
    options.ngram = 4;
    CHECK(cog_seen_open(&options, folder, &seen, &fault) == COG_ERR_USAGE);
    cog_pairs_free(pairs);
    cog_documents_close(documents);
}
