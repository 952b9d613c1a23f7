#include <stdlib.h>

#include <bzlib.h>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/hash.h"
#include "base/io/compression.h"
#include "base/io/output.h"
#include "test.h"
#include "test_input_support.h"

enum { KINDS = 4, CAPACITY = 1 << 20 };
static const char *const suffixes[KINDS] = {".gz", ".bz2", ".xz", ".zst"};

/* One member, frame or stream; returns its size. */
static size_t pack(int kind, const char *data, size_t size, char *out) {
    if (kind == 0) {
        z_stream stream = {0};
        deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
        stream.next_in = (unsigned char *)(uintptr_t)data;
        stream.avail_in = (unsigned)size;
        stream.next_out = (unsigned char *)out;
        stream.avail_out = CAPACITY;
        deflate(&stream, Z_FINISH);
        deflateEnd(&stream);
        return stream.total_out;
    }
    if (kind == 1) {
        unsigned written = CAPACITY;
        BZ2_bzBuffToBuffCompress(out, &written, (char *)(uintptr_t)data, (unsigned)size, 1, 0, 0);
        return written;
    }
    if (kind == 2) {
        size_t written = 0;
        lzma_easy_buffer_encode(0, LZMA_CHECK_CRC64, NULL, (const uint8_t *)data, size,
                                (uint8_t *)out, &written, CAPACITY);
        return written;
    }
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    size_t written = ZSTD_compress2(context, out, CAPACITY, data, size);
    ZSTD_freeCCtx(context);
    return written;
}

/* Records of uneven length that do not compress to nothing. */
static size_t make_records(char *text, size_t records) {
    struct random random = random_seeded(7);
    size_t size = 0;
    for (size_t i = 0; i < records; i++) {
        size += (size_t)sprintf(text + size, "{\"id\":%zu,\"text\":\"", i);
        for (uint64_t n = random_below(&random, 100); n; n--)
            text[size++] = (char)('a' + random_below(&random, 26));
        size += (size_t)sprintf(text + size, "\"}\n");
    }
    return size;
}

static struct read_result read_bytes(const char *suffix, const char *data, size_t size) {
    struct reader_options options = default_options();
    char name[32];
    snprintf(name, sizeof name, "a.jsonl%s", suffix);
    options.batch_bytes = 1000;
    return read_path(&options, write_file(name, data, size));
}

TEST(input_compressed_files_read_as_plain_ones) {
    char *text = malloc(CAPACITY), *packed = malloc(CAPACITY);
    size_t size = make_records(text, 2000), third = size / 3;
    for (int kind = 0; kind < KINDS; kind++) {
        struct read_result whole =
            read_bytes(suffixes[kind], packed, pack(kind, text, size, packed));
        CHECK_MSG(whole.status == COG_OK && whole.count == 2000 && whole.bad_count == 0, "%s: %s",
                  suffixes[kind], whole.error.message);
        CHECK(strcmp(whole.items[1999].id, "1999") == 0);
        /* Members that split a record, one of them empty, under a name without an extension. */
        size_t at = pack(kind, text, third, packed);
        at += pack(kind, text, 0, packed + at);
        at += pack(kind, text + third, size - third, packed + at);
        struct read_result members = read_bytes(suffixes[kind], packed, at);
        CHECK_MSG(members.status == COG_OK && members.count == 2000 && members.bad_count == 0, "%s",
                  members.error.message);
        for (size_t i = 0; i < 2000; i++)
            CHECK(strcmp(members.items[i].raw, whole.items[i].raw) == 0);
        struct read_result unnamed = read_bytes("", packed, at);
        CHECK(unnamed.count == 2000 && unnamed.bad_count == 0);
        read_result_free(&whole);
        read_result_free(&members);
        read_result_free(&unnamed);
    }
    free(text);
    free(packed);
}

