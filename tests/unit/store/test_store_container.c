#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "store/container.h"
#include "store/settings.h"
#include "test.h"

#define SECTION_A CONTAINER_TAG('a', 'a', 'a', 'a')
#define SECTION_B CONTAINER_TAG('b', 'b', 'b', 'b')

/* A container of version 1 as docs/format.md spells it: kind "stat", settings bits = 64, section
 * "aaaa" with "xyz". It must open in every later version. */
static const char golden_hex[] =
    /* header: magic, kind, versions, two sections; table at 192, length 256; checksums */
    "89434f470d0a1a0a73746174010000000100000002000000c000000000000000"
    "0001000000000000390a49e483272e2700000000000000000fece3bf3933e01b"
    /* settings: one entry, type 2, 4 and 8 bytes, "bits", 64 */
    "0100000002040800000062697473400000000000000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000"
    /* "xyz" */
    "78797a0000000000000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000"
    /* table: "sett" at 64, 22 bytes; "aaaa" at 128, 3 bytes */
    "73657474000000004000000000000000160000000000000066577ccfd426c60e"
    "6161616100000000800000000000000003000000000000001f1f416f65d27662";

static size_t golden_bytes(uint8_t *bytes) {
    size_t count = 0;
    for (const char *c = golden_hex; c[0] && c[1]; c += 2) {
        unsigned value = 0;
        sscanf(c, "%2x", &value);
        bytes[count++] = (uint8_t)value;
    }
    return count;
}

static cog_status write_small(const char *path, const char *content, cog_error *error) {
    struct container_writer *writer = NULL;
    struct settings settings = {0};
    cog_status status = settings_set_u64(&settings, "bits", 64, error);
    if (status == COG_OK)
        status = container_writer_open(path, CONTAINER_STATISTICS, &writer, error);
    if (status == COG_OK)
        status = settings_write(&settings, writer, error);
    if (status == COG_OK)
        status = container_writer_section(writer, SECTION_A, content, strlen(content), error);
    if (status == COG_OK)
        status = container_writer_commit(writer, error);
    container_writer_close(writer);
    settings_free(&settings);
    return status;
}

static char *read_file(const char *path, size_t *size) {
    struct mapping mapping;
    if (mapping_open(path, &mapping, NULL) != COG_OK)
        return NULL;
    char *copy = malloc(mapping.size + 1);
    if (mapping.size)
        memcpy(copy, mapping.data, mapping.size);
    *size = mapping.size;
    mapping_close(&mapping);
    return copy;
}

/* Whether opening or verifying refuses the bytes; the reason goes to error. */
static bool refused(const void *data, size_t size, cog_error *error) {
    struct container container;
    cog_status status = container_open_memory("memory", data, size, 0, &container, error);
    if (status == COG_OK)
        status = container_verify(&container, error);
    container_close(&container);
    return status == COG_ERR_FORMAT;
}

TEST(store_golden_file_of_version_1) {
    uint8_t golden[1024];
    size_t golden_size = golden_bytes(golden), size = 0;
    const char *path = test_path("golden");
    CHECK_OK(write_small(path, "xyz", error));
    char *written = read_file(path, &size);
    bool same = written && size == golden_size && memcmp(written, golden, size) == 0;
    if (!same)
        for (size_t i = 0; i < size; i++)
            printf("%02x%s", (uint8_t)written[i], i % 32 == 31 ? "\n" : "");
    free(written);
    CHECK(same);
    struct container container;
    struct settings settings = {0};
    struct bytes_view view;
    uint64_t bits = 0;
    CHECK_OK(container_open_memory("golden", golden, golden_size, CONTAINER_STATISTICS, &container,
                                   error));
    CHECK_OK(container_verify(&container, error));
    CHECK_OK(settings_read(&container, &settings, error));
    CHECK(settings.count == 1 && settings_get_u64(&settings, "bits", &bits) && bits == 64);
    CHECK(container_find(&container, SECTION_A, &view) && view.size == 3 &&
          memcmp(view.data, "xyz", 3) == 0);
    settings_free(&settings);
    container_close(&container);
}

