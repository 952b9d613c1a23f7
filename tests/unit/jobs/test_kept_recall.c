/* The recall that was measured when an index was built holds for searches with other queries, and a
 * lower one never costs more. Generated collections, the methods that answer the nearest, targets
 * from 0.8 to 0.99; truth is the exhaustive search. */
#include "base/hash.h"
#include "cognate.h"
#include "jobs/index/index_pending.h"
#include "jobs/search/search_task.h"
#include "plan/recall_measures.h"
#include "test.h"

enum { BITS = 256, BYTES = BITS / 8, ROWS = 8000, QUERIES = 200 };
static const double targets[] = {0.8, 0.9, 0.95, 0.99};
enum { TARGETS = sizeof targets / sizeof *targets };

/* What all runs together did. */
struct runs {
    int count, below;
    double worst; /* by how much a run fell short */
};

static void count_run(struct runs *runs, double recall, double target) {
    runs->count++;
    runs->below += recall < target;
    if (target - recall > runs->worst)
        runs->worst = target - recall;
}

/* ---- Signatures ------------------------------------------------------------------------------ */

/* Rows around centres, `flips` bits of 256 changed, some less. */
static void make_signatures(uint8_t *bytes, size_t rows, unsigned centres, unsigned flips,
                            uint64_t seed) {
    struct random random = random_seeded(seed), own;
    for (size_t row = 0; row < rows; row++) {
        own = random_seeded(1000 + random_below(&random, centres));
        for (size_t i = 0; i < BYTES; i++)
            bytes[row * BYTES + i] = (uint8_t)random_next(&own);
        size_t changed = random_below(&random, flips + 1);
        for (size_t i = 0; i < changed; i++) {
            size_t bit = random_below(&random, BITS);
            bytes[row * BYTES + bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
}

/* Hits as near as the true k-th; the first query found is number `first` of the truth. */
static double recall_of(const cog_hits *found, const cog_hits *truth, uint32_t first,
                        bool of_distances) {
    size_t good = 0, all = 0;
    for (uint32_t query = 0; query < cog_hits_queries(found); query++) {
        size_t begin = cog_hits_first(truth, first + query),
               end = cog_hits_first(truth, first + query + 1);
        size_t count = 0;
        if (begin == end)
            continue;
        cog_hit last = cog_hits_get(truth, end - 1);
        for (size_t i = cog_hits_first(found, query); i < cog_hits_first(found, query + 1); i++) {
            cog_hit hit = cog_hits_get(found, i);
            count += of_distances ? hit.distance <= last.distance
                                  : hit.similarity >= last.similarity - 1e-6;
        }
        good += count < end - begin ? count : end - begin;
        all += end - begin;
    }
    return all ? (double)good / (double)all : 1;
}

static void try_targets(const cog_index *index, const cog_signatures *queries, cog_method method,
                        const cog_hits *truth, struct runs *runs) {
    double before = 0;
    for (size_t i = 0; i < TARGETS; i++) {
        cog_hits *hits = NULL;
        cog_report *report = NULL;
        cog_search_options options;
        cog_search_options_init(&options);
        options.method = method;
        options.recall = targets[i];
        CHECK_OK(cog_report_create(&report, error));
        CHECK_OK(cog_index_search_signatures(index, queries, NULL, &options, NULL, &hits, report,
                                             error));
        double compared = cog_report_number(report, "comparisons");
        bool exact = compared >= (double)ROWS * QUERIES;
        CHECK_MSG(exact || cog_report_number(report, "recall_at_build_low") >= targets[i], "%s",
                  cog_report_json(report));
        CHECK(cog_report_number(report, "recall_sample_queries") <= 0);
        CHECK_MSG(compared >= before, "%g comparisons for %g, %g for less", compared, targets[i],
                  before);
        before = compared;
        count_run(runs, recall_of(hits, truth, 0, true), targets[i]);
        cog_hits_free(hits);
        cog_report_free(report);
    }
}

TEST(recall_of_the_build_is_kept_by_signatures) {
    static const struct {
        unsigned centres, flips;
    } shapes[] = {{100, 60}, {400, 80}, {1000, 90}, {3000, 40}};
    static const cog_method methods[] = {COG_METHOD_SLICES, COG_METHOD_COLUMNS};
    static uint8_t rows[ROWS * BYTES], asked[QUERIES * BYTES];
    struct runs runs = {0};
    for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++) {
        make_signatures(rows, ROWS, shapes[shape].centres, shapes[shape].flips, shape + 1);
        make_signatures(asked, QUERIES, shapes[shape].centres, shapes[shape].flips, shape + 77);
        cog_hits *truth = NULL;
        for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
            cog_signatures *signatures = NULL, *queries = NULL;
            cog_index *index = NULL;
            cog_index_options building;
            cog_search_options exact;
            cog_index_options_init(&building);
            cog_search_options_init(&exact);
            building.method = methods[i];
            exact.method = COG_METHOD_FLAT;
            CHECK_OK(cog_signatures_from_memory(rows, ROWS, BITS, &signatures, error));
            CHECK_OK(cog_signatures_from_memory(asked, QUERIES, BITS, &queries, error));
            CHECK_OK(cog_index_build_signatures(signatures, &building, NULL, &index, NULL, error));
            if (!truth)
                CHECK_OK(cog_index_search_signatures(index, queries, NULL, &exact, NULL, &truth,
                                                     NULL, error));
            try_targets(index, queries, methods[i], truth, &runs);
            cog_index_close(index);
            cog_signatures_free(queries);
            cog_signatures_free(signatures);
        }
        cog_hits_free(truth);
    }
    CHECK(runs.count == 4 * 2 * TARGETS);
    CHECK_MSG(runs.below * 20 <= runs.count && runs.worst <= 0.02, "%d of %d below, worst by %g",
              runs.below, runs.count, runs.worst);
}

/* ---- Documents ------------------------------------------------------------------------------- */

enum { DOCUMENTS = 2600, WORDS = 80, WORD_BYTES = 8, TEXT_BYTES = WORDS * WORD_BYTES };

/* Words of a subject and common ones, both by falling frequency. */
static void make_documents(cog_document *items, char (*texts)[TEXT_BYTES], size_t count,
                           unsigned subjects, uint64_t seed) {
    struct random random = random_seeded(seed);
    for (size_t i = 0; i < count; i++) {
        uint64_t subject = random_below(&random, subjects);
        size_t at = 0;
        for (int word = 0; word < WORDS; word++) {
            uint64_t rank = random_below(&random, 1 + random_below(&random, 400));
            uint64_t number = word % 2 ? rank : 1000 + subject * 37 + rank % 120;
            at += (size_t)snprintf(texts[i] + at, TEXT_BYTES - at, "w%llu ",
                                   (unsigned long long)number);
        }
        items[i] = (cog_document){.text = texts[i], .text_size = at};
    }
}

/* The index, grown in two steps if asked, so that segments differ. */
static cog_status build_documents(const cog_document *items, bool in_two, cog_method method,
                                  cog_index **index, cog_error *error) {
    cog_index_options options;
    cog_documents *first = NULL, *second = NULL;
    size_t count = in_two ? DOCUMENTS - 500 : DOCUMENTS;
    cog_index_options_init(&options);
    options.method = method;
    cog_status status = cog_documents_from_memory(items, count, &first, error);
    if (status == COG_OK)
        status = cog_index_build(first, &options, NULL, index, NULL, error);
    if (status == COG_OK && in_two)
        status = cog_documents_from_memory(items + count, DOCUMENTS - count, &second, error);
    if (status == COG_OK && in_two)
        status = cog_index_add(*index, second, NULL, NULL, error);
    cog_documents_close(first);
    cog_documents_close(second);
    return status;
}

static cog_status ask(const cog_index *index, const cog_document *items, size_t count,
                      cog_method method, double recall, cog_hits **hits, cog_report *report,
                      cog_error *error) {
    cog_search_options options;
    cog_documents *queries = NULL;
    cog_search_options_init(&options);
    options.method = method;
    options.recall = recall;
    cog_status status = cog_documents_from_memory(items, count, &queries, error);
    if (status == COG_OK)
        status = cog_index_search(index, queries, &options, NULL, hits, report, error);
    cog_documents_close(queries);
    return status;
}

/* A few queries at a time: many at once would be compared with all documents, which is faster. */
static void ask_in_parts(const cog_index *index, const cog_document *queries, cog_method method,
                         double target, const cog_hits *truth, double *recall, double *candidates) {
    enum { PART = 10, ASKED = QUERIES / 2 };
    for (uint32_t first = 0; first < ASKED; first += PART) {
        cog_hits *hits = NULL;
        cog_report *report = NULL;
        CHECK_OK(cog_report_create(&report, error));
        CHECK_OK(ask(index, queries + first, PART, method, target, &hits, report, error));
        if (strstr(cog_report_json(report), "candidates"))
            *candidates += cog_report_number(report, "candidates");
        *recall += recall_of(hits, truth, first, false) * PART / ASKED;
        cog_hits_free(hits);
        cog_report_free(report);
    }
}

TEST(recall_of_the_build_is_kept_by_documents) {
    static const cog_method methods[] = {COG_METHOD_FLAT, COG_METHOD_SLICES, COG_METHOD_COLUMNS};
    static char texts[DOCUMENTS][TEXT_BYTES], asked[QUERIES][TEXT_BYTES];
    static cog_document items[DOCUMENTS], queries[QUERIES];
    static char ids[DOCUMENTS][8];
    struct runs runs = {0};
    int approximate = 0;
    for (unsigned shape = 0; shape < 2; shape++) {
        make_documents(items, texts, DOCUMENTS, shape ? 40 : 400, shape + 1);
        make_documents(queries, asked, QUERIES, shape ? 40 : 400, shape + 50);
        for (size_t i = 0; i < DOCUMENTS; i++) {
            items[i].id = ids[i];
            items[i].id_size = (size_t)snprintf(ids[i], sizeof ids[i], "%zu", i);
        }
        cog_hits *truth = NULL;
        for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
            cog_index *index = NULL;
            double before = 0;
            CHECK_OK(build_documents(items, shape == 1, methods[i], &index, error));
            if (!truth)
                CHECK_OK(ask(index, queries, QUERIES, COG_METHOD_EXACT, 0.95, &truth, NULL, error));
            for (size_t t = 0; t < TARGETS; t++) {
                double candidates = 0, recall = 0;
                ask_in_parts(index, queries, methods[i], targets[t], truth, &recall, &candidates);
                count_run(&runs, recall, targets[t]);
                approximate += candidates > 0;
                CHECK(candidates <= 0 || candidates >= before);
                before = candidates;
            }
            cog_index_close(index);
        }
        cog_hits_free(truth);
    }
    CHECK_MSG(approximate >= 4, "%d", approximate);
    CHECK(runs.count == 2 * 3 * TARGETS);
    CHECK_MSG(runs.below * 20 <= runs.count && runs.worst <= 0.02, "%d of %d below, worst by %g",
              runs.below, runs.count, runs.worst);
}

