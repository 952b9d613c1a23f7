/* The log of an index: whole frames are read back, a torn end is no frame, damage before whole
 * frames is refused. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "index/change_log.h"
#include "index/changes.h"
#include "test.h"

enum { FRAMES = 5, MOST_BYTES = 16384 };

/* A log of a few frames of different sizes; where each ends. Zeros follow them. */
static cog_status make_log(const char *folder, uint64_t ends[FRAMES + 1], cog_error *error) {
    struct change_log log = {.descriptor = -1};
    mkdir(folder, 0777);
    cog_status status = change_log_create(folder, 7, NULL, error);
    if (status == COG_OK)
        status = change_log_open(folder, 7, &log, error);
    ends[0] = log.end_bytes;
    for (int i = 0; i < FRAMES && status == COG_OK; i++) {
        char payload[200];
        memset(payload, 'a' + i, sizeof payload);
        status = change_log_append(&log, payload, (size_t)i * 37 + 1, error);
        ends[i + 1] = log.end_bytes;
    }
    change_log_close(&log);
    return status;
}

/* The number of frames that are read; -1 if one is not what was written. */
static int read_frames(struct change_log *log, cog_error *error) {
    struct buffer buffer = {0};
    struct bytes_view payload = {NULL, 0};
    bool found = true;
    int count = 0;
    while (found && change_log_next(log, &buffer, &payload, &found, error) == COG_OK && found) {
        bool right = payload.size == (size_t)count * 37 + 1;
        for (size_t i = 0; i < payload.size && right; i++)
            right = payload.data[i] == 'a' + count;
        count = right ? count + 1 : -1000;
    }
    buffer_free(&buffer);
    return count;
}

static size_t read_bytes(const char *path, uint8_t bytes[MOST_BYTES]) {
    FILE *file = fopen(path, "rb");
    size_t size = fread(bytes, 1, MOST_BYTES, file);
    fclose(file);
    return size;
}

TEST(change_log_ends_before_a_torn_frame) {
    static uint8_t bytes[MOST_BYTES];
    const char *folder = test_path("torn-log");
    uint64_t ends[FRAMES + 1], torn;
    cog_error fault = {0};
    CHECK_OK(make_log(folder, ends, error));
    char *path = change_log_path(folder, 7);
    size_t size = read_bytes(path, bytes);
    CHECK(size > ends[FRAMES]);
    for (size_t at = ends[FRAMES]; at < size; at++)
        CHECK(bytes[at] == 0);
    size = ends[FRAMES];
    for (size_t cut = ends[0]; cut <= size; cut++) {
        struct change_log log;
        int whole = 0;
        write_at(path, bytes, cut);
        while (whole < FRAMES && ends[whole + 1] <= cut)
            whole++;
        CHECK_OK(change_log_open(folder, 7, &log, error));
        CHECK_MSG(read_frames(&log, &fault) == whole, "cut at %zu", cut);
        CHECK_OK(change_log_check_end(&log, &torn, error));
        CHECK(torn == cut - ends[whole]);
        CHECK_OK(change_log_cut(&log, error));
        char payload[200];
        memset(payload, 'a' + whole, sizeof payload);
        CHECK_OK(change_log_append(&log, payload, (size_t)(whole * 37 + 1), error));
        change_log_close(&log);
        CHECK_OK(change_log_open(folder, 7, &log, error));
        CHECK(read_frames(&log, &fault) == whole + 1);
        change_log_close(&log);
    }
    /* Without its header it is no log. */
    struct change_log log;
    for (size_t cut = 0; cut < ends[0]; cut++) {
        write_at(path, bytes, cut);
        CHECK(change_log_open(folder, 7, &log, &fault) == COG_ERR_FORMAT);
    }
    free(path);
}

TEST(change_log_refuses_damage_before_whole_frames) {
    static uint8_t bytes[MOST_BYTES];
    const char *folder = test_path("damaged-log");
    uint64_t ends[FRAMES + 1], torn;
    cog_error fault = {0};
    CHECK_OK(make_log(folder, ends, error));
    char *path = change_log_path(folder, 7);
    read_bytes(path, bytes);
    size_t size = ends[FRAMES];
    for (size_t at = ends[0]; at < size; at += 3) {
        struct change_log log;
        int frame = 0;
        while (ends[frame + 1] <= at)
            frame++;
        bytes[at] ^= 0x10;
        write_at(path, bytes, size);
        bytes[at] ^= 0x10;
        CHECK_OK(change_log_open(folder, 7, &log, error));
        int read = read_frames(&log, &fault);
        cog_status status = change_log_check_end(&log, &torn, &fault);
        /* Padding is not read; a frame that names a later one is whole, but not the next. */
        if (read < FRAMES) {
            CHECK_MSG(read == frame, "byte %zu: %d frames", at, read);
            CHECK_MSG((status == COG_ERR_FORMAT) == (frame + 1 < FRAMES), "byte %zu", at);
        }
        change_log_close(&log);
    }
    free(path);
}

/* Somebody took a frame back and wrote another in its place: who has read it must begin anew. */
TEST(change_log_knows_that_it_was_replaced) {
    const char *folder = test_path("replaced-log");
    uint64_t ends[FRAMES + 1];
    cog_error fault = {0};
    struct change_log reader, writer;
    CHECK_OK(make_log(folder, ends, error));
    CHECK_OK(change_log_open(folder, 7, &reader, error));
    CHECK(read_frames(&reader, &fault) == FRAMES && !reader.is_replaced);
    CHECK_OK(change_log_open(folder, 7, &writer, error));
    writer.end_bytes = ends[0];
    CHECK_OK(change_log_cut(&writer, error));
    CHECK(read_frames(&reader, &fault) == 0 && reader.is_replaced);
    /* With room after it the file is not shorter than the bytes that were read. */
    CHECK_OK(change_log_append(&writer, "x", 1, error));
    CHECK(read_frames(&reader, &fault) == 0 && reader.is_replaced);
    change_log_close(&reader);
    change_log_close(&writer);
}

