#include "base/hash.h"
#include "test.h"
#include "test_input_support.h"

static struct reader_options log_options(void) {
    struct reader_options options = default_options();
    options.format = INPUT_QUERYLOG;
    return options;
}

static float weight_of(const struct read_item *item, const char *url) {
    uint64_t hash = hash_bytes(url, strlen(url));
    for (size_t i = 0; i < item->term_count; i++)
        if (item->terms[i].hash == hash)
            return item->terms[i].weight;
    return -1;
}

TEST(input_querylog_aol_columns) {
    struct reader_options options = log_options();
    const char *paths[] = {
        write_text("log-01.txt", "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
                                 "142\tcheap flights\t2006-03-01 07:17:12\t1\thttp://a.com\n"
                                 "142\tweather\t2006-03-01 07:17:13\t\t\n"
                                 "142\tmaps\t2006-03-01 07:17:14\n"
                                 "217\tcheap flights\t2006-03-02 01:00:00\t2\thttp://b.com\r\n"
                                 "217\tbroken\n"),
        write_text("log-02.txt", "300\tcheap flights\t2006-03-03 01:00:00\t1\thttp://a.com\n")};
    struct read_result result = read_paths(&options, paths, 2);
    CHECK(result.status == COG_OK && result.count == 4 && result.bad_count == 1);
    CHECK(strstr(result.items[0].message, "log-01.txt:6: not the columns AnonID"));
    CHECK(strcmp(result.items[0].raw, "217\tbroken\n") == 0);
    const struct read_item *flights = &result.items[1];
    CHECK(strcmp(flights->id, "cheap flights") == 0 && strcmp(flights->text, flights->id) == 0);
    CHECK(flights->term_count == 2 && flights->raw_size == 0 && flights->line == 2);
    CHECK(weight_of(flights, "http://a.com") == 2 && weight_of(flights, "http://b.com") == 1);
    CHECK(flights->terms[0].hash < flights->terms[1].hash);
    CHECK(strcmp(result.items[2].id, "weather") == 0 && result.items[2].term_count == 0);
    CHECK(result.items[2].terms);
    CHECK(strcmp(result.items[3].id, "maps") == 0);
    read_result_free(&result);
}

/* A part of a log that starts with a row without a click, parts that were put together with their
 * headers, names of columns that are written otherwise, and a blank line before all of it. */
TEST(input_querylog_headers_and_first_rows) {
    static const char *const texts[] = {
        "142\tmaps\t2006-03-01 07:17:14\n142\tmaps\t2006-03-01 07:17:15\t1\tu\n",
        "\n142\tmaps\t2006-03-01 07:17:15\t1\tu\n",
        ("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n142\tmaps\t2006-03-01 07:17:15\t1\tu\n"
         "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\r\n"),
        "Query\tURL\tClicks\r\nmaps\tu\t1\nquery\turl\tclicks\n", "maps\tu\t1\n"};
    struct reader_options options = log_options();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct read_result result = read_path(&options, write_text("log", texts[i]));
        CHECK_MSG(result.status == COG_OK && result.count == 1 && result.bad_count == 0,
                  "log %zu: %zu queries, %zu bad", i, result.count, result.bad_count);
        CHECK(strcmp(result.items[0].id, "maps") == 0 && weight_of(&result.items[0], "u") == 1);
        read_result_free(&result);
    }
}

TEST(input_querylog_bad_rows) {
    struct reader_options options = log_options();
    struct read_result result = read_path(
        &options, write_text("log", "q\tu\t2.5\nq\tu\tmany\n\tu\t1\nq\tu\t-1\n\xff\tu\t1\n"
                                    "q\tu\nq\tv\t0\n\nq\tu\t1\t2\nq\tu\t1."));
    CHECK(result.status == COG_OK && result.count == 7 && result.bad_count == 6);
    CHECK(strstr(result.items[0].message, "log:2: the clicks are not a number"));
    CHECK(strstr(result.items[1].message, "log:3: the query is empty"));
    CHECK(strstr(result.items[2].message, "log:4: the clicks are not a number"));
    CHECK(strstr(result.items[3].message, "log:5: not valid UTF-8"));
    CHECK(strstr(result.items[4].message, "log:6: not the columns query, url, clicks"));
    CHECK(strstr(result.items[5].message, "log:9: not the columns query, url, clicks"));
    CHECK(result.items[6].term_count == 1 && weight_of(&result.items[6], "u") == 3.5f);
    read_result_free(&result);
}

enum { QUERIES = 60, URLS = 40 };

TEST(input_querylog_groups_as_a_table_does) {
    static unsigned clicks[QUERIES][URLS];
    static int order[QUERIES];
    struct random random = random_seeded(9);
    char *text = malloc(1 << 20);
    size_t size = 0;
    int seen = 0;
    bool known[QUERIES] = {false};
    for (int row = 0; row < 5000; row++) {
        unsigned query = (unsigned)random_below(&random, QUERIES);
        unsigned url = (unsigned)random_below(&random, URLS);
        unsigned count = 1 + (unsigned)random_below(&random, 5);
        clicks[query][url] += count;
        if (!known[query])
            order[seen++] = (int)query;
        known[query] = true;
        size += (size_t)sprintf(text + size, "query %u\turl/%u\t%u\n", query, url, count);
    }
    struct reader_options options = log_options();
    const char *path = write_file("log.tsv", text, size);
    free(text);
    for (size_t bytes = 64; bytes < 100000; bytes *= 5) {
        options.batch_bytes = bytes;
        struct reader *reader = NULL;
        CHECK_OK(reader_open(&options, &path, 1, &reader, error));
        for (int pass = 0; pass < 2; pass++) {
            struct read_result result = read_all(reader);
            CHECK(result.status == COG_OK && result.count == (size_t)seen);
            for (int i = 0; i < seen; i++) {
                char name[40];
                snprintf(name, sizeof name, "query %d", order[i]);
                CHECK(strcmp(result.items[i].id, name) == 0);
                for (int url = 0; url < URLS; url++) {
                    unsigned expected = clicks[order[i]][url];
                    snprintf(name, sizeof name, "url/%d", url);
                    CHECK(weight_of(&result.items[i], name) == (expected ? (float)expected : -1));
                }
            }
            read_result_free(&result);
            CHECK_OK(reader_rewind(reader, error));
        }
        reader_close(reader);
    }
}

TEST(input_querylog_rewound_half_way_counts_once) {
    struct reader_options options = log_options();
    const char *folder = test_path("logs");
    write_below(folder, "1", "q\tu\t1\nq\tu\t2\nr\tv\t3\n");
    write_below(folder, "2", "\x1f\x8b\x08"); /* truncated gzip, for now */
    struct reader *reader = NULL;
    CHECK_OK(reader_open(&options, &folder, 1, &reader, error));
    struct read_result result = read_all(reader);
    CHECK(result.status == COG_ERR_INPUT && result.count == 0);
    write_below(folder, "2", "q\tu\t4\n");
    for (int pass = 0; pass < 3; pass++) {
        CHECK_OK(reader_rewind(reader, error));
        result = read_all(reader);
        CHECK(result.count == 2 && weight_of(&result.items[0], "u") == 7);
        read_result_free(&result);
    }
    reader_close(reader);
}