/* About how long a query takes as it is planned; the exact answer is counted in *exact. */
static void plan_ns(const cog_index *index, cog_method method, size_t queries, double recall,
                    double *query_ns, int *exact) {
    struct search_task task = {.index = index, .threads = 1, .queries = queries};
    const struct effort_question question = {.queries = queries, .k = 10, .of_cosines = true};
    cog_search_options_init(&task.options);
    task.options.method = method;
    task.options.recall = recall;
    task.has_vectors = task.has_margins = true;
    CHECK_OK(search_task_check(&task, error));
    CHECK_OK(search_task_choose(&task, error));
    *exact += !task.plan.parts;
    const double exhaustive_ns = search_exhaustive_ns(index, &question);
    *query_ns = task.plan.parts ? task.plan.query_ns : exhaustive_ns;
    CHECK_MSG(*query_ns <= exhaustive_ns, "method %d, %zu queries: %g ns, all cosines %g", method,
              queries, *query_ns, exhaustive_ns);
    search_task_free(&task);
}

/* All cosines reach every recall, so nothing may be dearer, whatever method is named. */
TEST(recall_that_is_lower_is_never_planned_to_take_longer) {
    static const cog_method methods[] = {COG_METHOD_AUTO, COG_METHOD_FLAT, COG_METHOD_SLICES,
                                         COG_METHOD_COLUMNS};
    static const size_t queries[] = {1, 15, 16, 100, 1000};
    static char texts[DOCUMENTS][TEXT_BYTES], ids[DOCUMENTS][8];
    static cog_document items[DOCUMENTS];
    int exact = 0, runs = 0;
    make_documents(items, texts, DOCUMENTS, 400, 3);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        items[i].id = ids[i];
        items[i].id_size = (size_t)snprintf(ids[i], sizeof ids[i], "%zu", i);
    }
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        cog_index *index = NULL;
        CHECK_OK(build_documents(items, i % 2, methods[i], &index, error));
        for (size_t q = 0; q < sizeof queries / sizeof *queries; q++) {
            double before_ns = 0;
            for (size_t t = 0; t < TARGETS; t++, runs++) {
                double query_ns = 0;
                plan_ns(index, methods[i], queries[q], targets[t], &query_ns, &exact);
                CHECK_MSG(query_ns >= before_ns, "method %d: %g ns for %g, %g for less", methods[i],
                          query_ns, targets[t], before_ns);
                before_ns = query_ns;
            }
        }
        cog_index_close(index);
    }
    CHECK_MSG(exact > 0 && exact < runs, "%d of %d", exact, runs);
}

