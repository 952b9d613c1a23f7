#include "jobs/dedup/report/report_page.h"

#include "input/documents/json_parser.h"
#include "jobs/dedup/report/report_choice.h"
#include "jobs/dedup/report/report_texts.h"
#include "test.h"

enum { MANY = 3000 };

static cog_status id_of_item(const void *context, uint32_t row, struct buffer *id,
                             cog_error *error) {
    const cog_document *item = (const cog_document *)context + row;
    return buffer_append(id, item->id, item->id_size) ? COG_OK : error_memory(error, 2, "an id");
}

static struct duplicate_row alone(uint32_t row, size_t text_bytes) {
    return (struct duplicate_row){.record = row,
                                  .text_bytes = text_bytes,
                                  .members = 10,
                                  .cluster = NO_ROW,
                                  .kept_row = row,
                                  .nearest_row = NO_ROW,
                                  .reference_row = NO_ROW,
                                  .similarity = 1,
                                  .identical = true};
}

static void put_into(struct duplicate_row *row, uint32_t cluster, uint32_t kept, float similarity) {
    row->cluster = cluster;
    row->kept_row = kept;
    row->similarity = similarity;
    row->identical = similarity == 1;
}

static struct duplicate_rows result(struct duplicate_row *rows, size_t count, size_t clusters,
                                    const cog_document *items) {
    return (struct duplicate_rows){.rows = rows,
                                   .count = count,
                                   .cluster_count = clusters,
                                   .threshold = 0.8,
                                   .floor = 0.6,
                                   .measure = "jaccard",
                                   .append_id = id_of_item,
                                   .id_context = items};
}

static cog_document document(const char *id, const char *text, size_t text_size) {
    return (cog_document){id, strlen(id), text, text_size, NULL, 0};
}

/* The whole page; free it. */
static char *read_page(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    char *data = NULL;
    if (file && fseek(file, 0, SEEK_END) == 0) {
        *size = (size_t)ftell(file);
        rewind(file);
        data = calloc(1, *size + JSON_PADDING_BYTES);
        if (data && fread(data, 1, *size, file) != *size)
            *size = 0;
    }
    if (file)
        fclose(file);
    return data;
}

static size_t occurrences(const char *data, size_t size, const char *part) {
    size_t count = 0;
    const char *end = data + size;
    while ((data = memmem(data, (size_t)(end - data), part, strlen(part)))) {
        count++;
        data++;
    }
    return count;
}

static bool has(struct bytes_view data, const char *part) {
    return occurrences(data.data, data.size, part) > 0;
}

static cog_status write_report(const cog_document *items, const struct duplicate_rows *rows,
                               const char *path, unsigned threads, cog_error *error) {
    cog_documents *documents = NULL;
    cog_run_options run = {.threads = threads};
    TRY(cog_documents_from_memory(items, rows->count, &documents, error));
    cog_status status = report_page_write(documents, rows, path, &run, NULL, error);
    cog_documents_close(documents);
    return status;
}

