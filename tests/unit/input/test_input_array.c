/* Files that are one JSON array of objects, and fields inside objects. */
#include <unistd.h>

#include "base/hash.h"
#include "cognate.h"
#include "test.h"
#include "test_input_support.h"

static struct read_result read_array(const char *text) {
    struct reader_options options = default_options();
    return read_path(&options, write_text("a.json", text));
}

static void check_texts(const struct read_result *result, const char *const *texts, size_t count) {
    CHECK_MSG(result->status == COG_OK, "%s", result->error.message);
    CHECK_MSG(result->count == count, "%zu records", result->count);
    for (size_t i = 0; i < count; i++)
        CHECK_MSG(strcmp(result->items[i].text, texts[i]) == 0, "%s %s", result->items[i].text,
                  result->items[i].message);
}

TEST(input_array_elements_are_records) {
    static const char *const forms[] = {
        "[{\"text\":\"a]\"},{\"text\":\"b\\\\\"},{\"text\":\"\\\"},{\"}]",
        "\xef\xbb\xbf\n[\n  {\n    \"text\": \"a]\"\n  } ,\n  {\"text\":\"b\\\\\"}\r\n\t, "
        "{\"x\":[[],{}],\"text\":\"\\\"},{\"}\n]\n",
    };
    static const char *const texts[] = {"a]", "b\\", "\"},{"};
    for (size_t form = 0; form < 2; form++) {
        struct read_result result = read_array(forms[form]);
        check_texts(&result, texts, 3);
        CHECK(result.bad_count == 0 && strcmp(result.items[1].raw, "{\"text\":\"b\\\\\"}") == 0);
        CHECK(result.items[1].line == (form ? 6 : 1));
        CHECK_MSG(strstr(result.items[1].id, "a.json:2"), "%s", result.items[1].id);
        read_result_free(&result);
    }
}

TEST(input_array_may_be_empty) {
    static const char *const forms[] = {"[]", " [ \n ] \n"};
    for (size_t form = 0; form < 2; form++) {
        struct read_result result = read_array(forms[form]);
        check_texts(&result, NULL, 0);
        read_result_free(&result);
    }
}

TEST(input_array_elements_that_are_no_objects_are_bad) {
    struct read_result result =
        read_array("[{\"text\":\"a\"},\n7 8,\n,\"x,y\",\n[1,2], {\"text\":[}, null,\n]");
    CHECK_MSG(result.status == COG_ERR_INPUT, "%zu", result.count); /* [} leaves a bracket open */
    CHECK_MSG(strstr(result.error.message, "a.json:4: the file stops inside"), "%s",
              result.error.message);
    read_result_free(&result);
    result = read_array("[{\"text\":\"a\"},\n7 8,\n,\"x,y\",\n[1,2], {\"text\":]}, null,\n]");
    CHECK_MSG(result.count == 8 && result.bad_count == 7, "%zu of %zu: %s", result.bad_count,
              result.count, result.error.message);
    CHECK(strstr(result.items[1].message, "a.json:2: not valid JSON"));
    CHECK(strcmp(result.items[3].raw, "\"x,y\"") == 0 && result.items[3].line == 3);
    CHECK(strstr(result.items[7].message, "a.json:5: "));
    read_result_free(&result);
}

TEST(input_array_that_does_not_end_is_an_error) {
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"[", "a.json:1: the file stops before the end"},
        {"[{\"text\":\"a\"}", "a.json:1: the file stops inside"},
        {"[{\"text\":\"a\"},\n", "a.json:2: the file stops before the end"},
        {"[{\"text\":\"a\"},\n{\"text\":\"]", "a.json:2: the file stops inside"},
        {"[{\"text\":\"a\"}\n] {}", "a.json:2: something follows"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct read_result result = read_array(cases[i].text);
        CHECK_MSG(result.status == COG_ERR_INPUT && strstr(result.error.message, cases[i].reason),
                  "%s: %s", cases[i].text, result.error.message);
        read_result_free(&result);
    }
}

static size_t random_array(struct random *random, size_t records, char *text) {
    static const char *const parts[] = {"\\\\", "\\\"", "[", "]", "{", "}", ",", "ab", " "};
    size_t size = (size_t)sprintf(text, "\xef\xbb\xbf[");
    for (size_t i = 0; i < records; i++) {
        size += (size_t)sprintf(text + size, i ? "%*s,{\"text\":\"" : "%*s{\"text\":\"",
                                (int)random_below(random, 5), "");
        for (uint64_t n = random_below(random, 60); n; n--)
            size += (size_t)sprintf(text + size, "%s", parts[random_below(random, 9)]);
        size += (size_t)sprintf(text + size, i % 9 ? "\",\"x\":[{}]}\n" : "\",}");
    }
    return size + (size_t)sprintf(text + size, "]");
}