/* A live index of which all but the first documents were added and have become a segment that is
 * not measured. */
static cog_status grow_live(const cog_document *items, cog_method method, bool vectors,
                            const char *folder, cog_live **live, cog_error *error) {
    enum { FIRST = 10 };
    cog_index_options options;
    cog_documents *first = NULL, *rest = NULL;
    cog_index *index = NULL;
    cog_index_options_init(&options);
    options.method = method;
    options.vectors = vectors;
    cog_status status = cog_documents_from_memory(items, FIRST, &first, error);
    if (status == COG_OK)
        status = cog_index_build(first, &options, NULL, &index, NULL, error);
    if (status == COG_OK)
        status = cog_index_save(index, folder, error);
    if (status == COG_OK)
        status = cog_live_open(folder, live, error);
    if (status == COG_OK)
        status = cog_documents_from_memory(items + FIRST, DOCUMENTS - FIRST, &rest, error);
    if (status == COG_OK)
        status = cog_live_add_documents(*live, rest, NULL, NULL, NULL, NULL, NULL, error);
    cog_index_close(index);
    cog_documents_close(first);
    cog_documents_close(rest);
    return status;
}

TEST(recall_is_kept_by_segments_that_are_not_measured) {
    static const cog_method methods[] = {COG_METHOD_AUTO, COG_METHOD_FLAT, COG_METHOD_SLICES,
                                         COG_METHOD_COLUMNS};
    static char texts[DOCUMENTS][TEXT_BYTES], asked[QUERIES][TEXT_BYTES], ids[DOCUMENTS][8];
    static cog_document items[DOCUMENTS], queries[QUERIES];
    make_documents(items, texts, DOCUMENTS, 400, 5);
    make_documents(queries, asked, QUERIES, 400, 6);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        items[i].id = ids[i];
        items[i].id_size = (size_t)snprintf(ids[i], sizeof ids[i], "%zu", i);
    }
    log_set_most_documents(2200);
    for (size_t i = 0; i < 2 * sizeof methods / sizeof *methods; i++) {
        const cog_method method = methods[i / 2];
        const bool vectors = i % 2 == 0;
        cog_live *live = NULL;
        cog_index *index = NULL;
        cog_hits *truth = NULL, *hits = NULL;
        cog_report *report = NULL;
        CHECK_OK(cog_report_create(&report, error));
        CHECK_OK(grow_live(items, method, vectors, test_path("unmeasured"), &live, error));
        CHECK_OK(cog_live_snapshot(live, &index, error));
        CHECK(index->parts.segments[1].rows >= 2000 && index->parts.segments[1].recall.count == 0);
        CHECK_OK(ask(index, queries, QUERIES, vectors ? COG_METHOD_EXACT : COG_METHOD_FLAT, 1,
                     &truth, NULL, error));
        CHECK_OK(ask(index, queries, QUERIES, method, 0.99, &hits, report, error));
        CHECK_MSG(recall_of(hits, truth, 0, !vectors) >= 0.99, "%s", cog_report_json(report));
        CHECK(!strstr(cog_report_json(report), "not known"));
        cog_hits_free(truth);
        cog_hits_free(hits);
        cog_report_free(report);
        cog_index_close(index);
        cog_live_close(live);
    }
    log_set_most_documents(0);
}

