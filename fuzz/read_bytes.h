/* Feeds bytes to a reader as a file, twice and in batches of different sizes, and stops the fuzzer
 * when the passes disagree or a document breaks what input/reader.h promises. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "input/documents/text_bytes.h"
#include "input/reader.h"

static inline void demand(bool condition) {
    if (!condition)
        abort();
}

static inline uint64_t hash_view(uint64_t hash, struct bytes_view view) {
    return hash_pair(hash, hash_bytes(view.size ? view.data : "", view.size));
}

static inline uint64_t hash_document(uint64_t hash, const struct document *document) {
    demand(document->id.size > 0);
    demand(utf8_is_valid(document->id.data, document->id.size));
    demand(utf8_is_valid(document->lang.data, document->lang.size));
    demand(utf8_is_valid(document->text.data, document->text.size));
    for (size_t i = 0; i < document->term_count; i++) {
        demand(i == 0 || document->terms[i - 1].hash < document->terms[i].hash);
        demand(document->terms[i].weight >= 0);
        hash = hash_pair(hash, document->terms[i].hash);
    }
    hash = hash_view(hash_view(hash, document->id), document->text);
    return hash_pair(hash_view(hash_view(hash, document->lang), document->raw), document->line);
}

/* A hash of everything that one pass delivers. */
static inline uint64_t read_pass(struct reader *reader, size_t input_bytes, bool plain) {
    struct record_batch batch = {0};
    struct record_parser *parser = NULL;
    uint64_t hash = 0, raw_bytes = 0;
    bool end = false;
    cog_error error = {0};
    demand(record_parser_create(reader, &parser, &error) == COG_OK);
    cog_status status;
    while ((status = reader_fill(reader, &batch, &end, &error)) == COG_OK && !end) {
        for (size_t i = 0; i < batch.count; i++) {
            struct document document;
            struct bad_record bad = {0};
            if (batch.records[i].passed_over) {
                raw_bytes += batch.records[i].size;
                continue;
            }
            status = reader_parse(parser, &batch, i, &document, &bad, &error);
            demand(status == COG_OK || (status == COG_ERR_INPUT && bad.message[0]));
            hash = status == COG_OK ? hash_document(hash, &document)
                                    : hash_pair(hash, hash_bytes(bad.message, sizeof bad.message));
            raw_bytes += document.raw.size;
        }
    }
    demand(!plain || raw_bytes <= input_bytes);
    demand(status == COG_OK || error.message[0]);
    record_batch_free(&batch);
    record_parser_free(parser);
    /* Of a damaged file only the verdict is certain: what came before it depends on the batches. */
    return status == COG_OK ? hash : (uint64_t)status;
}

/* Format, lines and form of tables are those of `wanted`. */
static inline void read_with(const struct reader_options *wanted, const uint8_t *data,
                             size_t size) {
    static int file = -1;
    if (file < 0)
        file = memfd_create("input", 0);
    demand(file >= 0 && ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size);
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    const char *path = name;
    /* Compressed input may come out longer than it went in. */
    bool plain = size < 2 || (data[0] < 0x80 && data[0] != 0x1f && data[0] != 'B' &&
                              data[0] != '(' && (data[0] & 0xf0) != 0x50);
    uint64_t hashes[2];
    for (int pass = 0; pass < 2; pass++) {
        struct reader_options options = *wanted;
        options.batch_bytes = pass ? 1 + (size ? data[size - 1] : 0) : 1 << 14;
        struct reader *reader = NULL;
        cog_error error;
        demand(reader_open(&options, &path, 1, &reader, &error) == COG_OK);
        hashes[pass] = read_pass(reader, size, plain);
        demand(reader_rewind(reader, &error) == COG_OK);
        if (pass)
            demand(read_pass(reader, size, plain) == hashes[pass]);
        reader_close(reader);
    }
    demand(hashes[0] == hashes[1]);
}

static inline void read_bytes(enum input_format format, bool lines, const uint8_t *data,
                              size_t size) {
    struct reader_options options;
    reader_options_init(&options);
    options.format = format;
    options.lines = lines;
    read_with(&options, data, size);
}
