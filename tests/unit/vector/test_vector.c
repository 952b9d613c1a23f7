#include <math.h>

#include "base/hash.h"
#include "base/threads.h"
#include "test.h"
#include "vector/bag.h"
#include "vector/sparse.h"
#include "vector/statistics.h"

static size_t occurrences(const uint64_t *hashes, size_t count, uint64_t hash) {
    size_t seen = 0;
    for (size_t i = 0; i < count; i++)
        seen += hashes[i] == hash;
    return seen;
}

TEST(vector_bag_counts_like_a_double_loop) {
    struct random random = random_seeded(11);
    struct bag_counter *counter = NULL;
    CHECK_OK(bag_counter_create(&counter, error));
    for (int round = 0; round < 50; round++) {
        size_t count = round == 0 ? 0 : random_below(&random, 9000);
        uint64_t *hashes = malloc((count + 1) * sizeof *hashes);
        uint64_t distinct = 1 + random_below(&random, round % 5 ? 300 : 100000);
        for (size_t i = 0; i < count; i++)
            hashes[i] = hash_mix(random_below(&random, distinct));
        struct bag_view bag;
        CHECK_OK(bag_count(counter, hashes, count, &bag, error));
        CHECK(bag.length == count);
        uint64_t total = 0;
        for (size_t i = 0; i < bag.count; i++)
            total += bag.frequencies[i];
        CHECK(total == count);
        size_t next = 0;
        for (size_t i = 0; i < count && next < bag.count; i++)
            next += hashes[i] == bag.hashes[next];
        CHECK(next == bag.count);
        if (bag.count) {
            size_t pick = random_below(&random, bag.count);
            CHECK(occurrences(hashes, count, bag.hashes[pick]) == bag.frequencies[pick]);
        }
        free(hashes);
    }
    bag_counter_free(counter);
}

enum { DOCUMENTS = 400, VOCABULARY = 3000 };

/* Document d has term t (t mod 3 + 1) times where hash(d, t) says so; term 7 has the hash 0. */
static bool has_term(size_t d, size_t t) {
    return hash_pair(d, t) % (t + 2) == 0;
}

static uint64_t term_hash(size_t t) {
    return t == 7 ? 0 : hash_mix(t + 1);
}

static cog_status add_documents(void *context, unsigned worker, size_t begin, size_t end,
                                cog_error *error) {
    (void)worker;
    struct statistics_batch *batch = NULL;
    cog_status status = statistics_batch_create(context, &batch, error);
    for (size_t d = begin; d < end && status == COG_OK; d++) {
        uint64_t hashes[VOCABULARY];
        uint32_t frequencies[VOCABULARY];
        struct bag_view bag = {hashes, frequencies, 0, 0, NULL};
        for (size_t t = 0; t < VOCABULARY; t++)
            if (has_term(d, t)) {
                hashes[bag.count] = term_hash(t);
                frequencies[bag.count++] = (uint32_t)(t % 3 + 1);
                bag.length += t % 3 + 1;
            }
        status = statistics_batch_add(batch, &bag, error);
    }
    if (status == COG_OK)
        status = statistics_batch_flush(batch, error);
    statistics_batch_free(batch);
    return status;
}

static void check_counts(const struct statistics *statistics, uint64_t copies) {
    uint64_t terms = 0;
    for (size_t t = 0; t < VOCABULARY; t++) {
        uint32_t expected = 0;
        for (size_t d = 0; d < DOCUMENTS; d++)
            expected += has_term(d, t);
        struct term_counts counts = statistics_find(statistics, term_hash(t));
        CHECK(counts.document_frequency == expected * copies);
        CHECK(counts.collection_frequency == expected * (t % 3 + 1) * copies);
        terms += expected > 0;
    }
    CHECK(statistics_term_count(statistics) == terms);
    CHECK(statistics_document_count(statistics) == DOCUMENTS * copies);
}

