/* The public API as a server or a binding uses it: documents from memory, nothing on disk, optional
 * arguments NULL, results read in pieces. */
#include <pthread.h>

#include "base/hash.h"
#include "cognate.h"
#include "test.h"

enum { DOCUMENTS = 6 };
static const char *const texts[DOCUMENTS] = {
    "the quick brown fox jumps over the lazy dog near the old river bank",
    "the quick brown fox jumps over the lazy dog near the old river bend",
    "one document says nothing of the other and stands alone in the cold",
    "the quick brown fox jumps over the lazy dog near the old river bank",
    "winter storms closed the mountain road for several days last week",
    "winter storms closed the mountain road for several weeks last year",
};
static const char *const ids[DOCUMENTS] = {"a", "b", "c", "d", "e", "f"};

static void fill(cog_document *items, size_t first, size_t count) {
    for (size_t i = 0; i < count; i++)
        items[i] = (cog_document){.id = ids[first + i],
                                  .id_size = 1,
                                  .text = texts[first + i],
                                  .text_size = strlen(texts[first + i]),
                                  .lang = "en",
                                  .lang_size = 2};
}

TEST(api_status_names_are_words) {
    CHECK(strcmp(cog_status_name(COG_OK), "ok") == 0);
    CHECK(strcmp(cog_status_name(COG_ERR_CANCELLED), "cancelled") == 0);
    CHECK(strcmp(cog_status_name(COG_ERR_BUSY), "busy") == 0);
    CHECK(strcmp(cog_status_name((cog_status)99), "unknown") == 0);
    CHECK(strcmp(cog_version(), COG_VERSION) == 0);
}

TEST(api_pairs_are_read_in_pieces) {
    cog_document items[DOCUMENTS];
    cog_documents *documents = NULL;
    cog_pairs_options options;
    cog_pairs *pairs = NULL;
    fill(items, 0, DOCUMENTS);
    cog_pairs_options_init(&options, COG_MEASURE_JACCARD);
    options.threshold = 0.3;
    CHECK(cog_documents_from_memory(items, DOCUMENTS, &documents, NULL) == COG_OK);
    CHECK(cog_pairs_find(documents, NULL, &options, NULL, &pairs, NULL, NULL) == COG_OK);
    size_t count = cog_pairs_count(pairs);
    CHECK(count == 4);
    cog_pair whole[5], piece[2];
    CHECK(cog_pairs_read(pairs, 0, 5, whole) == count);
    for (size_t first = 0; first < count; first += 2) {
        CHECK(cog_pairs_read(pairs, first, 2, piece) == 2);
        for (size_t i = 0; i < 2; i++)
            CHECK(piece[i].a == whole[first + i].a && piece[i].b == whole[first + i].b &&
                  piece[i].similarity == cog_pairs_get(pairs, first + i).similarity);
    }
    CHECK(cog_pairs_read(pairs, count, 2, piece) == 0 && cog_pairs_read(pairs, 100, 2, piece) == 0);
    cog_pairs_free(pairs);
    cog_documents_close(documents);
}

TEST(api_documents_that_are_not_utf8_or_have_impossible_ids_are_bad_records) {
    cog_document items[DOCUMENTS];
    cog_documents *documents = NULL;
    cog_pairs_options options;
    cog_pairs *pairs = NULL;
    cog_report *report = NULL;
    fill(items, 0, DOCUMENTS);
    items[0].id = "\xff";
    items[1].lang = "\xc3";
    items[1].lang_size = 1;
    items[2].text = "one \xe4 two";
    items[2].text_size = 9;
    items[3].id = "d\0d";
    items[3].id_size = 3;
    cog_pairs_options_init(&options, COG_MEASURE_COSINE);
    CHECK_OK(cog_report_create(&report, error));
    CHECK_OK(cog_documents_from_memory(items, DOCUMENTS, &documents, error));
    CHECK_OK(cog_pairs_find(documents, NULL, &options, NULL, &pairs, report, error));
    CHECK(cog_report_number(report, "bad_records") == 4);
    CHECK(strstr(cog_report_notice(report, 0), "document 0: not valid UTF-8"));
    CHECK(strstr(cog_report_notice(report, 3), "document 3: the id has a NUL character"));
    cog_pairs_free(pairs);
    cog_documents_close(documents);
    cog_report_free(report);
}