TEST(input_array_is_the_same_in_every_batch_size_and_streams) {
    enum { RECORDS = 300 };
    struct random random = random_seeded(11);
    struct reader_options options = default_options();
    char *text = malloc(1 << 17);
    const char *path = write_file("a.json", text, random_array(&random, RECORDS, text));
    struct read_result whole = read_path(&options, path);
    CHECK_MSG(whole.status == COG_OK && whole.count == RECORDS && whole.bad_count == 34, "%s %zu",
              whole.error.message, whole.bad_count);
    for (size_t bytes = 1; bytes < 3000; bytes += bytes / 2 + 1) {
        options.batch_bytes = bytes;
        struct read_result split = read_path(&options, path);
        CHECK_MSG(read_results_equal(&whole, &split), "batches of %zu bytes: %s", bytes,
                  split.error.message);
        CHECK(split.largest_batch_bytes < 8192);
        read_result_free(&split);
    }
    read_result_free(&whole);
    free(text);
}

static void keep_one_of_each(const char *path, const char *kept) {
    cog_input_options input;
    cog_dedup_options options;
    cog_documents *documents = NULL;
    cog_clusters *clusters = NULL;
    cog_dedup_outputs outputs = {.kept = kept};
    cog_input_options_init(&input);
    cog_dedup_options_init(&options);
    CHECK_OK(cog_documents_open(&input, &path, 1, &documents, error));
    CHECK_OK(cog_dedup(documents, &options, &outputs, NULL, &clusters, NULL, error));
    cog_clusters_free(clusters);
    cog_documents_close(documents);
}

TEST(dedup_of_an_array_writes_an_array) {
    static const char *const cases[][2] = {
        {"[\n  {\"text\": \"a b c d\"},\n  {\"text\": \"a b c d\"},\n  {\"text\":\n\"e f g "
         "h\"}\n]\n",
         "[\n  {\"text\": \"a b c d\"},\n  {\"text\":\n\"e f g h\"}\n]\n"},
        {"[{\"text\":\"a b c d\"}, {\"text\":\"a b c d\"}, {\"text\":\"e f g h\"}]",
         "[{\"text\":\"a b c d\"},{\"text\":\"e f g h\"}]\n"},
        {" [ ]", "[]\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char seen[256] = "";
        const char *kept = test_path("kept.json");
        keep_one_of_each(write_text("a.json", cases[i][0]), kept);
        FILE *file = fopen(kept, "r");
        CHECK(file);
        seen[fread(seen, 1, sizeof seen - 1, file)] = 0;
        fclose(file);
        unlink(kept);
        CHECK_MSG(strcmp(seen, cases[i][1]) == 0, "%s", seen);
    }
}

static struct read_result read_paths_of(const char *line, const char *text_field,
                                        const char *id_field) {
    struct reader_options options = default_options();
    options.text_field = text_field;
    options.id_field = id_field;
    options.lang_field = "meta.lang";
    options.extra_field = "meta.score";
    return read_path(&options, write_text("a.jsonl", line));
}

TEST(input_fields_are_found_by_their_path) {
    struct read_result result = read_paths_of(
        "{\"doc\":{\"pages\":[{\"text\":\"no\"},{\"text\":\"y\\u0065s\"}],\"id\":5},\"meta\":{"
        "\"lang\":\"de\",\"id\":12,\"score\":0.5}}\n"
        "{\"meta\":{\"id\":1},\"doc\":{\"pages\":[]}}\n"
        "{\"meta.id\":\"own\",\"meta\":{\"id\":2},\"doc\":{\"pages.1.text\":\"x\",\"pages\":[]}}\n"
        "{\"meta\":{\"id\":2},\"meta.id\":\"later\",\"doc\":{\"pages\":{\"1\":{\"text\":\"z\"}}}}\n"
        "{\"meta\":{\"id\":{\"x\":1}},\"doc\":{\"pages\":[0,{\"text\":\"bad id\"}]}}\n"
        "{\"meta\":{\"id\":\"\\ud800\"},\"meta.id\":1,\"doc\":{\"pages.1\":{\"text\":\"x\"}}}\n",
        "doc.pages.1.text", "meta.id");
    static const char *const texts[] = {"yes", "", "x", "z", "", ""};
    check_texts(&result, texts, 6);
    CHECK(strcmp(result.items[0].id, "12") == 0 && strcmp(result.items[0].lang, "de") == 0);
    CHECK(strcmp(result.items[0].extra, "0.5") == 0 && !result.items[2].extra);
    CHECK(strstr(result.items[1].message, "no field \"doc.pages.1.text\""));
    CHECK(strcmp(result.items[2].id, "own") == 0 && strcmp(result.items[3].id, "later") == 0);
    CHECK(result.items[4].bad && strstr(result.items[4].message, "field \"meta.id\" is not"));
    CHECK(result.items[5].bad && strstr(result.items[5].message, "not valid JSON"));
    read_result_free(&result);
}

TEST(input_fields_deep_inside_are_validated_all_the_same) {
    char path[2048] = "a", line[8192] = "";
    for (int i = 0; i < 600; i++) {
        strcat(path, ".a");
        strcat(line, "{\"a\":");
    }
    strcat(line, "1");
    for (int i = 0; i < 600; i++)
        strcat(line, "}");
    struct read_result result = read_paths_of(line, path, "id");
    CHECK(result.count == 1 && strstr(result.items[0].message, "nested more than 500 deep"));
    read_result_free(&result);
}
