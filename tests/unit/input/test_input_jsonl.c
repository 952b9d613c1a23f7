#include "test.h"
#include "test_input_support.h"

static struct read_result read_json(const char *text, size_t size) {
    struct reader_options options = default_options();
    return read_path(&options, write_file("a.jsonl", text, size));
}

#define CHECK_ITEM(item, want_id, want_lang, want_text)                                            \
    do {                                                                                           \
        CHECK_MSG(!(item).bad, "bad: %s", (item).message);                                         \
        CHECK_MSG(strcmp((item).id, want_id) == 0, "id %s", (item).id);                            \
        CHECK_MSG(strcmp((item).lang, want_lang) == 0, "lang %s", (item).lang);                    \
        CHECK_MSG(strcmp((item).text, want_text) == 0, "text %s", (item).text);                    \
    } while (0)

TEST(input_jsonl_reads_fields) {
    static const char text[] = "\xef\xbb\xbf{\"id\":\"a\",\"lang\":\"de\",\"text\":"
                               "\"Gr\\u00fc\\u00dfe \\ud83d\\ude00\\n\"}\r\n"
                               "\n"
                               "  \r\n"
                               "{ \"x\" : [1, {\"text\":\"no\"}, -1.5e3, true, null], \"text\" : "
                               "\"b\" , \"id\":12345678901234567890123}\n"
                               "{\"text\":\"first\",\"text\":\"second\",\"id\":null}\n"
                               "{\"te\\u0078t\":\"escaped key\",\"id\":\"\"}\n"
                               "{\"id\":-0.5,\"text\":\"\"}";
    struct read_result result = read_json(text, sizeof text - 1);
    CHECK(result.status == COG_OK && result.count == 5 && result.bad_count == 0);
    CHECK_ITEM(result.items[0], "a", "de",
               "Gr\xc3\xbc\xc3\x9f"
               "e \xf0\x9f\x98\x80\n");
    CHECK_ITEM(result.items[1], "12345678901234567890123", "", "b");
    CHECK(result.items[1].line == 4);
    CHECK(strcmp(result.items[2].text, "first") == 0 && strstr(result.items[2].id, "a.jsonl:5"));
    CHECK(strcmp(result.items[3].text, "escaped key") == 0);
    CHECK(strstr(result.items[3].id, "a.jsonl:6"));
    CHECK_ITEM(result.items[4], "-0.5", "", "");
    CHECK(memcmp(result.items[0].raw, "\xef\xbb\xbf{", 4) == 0);
    CHECK(strcmp(result.items[0].raw + result.items[0].raw_size - 3, "}\r\n") == 0);
    CHECK(strcmp(result.items[4].raw, "{\"id\":-0.5,\"text\":\"\"}") == 0);
    read_result_free(&result);
}

TEST(input_jsonl_zero_characters_are_text) {
    static const char text[] = "{\"text\":\"a\\u0000b\"}\n";
    struct read_result result = read_json(text, sizeof text - 1);
    CHECK(result.count == 1 && !result.items[0].bad);
    CHECK(result.items[0].text_size == 3 && memcmp(result.items[0].text, "a\0b", 3) == 0);
    read_result_free(&result);
}