TEST(api_clusters_come_without_outputs) {
    cog_document items[DOCUMENTS];
    cog_documents *documents = NULL;
    cog_dedup_options options;
    cog_clusters *clusters = NULL;
    fill(items, 0, DOCUMENTS);
    cog_dedup_options_init(&options);
    CHECK(cog_documents_from_memory(items, DOCUMENTS, &documents, NULL) == COG_OK);
    CHECK(cog_dedup(documents, &options, NULL, NULL, &clusters, NULL, NULL) == COG_OK);
    cog_cluster_member members[4];
    CHECK(cog_clusters_count(clusters) == 1);
    CHECK(cog_clusters_read(clusters, 1, 4, members) == 2);
    CHECK(members[0].row == 1 && members[1].row == 3 && members[1].representative == 0);
    CHECK(cog_clusters_read(clusters, 3, 4, members) == 0);
    CHECK(cog_clusters_is_kept(clusters, 0) && !cog_clusters_is_kept(clusters, 3));
    cog_clusters_free(clusters);
    cog_documents_close(documents);
}

static cog_status search_text(const cog_index *index, const char *text, cog_hits **hits) {
    cog_document query = {.text = text, .text_size = strlen(text), .lang = "en", .lang_size = 2};
    cog_documents *queries = NULL;
    cog_search_options options;
    cog_search_options_init(&options);
    options.k = 2;
    cog_status status = cog_documents_from_memory(&query, 1, &queries, NULL);
    if (status == COG_OK)
        status = cog_index_search(index, queries, &options, NULL, hits, NULL, NULL);
    cog_documents_close(queries);
    return status;
}

TEST(api_index_lives_in_memory) {
    cog_document items[DOCUMENTS];
    cog_documents *documents = NULL, *more = NULL;
    cog_index_options options;
    cog_index *index = NULL;
    cog_hits *hits = NULL;
    cog_hit found[3];
    uint32_t row = 99;
    fill(items, 0, DOCUMENTS);
    cog_index_options_init(&options);
    CHECK(cog_documents_from_memory(items, 5, &documents, NULL) == COG_OK);
    CHECK(cog_documents_from_memory(items + 4, 2, &more, NULL) == COG_OK);
    CHECK(cog_index_build(documents, &options, NULL, &index, NULL, NULL) == COG_OK);
    CHECK(cog_index_add(index, more, NULL, NULL, NULL) == COG_OK); /* e is there already */
    CHECK(cog_index_find(index, "f", 1, &row) && row == 5);
    CHECK(!cog_index_find(index, "nobody", 6, &row) && row == 5);
    CHECK(search_text(index, texts[0], &hits) == COG_OK);
    CHECK(cog_hits_read(hits, 0, 3, found) == 2 && cog_hits_read(hits, 2, 3, found) == 0);
    CHECK(found[0].row == 0 && found[1].row == 3 && found[1].rank == 2);
    cog_hits_free(hits);
    hits = NULL;
    CHECK(cog_index_remove(index, ids, 1, NULL, NULL) == COG_OK);
    CHECK(!cog_index_find(index, "a", 1, &row) && cog_index_find(index, "d", 1, &row) && row == 3);
    CHECK(search_text(index, texts[0], &hits) == COG_OK);
    CHECK(cog_hits_get(hits, 0).row == 3);
    cog_hits_free(hits);
    cog_index_close(index);
    cog_documents_close(documents);
    cog_documents_close(more);
}

enum { COLLECTION = 300, QUERIES = 20, WORDS = 30, WORD_BYTES = 5 };

/* Words of 4 letters and a space, of a small vocabulary, so that documents share some. */
static void write_words(char *text, struct random *random) {
    for (int i = 0; i < WORDS; i++, text += WORD_BYTES)
        snprintf(text, WORD_BYTES + 1, "w%03u ", (unsigned)random_below(random, 400));
}

