/* The text of shared n-grams, found again in the input. */
#include "jobs/dedup/report/boilerplate.h"

#include "test.h"
#include "vector/member_set.h"

static struct term_options word_ngrams(void) {
    struct term_options options;
    term_options_init(&options);
    options.ngram = 3;
    return options;
}

/* Adds the n-grams of a text, as if this record had been found to have them. */
static size_t add_ngrams(const struct term_options *options, const char *text, uint64_t record,
                         struct boilerplate_ngram *ngrams) {
    struct analyzer *analyzer = NULL;
    struct term_list list = {0};
    if (analyzer_create(options, &analyzer, NULL) != COG_OK ||
        analyzer_run(analyzer, view_of_text(text), view_of("", 0), &list, NULL) != COG_OK)
        abort();
    for (size_t i = 0; i < list.count; i++)
        ngrams[i] = (struct boilerplate_ngram){member_of_hash(list.hashes[i]), record};
    size_t count = list.count;
    term_list_free(&list);
    analyzer_free(analyzer);
    return count;
}

static bool is_text(struct bytes_view view, const char *text) {
    if (view_equals(view, view_of_text(text)))
        return true;
    printf("  '%.*s' is not '%s'\n", (int)view.size, view.data, text);
    return false;
}

static cog_status name(struct boilerplate *boilerplate, cog_documents *documents,
                       const struct term_options *options, const struct boilerplate_ngram *ngrams,
                       size_t count, unsigned threads, cog_error *error) {
    const cog_run_options run = {.threads = threads};
    struct job job;
    job_begin(&job, &run, NULL);
    cog_status status =
        boilerplate_read(boilerplate, documents, options, ngrams, count, &job, error);
    job_end(&job);
    return status;
}

static cog_documents *in_memory(const char *const *texts, size_t count) {
    static cog_document items[8];
    cog_documents *documents = NULL;
    for (size_t i = 0; i < count; i++)
        items[i] = (cog_document){.text = texts[i], .text_size = strlen(texts[i])};
    if (cog_documents_from_memory(items, count, &documents, NULL) != COG_OK)
        abort();
    return documents;
}

TEST(boilerplate_passage_is_the_run_of_given_ngrams) {
    static const char *const texts[] = {
        "nothing of it", "Unlike others,\n this page is \t licensed under MIT terms; see below."};
    struct term_options options = word_ngrams();
    struct boilerplate_ngram ngrams[8];
    struct boilerplate found = {0};
    cog_documents *documents = in_memory(texts, 2);
    size_t count = add_ngrams(&options, "page is licensed under mit", 1, ngrams);
    CHECK(count == 3);
    CHECK_OK(name(&found, documents, &options, ngrams, count, 2, error));
    for (size_t i = 0; i < count; i++) {
        CHECK(found.passages[i].ngram == 0);
        CHECK(is_text(boilerplate_run(&found, i), "page is licensed under MIT"));
        CHECK(is_text(boilerplate_passage(&found, i),
                      "Unlike others, this page is licensed under MIT terms; see below"));
    }
    boilerplate_free(&found);
    cog_documents_close(documents);
}

TEST(boilerplate_passage_has_about_eighty_characters) {
    static const char *const texts[] = {
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen twenty and so on, and so on, and so on",
        "Ärger über Öl. Ärger über Öl. Ärger über Öl, ärger über öl, ärger über öl, ärger über öl, "
        "ärger über öl, ärger über öl, ärger über öl"};
    struct term_options options = word_ngrams();
    struct boilerplate_ngram ngrams[64];
    struct boilerplate found = {0};
    cog_documents *documents = in_memory(texts, 2);
    add_ngrams(&options, "ten eleven twelve", 0, ngrams);
    size_t count = 1 + add_ngrams(&options, texts[1], 1, ngrams + 1);
    CHECK_OK(name(&found, documents, &options, ngrams, count, 1, error));
    CHECK(is_text(boilerplate_run(&found, 0), "ten eleven twelve"));
    CHECK(is_text(boilerplate_passage(&found, 0), "five six seven eight nine ten eleven twelve "
                                                  "thirteen fourteen fifteen sixteen"));
    for (size_t i = 1; i < count; i++) {
        CHECK(found.passages[i].ngram == 1);
        struct bytes_view run = boilerplate_run(&found, i);
        size_t characters = 0;
        for (size_t at = 0; at < run.size; at++)
            characters += ((unsigned char)run.data[at] & 0xc0) != 0x80;
        CHECK(characters <= PASSAGE_CHARACTERS && characters > PASSAGE_CHARACTERS - 10);
        CHECK(view_equals(run, boilerplate_passage(&found, i)));
    }
    boilerplate_free(&found);
    cog_documents_close(documents);
}

