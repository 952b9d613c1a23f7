/* The terms of a segment: found by their hashes, the same after a file, refused when damaged. */
#include "base/hash.h"
#include "base/numbers.h"
#include "index/segment.h"
#include "test.h"

enum { TERMS = 3000, ROWS = 7 };

/* Hashes that are spread evenly, and some that are close together. */
static cog_status build(uint64_t seed, struct segment_terms *terms, cog_error *error) {
    struct random random = random_seeded(seed);
    struct statistics *own = NULL, *all = NULL;
    struct term_numbers *numbers = NULL;
    struct weighting weighting;
    weighting_init(&weighting, WEIGHTING_BM25);
    weighting.min_collection_frequency = 3;
    cog_status status = statistics_create(&own, error);
    if (status == COG_OK)
        status = statistics_create(&all, error);
    for (uint64_t i = 0; i < TERMS && status == COG_OK; i++) {
        uint64_t hash = i % 3 ? random_next(&random) : ((uint64_t)7 << 56) + i * i;
        uint32_t df = 1 + (uint32_t)random_below(&random, ROWS);
        struct term_counts counts = {df, df + 1};
        status = statistics_add_term(own, hash, counts, error);
        counts.document_frequency += 100 * (i % 2);
        if (status == COG_OK)
            status = statistics_add_term(all, hash, counts, error);
    }
    statistics_add_documents(own, ROWS, 70);
    statistics_add_documents(all, 1000, 9000);
    if (status == COG_OK)
        status = term_numbers_create(own, 1, 0, &numbers, error);
    if (status == COG_OK)
        status = segment_terms_build(own, own, numbers, all, &weighting, terms, error);
    term_numbers_free(numbers);
    statistics_free(own);
    statistics_free(all);
    return status;
}

TEST(segment_terms_are_found) {
    struct segment_terms terms = {0};
    CHECK_OK(build(1, &terms, error));
    CHECK(terms.count > TERMS - 10 && terms.signed_documents == 1000 && terms.total_length == 70);
    CHECK_OK(segment_terms_check(&terms, "terms", ROWS, error));
    struct random random = random_seeded(2);
    for (size_t i = 0; i < terms.count; i++) {
        CHECK(segment_terms_place(&terms, terms.hashes[i]) == i);
        CHECK(segment_terms_column(&terms, terms.hashes[i]) == terms.numbers[i]);
        CHECK(segment_terms_place(&terms, random_next(&random)) == SIZE_MAX);
        uint64_t next = terms.hashes[i] + 1;
        if (i + 1 == terms.count || terms.hashes[i + 1] != next)
            CHECK(segment_terms_place(&terms, next) == SIZE_MAX);
        bool is_rare = terms.counts[i].collection_frequency < 3;
        CHECK((terms.signed_frequency[i] == 0) == is_rare);
    }
    const struct segment_terms none = {0};
    CHECK(segment_terms_place(&none, 5) == SIZE_MAX);
    segment_terms_free(&terms);
}

/* Rows without vectors: the lengths are all that is checked next to the terms. */
TEST(segment_terms_in_a_file) {
    struct segment_terms terms = {0};
    struct segment segment;
    const uint64_t lengths[ROWS] = {10, 10, 10, 10, 10, 10, 10};
    const char *path = test_path("terms");
    cog_error fault = {0};
    CHECK_OK(build(3, &terms, error));
    struct segment_parts parts = {.rows = ROWS, .terms = &terms, .lengths = lengths};
    CHECK_OK(segment_write(path, &parts, error));
    CHECK_OK(segment_open(path, &segment, error));
    CHECK_OK(segment_verify(&segment, error));
    CHECK(decode_u32(segment.container.data + 12) == 2);
    CHECK(segment.terms.count == terms.count && segment.lengths[6] == 10);
    CHECK(memcmp(segment.terms.hashes, terms.hashes, terms.count * 8) == 0);
    CHECK(memcmp(segment.terms.signed_frequency, terms.signed_frequency, terms.count * 4) == 0);
    segment_close(&segment);
    /* Contents that cannot be, with the right checksums. */
    uint64_t *hashes = terms.hashes;
    uint32_t *numbers = terms.numbers;
    for (int damage = 0; damage < 4; damage++) {
        uint64_t hash = hashes[9];
        uint32_t number = numbers[9], df = terms.counts[9].document_frequency;
        hashes[9] = damage == 0 ? hashes[10] : hash;
        numbers[9] = damage == 1 ? (uint32_t)terms.count : damage == 2 ? numbers[10] : number;
        terms.counts[9].document_frequency = damage == 3 ? ROWS + 1 : df;
        CHECK_OK(segment_write(path, &parts, error));
        CHECK_OK(segment_open(path, &segment, error));
        CHECK(segment_terms_column(&segment.terms, hash) != terms.count);
        CHECK(segment_verify(&segment, &fault) == COG_ERR_FORMAT);
        CHECK_MSG(strstr(fault.message, "term "), "%s", fault.message);
        segment_close(&segment);
        hashes[9] = hash;
        numbers[9] = number;
        terms.counts[9].document_frequency = df;
    }
    parts.lengths = NULL;
    CHECK(segment_write(path, &parts, &fault) == COG_ERR_USAGE);
    segment_terms_free(&terms);
}
