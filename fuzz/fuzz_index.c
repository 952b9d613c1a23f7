/* Opens, checks and searches indexes whose files were changed: the input is a list of changes of
 * one byte (file, place in two bytes, value), applied to an index of documents by slice lists, by
 * columns, or by the tables of short signatures. Checksums are put right, so that changes reach
 * what lies behind them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cognate.h"
#include "repair_checksums.h"

enum { FILES = 3, FILE_MAX = 1 << 18, DOCUMENTS = 40, KINDS = 4, RADIUS = 3 };

static const cog_method kinds[KINDS] = {COG_METHOD_SLICES, COG_METHOD_COLUMNS, COG_METHOD_PSM,
                                        COG_METHOD_BPHS};

static const char *const names[FILES] = {"manifest", "statistics", "segment-00000000.cog"};

/* The files as they were built. */
struct original {
    uint8_t *data[FILES];
    size_t sizes[FILES];
};

static char folder[64];
static struct original originals[KINDS];

static void demand(bool condition) {
    if (!condition)
        abort();
}

static void file_path(char path[128], const char *name) {
    snprintf(path, 128, "%s/%s", folder, name);
}

static void write_documents(const char *path) {
    FILE *file = fopen(path, "w");
    demand(file);
    for (int i = 0; i < DOCUMENTS; i++)
        fprintf(file, "{\"id\": \"d%d\", \"text\": \"word%d word%d other%d common\"}\n", i, i % 7,
                i % 5, i);
    fclose(file);
}

static cog_documents *documents_of(const char *path) {
    cog_input_options input;
    cog_documents *documents = NULL;
    cog_input_options_init(&input);
    demand(cog_documents_open(&input, &path, 1, &documents, NULL) == COG_OK);
    return documents;
}

static void read_original(struct original *original) {
    for (int i = 0; i < FILES; i++) {
        char path[128];
        file_path(path, names[i]);
        FILE *file = fopen(path, "rb");
        if (!file)
            continue;
        original->data[i] = malloc(FILE_MAX);
        original->sizes[i] = fread(original->data[i], 1, FILE_MAX, file);
        fclose(file);
        unlink(path);
    }
}

/* Built once; the folder then only ever holds changed copies. */
static void build_originals(void) {
    strcpy(folder, "/tmp/fuzz_index.XXXXXX");
    demand(mkdtemp(folder));
    char path[128];
    file_path(path, "documents.jsonl");
    for (int kind = 0; kind < KINDS; kind++) {
        cog_index_options options;
        cog_index *index = NULL;
        cog_index_options_init(&options);
        options.method = kinds[kind];
        options.slice_bits = 8;
        options.vectors = kind == 0;
        options.radius_bits = RADIUS;
        options.sign.signature.bits = 64;
        write_documents(path);
        cog_documents *documents = documents_of(path);
        demand(cog_index_build(documents, &options, NULL, &index, NULL, NULL) == COG_OK);
        cog_documents_close(documents);
        unlink(path);
        demand(cog_index_save(index, folder, NULL) == COG_OK);
        cog_index_close(index);
        read_original(&originals[kind]);
    }
    write_documents("/tmp/fuzz_index_queries.jsonl");
}

static void write_changed(const struct original *original, const uint8_t *changes, size_t count) {
    for (int i = 0; i < FILES; i++) {
        uint8_t *data = malloc(original->sizes[i] + 1);
        char path[128];
        memcpy(data, original->data[i], original->sizes[i]);
        for (size_t c = 0; c + 4 <= count; c += 4)
            if (changes[c] % FILES == i && original->sizes[i])
                data[(changes[c + 1] | changes[c + 2] << 8) % original->sizes[i]] = changes[c + 3];
        repair_checksums(data, original->sizes[i]);
        file_path(path, names[i]);
        FILE *file = fopen(path, "wb");
        demand(file && fwrite(data, 1, original->sizes[i], file) == original->sizes[i]);
        fclose(file);
        free(data);
    }
}

static void search(const cog_index *index, cog_method method, double recall) {
    cog_search_options options;
    cog_hits *hits = NULL;
    cog_error error;
    cog_search_options_init(&options);
    options.method = method;
    if (method == COG_METHOD_PSM || method == COG_METHOD_BPHS) {
        options.k = 0;
        options.radius_bits = RADIUS;
    } else {
        options.k = 3;
    }
    options.recall = recall;
    cog_run_options run = {.threads = 1};
    cog_documents *queries = documents_of("/tmp/fuzz_index_queries.jsonl");
    if (cog_index_search(index, queries, &options, &run, &hits, NULL, &error) == COG_OK)
        for (size_t i = 0; i < cog_hits_count(hits); i++) {
            size_t size;
            cog_index_id(index, cog_hits_get(hits, i).row, &size);
        }
    cog_hits_free(hits);
    cog_documents_close(queries);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
    cog_method methods[] = {COG_METHOD_EXACT, COG_METHOD_FLAT, COG_METHOD_AUTO};
    cog_index *index = NULL;
    cog_error error;
    if (size == 0)
        return 0;
    if (!folder[0])
        build_originals();
    methods[2] = kinds[input[0] % KINDS];
    write_changed(&originals[input[0] % KINDS], input + 1, size - 1);
    if (cog_index_open(folder, &index, &error) != COG_OK)
        return 0;
    for (int i = 0; i < 3; i++) {
        search(index, methods[i], 0.9);
        search(index, methods[i], 1);
    }
    cog_index_check(index, &error);
    cog_index_close(index);
    return 0;
}
