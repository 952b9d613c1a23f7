/* One more field than text, id and language, which a job asks for. */
#include "test.h"
#include "test_input_support.h"

static struct read_result read_extra(const char *path, const char *field) {
    struct reader_options options = default_options();
    options.extra_field = field;
    return read_path(&options, path);
}

static void check_values(const struct read_result *result, const char *const *values,
                         size_t count) {
    CHECK_MSG(result->status == COG_OK, "%s", result->error.message);
    CHECK(result->count == count && result->bad_count == 0);
    for (size_t i = 0; i < count && i < result->count; i++) {
        const char *value = result->items[i].extra;
        CHECK_MSG(values[i] ? value && strcmp(value, values[i]) == 0 : !value, "record %zu: %s", i,
                  value ? value : "none");
    }
}

TEST(input_extra_field_of_jsonl_is_text) {
    static const char text[] = "{\"text\":\"a\",\"score\":0.50}\n"
                               "{\"score\":\"1\\u0030\\n\",\"text\":\"b\"}\n"
                               "{\"text\":\"c\",\"score\":true}\n"
                               "{\"text\":\"d\",\"score\":\"\"}\n"
                               "{\"text\":\"e\",\"score\":null}\n"
                               "{\"text\":\"f\",\"score\":{\"score\":1}}\n"
                               "{\"text\":\"g\",\"score\":[1,2]}\n"
                               "{\"text\":\"h\"}\n"
                               "{\"text\":\"i\",\"score\":-1e3,\"score\":2}\n";
    static const char *const values[] = {"0.50", "10\n", "true", "",    NULL,
                                         NULL,   NULL,   NULL,   "-1e3"};
    struct read_result result = read_extra(write_text("a.jsonl", text), "score");
    check_values(&result, values, 9);
    read_result_free(&result);
}

TEST(input_extra_field_may_be_one_that_is_read_anyway) {
    static const char *const ids[] = {"x", "7"}, *const texts[] = {"a\"", "b"};
    const char *path = write_text("a.jsonl", "{\"id\":\"x\",\"text\":\"a\\\"\"}\n"
                                             "{\"id\":7,\"text\":\"b\"}\n");
    struct read_result result = read_extra(path, "id");
    check_values(&result, ids, 2);
    CHECK(result.count == 2 && strcmp(result.items[0].id, "x") == 0);
    read_result_free(&result);
    result = read_extra(path, "text");
    check_values(&result, texts, 2);
    CHECK(result.count == 2 && strcmp(result.items[0].text, "a\"") == 0);
    read_result_free(&result);
}

TEST(input_extra_field_of_tables) {
    static const char *const values[] = {"1 \"one\"", "", "2"};
    struct read_result result =
        read_extra(write_text("a.csv", "score,text\n\"1 \"\"one\"\"\",a\n,b\n2,\"c\"\n"), "score");
    check_values(&result, values, 3);
    read_result_free(&result);
    result = read_extra(write_text("a.tsv", "score\ttext\n1 \"one\"\ta\n\tb\n2\tc\n"), "score");
    check_values(&result, values, 3);
    read_result_free(&result);
    result = read_extra(write_text("b.csv", "text,other\na,b\n"), "score");
    CHECK(result.status == COG_ERR_INPUT && strstr(result.error.message, "no column \"score\""));
    CHECK(strstr(result.error.message, "text, other"));
    CHECK(strcmp(result.error.option, "extra_field") == 0);
    read_result_free(&result);
}

TEST(input_extra_field_needs_a_format_with_fields) {
    struct read_result result = read_extra(write_text("a.txt", "text"), "score");
    CHECK(result.status == COG_ERR_USAGE && strstr(result.error.message, "no field \"score\""));
    read_result_free(&result);
}

TEST(input_extra_field_can_be_set_between_passes) {
    const char *path = write_text("a.csv", "id,text,score\nx,a,1\n");
    struct reader_options options = default_options();
    struct reader *reader = NULL;
    CHECK_OK(reader_open(&options, &path, 1, &reader, error));
    struct read_result result = read_all(reader);
    CHECK(result.count == 1 && !result.items[0].extra);
    read_result_free(&result);
    CHECK_OK(reader_rewind(reader, error));
    CHECK_OK(reader_set_extra_field(reader, "score", error));
    result = read_all(reader);
    check_values(&result, (const char *const[]){"1"}, 1);
    read_result_free(&result);
    reader_close(reader);
}