static cog_status search_items(const cog_index *index, const cog_document *items, size_t count,
                               const cog_search_options *options, cog_hits **hits) {
    cog_documents *queries = NULL;
    cog_status status = cog_documents_from_memory(items, count, &queries, NULL);
    if (status == COG_OK)
        status = cog_index_search(index, queries, options, NULL, hits, NULL, NULL);
    cog_documents_close(queries);
    return status;
}

/* One query at a time is searched in another way than many together. */
static bool answers_alike(const cog_index *index, const cog_document *items,
                          const cog_search_options *options) {
    cog_hits *together = NULL, *alone = NULL;
    bool alike = search_items(index, items, QUERIES, options, &together) == COG_OK &&
                 cog_hits_count(together) > QUERIES;
    size_t at = 0;
    for (uint32_t query = 0; query < QUERIES && alike; query++) {
        alike = search_items(index, items + query, 1, options, &alone) == COG_OK;
        for (size_t i = 0; alike && i < cog_hits_count(alone); i++, at++) {
            cog_hit a = cog_hits_get(alone, i), b = cog_hits_get(together, at);
            alike = b.query == query && a.row == b.row && a.rank == b.rank &&
                    a.similarity == b.similarity;
        }
        cog_hits_free(alone);
        alone = NULL;
    }
    alike = alike && at == cog_hits_count(together);
    cog_hits_free(together);
    return alike;
}

/* Documents of random words, and an index of them in memory. */
struct words_world {
    char texts[COLLECTION][WORDS * WORD_BYTES + 1];
    cog_document items[COLLECTION];
    cog_index *index;
};

static struct words_world *make_words_world(void) {
    struct words_world *world = calloc(1, sizeof *world);
    struct random random = random_seeded(11);
    cog_documents *documents = NULL;
    cog_index_options options;
    for (size_t i = 0; i < COLLECTION; i++) {
        write_words(world->texts[i], &random);
        world->items[i] = (cog_document){
            .text = world->texts[i], .text_size = WORDS * WORD_BYTES, .lang = "en", .lang_size = 2};
    }
    cog_index_options_init(&options);
    if (cog_documents_from_memory(world->items, COLLECTION, &documents, NULL) != COG_OK ||
        cog_index_build(documents, &options, NULL, &world->index, NULL, NULL) != COG_OK)
        abort();
    cog_documents_close(documents);
    return world;
}

static void free_words_world(struct words_world *world) {
    cog_index_close(world->index);
    free(world);
}

TEST(api_queries_alone_and_together_are_answered_alike) {
    struct words_world *world = make_words_world();
    cog_search_options search;
    cog_search_options_init(&search);
    CHECK(answers_alike(world->index, world->items, &search));
    search.k = 0;
    search.threshold = 0.1;
    CHECK(answers_alike(world->index, world->items, &search));
    free_words_world(world);
}

struct searching_thread {
    const cog_index *index;
    const cog_document *items;
    cog_search_options options;
    bool alike;
};

static void *search_in_thread(void *context) {
    struct searching_thread *thread = context;
    thread->alike = answers_alike(thread->index, thread->items, &thread->options);
    return NULL;
}

TEST(api_threads_share_an_index_in_a_folder) {
    static const cog_method methods[] = {COG_METHOD_AUTO, COG_METHOD_EXACT, COG_METHOD_FLAT,
                                         COG_METHOD_AUTO};
    enum { THREADS = sizeof methods / sizeof *methods };
    struct words_world *world = make_words_world();
    const char *folder = test_path("shared_index");
    struct searching_thread work[THREADS];
    pthread_t threads[THREADS];
    cog_index *index = NULL;
    CHECK_OK(cog_index_save(world->index, folder, error));
    CHECK_OK(cog_index_open(folder, &index, error));
    for (int i = 0; i < THREADS; i++) {
        work[i] = (struct searching_thread){.index = index, .items = world->items};
        cog_search_options_init(&work[i].options);
        work[i].options.method = methods[i];
        work[i].options.recall = 1;
        pthread_create(&threads[i], NULL, search_in_thread, &work[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        CHECK_MSG(work[i].alike, "thread %d", i);
    cog_index_close(index);
    free_words_world(world);
}
