/* The first look answers queries whose neighbours stand out exactly as a search by all cosines
 * does, and leaves the other queries to the plan. */
#include "base/hash.h"
#include "cognate.h"
#include "test.h"

enum { ROWS = 20000, WORDS = 60, VOCABULARY = 4000, WORD_BYTES = 6, QUERIES = 8 };
enum { TEXT_BYTES = WORDS * WORD_BYTES };

static char rows[ROWS][TEXT_BYTES], queries[QUERIES][TEXT_BYTES];

static void write_word(char *place, uint64_t word) {
    char text[WORD_BYTES + 1];
    snprintf(text, sizeof text, "q%04u ", (unsigned)word);
    memcpy(place, text, WORD_BYTES);
}

static void make_text(char *text, struct random *random) {
    for (size_t i = 0; i < WORDS; i++)
        write_word(text + i * WORD_BYTES, random_below(random, VOCABULARY));
}

/* Even queries are rows with some of their words changed, odd ones are like no row. */
static void make_queries(uint64_t seed, size_t same_words) {
    struct random random = random_seeded(seed);
    for (size_t query = 0; query < QUERIES; query++) {
        make_text(queries[query], &random);
        if (query % 2 == 0)
            memcpy(queries[query], rows[seed * 1000 + query * 100], same_words * WORD_BYTES);
    }
}

static void make_texts(void) {
    struct random random = random_seeded(5);
    for (size_t row = 0; row < ROWS; row++)
        make_text(rows[row], &random);
    make_queries(1, WORDS / 3 * 2);
}

static cog_status read_texts(char (*texts)[TEXT_BYTES], size_t count, cog_document *items,
                             cog_documents **documents, cog_error *error) {
    for (size_t i = 0; i < count; i++)
        items[i] = (cog_document){.text = texts[i], .text_size = TEXT_BYTES};
    return cog_documents_from_memory(items, count, documents, error);
}

static cog_status build(cog_method method, cog_index **index, cog_error *error) {
    static cog_document items[ROWS];
    cog_documents *documents = NULL;
    cog_index_options options;
    cog_index_options_init(&options);
    options.method = method;
    make_texts();
    cog_status status = read_texts(rows, ROWS, items, &documents, error);
    if (status == COG_OK)
        status = cog_index_build(documents, &options, NULL, index, NULL, error);
    cog_documents_close(documents);
    return status;
}

static cog_status search(const cog_index *index, size_t k, double recall, cog_hits **hits,
                         double *sure, cog_error *error) {
    cog_document items[QUERIES];
    cog_documents *documents = NULL;
    cog_report *report = NULL;
    cog_search_options options;
    cog_search_options_init(&options);
    options.k = k;
    options.recall = recall;
    cog_status status = read_texts(queries, QUERIES, items, &documents, error);
    if (status == COG_OK)
        status = cog_report_create(&report, error);
    if (status == COG_OK)
        status = cog_index_search(index, documents, &options, NULL, hits, report, error);
    if (status == COG_OK)
        *sure = cog_report_number(report, "sure_queries");
    cog_report_free(report);
    cog_documents_close(documents);
    return status;
}

static bool same_hit(const cog_hits *a, const cog_hits *b, size_t i) {
    cog_hit x = cog_hits_get(a, i), y = cog_hits_get(b, i);
    return x.query == y.query && x.row == y.row && x.rank == y.rank &&
           near(x.similarity, y.similarity, 1e-6);
}

static void check_answers(const cog_index *index) {
    for (size_t k = 1; k <= 3; k += 2) {
        cog_hits *hits = NULL, *truth = NULL;
        double sure = -1, none = 0;
        CHECK_OK(search(index, k, 0.95, &hits, &sure, error));
        CHECK_OK(search(index, k, 1, &truth, &none, error));
        CHECK_MSG(sure == (k == 1 ? QUERIES / 2 : 0), "%g sure for k %zu", sure, k);
        CHECK(!(none > 0));
        CHECK(cog_hits_count(hits) == QUERIES * k && cog_hits_count(truth) == QUERIES * k);
        for (size_t i = 0; i < QUERIES * k; i++)
            CHECK_MSG(same_hit(hits, truth, i), "hit %zu of k %zu", i, k);
        cog_hits_free(hits);
        cog_hits_free(truth);
    }
}

/* Neighbours that stand out less and less: of the queries that are sure, at most the share that the
 * recall allows may miss the nearest row, and by chance a few more. */
static void check_misses(const cog_index *index) {
    double sure_queries = 0, same = 0, wanted = 0;
    for (size_t round = 1; round < 16; round++) {
        cog_hits *hits = NULL, *truth = NULL;
        double sure = 0, none;
        make_queries(round, 12 + 2 * round);
        CHECK_OK(search(index, 1, 0.8, &hits, &sure, error));
        CHECK_OK(search(index, 1, 1, &truth, &none, error));
        for (size_t query = 0; query < QUERIES; query++)
            same += same_hit(hits, truth, query);
        sure_queries += sure;
        wanted += QUERIES - sure + 0.8 * sure;
        cog_hits_free(hits);
        cog_hits_free(truth);
    }
    CHECK_MSG(sure_queries >= 30 && same >= wanted - 3, "%g sure, %g right of %g", sure_queries,
              same, wanted);
}

/* One query at a time, sure and unsure ones in turn, with room that is used again. */
static void check_single_questions(const cog_index *index) {
    cog_searcher *searcher = NULL;
    cog_hits *truth = NULL;
    double sure;
    cog_search_options options;
    cog_search_options_init(&options);
    options.k = 1;
    make_queries(1, WORDS / 3 * 2);
    CHECK_OK(search(index, 1, 1, &truth, &sure, error));
    CHECK_OK(cog_searcher_create(index, &options, &searcher, error));
    for (size_t i = 0; i < 2 * QUERIES; i++) {
        const cog_hits *hits = NULL;
        CHECK_OK(
            cog_searcher_find_text(searcher, queries[i % QUERIES], TEXT_BYTES, NULL, &hits, error));
        CHECK(cog_hits_count(hits) == 1);
        CHECK(cog_hits_get(hits, 0).row == cog_hits_get(truth, i % QUERIES).row);
    }
    cog_searcher_free(searcher);
    cog_hits_free(truth);
}

/* Building an index of this size takes most of the time, so each serves several checks. */
TEST(first_look_of_signatures_answers_what_stands_out) {
    cog_index *index = NULL;
    CHECK_OK(build(COG_METHOD_AUTO, &index, error));
    check_answers(index);
    cog_index_close(index);
}

TEST(first_look_of_columns_answers_what_stands_out) {
    cog_index *index = NULL;
    CHECK_OK(build(COG_METHOD_COLUMNS, &index, error));
    check_answers(index);
    check_single_questions(index);
    check_misses(index);
    cog_index_close(index);
}