TEST(input_jsonl_bad_records_are_named_and_passed_over) {
    static const struct {
        const char *record, *reason;
    } cases[] = {
        {"{\"text\":\"a\"", "object does not end where the record ends"},
        {"{\"text\":\"a}", "not valid JSON"},
        {"[\"text\"]", "not an object"},
        {"\"text\"", "not an object"},
        {"{\"text\":\"a\"} {\"text\":\"b\"}", "follows the object"},
        {"{\"text\":\"a\"} x", "object does not end where the record ends"},
        {"{\"text\":\"a\",}", "not valid JSON"},
        {"{\"text\" \"a\"}", "not valid JSON"},
        {"{\"text\":\"a\",\"x\":tru}", "not valid JSON"},
        {"{\"text\":\"a\",\"x\":01}", "not valid JSON"},
        {"{\"text\":\"a\",\"x\":1.}", "not valid JSON"},
        {"{\"text\":\"a\",\"x\":NaN}", "not valid JSON"},
        {"{\"text\":\"a\",\"x\":[1,}", "not valid JSON"},
        {"{\"text\":\"a\",\"x\":[1 2]}", "not valid JSON"},
        {"{\"text\":\"a\",\"x\":\"\\q\"}", "not valid JSON"},
        {"{\"text\":\"a\",\"x\":\"\\udc00\"}", "not valid JSON"},
        {"{\"text\":\"\\ud800\"}", "not valid JSON"},
        {"{\"text\":\"\\ud800\\u0041\"}", "not valid JSON"},
        {"{\"text\":\"\\udc00\"}", "not valid JSON"},
        {"{\"text\":\"\\u12\"}", "not valid JSON"},
        {"{\"text\":\"a\tb\"}", "not valid JSON"},
        {"{\"text\":\"\xff\"}", "not valid UTF-8"},
        {"{\"text\":\"\xed\xa0\x80\"}", "not valid UTF-8"},
        {"{\"id\":\"a\"}", "no field \"text\""},
        {"{\"text\":null}", "no field \"text\""},
        {"{\"text\":7}", "field \"text\" is not a string"},
        {"{\"text\":[\"a\"]}", "field \"text\" is not a string"},
        {"{\"text\":\"a\",\"id\":true}", "field \"id\" is not a string or a number"},
        {"{\"text\":\"a\",\"id\":{}}", "field \"id\" is not a string or a number"},
        {"{\"text\":\"a\",\"lang\":1}", "field \"lang\" is not a string"},
        {"{}", "no field \"text\""},
        {"{", "not valid JSON"},
        {"}", "not"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        int size = snprintf(text, sizeof text, "{\"text\":\"before\"}\n%s\n{\"text\":\"after\"}\n",
                            cases[i].record);
        struct read_result result = read_json(text, (size_t)size);
        CHECK_MSG(result.status == COG_OK && result.count == 3 && result.bad_count == 1, "%s",
                  cases[i].record);
        struct read_item *item = &result.items[1];
        CHECK_MSG(item->bad && strstr(item->message, cases[i].reason) &&
                      strstr(item->message, "a.jsonl:2: "),
                  "%s gives: %s", cases[i].record, item->message);
        CHECK(strncmp(item->raw, cases[i].record, strlen(cases[i].record)) == 0);
        CHECK(strcmp(result.items[2].text, "after") == 0);
        read_result_free(&result);
    }
}

TEST(input_jsonl_raw_zero_byte_is_bad) {
    static const char text[] = "{\"text\":\"a\0b\"}\n{\"text\":\"c\"}\n";
    struct read_result result = read_json(text, sizeof text - 1);
    CHECK(result.count == 2 && result.items[0].bad && !result.items[1].bad);
    read_result_free(&result);
}

TEST(input_jsonl_deep_nesting_is_bad_not_fatal) {
    char *text = malloc(500000);
    size_t size = (size_t)sprintf(text, "{\"text\":\"a\",\"x\":");
    memset(text + size, '[', 200000);
    memset(text + size + 200000, ']', 200000);
    size += 400000;
    size += (size_t)sprintf(text + size, "}\n{\"text\":\"b\"}\n");
    struct read_result result = read_json(text, size);
    CHECK(result.count == 2 && result.items[0].bad && strstr(result.items[0].message, "nested"));
    CHECK(strcmp(result.items[1].text, "b") == 0);
    read_result_free(&result);
    free(text);
}

TEST(input_jsonl_long_line_has_a_batch_of_its_own) {
    size_t length = 100u << 20;
    char *text = malloc(length + 100);
    size_t size = (size_t)sprintf(text, "{\"text\":\"a\"}\n{\"text\":\"");
    memset(text + size, 'x', length);
    size += length;
    size += (size_t)sprintf(text + size, "\"}\n{\"text\":\"b\"}\n");
    struct read_result result = read_json(text, size);
    free(text);
    CHECK(result.status == COG_OK && result.count == 3 && result.bad_count == 0);
    CHECK(result.items[1].text_size == length);
    CHECK(result.largest_batch_bytes < length + (2u << 20));
    CHECK(strcmp(result.items[2].text, "b") == 0);
    read_result_free(&result);
}

TEST(input_jsonl_field_names_are_options) {
    struct reader_options options = default_options();
    options.text_field = "body";
    options.id_field = "key";
    options.lang_field = "l";
    struct read_result result = read_path(
        &options,
        write_text("a.ndjson", "{\"key\":1,\"body\":\"B\",\"l\":\"fr\",\"text\":\"no\"}\n"));
    CHECK(result.count == 1);
    CHECK_ITEM(result.items[0], "1", "fr", "B");
    read_result_free(&result);
}

TEST(input_jsonl_empty_file_has_no_documents) {
    struct read_result result = read_json("", 0);
    CHECK(result.status == COG_OK && result.count == 0);
    result = read_json("\xef\xbb\xbf", 3);
    CHECK(result.status == COG_OK && result.count == 0);
}
