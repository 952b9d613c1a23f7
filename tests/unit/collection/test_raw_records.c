/* A pass over raw records has the numbers of the pass that parsed them. */
#include "collection/ingest.h"
#include "test.h"

enum { MAX_RECORDS = 64 };

struct seen {
    uint64_t record, line;
    uint32_t file;
    char raw[64], id[64];
};

struct collecting {
    struct ingest *ingest;
    struct seen seen[MAX_RECORDS];
    size_t count;
};

static cog_status collect(void *context, unsigned worker, void *batch, cog_error *error) {
    struct collecting *collecting = context;
    for (;;) {
        struct ingested item;
        TRY(ingest_next(collecting->ingest, worker, batch, &item, error));
        if (!item.document)
            return COG_OK;
        struct seen *seen = &collecting->seen[collecting->count++];
        *seen = (struct seen){item.record, item.document->line, item.document->file, "", ""};
        snprintf(seen->raw, sizeof seen->raw, "%.*s", (int)item.document->raw.size,
                 item.document->raw.data);
        snprintf(seen->id, sizeof seen->id, "%.*s", (int)item.document->id.size,
                 item.document->id.data);
    }
}

static void pass(cog_documents *documents, bool raw, cog_report *report,
                 struct collecting *collecting) {
    const cog_run_options run = {.threads = 1};
    *collecting = (struct collecting){0};
    if (raw)
        CHECK_OK(
            ingest_open_raw(documents, 1, "writing", &run, report, &collecting->ingest, error));
    else
        CHECK_OK(ingest_open(documents, NULL, 1, "reading", &run, report, false,
                             &collecting->ingest, error));
    CHECK_OK(ingest_run(collecting->ingest, collecting, collect, NULL, error));
    ingest_close(collecting->ingest);
}

static void check_same_records(const char *const *paths, size_t path_count, size_t good,
                               size_t all) {
    cog_input_options input;
    cog_documents *documents = NULL;
    cog_report *report = NULL;
    cog_input_options_init(&input);
    CHECK_OK(cog_report_create(&report, error));
    CHECK_OK(cog_documents_open(&input, paths, path_count, &documents, error));
    static struct collecting parsed, raw;
    pass(documents, false, report, &parsed);
    pass(documents, true, report, &raw);
    CHECK_MSG(parsed.count == good && raw.count == all, "%zu and %zu", parsed.count, raw.count);
    for (size_t i = 0; i < parsed.count; i++) {
        const struct seen *a = &parsed.seen[i], *b = &raw.seen[a->record];
        CHECK(b->record == a->record && b->line == a->line && b->file == a->file);
        CHECK_MSG(strcmp(a->raw, b->raw) == 0, "%s and %s", a->raw, b->raw);
    }
    CHECK(cog_report_number(report, "bad_records") == (double)(all - good));
    cog_documents_close(documents);
    cog_report_free(report);
}

TEST(raw_records_have_the_numbers_of_parsed_ones) {
    const char *json = write_text("a.jsonl", "{\"text\":\"a\"}\n\nbad\n{\"text\":\"b\"}\r\n{}\n");
    const char *more = write_text("b.jsonl", "{\"text\":\"c\"}");
    check_same_records((const char *const[]){json, more}, 2, 3, 5);
    const char *table = write_text("a.csv", "id,text\nx,\"a\nb\"\n\ny\nz,c\n");
    check_same_records(&table, 1, 2, 3);
}

TEST(raw_records_of_whole_files_are_named) {
    cog_input_options input;
    cog_documents *documents = NULL;
    const char *path = write_text("a.txt", "one\ntwo\n");
    cog_input_options_init(&input);
    CHECK_OK(cog_documents_open(&input, &path, 1, &documents, error));
    static struct collecting raw;
    pass(documents, true, NULL, &raw);
    CHECK(raw.count == 1 && strcmp(raw.seen[0].raw, "one\ntwo\n") == 0);
    CHECK(strcmp(raw.seen[0].id, path) == 0);
    cog_documents_close(documents);
}

TEST(raw_records_of_documents_in_memory_do_not_exist) {
    cog_document item = {.text = "a", .text_size = 1};
    cog_documents *documents = NULL;
    struct ingest *ingest = NULL;
    cog_error failure = {0};
    CHECK_OK(cog_documents_from_memory(&item, 1, &documents, error));
    CHECK(ingest_open_raw(documents, 1, "writing", NULL, NULL, &ingest, &failure) == COG_ERR_USAGE);
    cog_documents_close(documents);
}
