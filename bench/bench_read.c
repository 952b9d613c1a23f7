/* Reading JSON lines on one core from the page cache: MB/s of reader_fill and reader_parse together
 * and separately, next to a plain scan for newlines over the same reads and to simdjson's parsing
 * of the records only. Usage: bench_read [FILE.jsonl]; without a file it generates one. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/hash.h"
#include "input/documents/json_parser.h"
#include "input/reader.h"
#include "input/records.h"

enum { ROUNDS = 7, GENERATED_BYTES = 200 << 20, READ_BYTES = 1 << 20 };

struct totals {
    uint64_t records, text_bytes, bad;
};

static void fail(const char *what) {
    fprintf(stderr, "bench_read: %s\n", what);
    exit(1);
}

/* Documents of 100 to 8,000 letters, an escaped newline every 400 or so. */
static void generate(const char *path) {
    struct random random = random_seeded(1);
    FILE *file = fopen(path, "wb");
    if (!file)
        fail("cannot write the generated file");
    for (uint64_t size = 0, id = 0; size < GENERATED_BYTES; id++) {
        size += (uint64_t)fprintf(file, "{\"id\":\"doc-%llu\",\"lang\":\"en\",\"text\":\"",
                                  (unsigned long long)id);
        for (uint64_t words = 20 + random_below(&random, 1400); words; words--) {
            uint64_t letters = random_next(&random);
            char word[16];
            size_t length = 2 + letters % 9;
            for (size_t i = 0; i < length; i++)
                word[i] = (char)('a' + (letters >> (4 + 5 * i)) % 26);
            fwrite(word, 1, length, file);
            size += length + 1;
            if (words % 80)
                fputc(' ', file);
            else
                size += (uint64_t)fprintf(file, "\\n") - 1;
        }
        size += (uint64_t)fprintf(file, "\"}\n");
    }
    fclose(file);
}

static double newline_scan(const char *path, struct totals *totals) {
    static char block[READ_BYTES];
    uint64_t start = clock_ns();
    int descriptor = open(path, O_RDONLY);
    for (ssize_t got; (got = read(descriptor, block, sizeof block)) > 0;) {
        const char *at = block, *end = block + got;
        while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) {
            totals->records++;
            at++;
        }
    }
    close(descriptor);
    return clock_seconds_since(start);
}

enum part { FILL_ONLY, FILL_AND_PARSE, PARSE_ONLY, FIND_ONLY };

static void parse_batch(enum part part, struct record_parser *parser, struct json_parser *json,
                        const struct record_batch *batch, struct totals *totals) {
    for (size_t i = 0; i < batch->count; i++) {
        struct document document;
        struct bad_record bad;
        if (part == FIND_ONLY) {
            struct json_field fields[3] = {
                {.name = {"text", 4}}, {.name = {"id", 2}}, {.name = {"lang", 4}}};
            const char *problem;
            const struct record *record = &batch->records[i];
            json_parser_find(json, batch->bytes.data + record->offset, record->size, fields, 3,
                             &problem);
            totals->text_bytes += fields[0].token.size;
        } else if (reader_parse(parser, batch, i, &document, &bad, NULL) == COG_OK) {
            totals->text_bytes += document.text.size;
        } else {
            totals->bad++;
        }
    }
}

/* Seconds of the named part over the whole file. */
static double read_file(const char *path, enum part part, struct totals *totals) {
    struct reader_options options;
    struct reader *reader = NULL;
    struct record_parser *parser = NULL;
    struct json_parser *json = json_parser_create();
    struct record_batch batch = {0};
    bool end = false;
    double parse_seconds = 0;
    reader_options_init(&options);
    options.format = INPUT_JSONL;
    uint64_t start = clock_ns();
    if (reader_open(&options, &path, 1, &reader, NULL) != COG_OK ||
        record_parser_create(reader, &parser, NULL) != COG_OK)
        fail("cannot open the file");
    while (reader_fill(reader, &batch, &end, NULL) == COG_OK && !end) {
        totals->records += batch.count;
        uint64_t parse_start = clock_ns();
        if (part != FILL_ONLY)
            parse_batch(part, parser, json, &batch, totals);
        parse_seconds += clock_seconds_since(parse_start);
    }
    double seconds = clock_seconds_since(start);
    record_batch_free(&batch);
    record_parser_free(parser);
    json_parser_free(json);
    reader_close(reader);
    return part == PARSE_ONLY || part == FIND_ONLY ? parse_seconds : seconds;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values) {
    qsort(values, ROUNDS, sizeof *values, by_value);
    return values[ROUNDS / 2];
}

int main(int argc, char **argv) {
    char generated[64];
    snprintf(generated, sizeof generated, "/tmp/bench_read.%ld.jsonl", (long)getpid());
    const char *path = argc > 1 ? argv[1] : generated;
    if (argc < 2)
        generate(path);
    static const char *const names[] = {"fill", "fill + parse", "parse", "find fields (simdjson)",
                                        "read + newline scan"};
    double seconds[5][ROUNDS];
    struct totals totals[5] = {{0}};
    for (int round = -1; round < ROUNDS; round++) /* the first warms the page cache */
        for (int part = 0; part < 5; part++) {
            totals[part] = (struct totals){0};
            double time = part == 4 ? newline_scan(path, &totals[4])
                                    : read_file(path, (enum part)part, &totals[part]);
            if (round >= 0)
                seconds[part][round] = time;
        }
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        fail("cannot measure the file");
    double megabytes = (double)ftell(file) / 1e6;
    fclose(file);
    double scan = median(seconds[4]);
    printf("%.1f MB, %llu records, %llu bad, medians of %d\n", megabytes,
           (unsigned long long)totals[FILL_AND_PARSE].records,
           (unsigned long long)totals[FILL_AND_PARSE].bad, ROUNDS);
    for (int part = 0; part < 5; part++) {
        double time = median(seconds[part]);
        printf("%-24s %8.0f MB/s  %.2f of the newline scan's time\n", names[part], megabytes / time,
               time / scan);
    }
    if (argc < 2)
        unlink(path);
    return 0;
}
