#include "collection/sets/document_sets.h"

#include "base/hash.h"
#include "test.h"

static cog_document document(const char *id, const char *text) {
    return (cog_document){.id = id, .id_size = strlen(id), .text = text, .text_size = strlen(text)};
}

static cog_status read_all(struct document_sets *sets, const cog_document *items, size_t count,
                           bool is_last, unsigned threads, cog_error *error) {
    cog_documents *documents = NULL;
    struct term_options terms;
    const cog_run_options run = {.threads = threads};
    struct job job;
    term_options_init(&terms);
    terms.stem = terms.drop_stop_words = false;
    terms.ngram = 3;
    terms.short_texts = true;
    TRY(cog_documents_from_memory(items, count, &documents, error));
    job_begin(&job, &run, NULL);
    cog_status status = document_sets_read(sets, documents, &terms, is_last, NULL, &job, error);
    job_end(&job);
    cog_documents_close(documents);
    return status;
}

#define LONG_TEXT "one two three four five six seven eight nine ten eleven twelve thirteen"

TEST(document_sets_group_equal_documents) {
    const cog_document items[] = {
        document("0", LONG_TEXT),
        document("1", "..."),
        document("2", "One, two, THREE four five six seven eight nine ten eleven twelve thirteen!"),
        document("3", LONG_TEXT " fourteen"),
        document("4", "..!"),
        document("5", "short words here too"),
        document("6", "..."),
        document("7", "Short words: here too"),
        document("8", "here too words short"), /* short texts are compared by words in any order */
        document("9", "short words words here too"),
        document("10", ""),
        document("11", "\xf0\x9f\x99\x82"),
        document("12", ""),
        document("0", LONG_TEXT),
    };
    static const uint32_t expected[] = {0, 1, 0, 3, 4, 5, 1, 5, 5, 9, 10, 11, 10, 0};
    enum { COUNT = sizeof items / sizeof *items };
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        struct document_sets sets = {0};
        uint32_t *leaders = NULL;
        size_t groups = 0;
        CHECK_OK(document_sets_open(&sets, "-", error));
        CHECK_OK(read_all(&sets, items, COUNT, true, threads, error));
        CHECK(sets.count == COUNT && sets.file.row_count == COUNT);
        CHECK_OK(document_sets_group(&sets, &leaders, &groups, error));
        for (size_t row = 0; row < COUNT; row++) {
            struct buffer id = {0};
            CHECK_MSG(leaders[row] == expected[row], "row %zu: %u", row, leaders[row]);
            CHECK(sets.facts[row].record == row);
            CHECK(sets.facts[row].text_bytes == items[row].text_size);
            CHECK_OK(set_file_id(&sets.file, row, &id, error));
            CHECK(
                view_equals(view_of(id.data, id.size), view_of(items[row].id, items[row].id_size)));
            buffer_free(&id);
        }
        CHECK(groups == 4);
        CHECK(sets.rows[0].terms == 11 && sets.rows[0].words == 13);
        CHECK(sets.rows[5].terms == 0 && sets.rows[5].words == 4);
        CHECK(sets.rows[9].words == 5 && sets.rows[1].terms + sets.rows[1].words == 0);
        free(leaders);
        document_sets_close(&sets);
    }
}

TEST(document_sets_of_two_collections) {
    const cog_document first[] = {document("a", LONG_TEXT), document("b", "."), document("c", "x")};
    const cog_document second[] = {document("a", "."), document("d", LONG_TEXT), document("e", "y"),
                                   document("f", "Y")};
    static const uint32_t expected[] = {0, 1, 2, 1, 0, 5, 5};
    struct document_sets sets = {0};
    uint32_t *leaders = NULL;
    size_t groups = 0;
    CHECK_OK(document_sets_open(&sets, "-", error));
    CHECK_OK(read_all(&sets, first, 3, false, 2, error));
    CHECK(sets.count == 3 && sets.progress.first_row == 0);
    CHECK_OK(read_all(&sets, second, 4, true, 2, error));
    CHECK(sets.count == 7 && sets.progress.first_row == 3 && sets.facts[3].record == 0);
    CHECK_OK(document_sets_group(&sets, &leaders, &groups, error));
    CHECK(memcmp(leaders, expected, sizeof expected) == 0);
    CHECK(groups == 3);
    free(leaders);
    document_sets_close(&sets);
}

/* As the join takes members: many documents by one thread and by several have the same sets. */
TEST(document_sets_do_not_depend_on_threads) {
    enum { COUNT = 2000, TEXT_BYTES = 400 };
    static char texts[COUNT][TEXT_BYTES];
    static cog_document items[COUNT];
    struct random random = random_seeded(3);
    struct document_sets sets[2];
    for (size_t i = 0; i < COUNT; i++) {
        size_t size = 0;
        for (uint64_t words = random_below(&random, 40); words > 0; words--)
            size += (size_t)sprintf(texts[i] + size, "w%d ", (int)random_below(&random, 50));
        items[i] = document("id", texts[i]);
    }
    memset(sets, 0, sizeof sets);
    for (unsigned i = 0; i < 2; i++) {
        CHECK_OK(document_sets_open(&sets[i], "-", error));
        CHECK_OK(read_all(&sets[i], items, COUNT, true, 1 + 3 * i, error));
    }
    CHECK(sets[0].count == COUNT && sets[1].count == COUNT);
    CHECK(sets[0].file.size_bytes == sets[1].file.size_bytes);
    CHECK(memcmp(sets[0].rows, sets[1].rows, COUNT * sizeof *sets[0].rows) == 0);
    CHECK(memcmp(sets[0].fingerprints, sets[1].fingerprints,
                 COUNT * sizeof *sets[0].fingerprints) == 0);
    document_sets_close(&sets[0]);
    document_sets_close(&sets[1]);
}