/* Over many documents, counts are those of the expected frequencies. */
TEST(vector_expected_frequencies_are_rounded_without_bias) {
    enum { ROUNDED = 4000, KINDS = 5 };
    static const float expected[KINDS] = {0.05f, 0.5f, 0.9f, 3.25f, 2};
    struct bag_counter *counter = NULL;
    double sums[KINDS] = {0};
    CHECK_OK(bag_counter_create(&counter, error));
    for (uint64_t d = 0; d < ROUNDED; d++) {
        uint64_t hashes[2 * KINDS + 1];
        float values[2 * KINDS + 1];
        uint32_t reversed[KINDS + 1];
        struct bag_view bag, back;
        for (size_t i = 0; i < KINDS; i++) { /* every value in two parts */
            hashes[i] = hashes[KINDS + i] = hash_mix(1 + i);
            values[i] = values[KINDS + i] = expected[i] / 2;
        }
        hashes[2 * KINDS] = hash_mix(1000 + d);
        values[2 * KINDS] = 1;
        CHECK_OK(bag_sum(counter, hashes, values, 2 * KINDS + 1, &bag, error));
        CHECK(bag.count == KINDS + 1 && bag.length == 8 && bag.weights[3] == expected[3]);
        CHECK(bag.frequencies[4] == 2 && bag.frequencies[5] == 1);
        CHECK(bag.frequencies[3] == 3 || bag.frequencies[3] == 4);
        for (size_t i = 0; i < KINDS; i++)
            sums[i] += bag.frequencies[i];
        for (size_t i = 0; i <= KINDS; i++) { /* the order of the terms does not count */
            hashes[i] = bag.hashes[KINDS - i];
            values[i] = bag.weights[KINDS - i];
        }
        back = (struct bag_view){hashes, NULL, KINDS + 1, bag.length, values};
        bag_round_expected(&back, reversed);
        for (size_t i = 0; i <= KINDS; i++)
            CHECK(reversed[KINDS - i] == bag.frequencies[i]);
    }
    for (size_t i = 0; i < KINDS; i++)
        CHECK(fabs(sums[i] / ROUNDED - (double)expected[i]) < 0.03);
    bag_counter_free(counter);
}

TEST(vector_statistics_do_not_depend_on_threads) {
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct statistics *statistics = NULL, *twice = NULL;
        CHECK_OK(statistics_create(&statistics, error));
        CHECK_OK(parallel_for(threads, DOCUMENTS, 16, add_documents, statistics, error));
        check_counts(statistics, 1);
        CHECK_OK(statistics_create(&twice, error));
        CHECK_OK(statistics_merge(twice, statistics, error));
        CHECK_OK(statistics_merge(twice, statistics, error));
        check_counts(twice, 2);
        CHECK(statistics_find(twice, 12345).document_frequency == 0);
        statistics_free(twice);
        statistics_free(statistics);
    }
}

TEST(vector_bm25_follows_its_formula) {
    struct statistics *statistics = NULL;
    CHECK_OK(statistics_create(&statistics, error));
    CHECK_OK(statistics_add_term(statistics, 10, (struct term_counts){3, 5}, error));
    CHECK_OK(statistics_add_term(statistics, 11, (struct term_counts){1, 1}, error));
    statistics_add_documents(statistics, 10, 200);
    uint64_t hashes[] = {10, 11, 12};
    uint32_t frequencies[] = {4, 1, 1};
    struct bag_view bag = {hashes, frequencies, 3, 40, NULL};
    struct weighting weighting;
    struct idf_table idf = {0};
    float weights[3];
    CHECK_OK(idf_table_fill(&idf, statistics, error));
    weighting_init(&weighting, WEIGHTING_BM25);
    weighting_apply(&weighting, statistics, &idf, &bag, weights);
    double expected = log(1 + 7.5 / 3.5) * 4 * 2.2 / (4 + 1.2 * (0.25 + 0.75 * 2));
    CHECK(fabs(weights[0] - expected) < 1e-6);
    const double rarest = log(1 + 9.5 / 1.5) * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2));
    CHECK(fabs(weights[1] - rarest) < 1e-6 && fabs(weights[2] - rarest) < 1e-6);
    weighting.min_collection_frequency = 2;
    weighting_apply(&weighting, statistics, &idf, &bag, weights);
    CHECK(fabs(weights[0] - expected) < 1e-6 && weights[1] == 0 && weights[2] == 0);
    weighting_init(&weighting, WEIGHTING_TFIDF);
    weighting_apply(&weighting, statistics, &idf, &bag, weights);
    CHECK(fabs(weights[0] - 4 * log(1 + 7.5 / 3.5)) < 1e-6);
    weighting_init(&weighting, WEIGHTING_TF);
    weighting_apply(&weighting, NULL, NULL, &bag, weights);
    CHECK(weights[0] == 4 && weights[1] == 1 && weights[2] == 1);
    idf_table_free(&idf);
    statistics_free(statistics);
}

