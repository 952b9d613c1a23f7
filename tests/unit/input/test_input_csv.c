#include "test.h"
#include "test_input_support.h"

static struct read_result read_table(const char *name, const char *text) {
    struct reader_options options = default_options();
    return read_path(&options, write_text(name, text));
}

TEST(input_csv_quotes_and_newlines) {
    struct read_result result = read_table("a.csv", "\xef\xbb\xbf\"id\",lang,text,\"no\"\"te\"\r\n"
                                                    "1,de,\"a, \"\"b\"\"\r\nc\",x\r\n"
                                                    "\r\n"
                                                    "\"\",,5\" disk,\n"
                                                    "3,en,\"\",\"last\"");
    CHECK(result.status == COG_OK && result.count == 3 && result.bad_count == 0);
    CHECK(strcmp(result.items[0].id, "1") == 0 && strcmp(result.items[0].lang, "de") == 0);
    CHECK(strcmp(result.items[0].text, "a, \"b\"\r\nc") == 0);
    CHECK(strcmp(result.items[0].raw, "1,de,\"a, \"\"b\"\"\r\nc\",x\r\n") == 0);
    CHECK(result.items[0].line == 2);
    CHECK(strstr(result.items[1].id, "a.csv:5") && strcmp(result.items[1].text, "5\" disk") == 0);
    CHECK(result.items[2].text_size == 0 && result.items[2].line == 6);
    CHECK(strcmp(result.items[2].raw, "3,en,\"\",\"last\"") == 0);
    read_result_free(&result);
}

TEST(input_csv_bad_rows) {
    struct read_result result = read_table("a.csv", "text,id\n"
                                                    "a,1,x\n"
                                                    "a\n"
                                                    "\"a\"b,2\n"
                                                    "\xff,3\n"
                                                    "fine,4\n");
    CHECK(result.status == COG_OK && result.count == 5 && result.bad_count == 4);
    CHECK(strstr(result.items[0].message, "a.csv:2: 3 fields where the header row has 2"));
    CHECK(strstr(result.items[1].message, "a.csv:3: 1 field where"));
    CHECK(strstr(result.items[2].message, "a.csv:4: something follows"));
    CHECK(strstr(result.items[3].message, "a.csv:5: not valid UTF-8"));
    CHECK(strcmp(result.items[4].text, "fine") == 0);
    read_result_free(&result);
}

TEST(input_csv_open_quote_is_an_error) {
    struct read_result result = read_table("a.csv", "text\na\n\"x\ny\"\n\"open\nb\n");
    CHECK(result.status == COG_ERR_INPUT && result.error.position == 5);
    CHECK(strstr(result.error.message, "a.csv:5: a quote opens here"));
    read_result_free(&result);
}

TEST(input_csv_header_without_the_text_field_is_an_error) {
    struct read_result result = read_table("a.csv", "id,body\n1,a\n");
    CHECK(result.status == COG_ERR_INPUT && strstr(result.error.message, "no column \"text\""));
    read_result_free(&result);
    result = read_table("a.csv", "");
    CHECK(result.status == COG_OK && result.count == 0);
    result = read_table("a.csv", "text");
    CHECK(result.status == COG_OK && result.count == 0);
}

TEST(input_tsv_quotes_mean_nothing) {
    struct read_result result =
        read_table("a.tsv", "id\ttext\n1\t\"quoted\" text\n2\ttwo\t3\n3\t\"\r\n");
    CHECK(result.status == COG_OK && result.count == 3 && result.bad_count == 1);
    CHECK(strcmp(result.items[0].text, "\"quoted\" text") == 0);
    CHECK(result.items[1].bad && strstr(result.items[1].message, "a.tsv:3"));
    CHECK(strcmp(result.items[2].text, "\"") == 0 && strcmp(result.items[2].raw, "3\t\"\r\n") == 0);
    read_result_free(&result);
}

TEST(input_csv_header_is_kept_as_it_stands) {
    struct reader_options options = default_options();
    const char *path = write_text("a.csv", "\xef\xbb\xbftext,\"id\"\r\na,b\r\n");
    struct reader *reader = NULL;
    CHECK_OK(reader_open(&options, &path, 1, &reader, error));
    for (int pass = 0; pass < 2; pass++) {
        struct read_result result = read_all(reader);
        CHECK(result.count == 1 && strcmp(result.items[0].id, "b") == 0);
        read_result_free(&result);
        struct bytes_view header = reader_file_frame(reader, 0).header;
        CHECK(header.size == 14 && memcmp(header.data, "\xef\xbb\xbftext,\"id\"\r\n", 14) == 0);
        CHECK(reader_file_format(reader, 0) == INPUT_CSV);
        CHECK_OK(reader_rewind(reader, error));
    }
    reader_close(reader);
}

static struct read_result read_numbered(const char *name, char delimiter, const char *text_field,
                                        const char *id_field, const char *text) {
    struct reader_options options = default_options();
    options.delimiter = delimiter;
    options.no_header = true;
    options.text_field = text_field;
    if (id_field)
        options.id_field = id_field;
    return read_path(&options, write_text(name, text));
}