TEST(store_round_trip_of_sections) {
    const char *path = test_path("round");
    struct container_writer *writer = NULL;
    CHECK_OK(container_writer_open(path, CONTAINER_SEGMENT, &writer, error));
    CHECK_OK(container_writer_begin(writer, SECTION_A, error));
    for (int i = 0; i < 10000; i++)
        CHECK_OK(container_writer_append(writer, &i, sizeof i, error));
    CHECK_OK(container_writer_end(writer, error));
    CHECK_OK(container_writer_section(writer, SECTION_B, NULL, 0, error));
    CHECK(container_writer_begin(writer, SECTION_A, NULL) == COG_ERR_USAGE);
    CHECK_OK(container_writer_commit(writer, error));
    container_writer_close(writer);

    struct container container;
    struct bytes_view view;
    cog_error failure = {0};
    CHECK_OK(container_open(path, CONTAINER_SEGMENT, &container, error));
    CHECK_OK(container_verify(&container, error));
    CHECK(container_find(&container, SECTION_A, &view) && view.size == 40000);
    CHECK((uintptr_t)view.data % CONTAINER_ALIGNMENT_BYTES == 0);
    for (int i = 0; i < 10000; i++)
        CHECK(memcmp(view.data + 4 * i, &i, 4) == 0);
    CHECK(container_find(&container, SECTION_B, &view) && view.size == 0);
    CHECK(container_require(&container, SECTION_SETTINGS, &view, &failure) == COG_ERR_FORMAT);
    CHECK(strstr(failure.message, "sett") && strstr(failure.message, path));
    container_close(&container);
    CHECK(container_open(path, CONTAINER_MANIFEST, &container, &failure) == COG_ERR_FORMAT);
    CHECK(strstr(failure.message, "\"segm\" where kind \"mani\""));
}

TEST(store_every_damaged_byte_is_noticed) {
    uint8_t bytes[1024];
    size_t size = golden_bytes(bytes);
    CHECK(!refused(bytes, size, NULL));
    for (size_t i = 0; i < size; i++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] ^= (uint8_t)(1 << bit);
            cog_error failure = {0};
            CHECK_MSG(refused(bytes, size, &failure), "bit %d of byte %zu", bit, i);
            CHECK(strstr(failure.message, "memory: "));
            bytes[i] ^= (uint8_t)(1 << bit);
        }
}

TEST(store_every_truncation_is_refused_at_opening) {
    uint8_t bytes[1024];
    size_t size = golden_bytes(bytes);
    for (size_t length = 0; length <= size + 1; length++) {
        struct container container;
        cog_status status = container_open_memory("memory", bytes, length, 0, &container, NULL);
        CHECK_MSG((status == COG_OK) == (length == size), "length %zu", length);
        container_close(&container);
    }
}

TEST(store_says_why_a_file_is_refused) {
    uint8_t bytes[1024];
    size_t size = golden_bytes(bytes);
    cog_error failure = {0};
    CHECK(refused("PK\x03\x04 zip archive", 16, &failure));
    CHECK(strstr(failure.message, "not a Cognate file; it starts with \"PK\\x03\\x04 zip\""));
    CHECK(refused("", 0, &failure) && strstr(failure.message, "empty"));
    CHECK(refused(bytes, 30, &failure) && strstr(failure.message, "truncated"));
    CHECK(refused(bytes, size - 1, &failure) && strstr(failure.message, "truncated"));
    bytes[70] ^= 1;
    CHECK(refused(bytes, size, &failure) && strstr(failure.message, "section \"sett\" is damaged"));
    bytes[70] ^= 1;
    encode_u32(bytes + 16, CONTAINER_VERSION + 1);
    encode_u64(bytes + 56, hash_bytes(bytes, 56));
    CHECK(refused(bytes, size, &failure) && strstr(failure.message, "later version"));
    CHECK(strstr(failure.message, "upgrade"));
}

/* A later writer may add sections without raising the minimum reader version. */
TEST(store_later_writer_is_read_if_it_allows) {
    uint8_t bytes[1024];
    size_t size = golden_bytes(bytes);
    encode_u32(bytes + 12, CONTAINER_VERSION + 5);
    encode_u64(bytes + 56, hash_bytes(bytes, 56));
    CHECK(!refused(bytes, size, NULL));
}