/* Zeros are room for more frames; anything else after the last frame is the rest of one, wherever
 * it is, also for a handle that saw zeros before. */
TEST(change_log_tells_room_from_rests) {
    const char *folder = test_path("log-with-room");
    uint64_t ends[FRAMES + 1], torn;
    struct change_log reader;
    cog_error fault = {0};
    CHECK_OK(make_log(folder, ends, error));
    char *path = change_log_path(folder, 7);
    static uint8_t bytes[MOST_BYTES];
    size_t size = read_bytes(path, bytes);
    for (size_t at = ends[FRAMES]; at < size; at += 101) {
        CHECK_OK(change_log_open(folder, 7, &reader, error));
        CHECK(read_frames(&reader, &fault) == FRAMES);
        bytes[at] = 1;
        write_at(path, bytes, size);
        bytes[at] = 0;
        CHECK_OK(change_log_check_end(&reader, &torn, error));
        CHECK_MSG(torn == size - ends[FRAMES], "byte %zu", at);
        CHECK_OK(change_log_cut(&reader, error));
        CHECK_OK(change_log_check_end(&reader, &torn, error));
        CHECK(torn == 0);
        change_log_close(&reader);
    }
    write_at(path, bytes, size);
    CHECK_OK(change_log_open(folder, 7, &reader, error));
    CHECK(read_frames(&reader, &fault) == FRAMES);
    CHECK_OK(change_log_check_end(&reader, &torn, error));
    CHECK(torn == 0);
    bytes[ends[FRAMES]] = 1; /* a writer has begun a frame and was killed */
    write_at(path, bytes, size);
    CHECK_OK(change_log_check_end(&reader, &torn, error));
    CHECK(torn == size - ends[FRAMES]);
    change_log_close(&reader);
    free(path);
}

TEST(changes_are_read_as_they_were_written) {
    const uint64_t hashes[] = {5, UINT64_MAX, 1};
    const uint32_t frequencies[] = {1, 2, UINT32_MAX};
    const float weights[] = {0.5f, 2, 7};
    struct bag_view plain = {hashes, frequencies, 3, 9, NULL};
    struct bag_view weighed = {hashes, frequencies, 2, 4, weights}, none = {0};
    struct buffer payload = {0};
    CHECK(changes_add_document(&payload, view_of("one", 3), &plain) &&
          changes_remove_id(&payload, view_of("two", 3)) &&
          changes_add_document(&payload, view_of("two", 3), &weighed) &&
          changes_add_document(&payload, view_of("", 0), &none) &&
          changes_add_signature(&payload, view_of("9", 1), view_of((const char *)hashes, 16)));
    struct changes changes = {.payload = view_of(payload.data, payload.size)};
    bool end = false;
    CHECK_OK(changes_next(&changes, "log", &end, error));
    CHECK(!end && !changes.is_removal && changes.bag.count == 3 && changes.bag.length == 9 &&
          !changes.bag.weights && memcmp(changes.bag.hashes, hashes, sizeof hashes) == 0 &&
          memcmp(changes.bag.frequencies, frequencies, sizeof frequencies) == 0);
    CHECK_OK(changes_next(&changes, "log", &end, error));
    CHECK(!end && changes.is_removal && view_equals(changes.id, view_of("two", 3)));
    CHECK_OK(changes_next(&changes, "log", &end, error));
    CHECK(!end && changes.bag.count == 2 && memcmp(changes.bag.weights, weights, 8) == 0);
    CHECK_OK(changes_next(&changes, "log", &end, error));
    CHECK(!end && changes.bag.count == 0 && changes.id.size == 0 && !changes.is_signature);
    CHECK_OK(changes_next(&changes, "log", &end, error));
    CHECK(!end && changes.is_signature && !changes.is_removal && changes.bag.count == 2 &&
          memcmp(changes.bag.hashes, hashes, 16) == 0 && view_equals(changes.id, view_of("9", 1)));
    CHECK_OK(changes_next(&changes, "log", &end, error));
    CHECK(end);
    for (size_t size = 1; size < payload.size; size++) {
        struct changes cut = {.payload = view_of(payload.data, size)};
        cog_status status = COG_OK;
        for (end = false; status == COG_OK && !end;)
            status = changes_next(&cut, "log", &end, NULL);
        CHECK(status == COG_OK || status == COG_ERR_FORMAT);
        changes_free(&cut);
    }
    changes_free(&changes);
    buffer_free(&payload);
}

/* docs/format.md: kind, flags, length, words, bytes of the id, zero; the signature; the id. */
TEST(changes_golden_signature) {
    static const uint8_t golden[] = {
        3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,    0,    0,    0,    0,    1,    0,    0,    0,   2,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x01, 0xfe, 0x7f, 0x10, 0x00, 0x00, 0x00, '1', '7'};
    struct buffer payload = {0};
    CHECK(changes_add_signature(&payload, view_of("17", 2),
                                view_of("\x80\x01\xfe\x7f\x10\0\0\0", 8)));
    CHECK(payload.size == sizeof golden && memcmp(payload.data, golden, sizeof golden) == 0);
    buffer_free(&payload);
}
