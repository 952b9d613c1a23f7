/* Shared spans against brute force, and what the public functions return for known pairs. */
#include "jobs/explain/shared_spans.h"

#include "base/hash.h"
#include "cognate.h"
#include "test.h"

enum { LONGEST = 60 };

static size_t random_text(struct random *random, char *text) {
    size_t words = random_below(random, LONGEST), letters = 1 + random_below(random, 6), size = 0;
    for (size_t i = 0; i < words; i++) {
        text[size++] = (char)('a' + random_below(random, letters));
        text[size++] = ' ';
    }
    return size;
}

static bool has(const uint64_t *hashes, size_t count, uint64_t hash) {
    for (size_t i = 0; i < count; i++)
        if (hashes[i] == hash)
            return true;
    return false;
}

static size_t distinct(const struct term_list *list, const struct term_list *other) {
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        count += !has(list->hashes, i, list->hashes[i]) &&
                 (!other || has(other->hashes, other->count, list->hashes[i]));
    return count;
}

/* Whether spans and marks of a side cover exactly the bytes of the shared terms, and the white
 * space between neighbours. */
static bool covers_shared_terms(const struct term_list lists[2], const struct shared_spans *shared,
                                int side) {
    uint8_t spans[2 * LONGEST] = {0}, marks[2 * LONGEST] = {0}, wanted[2 * LONGEST] = {0};
    const struct term_list *own = &lists[side], *other = &lists[!side];
    for (size_t i = 0, last = 0; i < own->count; i++)
        if (has(other->hashes, other->count, own->hashes[i])) {
            size_t begin = i && last == i ? own->places[i - 1].end : own->places[i].begin;
            begin = begin < own->places[i].begin ? begin : own->places[i].begin;
            memset(wanted + begin, 1, own->places[i].end - begin);
            last = i + 1;
        }
    for (size_t i = 0; i < shared->count; i++) {
        const cog_shared_span *span = &shared->spans[i];
        memset(spans + span->begin[side], 1, span->end[side] - span->begin[side]);
    }
    for (size_t i = 0, end = 0; i < shared->marks[side].count; i++) {
        cog_text_span mark = shared->marks[side].items[i];
        if ((i && mark.begin <= end) || mark.end <= mark.begin)
            return false;
        end = mark.end;
        memset(marks + mark.begin, 1, end - mark.begin);
    }
    for (size_t i = 0; i < sizeof spans; i += 2) /* words stand at even places */
        if (spans[i] != wanted[i])
            return false;
    return memcmp(marks, wanted, sizeof marks) == 0;
}

static bool spans_agree(const char texts[2][2 * LONGEST], const struct shared_spans *shared,
                        unsigned n) {
    for (size_t i = 0; i < shared->count; i++) {
        const cog_shared_span *span = &shared->spans[i];
        size_t size = span->end[0] - span->begin[0];
        if (size != span->end[1] - span->begin[1] || (i && span->terms > span[-1].terms) ||
            memcmp(texts[0] + span->begin[0], texts[1] + span->begin[1], size) != 0 ||
            (size >= 2 * n - 1 && span->terms != (size + 1) / 2 - n + 1))
            return false;
    }
    return true;
}

TEST(shared_spans_are_those_of_brute_force) {
    struct random random = random_seeded(31);
    for (int round = 0; round < 4000; round++) {
        struct term_list lists[2] = {{.want_places = true}, {.want_places = true}};
        struct shared_spans shared = {0};
        struct analyzer *analyzer;
        struct term_options options;
        char texts[2][2 * LONGEST];
        term_options_init(&options);
        options.ngram = 1 + (unsigned)random_below(&random, 4);
        CHECK_OK(analyzer_create(&options, &analyzer, error));
        for (int side = 0; side < 2; side++)
            CHECK_OK(analyzer_run(analyzer, view_of(texts[side], random_text(&random, texts[side])),
                                  view_of("", 0), &lists[side], error));
        CHECK_OK(shared_spans_find(lists, &shared, error));
        CHECK(shared.terms[0] == distinct(&lists[0], NULL));
        CHECK(shared.terms[1] == distinct(&lists[1], NULL));
        CHECK(shared.shared == distinct(&lists[0], &lists[1]));
        CHECK(spans_agree(texts, &shared, options.ngram));
        CHECK_MSG(covers_shared_terms(lists, &shared, 0) && covers_shared_terms(lists, &shared, 1),
                  "round %d", round);
        shared_spans_free(&shared);
        term_list_free(&lists[0]);
        term_list_free(&lists[1]);
        analyzer_free(analyzer);
    }
}