TEST(store_impossible_tables_are_refused) {
    uint8_t golden[1024], bytes[1024];
    size_t size = golden_bytes(golden), table = size - 64;
    static const struct {
        size_t place;
        uint64_t value;
    } faults[] = {{8, 0},   {8, 65},   {8, UINT64_MAX - 63},   {16, UINT64_MAX}, {16, 1000},
                  {40, 64}, {40, 192}, {48, UINT64_MAX - 127}, {48, 65},         {32, 0x74746573}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        memcpy(bytes, golden, size);
        encode_u64(bytes + table + faults[i].place, faults[i].value);
        encode_u64(bytes + 40, hash_bytes(bytes + table, 64));
        encode_u64(bytes + 56, hash_bytes(bytes, 56));
        struct container container;
        CHECK_MSG(container_open_memory("memory", bytes, size, 0, &container, NULL) ==
                      COG_ERR_FORMAT,
                  "fault %zu", i);
    }
}

/* The steps of a save at which a kill may come. The definitions replace those of the C library in
 * this program; they do the same, or end the process as a power cut would. */
enum save_step { SAVE_RUNS_THROUGH, BEFORE_FILE_SYNC, BEFORE_RENAME, BEFORE_FOLDER_SYNC };
static enum save_step kill_step;
static int sync_count;

int fsync(int descriptor) {
    /* Threads of other tests sync too, at the same time. */
    int count = __atomic_add_fetch(&sync_count, 1, __ATOMIC_RELAXED);
    if (kill_step == (count == 1 ? BEFORE_FILE_SYNC : BEFORE_FOLDER_SYNC))
        raise(SIGKILL);
    return (int)syscall(SYS_fsync, descriptor);
}

int rename(const char *from, const char *to) {
    if (kill_step == BEFORE_RENAME)
        raise(SIGKILL);
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

static bool save_killed_at(enum save_step step, const char *path) {
    pid_t child = fork();
    if (child == 0) {
        kill_step = step;
        sync_count = 0;
        write_small(path, "new", NULL);
        _exit(0);
    }
    int state = 0;
    return child > 0 && waitpid(child, &state, 0) == child && WIFSIGNALED(state) &&
           WTERMSIG(state) == SIGKILL;
}

static bool holds(const char *path, const char *content) {
    struct container container;
    struct bytes_view view;
    bool same = container_open(path, CONTAINER_STATISTICS, &container, NULL) == COG_OK &&
                container_verify(&container, NULL) == COG_OK &&
                container_find(&container, SECTION_A, &view) && view.size == strlen(content) &&
                memcmp(view.data, content, view.size) == 0;
    container_close(&container);
    return same;
}

TEST(store_kill_during_a_save_leaves_a_whole_file) {
    const char *path = test_path("killed");
    CHECK(save_killed_at(BEFORE_RENAME, path) && access(path, F_OK) != 0);
    CHECK_OK(write_small(path, "old", error));
    CHECK(save_killed_at(BEFORE_FILE_SYNC, path) && holds(path, "old"));
    CHECK(save_killed_at(BEFORE_RENAME, path) && holds(path, "old"));
    CHECK(save_killed_at(BEFORE_FOLDER_SYNC, path) && holds(path, "new"));
}

TEST(store_failed_writes_are_not_committed) {
    struct container_writer *writer = NULL;
    cog_error failure = {0};
    size_t size = 1 << 20;
    char *block = memory_zeroed_array(size, 1);
    CHECK_OK(container_writer_open("/dev/full", CONTAINER_STATISTICS, &writer, error));
    CHECK(container_writer_section(writer, SECTION_A, block, size, &failure) == COG_ERR_DISK);
    CHECK(container_writer_commit(writer, NULL) != COG_OK);
    container_writer_close(writer);
    free(block);
    const char *path = test_path("open section");
    CHECK_OK(container_writer_open(path, CONTAINER_STATISTICS, &writer, error));
    CHECK_OK(container_writer_begin(writer, SECTION_A, error));
    CHECK(container_writer_commit(writer, NULL) == COG_ERR_USAGE);
    container_writer_close(writer);
    CHECK(access(path, F_OK) != 0);
    CHECK(container_writer_open("-", CONTAINER_STATISTICS, &writer, NULL) == COG_ERR_USAGE);
}