/* Where all cosines are faster than signatures, the build measures nothing, and signatures alone
 * would miss many of the neighbours that share one common word. */
TEST(recall_is_kept_by_short_texts_that_are_not_measured) {
    enum { SHORT = 9000, SHORT_WORDS = 3, SHORT_BYTES = SHORT_WORDS * WORD_BYTES };
    static char texts[SHORT + QUERIES][SHORT_BYTES], ids[SHORT + QUERIES][8];
    static cog_document items[SHORT + QUERIES];
    struct random random = random_seeded(4);
    cog_index_options options;
    cog_documents *documents = NULL;
    cog_index *index = NULL;
    cog_hits *truth = NULL, *hits = NULL;
    for (size_t i = 0; i < SHORT + QUERIES; i++) {
        size_t at = 0;
        for (int word = 0; word < SHORT_WORDS; word++) {
            uint64_t rank = random_below(&random, (uint64_t)1 << random_below(&random, 13));
            at += (size_t)snprintf(texts[i] + at, SHORT_BYTES - at, "w%llu ",
                                   (unsigned long long)rank);
        }
        int id_size = snprintf(ids[i], sizeof ids[i], "%zu", i);
        items[i] = (cog_document){ids[i], (size_t)id_size, texts[i], at, NULL, 0};
    }
    cog_index_options_init(&options);
    options.method = COG_METHOD_FLAT;
    CHECK_OK(cog_documents_from_memory(items, SHORT, &documents, error));
    CHECK_OK(cog_index_build(documents, &options, NULL, &index, NULL, error));
    CHECK(index->parts.segments[0].recall.count == 0);
    CHECK_OK(ask(index, items + SHORT, QUERIES, COG_METHOD_EXACT, 1, &truth, NULL, error));
    CHECK_OK(ask(index, items + SHORT, QUERIES, COG_METHOD_FLAT, 0.99, &hits, NULL, error));
    double recall = recall_of(hits, truth, 0, false);
    CHECK_MSG(recall >= 0.99, "%g", recall);
    cog_hits_free(truth);
    cog_hits_free(hits);
    cog_index_close(index);
    cog_documents_close(documents);
}

