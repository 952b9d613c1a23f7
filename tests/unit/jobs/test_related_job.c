/* Neighbours of given queries against the whole answer. */
#include "cognate.h"
#include "test.h"

enum { QUERIES = 60, URLS = 12 };

/* Query q clicks the URLs of its group of ten, and one of its own. */
static const char *write_log(void) {
    static char text[QUERIES * URLS * 32];
    size_t at = 0;
    for (int q = 0; q < QUERIES; q++)
        for (int u = 0; u < URLS; u++)
            at += (size_t)snprintf(text + at, sizeof text - at, "query %d\tsite%d.org\t%d\n", q,
                                   u == 0 ? 1000 + q : q / 10 * 20 + u, 1 + (q * 7 + u * 3) % 5);
    return write_text("log.tsv", text);
}

static cog_status find(const char *path, const cog_related_options *options, cog_pairs **pairs,
                       cog_report *report, cog_error *error) {
    cog_input_options input;
    cog_documents *documents = NULL;
    cog_input_options_init(&input);
    input.format = COG_FORMAT_QUERYLOG;
    cog_status status = cog_documents_open(&input, &path, 1, &documents, error);
    if (status == COG_OK)
        status = cog_related_find(documents, options, NULL, pairs, report, error);
    cog_documents_close(documents);
    return status;
}

TEST(related_queries_are_the_whole_answer_filtered) {
    static const char *const given[] = {"query 7", "query 3", "nowhere", "query 42", "query 3"};
    static const cog_weighting weightings[] = {COG_WEIGHTING_TF, COG_WEIGHTING_TFIDF};
    const char *path = write_log();
    for (size_t w = 0; w < 2; w++) {
        cog_related_options options;
        cog_pairs *all = NULL, *some = NULL;
        cog_report *report = NULL;
        bool is_given[QUERIES] = {[3] = true, [7] = true, [42] = true};
        cog_related_options_init(&options);
        cog_weight_options_init(&options.pairs.sign.weights, weightings[w]);
        CHECK_OK(cog_report_create(&report, error));
        CHECK_OK(find(path, &options, &all, NULL, error));
        options.queries = given;
        options.query_count = sizeof given / sizeof *given;
        CHECK_OK(find(path, &options, &some, report, error));
        size_t expected = 0, at = 0, whole = cog_pairs_count(all);
        for (size_t i = 0; i < whole; i++)
            expected += is_given[cog_pairs_get(all, i).a] + is_given[cog_pairs_get(all, i).b];
        CHECK(expected > 0 && cog_pairs_count(some) == expected);
        for (uint32_t a = 0; a < QUERIES; a++)
            for (uint32_t b = 0; b < QUERIES; b++)
                for (size_t i = 0; i < whole && is_given[a]; i++) {
                    cog_pair pair = cog_pairs_get(all, i);
                    if ((pair.a != a || pair.b != b) && (pair.a != b || pair.b != a))
                        continue;
                    cog_pair found = cog_pairs_get(some, at++);
                    CHECK(found.a == a && found.b == b);
                    CHECK(near(found.similarity, pair.similarity, 1e-6));
                }
        CHECK(at == expected);
        CHECK(cog_report_number(report, "unknown_queries") == 1);
        CHECK(cog_report_number(report, "matches") == (double)expected);
        cog_pairs_free(all);
        cog_pairs_free(some);
        cog_report_free(report);
    }
}

TEST(related_queries_are_not_compared_by_sets) {
    static const char *const given[] = {"query 7"};
    cog_related_options options;
    cog_pairs *pairs = NULL;
    cog_error error = {0};
    cog_related_options_init(&options);
    options.queries = given;
    options.query_count = 1;
    options.pairs.measure = COG_MEASURE_JACCARD;
    CHECK(find(write_log(), &options, &pairs, NULL, &error) == COG_ERR_USAGE);
    CHECK(strstr(error.message, "cosine") != NULL);
}