TEST(input_csv_fields_are_separated_by_any_character) {
    struct reader_options options = default_options();
    options.delimiter = ';';
    struct read_result result =
        read_path(&options, write_text("a.csv", "id;text\n1;\"a; \"\"b\"\"\nc\"\n2;d,e\n3;f;g\n"));
    CHECK(result.status == COG_OK && result.count == 3 && result.bad_count == 1);
    CHECK(strcmp(result.items[0].text, "a; \"b\"\nc") == 0 && result.items[1].line == 4);
    CHECK(strcmp(result.items[1].text, "d,e") == 0 && strcmp(result.items[1].id, "2") == 0);
    CHECK(strstr(result.items[2].message, "3 fields where the header row has 2"));
    read_result_free(&result);
    result = read_path(&options, write_text("a.tsv", "id;text\n1;\"a\n"));
    CHECK(result.count == 1 && strcmp(result.items[0].text, "\"a") == 0);
    read_result_free(&result);
    for (const char *c = "\"\n\r\x80"; *c; c++) {
        options.delimiter = *c;
        result = read_path(&options, write_text("a.csv", "id,text\n"));
        CHECK(result.status == COG_ERR_USAGE && strcmp(result.error.option, "delimiter") == 0);
    }
    options.delimiter = ';';
    result = read_path(&options, write_text("a.jsonl", "{\"text\":\"a\"}\n"));
    CHECK(result.status == COG_ERR_USAGE && strstr(result.error.message, "no input is a table"));
}

TEST(input_csv_without_a_header_counts_fields_from_one) {
    struct read_result result = read_numbered(
        "a.csv", 0, "2", "1", "\xef\xbb\xbf\"x\",one\r\n\r\ny,\"two, \"\"2\"\"\"\r\nz");
    CHECK(result.status == COG_OK && result.count == 3 && result.bad_count == 1);
    CHECK(strcmp(result.items[0].id, "x") == 0 && strcmp(result.items[0].text, "one") == 0);
    CHECK(strcmp(result.items[0].raw, "\xef\xbb\xbf\"x\",one\r\n") == 0);
    CHECK(strcmp(result.items[1].text, "two, \"2\"") == 0 && result.items[1].line == 3);
    CHECK(strstr(result.items[2].message, "1 field where the first row has 2"));
    read_result_free(&result);
    result = read_numbered("a.tsv", 0, "1", NULL, "\nonly text\n");
    CHECK(result.status == COG_OK && result.count == 1 && strstr(result.items[0].id, "a.tsv:2"));
    read_result_free(&result);
    static const char *const wrong[][2] = {{"text", NULL}, {"0", NULL}, {"-1", NULL},
                                           {"2x", NULL},   {"", NULL},  {"1", "name"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        result = read_numbered("a.csv", 0, wrong[i][0], wrong[i][1], "a,b\n");
        CHECK(result.status == COG_ERR_USAGE &&
              strstr(result.error.message, "number of the field"));
    }
    result = read_numbered("a.csv", 0, "1", "3", "a,b\n");
    CHECK(result.status == COG_ERR_INPUT && strstr(result.error.message, "the first row has 2"));
    CHECK(strcmp(result.error.option, "id_field") == 0);
    result = read_numbered("a.csv", 0, "99999999999999999999", NULL, "a,b\n");
    CHECK(result.status == COG_ERR_USAGE);
}

TEST(input_csv_without_a_header_has_none_to_write) {
    struct reader_options options = default_options();
    options.no_header = true;
    options.text_field = "1";
    const char *path = write_text("a.csv", "a,b\nc,d\n");
    struct reader *reader = NULL;
    CHECK_OK(reader_open(&options, &path, 1, &reader, error));
    for (int pass = 0; pass < 3; pass++) {
        struct read_result result = read_all(reader);
        CHECK(result.count == 2 && strcmp(result.items[0].raw, "a,b\n") == 0);
        CHECK(pass == 0 || strcmp(result.items[1].extra, "d") == 0);
        read_result_free(&result);
        CHECK(reader_file_frame(reader, 0).header.size == 0);
        CHECK_OK(reader_rewind(reader, error));
        CHECK_OK(reader_set_extra_field(reader, "2", error));
    }
    reader_close(reader);
}

TEST(input_csv_another_form_is_another_input) {
    struct reader_options options = default_options();
    const char *path = write_text("a.csv", "1,2;3\n");
    uint64_t identities[3];
    options.text_field = "1";
    for (int i = 0; i < 3; i++) {
        struct reader *reader = NULL;
        options.no_header = i > 0;
        options.delimiter = i > 1 ? ';' : 0;
        CHECK_OK(reader_open(&options, &path, 1, &reader, error));
        identities[i] = reader_identity(reader);
        reader_close(reader);
    }
    CHECK(identities[0] != identities[1] && identities[1] != identities[2]);
}