TEST(report_holds_any_id_and_text_without_leaving_its_element) {
    static const char hostile[] =
        "</script><script>alert(1)</script><!-- \"q\\ \r\n\t\x01 \xf0\x9f\x98\x80"
        " \xe2\x80\xa8 \xd7\x90";
    static const char passage[] = "<b>all rights</b>";
    const struct shared_passage boilerplate = {{passage, sizeof passage - 1}, 5};
    cog_document items[] = {document("</script><img src=x>", hostile, sizeof hostile - 1),
                            document("\"\\\xe2\x80\xae\xf0\x9f\x98\x80", "plain", 5),
                            document("third", "", 0)};
    struct duplicate_row rows[] = {alone(0, sizeof hostile - 1), alone(1, 5), alone(2, 0)};
    put_into(&rows[0], 0, 0, 1);
    put_into(&rows[1], 0, 0, 0.9f);
    struct duplicate_rows found = result(rows, 3, 1, items);
    found.boilerplate = &boilerplate;
    found.boilerplate_count = 1;
    const char *path = test_path("hostile.html");
    CHECK_OK(write_report(items, &found, path, 1, error));
    size_t size = 0;
    char *page = read_page(path, &size);
    CHECK(page && size > report_page_front_size + report_page_back_size);
    CHECK(memcmp(page, report_page_front, report_page_front_size) == 0);
    struct bytes_view json = view_of(page + report_page_front_size,
                                     size - report_page_front_size - report_page_back_size);
    CHECK(!memchr(json.data, '<', json.size));
    CHECK(has(json, "\\u003c/script>\\u003cimg src=x>") && has(json, "\\u003c!--") &&
          has(json, "\xf0\x9f\x98\x80") && has(json, "[\"\\u003cb>all rights\\u003c/b>\",5]"));
    struct json_parser *parser = json_parser_create();
    struct json_field fields[] = {{.name = {"total", 5}}, {.name = {"texts", 5}}};
    const char *problem = NULL;
    char *copy = calloc(1, json.size + JSON_PADDING_BYTES);
    CHECK(copy);
    memcpy(copy, json.data, json.size);
    CHECK_MSG(json_parser_find(parser, copy, json.size, fields, 2, &problem) == PARSE_OK, "%s",
              problem);
    CHECK(view_equals(fields[0].token, view_of("3", 1)) && fields[1].token.size);
    json_parser_free(parser);
    free(copy);
    free(page);
}

TEST(report_is_the_same_for_every_number_of_threads) {
    static cog_document items[MANY];
    static struct duplicate_row rows[MANY];
    static char ids[MANY][16], text[40000];
    memset(text, 'a', sizeof text);
    for (uint32_t row = 0; row < MANY; row++) {
        snprintf(ids[row], sizeof ids[row], "id %u", row);
        size_t bytes = row * 7 % sizeof text;
        items[row] = document(ids[row], text, bytes);
        rows[row] = alone(row, bytes);
        if (row % 10 < 3)
            put_into(&rows[row], row / 10, row - row % 10, row % 10 ? 0.8f + 0.01f * (row % 7) : 1);
    }
    struct duplicate_rows found = result(rows, MANY, MANY / 10, items);
    const char *paths[] = {test_path("one.html"), test_path("three.html")};
    CHECK_OK(write_report(items, &found, paths[0], 1, error));
    CHECK_OK(write_report(items, &found, paths[1], 3, error));
    size_t sizes[2] = {0, 0};
    char *pages[2] = {read_page(paths[0], &sizes[0]), read_page(paths[1], &sizes[1])};
    CHECK(pages[0] && pages[1] && sizes[0] == sizes[1]);
    CHECK(memcmp(pages[0], pages[1], sizes[0]) == 0);
    CHECK(sizes[0] < 20 << 20);
    free(pages[0]);
    free(pages[1]);
}

TEST(report_cuts_texts_between_characters) {
    static char text[REPORT_TEXT_BYTES + 100];
    memset(text, 'a', REPORT_TEXT_BYTES - 1);
    memcpy(text + REPORT_TEXT_BYTES - 1, "\xc3\xa4\xc3\xb6", 4);
    size_t whole = REPORT_TEXT_BYTES + 3, size = 0;
    cog_document items[] = {document("a", text, whole), document("b", "b", 1)};
    struct duplicate_row rows[] = {alone(0, whole), alone(1, 1)};
    put_into(&rows[0], 0, 0, 1);
    put_into(&rows[1], 0, 0, 0.9f);
    struct duplicate_rows found = result(rows, 2, 1, items);
    const char *path = test_path("cut.html");
    CHECK_OK(write_report(items, &found, path, 1, error));
    char *page = read_page(path, &size), wanted[64];
    snprintf(wanted, sizeof wanted, "[0,%zu,\"aaaa", whole);
    struct bytes_view json = view_of(page, size);
    CHECK(has(json, wanted) && has(json, "aaaa\"],\n[1,1,\"b\"]") && !has(json, "a\xc3"));
    free(page);
}

