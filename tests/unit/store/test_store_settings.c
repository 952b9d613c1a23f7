#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/numbers.h"
#include "store/settings.h"
#include "test.h"

TEST(store_settings_round_trip) {
    struct settings written = {0}, read = {0};
    CHECK_OK(settings_set_text(&written, "signature", "simhash", error));
    CHECK_OK(settings_set_u64(&written, "seed", UINT64_MAX, error));
    CHECK_OK(settings_set_double(&written, "k1", 0.1, error));
    CHECK_OK(settings_set_text(&written, "language", "", error));
    CHECK_OK(settings_set_text(&written, "signature", "rp", error));
    const char *path = test_path("settings");
    struct container_writer *writer = NULL;
    CHECK_OK(container_writer_open(path, CONTAINER_STATISTICS, &writer, error));
    CHECK_OK(settings_write(&written, writer, error));
    CHECK_OK(container_writer_commit(writer, error));
    container_writer_close(writer);
    struct container container;
    CHECK_OK(container_open(path, CONTAINER_STATISTICS, &container, error));
    CHECK_OK(settings_read(&container, &read, error));
    container_close(&container);
    const char *text = NULL;
    uint64_t seed = 0;
    double k1 = 0;
    CHECK(read.count == 4 && settings_equal(&written, &read, NULL));
    CHECK(settings_get_text(&read, "signature", &text) && strcmp(text, "rp") == 0);
    CHECK(settings_get_text(&read, "language", &text) && strcmp(text, "") == 0);
    CHECK(settings_get_u64(&read, "seed", &seed) && seed == UINT64_MAX);
    CHECK(settings_get_double(&read, "k1", &k1) && k1 == 0.1);
    CHECK(!settings_get_u64(&read, "k1", &seed) && !settings_get_text(&read, "none", &text));
    settings_free(&written);
    settings_free(&read);
}

static void write_many(const char *path, unsigned entries) {
    struct buffer bytes = {0};
    uint8_t head[6] = {SETTING_U64, 8}, number[8] = {0};
    char key[16];
    encode_u32(head + 2, 8);
    CHECK(buffer_append(&bytes, &entries, 4));
    for (unsigned i = 0; i < entries; i++) {
        snprintf(key, sizeof key, "%08u", i);
        CHECK(buffer_append(&bytes, head, 6) && buffer_append(&bytes, key, 8) &&
              buffer_append(&bytes, number, 8));
    }
    struct container_writer *writer = NULL;
    CHECK_OK(container_writer_open(path, CONTAINER_STATISTICS, &writer, error));
    CHECK_OK(container_writer_section(writer, SECTION_SETTINGS, bytes.data, bytes.size, error));
    CHECK_OK(container_writer_commit(writer, error));
    container_writer_close(writer);
    buffer_free(&bytes);
}

/* A crafted file: looking at all entries for each of them would take minutes. */
TEST(store_settings_of_many_entries_are_read_in_linear_time) {
    enum { ENTRIES = 300000 };
    const char *path = test_path("many_settings");
    write_many(path, ENTRIES);
    struct container container;
    struct settings settings = {0};
    clock_t start = clock();
    CHECK_OK(container_open(path, CONTAINER_STATISTICS, &container, error));
    CHECK_OK(settings_read(&container, &settings, error));
    CHECK(settings.count == ENTRIES && (clock() - start) / CLOCKS_PER_SEC < 20);
    container_close(&container);
    settings_free(&settings);
}

TEST(store_settings_name_the_first_difference) {
    struct settings here = {0}, there = {0};
    char difference[SETTINGS_DIFFERENCE_BYTES];
    CHECK(settings_equal(&here, &there, difference));
    CHECK_OK(settings_set_u64(&here, "bits", 1024, error));
    CHECK(!settings_equal(&here, &there, difference));
    CHECK(strcmp(difference, "bits is 1024 here and absent there") == 0);
    CHECK_OK(settings_set_u64(&there, "bits", 64, error));
    CHECK_OK(settings_set_text(&there, "language", "de", error));
    CHECK(!settings_equal(&here, &there, difference));
    CHECK(strcmp(difference, "bits is 1024 here and 64 there") == 0);
    CHECK_OK(settings_set_u64(&there, "bits", 1024, error));
    CHECK(!settings_equal(&here, &there, difference));
    CHECK(strcmp(difference, "language is absent here and \"de\" there") == 0);
    CHECK_OK(settings_set_double(&here, "language", 0, error));
    CHECK(!settings_equal(&here, &there, NULL));
    CHECK_OK(settings_set_double(&here, "language", 0.0, error));
    CHECK_OK(settings_set_double(&there, "language", -0.0, error));
    CHECK(!settings_equal(&here, &there, NULL));
    settings_free(&here);
    settings_free(&there);
}

TEST(store_settings_refuse_bad_names) {
    struct settings settings = {0};
    char name[300];
    memset(name, 'x', sizeof name);
    name[299] = 0;
    CHECK(settings_set_u64(&settings, name, 1, NULL) == COG_ERR_USAGE);
    CHECK(settings_set_u64(&settings, "", 1, NULL) == COG_ERR_USAGE);
    CHECK(settings.count == 0);
    settings_free(&settings);
}

static cog_status read_bytes(const void *bytes, size_t size, size_t *entries) {
    const char *path = test_path("settings-bytes");
    struct container_writer *writer = NULL;
    struct container container;
    struct settings settings = {0};
    cog_status status = container_writer_open(path, CONTAINER_STATISTICS, &writer, NULL);
    if (status == COG_OK)
        status = container_writer_section(writer, SECTION_SETTINGS, bytes, size, NULL);
    if (status == COG_OK)
        status = container_writer_commit(writer, NULL);
    container_writer_close(writer);
    if (status == COG_OK)
        status = container_open(path, 0, &container, NULL);
    if (status != COG_OK)
        return status;
    status = settings_read(&container, &settings, NULL);
    *entries = settings.count;
    settings_free(&settings);
    container_close(&container);
    return status;
}

TEST(store_settings_refuse_malformed_sections) {
    /* two entries: text a = "x", number b = 5 */
    uint8_t good[] = {2, 0, 0, 0, 1,   1, 1, 0, 0, 0, 'a', 'x', 2, 1,
                      8, 0, 0, 0, 'b', 5, 0, 0, 0, 0, 0,   0,   0};
    uint8_t bytes[sizeof good + 1] = {0};
    size_t entries = 0;
    CHECK(read_bytes(good, sizeof good, &entries) == COG_OK && entries == 2);
    for (size_t size = 0; size < sizeof good; size++)
        CHECK_MSG(read_bytes(good, size, &entries) == COG_ERR_FORMAT, "length %zu", size);
    memcpy(bytes, good, sizeof good);
    CHECK(read_bytes(bytes, sizeof bytes, &entries) == COG_ERR_FORMAT);
    static const struct {
        size_t place;
        uint8_t value;
    } faults[] = {{0, 3},    {4, 0},    {4, 4},  {5, 0},  {6, 200}, {9, 255},
                  {10, 'c'}, {10, 'b'}, {10, 0}, {11, 0}, {14, 7},  {12, 1}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        memcpy(bytes, good, sizeof good);
        bytes[faults[i].place] = faults[i].value;
        CHECK_MSG(read_bytes(bytes, sizeof good, &entries) == COG_ERR_FORMAT && entries == 0,
                  "fault %zu", i);
    }
}