TEST(boilerplate_of_records_without_the_ngram_is_empty) {
    static const char *const texts[] = {"one two three four"};
    struct term_options options = word_ngrams();
    struct boilerplate_ngram ngrams[2];
    struct boilerplate found = {0};
    cog_documents *documents = in_memory(texts, 1);
    add_ngrams(&options, "five six seven", 0, ngrams);
    add_ngrams(&options, "one two three", 7, ngrams + 1);
    CHECK_OK(name(&found, documents, &options, ngrams, 2, 1, error));
    CHECK(boilerplate_passage(&found, 0).size == 0 && boilerplate_passage(&found, 1).size == 0);
    CHECK(found.passages[0].ngram == 0 && found.passages[1].ngram == 1);
    boilerplate_free(&found);
    CHECK_OK(name(&found, documents, &options, ngrams, 0, 1, error));
    CHECK(found.count == 0);
    boilerplate_free(&found);
    cog_documents_close(documents);
}

TEST(boilerplate_of_short_texts_and_of_very_long_words) {
    static const char *const texts[] = {"Terms of use apply", NULL};
    struct buffer longest = {0};
    for (int i = 0; i < 9000; i++)
        CHECK(buffer_append_text(&longest, i % 2250 ? "ä" : " x"));
    CHECK(buffer_append(&longest, "", 1));
    const char *const both[] = {texts[0], longest.data};
    struct term_options options = word_ngrams();
    struct boilerplate_ngram ngrams[8];
    struct boilerplate found = {0};
    cog_documents *documents = in_memory(both, 2);
    options.short_texts = true;
    CHECK(add_ngrams(&options, texts[0], 0, ngrams) == 4);
    CHECK(add_ngrams(&options, longest.data, 1, ngrams + 4) == 4);
    CHECK_OK(name(&found, documents, &options, ngrams, 8, 1, error));
    CHECK(is_text(boilerplate_run(&found, 3), "Terms of use apply") &&
          found.passages[3].ngram == 0);
    struct bytes_view cut = boilerplate_passage(&found, 4);
    CHECK(cut.size > PASSAGE_CHARACTERS && cut.size <= 4 * PASSAGE_CHARACTERS);
    CHECK(view_equals(cut, boilerplate_run(&found, 4)));
    CHECK((unsigned char)cut.data[cut.size - 1] == 0xa4); /* whole characters */
    boilerplate_free(&found);
    cog_documents_close(documents);
    buffer_free(&longest);
}

/* Several batches of a file; bad records have numbers too; a pass that ends early can be followed
 * by another. */
TEST(boilerplate_of_records_of_a_file) {
    enum { RECORDS = 60000, CHOSEN = 5 };
    static const uint64_t chosen[CHOSEN] = {59999, 3, 30001, 12345, 3};
    struct buffer file = {0};
    for (int i = 0; i < RECORDS; i++)
        CHECK(i % 10 == 7 ? buffer_append_text(&file, "{bad\n")
                          : buffer_printf(&file,
                                          "{\"text\": \"text number n%d begins here, with "
                                          "words that are n%d n%d\"}\n",
                                          i, i, i + 1));
    const char *path = write_file("many.jsonl", file.data, file.size);
    struct term_options options = word_ngrams();
    cog_input_options input;
    cog_documents *documents = NULL;
    cog_input_options_init(&input);
    CHECK_OK(cog_documents_open(&input, &path, 1, &documents, error));
    ingest_keep_pipes(documents);
    for (unsigned threads = 1; threads <= 4; threads += 3)
        for (size_t count = CHOSEN; count > 1; count = count == CHOSEN ? 2 : 0) {
            struct boilerplate_ngram ngrams[CHOSEN];
            struct boilerplate found = {0};
            char text[64];
            for (size_t i = 0; i < count; i++) {
                sprintf(text, "that are n%d", (int)chosen[CHOSEN - 1 - i]);
                add_ngrams(&options, text, chosen[CHOSEN - 1 - i], &ngrams[i]);
            }
            CHECK_OK(name(&found, documents, &options, ngrams, count, threads, error));
            for (size_t i = 0; i < count; i++) {
                sprintf(text, "that are n%d", (int)chosen[CHOSEN - 1 - i]);
                CHECK(is_text(boilerplate_run(&found, i), text));
            }
            boilerplate_free(&found);
        }
    cog_documents_close(documents);
    buffer_free(&file);
}