TEST(report_lists_clusters_by_size_and_pairs_by_similarity) {
    static cog_document items[MANY];
    static struct duplicate_row rows[MANY];
    for (uint32_t row = 0; row < MANY; row++) {
        items[row] = document("x", "x", 1);
        rows[row] = alone(row, 1);
        if (row >= 10 && row < 2510)
            put_into(&rows[row], 1, 10, row == 10 ? 1 : row % 2 ? 1 : 0.9f);
    }
    put_into(&rows[0], 0, 1, 0.85f);
    put_into(&rows[1], 0, 1, 1);
    /* 2600 and 2601 are nearest to each other; 2602 to 2600; 2603 has met 0, which is removed. */
    static const uint32_t nearest[] = {2601, 2600, 2600, 0};
    static const float similarity[] = {0.79f, 0.79f, 0.7f, 0.75f};
    for (int i = 0; i < 4; i++) {
        rows[2600 + i].nearest_row = nearest[i];
        rows[2600 + i].nearest_similarity = similarity[i];
    }
    struct duplicate_rows found = result(rows, MANY, 2, items);
    struct report_choice choice = {0};
    CHECK_OK(report_choice_make(&found, &choice, error));
    CHECK(choice.cluster_count == 2 && choice.clusters[0].size == 2500 &&
          choice.clusters[0].listed == 2000 && choice.clusters[1].size == 2);
    CHECK(choice.documents[0] == 10 && choice.documents[1] == 12);
    CHECK(rows[choice.documents[1]].similarity < 1 && rows[choice.documents[1999]].identical);
    const struct listed_cluster *small = &choice.clusters[1];
    CHECK(choice.documents[small->first] == 1 && choice.documents[small->first + 1] == 0);
    CHECK(near(small->worst, 0.85, 1e-6));
    CHECK(choice.below.count == 2 && choice.below.found == 2);
    CHECK(choice.documents[choice.below.pairs[0].b] == 2601 &&
          choice.documents[choice.below.pairs[1].b] == 2602);
    CHECK(choice.sample.found == 2500 && choice.sample.count == 300);
    CHECK(rows[choice.documents[choice.sample.pairs[0].b]].similarity < 1);
    for (size_t i = 0; i < choice.document_count; i++)
        CHECK(choice.has_text[i]);
    report_choice_free(&choice);
}

TEST(report_without_documents_or_clusters) {
    struct duplicate_row row = alone(0, 3);
    cog_document item = document("only", "one", 3);
    struct duplicate_rows found = result(&row, 1, 0, &item);
    CHECK_OK(write_report(&item, &found, test_path("one.html"), 1, error));
    found.count = 0;
    CHECK_OK(write_report(&item, &found, test_path("none.html"), 1, error));
}

static uint64_t record_of_reference(const void *context, uint32_t row) {
    (void)context;
    return row;
}

TEST(report_lists_what_references_removed) {
    cog_document items[] = {document("a", "one", 3), document("b", "two", 3)};
    struct duplicate_row rows[] = {alone(0, 3), alone(1, 3)};
    rows[1].reference_row = 0;
    rows[1].similarity = 0.875f;
    rows[1].identical = false;
    struct duplicate_rows found = result(rows, 2, 0, items);
    found.append_reference_id = id_of_item;
    found.reference_record = record_of_reference;
    CHECK_OK(cog_documents_from_memory(items, 2, &found.reference, error));
    const char *path = test_path("references.html");
    CHECK_OK(write_report(items, &found, path, 1, error));
    size_t size = 0;
    char *page = read_page(path, &size);
    CHECK(has(view_of(page, size), "\"references\":[[\"a\",0,875000,0,0]]"));
    CHECK(has(view_of(page, size), "\"kept\":1,\"identical\":0,\"near\":1,\"referred\":1,"));
    CHECK(has(view_of(page, size), "\"referenceTexts\":[[0,3,\"one\"]]"));
    cog_documents_close(found.reference);
    free(page);
}