/* An unknown term weighs as one that a single document has, unless such terms are dropped. */
TEST(vector_unknown_terms_count_as_the_rarest) {
    struct statistics *statistics = NULL;
    CHECK_OK(statistics_create(&statistics, error));
    CHECK_OK(statistics_add_term(statistics, 11, (struct term_counts){1, 1}, error));
    statistics_add_documents(statistics, 10, 200);
    uint64_t hashes[] = {11, 12};
    uint32_t frequencies[] = {1, 1};
    struct bag_view bag = {hashes, frequencies, 2, 40, NULL};
    struct weighting weighting;
    float weights[2];
    weighting_init(&weighting, WEIGHTING_BM25);
    weighting.min_collection_frequency = 1;
    weighting_apply(&weighting, statistics, NULL, &bag, weights);
    CHECK(weights[0] > 0 && weights[0] == weights[1]);
    weighting.min_collection_frequency = 2;
    weighting_apply(&weighting, statistics, NULL, &bag, weights);
    CHECK(weights[0] == 0 && weights[1] == 0);
    statistics_free(statistics);
}

/* What was added and taken away leaves no trace. */
TEST(vector_statistics_forget_what_is_removed) {
    struct statistics *statistics = NULL;
    CHECK_OK(statistics_create(&statistics, error));
    for (uint64_t hash = 1; hash <= 1000; hash++)
        CHECK_OK(statistics_add_term(statistics, hash << 40, (struct term_counts){2, 5}, error));
    statistics_add_documents(statistics, 9, 90);
    for (uint64_t hash = 1; hash <= 1000; hash++)
        statistics_remove_term(statistics, hash << 40,
                               hash % 2 ? (struct term_counts){2, 5} : (struct term_counts){1, 2});
    statistics_remove_documents(statistics, 4, 40);
    CHECK(statistics_term_count(statistics) == 500);
    CHECK(statistics_find(statistics, (uint64_t)1 << 40).document_frequency == 0);
    CHECK(statistics_find(statistics, (uint64_t)2 << 40).collection_frequency == 3);
    CHECK(statistics_document_count(statistics) == 5 && statistics_total_length(statistics) == 50);
    struct term_cursor cursor = {.statistics = statistics};
    size_t terms = 0;
    while (term_cursor_next(&cursor, NULL))
        terms++;
    CHECK_OK(term_cursor_end(&cursor, COG_OK));
    CHECK(terms == 500);
    CHECK_OK(statistics_add_term(statistics, (uint64_t)1 << 40, (struct term_counts){1, 1}, error));
    CHECK(statistics_term_count(statistics) == 501);
    statistics_free(statistics);
}

TEST(vector_sparse_measures) {
    uint32_t a[] = {1, 4, 9}, b[] = {0, 4, 8, 9};
    float x[] = {1, 2, 3}, y[] = {5, 0.5f, 7, 2};
    CHECK(sparse_dot(a, x, 3, b, y, 4) == 7);
    CHECK(sparse_dot(a, x, 0, b, y, 4) == 0);
    CHECK(set_overlap(a, 3, b, 4) == 2);
    CHECK(set_overlap(a, 3, a, 3) == 3);
    CHECK(set_overlap(a, 0, b, 4) == 0);
}
