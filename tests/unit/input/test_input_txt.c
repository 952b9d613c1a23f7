#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "test_input_support.h"

static const char *example_folder(void) {
    const char *folder = test_path("folder");
    write_below(folder, "b.txt", "text b");
    write_below(folder, "a/z.txt", "text z");
    write_below(folder, "a/.hidden", "no");
    write_below(folder, ".git/config", "no");
    write_below(folder, "a.txt", "");
    write_below(folder, "B.md", "upper\r\n");
    write_below(folder, "\xc3\xa4.txt", "umlaut");
    write_below(folder, "c/d/e", "deep");
    return folder;
}

TEST(input_txt_folder_in_byte_order) {
    struct reader_options options = default_options();
    const char *folder = example_folder();
    static const char *const ids[] = {"B.md", "a/z.txt", "a.txt", "b.txt", "c/d/e", "\xc3\xa4.txt"};
    static const char *const texts[] = {"upper\r\n", "text z", "", "text b", "deep", "umlaut"};
    struct read_result result = read_path(&options, folder);
    CHECK(result.status == COG_OK && result.count == 6);
    for (size_t i = 0; i < 6; i++) {
        CHECK_MSG(strcmp(result.items[i].id, ids[i]) == 0, "id %s", result.items[i].id);
        CHECK(strcmp(result.items[i].text, texts[i]) == 0);
        CHECK(strcmp(result.items[i].raw, texts[i]) == 0 && result.items[i].file == i);
    }
    read_result_free(&result);
}

TEST(input_txt_several_arguments_keep_their_names) {
    struct reader_options options = default_options();
    const char *folder = example_folder();
    const char *file = write_text("single.txt", "one");
    char slashed[4096], expected[4200];
    snprintf(slashed, sizeof slashed, "%s//", folder);
    const char *paths[] = {slashed, file};
    struct read_result result = read_paths(&options, paths, 2);
    CHECK(result.status == COG_OK && result.count == 7);
    snprintf(expected, sizeof expected, "%s/a/z.txt", folder);
    CHECK_MSG(strcmp(result.items[1].id, expected) == 0, "id %s", result.items[1].id);
    CHECK(strcmp(result.items[6].id, file) == 0);
    read_result_free(&result);
    result = read_path(&options, file);
    CHECK(result.count == 1 && strcmp(result.items[0].id, file) == 0);
    read_result_free(&result);
}

TEST(input_txt_lines) {
    struct reader_options options = default_options();
    options.lines = true;
    static const char text[] = "\xef\xbb\xbf"
                               "one\r\n\ntwo\0zero\n\xff\nlast";
    const char *path = write_file("a.txt", text, sizeof text - 1);
    char id[4200];
    struct read_result result = read_path(&options, path);
    CHECK(result.status == COG_OK && result.count == 5 && result.bad_count == 1);
    CHECK(strcmp(result.items[0].text, "one") == 0);
    CHECK(strcmp(result.items[0].raw, "\xef\xbb\xbf"
                                      "one\r\n") == 0);
    CHECK(!result.items[1].bad && result.items[1].text_size == 0);
    CHECK(result.items[2].text_size == 8 && memcmp(result.items[2].text, "two\0zero", 8) == 0);
    CHECK(result.items[3].bad && strstr(result.items[3].message, "a.txt:4: not valid UTF-8"));
    CHECK(strcmp(result.items[4].text, "last") == 0);
    snprintf(id, sizeof id, "%s:5", path);
    CHECK(strcmp(result.items[4].id, id) == 0);
    read_result_free(&result);
}

TEST(input_txt_bad_encodings) {
    struct reader_options options = default_options();
    struct read_result result = read_path(&options, write_file("a.txt",
                                                               "\xff\xfe"
                                                               "a\0",
                                                               4));
    CHECK(result.count == 1 && result.items[0].bad && strstr(result.items[0].message, "UTF-16"));
    read_result_free(&result);
    result = read_path(&options, write_text("a.txt", "\xef\xbb\xbftext"));
    CHECK(result.count == 1 && strcmp(result.items[0].text, "text") == 0);
    CHECK(result.items[0].raw_size == 7);
    read_result_free(&result);
}

TEST(input_txt_unreadable_files_are_skipped_and_named) {
    struct reader_options options = default_options();
    const char *folder = example_folder();
    char path[4200];
    snprintf(path, sizeof path, "%s/gone", folder);
    CHECK(symlink("/nonexistent/file", path) == 0);
    snprintf(path, sizeof path, "%s/pipe", folder);
    CHECK(mkfifo(path, 0600) == 0);
    snprintf(path, sizeof path, "%s/loop", folder);
    CHECK(symlink(folder, path) == 0);
    struct reader *reader = NULL;
    CHECK_OK(reader_open(&options, &folder, 1, &reader, error));
    snprintf(path, sizeof path, "%s/b.txt", folder);
    CHECK(unlink(path) == 0); /* between listing and reading */
    struct read_result result = read_all(reader);
    CHECK(result.status == COG_OK && result.count == 5);
    CHECK(reader_skipped_file_count(reader) == 4);
    CHECK(strstr(reader_skipped_file_message(reader, 0), "gone"));
    CHECK(strstr(reader_skipped_file_message(reader, 1), "not followed"));
    CHECK(strstr(reader_skipped_file_message(reader, 2), "not a regular file"));
    CHECK(strstr(reader_skipped_file_message(reader, 3), "b.txt"));
    read_result_free(&result);
    CHECK_OK(reader_rewind(reader, error));
    result = read_all(reader);
    CHECK(result.count == 5 && reader_skipped_file_count(reader) == 4);
    read_result_free(&result);
    reader_close(reader);
}

TEST(input_unreadable_argument_is_an_error) {
    struct reader_options options = default_options();
    struct read_result result = read_path(&options, "/nonexistent/x.txt");
    CHECK(result.status == COG_ERR_IO && strstr(result.error.message, "/nonexistent/x.txt"));
}

TEST(input_file_that_vanishes_between_passes_is_an_error) {
    struct reader_options options = default_options();
    const char *folder = example_folder();
    char path[4200];
    struct reader *reader = NULL;
    CHECK_OK(reader_open(&options, &folder, 1, &reader, error));
    struct read_result result = read_all(reader);
    CHECK(result.count == 6);
    read_result_free(&result);
    CHECK_OK(reader_rewind(reader, error));
    snprintf(path, sizeof path, "%s/b.txt", folder);
    CHECK(unlink(path) == 0);
    result = read_all(reader);
    CHECK(result.status == COG_ERR_IO && strstr(result.error.message, "b.txt"));
    read_result_free(&result);
    reader_close(reader);
}

TEST(input_file_name_that_is_not_utf8) {
    struct reader_options options = default_options();
    const char *folder = test_path("names");
    write_below(folder, "a\xff.txt", "x");
    struct read_result result = read_path(&options, folder);
    CHECK(result.count == 1 && strcmp(result.items[0].id, "a\\xFF.txt") == 0);
    read_result_free(&result);
}
