/* Ten threads at once: each with documents, results and an index of its own, and all of them with
 * one index, whose searchers are their own. The thread sanitizer runs this too. */
#include <pthread.h>

#include "base/hash.h"
#include "cognate.h"
#include "test.h"

enum { THREADS = 10, TEXTS = 60, TEXT_BYTES = 200, BITS = 64, BYTES = BITS / 8 };

static char texts[TEXTS][TEXT_BYTES];
static cog_document items[TEXTS];

static void make_texts(void) {
    struct random random = random_seeded(9);
    for (size_t i = 0; i < TEXTS; i++) {
        size_t size = 0;
        for (int word = 0; word < 20; word++)
            size += (size_t)snprintf(texts[i] + size, TEXT_BYTES - size, "w%llu ",
                                     (unsigned long long)(random_next(&random) % 200));
        if (i % 4 == 3)
            memcpy(texts[i], texts[i - 1], TEXT_BYTES);
        items[i] = (cog_document){.text = texts[i], .text_size = strlen(texts[i])};
    }
}

/* What one thread found; all threads find the same. */
struct work {
    const cog_index *shared;
    cog_status status;
    cog_error error;
    size_t clusters, pairs, hits, shared_hits;
    uint64_t rows;
    uint8_t signatures[TEXTS * BYTES];
};

static cog_status count_clusters(cog_documents *documents, const cog_run_options *run,
                                 struct work *work) {
    cog_dedup_options options;
    cog_clusters *clusters = NULL;
    cog_dedup_options_init(&options);
    cog_status status = cog_dedup(documents, &options, NULL, run, &clusters, NULL, &work->error);
    work->clusters = status == COG_OK ? cog_clusters_count(clusters) : 0;
    cog_clusters_free(clusters);
    return status;
}

static cog_status count_pairs(cog_documents *documents, const cog_run_options *run,
                              struct work *work) {
    cog_pairs_options options;
    cog_pairs *pairs = NULL;
    cog_pairs_options_init(&options, COG_MEASURE_COSINE);
    options.method = COG_METHOD_FLAT;
    options.sign.terms.lang = "en";
    cog_status status = cog_pairs_find(documents, NULL, &options, run, &pairs, NULL, &work->error);
    work->pairs = status == COG_OK ? cog_pairs_count(pairs) : 0;
    cog_pairs_free(pairs);
    return status;
}

static cog_status sign_texts(cog_documents *documents, const cog_run_options *run,
                             struct work *work) {
    cog_sign_options options;
    cog_sign_buffers buffers = {TEXTS, work->signatures, NULL, NULL};
    cog_sign_options_init(&options, COG_SIGNATURE_SIMHASH);
    options.signature.bits = BITS;
    return cog_sign_rows(documents, &options, NULL, &buffers, run, NULL, &work->error);
}

/* Every text is asked for. */
static cog_status count_hits(const cog_index *index, size_t *hits, cog_error *error) {
    cog_search_options options;
    cog_searcher *searcher = NULL;
    cog_search_options_init(&options);
    options.k = 3;
    cog_status status = cog_searcher_create(index, &options, &searcher, error);
    for (size_t i = 0; i < TEXTS && status == COG_OK; i++) {
        const cog_hits *found = NULL;
        status = cog_searcher_find_text(searcher, items[i].text, items[i].text_size, NULL, &found,
                                        error);
        *hits += status == COG_OK ? cog_hits_count(found) : 0;
    }
    cog_searcher_free(searcher);
    return status;
}

static cog_status build(size_t count, cog_index **index, cog_error *error) {
    cog_documents *documents = NULL;
    cog_index_options options;
    cog_index_options_init(&options);
    options.sign.terms.lang = "en";
    cog_status status = cog_documents_from_memory(items, count, &documents, error);
    if (status == COG_OK)
        status = cog_index_build(documents, &options, NULL, index, NULL, error);
    cog_documents_close(documents);
    return status;
}

/* An index of its own, which grows. */
static cog_status change_index(const cog_run_options *run, struct work *work) {
    cog_documents *more = NULL;
    cog_index *index = NULL;
    cog_index_info info;
    cog_document named = {
        .id = "another", .id_size = 7, .text = texts[0], .text_size = strlen(texts[0])};
    cog_status status = build(TEXTS / 2, &index, &work->error);
    if (status == COG_OK)
        status = cog_documents_from_memory(&named, 1, &more, &work->error);
    if (status == COG_OK)
        status = cog_index_add(index, more, run, NULL, &work->error);
    if (status == COG_OK)
        status = count_hits(index, &work->hits, &work->error);
    if (status == COG_OK) {
        cog_index_describe(index, &info);
        work->rows = info.rows;
    }
    cog_documents_close(more);
    cog_index_close(index);
    return status;
}

static void *do_everything(void *context) {
    struct work *work = context;
    cog_documents *documents = NULL;
    const cog_run_options run = {.threads = 2};
    cog_status status = cog_documents_from_memory(items, TEXTS, &documents, &work->error);
    if (status == COG_OK)
        status = count_clusters(documents, &run, work);
    if (status == COG_OK)
        status = count_pairs(documents, &run, work);
    if (status == COG_OK)
        status = sign_texts(documents, &run, work);
    if (status == COG_OK)
        status = change_index(&run, work);
    if (status == COG_OK)
        status = count_hits(work->shared, &work->shared_hits, &work->error);
    cog_documents_close(documents);
    work->status = status;
    return NULL;
}

TEST(threads_do_everything_at_once) {
    static struct work works[THREADS];
    pthread_t threads[THREADS];
    cog_index *shared = NULL;
    make_texts();
    CHECK_OK(build(TEXTS, &shared, error));
    for (int i = 0; i < THREADS; i++) {
        works[i] = (struct work){.shared = shared};
        CHECK(pthread_create(&threads[i], NULL, do_everything, &works[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        CHECK_MSG(works[i].status == COG_OK, "thread %d: %s", i, works[i].error.message);
        CHECK(works[i].clusters == TEXTS / 4 && works[i].pairs >= TEXTS / 4);
        CHECK(works[i].rows == TEXTS / 2 + 1);
        CHECK(works[i].pairs == works[0].pairs && works[i].hits == works[0].hits);
        CHECK(works[i].shared_hits == works[0].shared_hits && works[i].shared_hits >= TEXTS);
        CHECK(memcmp(works[i].signatures, works[0].signatures, sizeof works[i].signatures) == 0);
    }
    cog_index_close(shared);
}