TEST(shared_spans_of_short_texts_are_of_words) {
    static const char *const texts[2] = {"to be or not to be", "now to be and not to be seen"};
    struct term_list lists[2] = {{.want_places = true}, {.want_places = true}};
    struct shared_spans shared = {0};
    struct analyzer *analyzer;
    struct term_options options;
    term_options_init(&options);
    options.ngram = 3;
    options.short_texts = true;
    CHECK_OK(analyzer_create(&options, &analyzer, error));
    for (int side = 0; side < 2; side++)
        CHECK_OK(
            analyzer_run(analyzer, view_of_text(texts[side]), view_of("", 0), &lists[side], error));
    CHECK_OK(shared_spans_find(lists, &shared, error));
    CHECK(shared.terms[0] == 6 && shared.terms[1] == 8 && shared.shared == 5);
    CHECK(shared.count == 2 && shared.spans[0].terms == 3 && shared.spans[1].terms == 2);
    CHECK(shared.spans[0].begin[0] == 9 && shared.spans[0].end[0] == 18);
    CHECK(shared.spans[0].begin[1] == 14 && shared.spans[0].end[1] == 23);
    shared_spans_free(&shared);
    term_list_free(&lists[0]);
    term_list_free(&lists[1]);
    analyzer_free(analyzer);
}

/* ---- The public functions -------------------------------------------------------------------- */

static cog_status overlap_of(const char *a, const char *b, cog_measure measure,
                             cog_overlap **overlap, cog_error *error) {
    const cog_document items[] = {{.id = "a", .id_size = 1, .text = a, .text_size = strlen(a)},
                                  {.id = "b", .id_size = 1, .text = b, .text_size = strlen(b)}};
    static const char *const ids[] = {"a", "b"};
    cog_documents *documents = NULL;
    cog_pairs_options options;
    cog_pairs_options_init(&options, measure);
    cog_status status = cog_documents_from_memory(items, 2, &documents, error);
    if (status == COG_OK)
        status = cog_pairs_overlap(documents, NULL, ids, measure, &options.sign.terms, NULL,
                                   overlap, NULL, error);
    cog_documents_close(documents);
    return status;
}

TEST(overlap_of_a_passage_inside_a_longer_text) {
    cog_overlap *overlap = NULL;
    size_t size;
    CHECK_OK(overlap_of("One two three four!", "zero (ONE two, three) four five six",
                        COG_MEASURE_CONTAINMENT, &overlap, error));
    cog_overlap_summary summary = cog_overlap_summarize(overlap);
    CHECK(summary.terms[0] == 2 && summary.terms[1] == 5 && summary.shared == 2);
    CHECK(summary.similarity == 1 && summary.containment == 1 && near(summary.jaccard, 0.4, 1e-12));
    CHECK(summary.share[0] == 1 && near(summary.share[1], 0.4, 1e-12));
    CHECK(cog_overlap_span_count(overlap) == 1);
    cog_shared_span span = cog_overlap_span(overlap, 0);
    CHECK(span.terms == 2 && span.begin[0] == 0 && span.end[0] == 18);
    CHECK(strncmp(cog_overlap_text(overlap, 1, &size) + span.begin[1], "ONE two, three) four",
                  span.end[1] - span.begin[1]) == 0);
    CHECK(cog_overlap_mark_count(overlap, 1) == 1 && cog_overlap_mark(overlap, 1, 0).begin == 6);
    CHECK(cog_overlap_span(overlap, 1).terms == 0 && cog_overlap_mark(overlap, 0, 1).end == 0);
    cog_overlap_free(overlap);
}

TEST(overlap_of_texts_without_terms_is_that_of_their_bytes) {
    cog_overlap *overlap = NULL;
    CHECK_OK(overlap_of("!!!", "!!!", COG_MEASURE_JACCARD, &overlap, error));
    CHECK(cog_overlap_summarize(overlap).similarity == 1 && cog_overlap_span_count(overlap) == 0);
    cog_overlap_free(overlap);
    CHECK_OK(overlap_of("!!!", "???", COG_MEASURE_JACCARD, &overlap, error));
    CHECK(cog_overlap_summarize(overlap).similarity == 0);
    cog_overlap_free(overlap);
    CHECK_OK(overlap_of("", "one two three", COG_MEASURE_CONTAINMENT, &overlap, error));
    CHECK(cog_overlap_summarize(overlap).similarity == 0);
    cog_overlap_free(overlap);
}

TEST(overlap_refuses_the_cosine_and_pairs_by_containment_refuse_signatures) {
    cog_overlap *overlap = NULL;
    cog_error failure = {0};
    CHECK(overlap_of("a b c", "a b c", COG_MEASURE_COSINE, &overlap, &failure) == COG_ERR_USAGE);
    CHECK(failure.option && strcmp(failure.option, "measure") == 0);
    cog_document item = {.text = "a b c", .text_size = 5};
    cog_documents *documents = NULL;
    cog_pairs_options options;
    cog_pairs *pairs = NULL;
    cog_pairs_options_init(&options, COG_MEASURE_CONTAINMENT);
    CHECK(options.sign.terms.ngram == 3 && !options.sign.terms.stem);
    CHECK_OK(cog_documents_from_memory(&item, 1, &documents, error));
    CHECK_OK(cog_pairs_find(documents, NULL, &options, NULL, &pairs, NULL, error));
    CHECK(cog_pairs_count(pairs) == 0);
    cog_pairs_free(pairs);
    options.method = COG_METHOD_FLAT;
    CHECK(cog_pairs_find(documents, NULL, &options, NULL, &pairs, NULL, &failure) == COG_ERR_USAGE);
    CHECK(failure.option && strcmp(failure.option, "method") == 0);
    CHECK_MSG(strstr(failure.message, "containment"), "%s", failure.message);
    cog_documents_close(documents);
}
