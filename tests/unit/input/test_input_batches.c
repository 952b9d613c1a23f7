#include <fcntl.h>
#include <unistd.h>

#include "base/hash.h"
#include "test.h"
#include "test_input_support.h"

/* The same documents whatever the size of the batches. */
static void check_splits(const struct reader_options *base, const char *const *paths, size_t count,
                         size_t expected) {
    struct reader_options options = *base;
    struct read_result whole = read_paths(&options, paths, count);
    CHECK_MSG(whole.status == COG_OK && whole.count == expected, "%s: %zu records",
              whole.error.message, whole.count);
    struct random random = random_seeded(5);
    for (int i = 0; i < 60; i++) {
        options.batch_bytes = i < 20 ? (size_t)i + 1 : 64 + random_below(&random, 1u << (i / 4));
        struct read_result split = read_paths(&options, paths, count);
        CHECK_MSG(read_results_equal(&whole, &split), "batches of %zu bytes: %zu records, not %zu",
                  options.batch_bytes, split.count, whole.count);
        read_result_free(&split);
    }
    read_result_free(&whole);
}

static size_t add_random(struct random *random, const char *alphabet, size_t longest, char *out) {
    size_t length = random_below(random, longest + 1), letters = strlen(alphabet);
    for (size_t i = 0; i < length; i++)
        out[i] = alphabet[random_below(random, letters)];
    return length;
}

TEST(input_batch_size_does_not_matter_for_jsonl) {
    struct random random = random_seeded(1);
    char *text = malloc(1 << 20);
    size_t size = (size_t)sprintf(text, "\xef\xbb\xbf"), records = 300;
    for (size_t i = 0; i < records; i++) {
        size += (size_t)sprintf(text + size, i % 7 ? "{\"text\":\"" : "{\"txt\":\"");
        size += add_random(&random, "ab{}[]:, ", i % 50 == 0 ? 500 : 40, text + size);
        size += (size_t)sprintf(text + size, i % 3 ? "\"}\n" : "\"}\r\n\n");
    }
    struct reader_options options = default_options();
    const char *paths[] = {write_file("a.jsonl", text, size - 2), write_file("b.jsonl", text, size),
                           write_text("c.jsonl", "}")};
    check_splits(&options, paths, 3, 2 * records + 1);
    free(text);
}

TEST(input_batch_size_does_not_matter_for_csv) {
    struct random random = random_seeded(2);
    char *text = malloc(1 << 20);
    size_t size = (size_t)sprintf(text, "\xef\xbb\xbf\"text\",id\n"), records = 300;
    for (size_t i = 0; i < records; i++) {
        size += (size_t)sprintf(text + size, "\"");
        for (uint64_t n = random_below(&random, 20); n; n--)
            size += (size_t)sprintf(
                text + size, "%s",
                (const char *[]){"\"\"", "\n", "\r\n", ",", "ab"}[random_below(&random, 5)]);
        size += (size_t)sprintf(text + size, i % 9 ? "\",%zu\r\n" : "\"x,%zu\n", i);
    }
    struct reader_options options = default_options();
    const char *path = write_file("a.csv", text, size);
    check_splits(&options, &path, 1, records);
    free(text);
}

TEST(input_batch_size_does_not_matter_for_txt) {
    struct random random = random_seeded(3);
    const char *folder = test_path("many");
    char text[3000];
    for (int i = 0; i < 50; i++) {
        char name[32];
        text[add_random(&random, "abc \n", i % 5 ? 100 : 2000, text)] = 0;
        snprintf(name, sizeof name, "%02d.txt", i);
        write_below(folder, name, i % 10 ? text : "");
    }
    struct reader_options options = default_options();
    check_splits(&options, &folder, 1, 50);
    struct read_result files = read_path(&options, folder);
    size_t lines = 0;
    for (size_t i = 0; i < files.count; i++) {
        for (const char *c = files.items[i].raw; *c; c++)
            lines += *c == '\n' || c[1] == 0;
    }
    read_result_free(&files);
    options.lines = true;
    check_splits(&options, &folder, 1, lines);
}