/* ---- Measures -------------------------------------------------------------------------------- */

TEST(recall_measures_choose_the_least_effort) {
    struct recall_measure items[4];
    struct recall_measures measures = {items, 0};
    for (unsigned effort = 0; effort < 4; effort++) {
        struct share_tally tally = {0};
        for (int unit = 0; unit < 500; unit++)
            share_tally_add(&tally, 6 + effort + (unit % 4 == 0 && effort < 3), 10);
        items[measures.count++] = recall_measure_of("slices", 0, 10, effort, &tally);
    }
    CHECK(recall_measure_reaching(&measures, "slices", 0, 10, 0.6, NULL)->effort == 0);
    CHECK(recall_measure_reaching(&measures, "slices", 0, 3, 0.7, NULL)->effort == 1);
    CHECK(recall_measure_reaching(&measures, "slices", 0, 10, 0.8, NULL)->effort == 2);
    CHECK(recall_measure_reaching(&measures, "slices", 0, 10, 0.7, &items[1])->effort == 2);
    CHECK(!recall_measure_reaching(&measures, "slices", 0, 10, 0.7, &items[3]));
    CHECK(!recall_measure_reaching(&measures, "slices", 0, 10, 0.95, NULL));
    CHECK(!recall_measure_reaching(&measures, "slices", 0, 11, 0.6, NULL));
    CHECK(!recall_measure_reaching(&measures, "slice", 0, 10, 0.6, NULL));
    CHECK(!recall_measure_reaching(&measures, "slices", RECALL_OF_COSINES, 10, 0.6, NULL));
    CHECK(recall_is_measured(&measures, "slices", 0, 1) &&
          !recall_is_measured(&measures, "slices", 0, 1000));
    CHECK(recall_measured_k(1) == 10 && recall_measured_k(100) == 100 &&
          recall_measured_k(101) == 0);
    CHECK_OK(recall_measures_check(&measures, "file", error));
    items[2].hits = items[2].trials + 1;
    CHECK(recall_measures_check(&measures, "file", NULL) == COG_ERR_FORMAT);
}