TEST(input_reads_what_output_compressed_by_its_name) {
    char *text = malloc(CAPACITY);
    size_t size = make_records(text, 9000);
    for (int kind = 0; kind < KINDS; kind++) {
        char name[32];
        snprintf(name, sizeof name, "written.jsonl%s", suffixes[kind]);
        const char *path = test_path(name);
        struct output *output = NULL;
        CHECK_OK(output_open(path, &output, error));
        CHECK(!output_is_file(output));
        for (size_t at = 0, piece = 1; at < size; at += piece, piece *= 2)
            CHECK_OK(output_write(output, text + at, at + piece < size ? piece : size - at, error));
        CHECK(access(path, F_OK) != 0);
        CHECK_OK(output_commit(output, error));
        output_close(output);
        struct reader_options options = default_options();
        struct read_result read = read_path(&options, path);
        CHECK_MSG(read.status == COG_OK && read.count == 9000 && read.bad_count == 0, "%s: %s",
                  name, read.error.message);
        size_t at = 0;
        for (size_t i = 0; i < read.count; i++) {
            size_t length = strlen(read.items[i].raw);
            CHECK(memcmp(read.items[i].raw, text + at, length) == 0);
            at += length;
        }
        CHECK(at == size);
        read_result_free(&read);
    }
    free(text);
}

TEST(input_truncated_compressed_file_is_an_error) {
    char *text = malloc(CAPACITY), *packed = malloc(CAPACITY);
    size_t size = make_records(text, 300);
    struct random random = random_seeded(3);
    for (int kind = 0; kind < KINDS; kind++) {
        size_t packed_size = pack(kind, text, size, packed);
        for (int i = 0; i < 60; i++) {
            size_t cut = i < 20   ? (size_t)i
                         : i < 40 ? packed_size - (size_t)(i - 19)
                                  : random_below(&random, packed_size);
            struct read_result result = read_bytes(suffixes[kind], packed, cut);
            CHECK_MSG(result.status == COG_ERR_INPUT, "%s cut to %zu of %zu: %zu records",
                      suffixes[kind], cut, packed_size, result.count);
            CHECK(strstr(result.error.message, "a.jsonl"));
            read_result_free(&result);
        }
    }
    free(text);
    free(packed);
}

TEST(input_damaged_compressed_file_is_an_error) {
    char *text = malloc(CAPACITY), *packed = malloc(CAPACITY);
    size_t size = make_records(text, 300);
    for (int kind = 0; kind < KINDS; kind++) {
        size_t packed_size = pack(kind, text, size, packed);
        packed[packed_size / 2] ^= 0x10;
        struct read_result result = read_bytes(suffixes[kind], packed, packed_size);
        CHECK(result.status == COG_ERR_INPUT);
        read_result_free(&result);
        packed[packed_size / 2] ^= 0x10;
        memcpy(packed + packed_size, "garbage", 7);
        result = read_bytes(suffixes[kind], packed, packed_size + 7);
        CHECK_MSG(result.status == COG_ERR_INPUT, "garbage behind %s", suffixes[kind]);
        read_result_free(&result);
    }
    size_t packed_size = pack(0, text, size, packed);
    memset(packed + packed_size, 0, 1000);
    struct read_result result = read_bytes(".gz", packed, packed_size + 1000);
    CHECK(result.status == COG_OK && result.count == 300);
    read_result_free(&result);
    free(text);
    free(packed);
}

TEST(input_name_that_promises_compression_in_vain_is_an_error) {
    for (int kind = 0; kind < KINDS; kind++) {
        struct read_result result = read_bytes(suffixes[kind], "{\"text\":\"a\"}\n", 13);
        CHECK(result.status == COG_ERR_INPUT && strstr(result.error.message, "rename"));
        read_result_free(&result);
    }
    struct read_result result = read_bytes("", "BZh9 is a text\n", 15);
    CHECK(result.status == COG_OK && result.count == 1);
    read_result_free(&result);
}

TEST(input_zstd_frame_of_another_size_than_stated_is_damaged) {
    static const char frame[] = "\x28\xb5\x2f\xfd\x40\x4b\x14\x00\x01\x00\x00";
    for (size_t capacity = 1; capacity <= 1 << 16; capacity *= 16) {
        struct codec *decompressor = decompressor_create(COMPRESSION_ZSTD);
        char *output = malloc(capacity);
        struct bytes_view input = view_of(frame, sizeof frame - 1);
        size_t produced;
        CHECK(decompressor && output);
        CHECK(codec_run(decompressor, &input, true, output, capacity, &produced) == COG_ERR_INPUT);
        free(output);
        codec_free(decompressor);
    }
}