TEST(input_rewind_gives_the_same_documents) {
    struct reader_options options = default_options();
    options.batch_bytes = 10;
    const char *path = write_text("a.jsonl", "{\"text\":\"a\"}\nbad\n{\"text\":\"b\"}\n");
    struct reader *reader = NULL;
    CHECK_OK(reader_open(&options, &path, 1, &reader, error));
    struct record_batch batch = {0};
    bool end;
    CHECK_OK(reader_fill(reader, &batch, &end, error));
    CHECK_OK(reader_rewind(reader, error));
    struct read_result first = read_all(reader);
    CHECK(reader_total_bytes(reader) == 30 && reader_read_bytes(reader) == 30);
    CHECK_OK(reader_rewind(reader, error));
    struct read_result second = read_all(reader);
    CHECK(first.count == 3 && first.bad_count == 1 && read_results_equal(&first, &second));
    record_batch_free(&batch);
    read_result_free(&first);
    read_result_free(&second);
    reader_close(reader);
}

/* Runs `use` with standard input replaced by a pipe that holds the text. */
static void with_standard_input(const char *text, void (*use)(void)) {
    int ends[2], saved = dup(STDIN_FILENO);
    if (pipe(ends) != 0 || write(ends[1], text, strlen(text)) != (ssize_t)strlen(text))
        abort();
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    use();
    dup2(saved, STDIN_FILENO);
    close(saved);
}

static void read_pipe_twice(void) {
    struct reader_options options = default_options();
    options.batch_bytes = 8;
    const char *path = "-";
    struct reader *reader = NULL;
    struct record_batch batch = {0};
    bool end;
    CHECK_OK(reader_open(&options, &path, 1, &reader, error));
    reader_keep_pipes(reader);
    CHECK_OK(reader_fill(reader, &batch, &end, error));
    CHECK_OK(reader_rewind(reader, error));
    record_batch_free(&batch);
    for (int pass = 0; pass < 2; pass++) {
        struct read_result result = read_all(reader);
        CHECK(result.status == COG_OK && result.count == 3 && result.bad_count == 0);
        CHECK(strcmp(result.items[2].id, "-:3") == 0);
        CHECK(strcmp(result.items[2].text, "c") == 0 && reader_total_bytes(reader) == 0);
        read_result_free(&result);
        CHECK_OK(reader_rewind(reader, error));
    }
    reader_close(reader);
}

TEST(input_standard_input_is_spooled) {
    with_standard_input("{\"text\":\"a\"}\n{\"text\":\"b\"}\n{\"text\":\"c\"}\n", read_pipe_twice);
    with_standard_input("a\nb\nc", read_pipe_twice);
}

static void read_pipe_without_spool(void) {
    struct reader_options options = default_options();
    const char *path = "-";
    struct reader *reader = NULL;
    cog_error failure = {0};
    CHECK_OK(reader_open(&options, &path, 1, &reader, error));
    struct read_result result = read_all(reader);
    CHECK(result.count == 1);
    CHECK(reader_rewind(reader, &failure) == COG_ERR_USAGE);
    read_result_free(&result);
    reader_close(reader);
}

TEST(input_pipe_without_spool_cannot_be_rewound) {
    with_standard_input("a\n", read_pipe_without_spool);
}

static void read_pipe_as_one_text(void) {
    struct reader_options options = default_options();
    options.format = INPUT_TXT;
    struct read_result result = read_path(&options, "-");
    CHECK(result.count == 1 && strcmp(result.items[0].id, "-") == 0);
    CHECK(strcmp(result.items[0].text, "a\nb\n") == 0);
    read_result_free(&result);
}

TEST(input_standard_input_as_one_text) {
    with_standard_input("a\nb\n", read_pipe_as_one_text);
}

TEST(input_parquet_is_refused_whatever_the_batches) {
    for (size_t batch = 1; batch < 8; batch++) {
        struct reader_options options = default_options();
        options.batch_bytes = batch;
        struct read_result result = read_path(&options, write_file("a.txt", "PAR1\0", 5));
        CHECK(result.status == COG_ERR_INPUT && strstr(result.error.message, "Parquet"));
        result = read_path(&options, write_text("a.txt", "PAR1 and more"));
        CHECK(result.status == COG_OK && result.count == 1 && result.items[0].text_size == 13);
        read_result_free(&result);
    }
}
