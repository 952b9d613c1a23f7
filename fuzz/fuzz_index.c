/* Opens, checks and searches indexes, by signature and by id, whose files were changed. The first
 * byte of the input chooses the index, the second how it is searched; the rest is a list of changes
 * of 8 bytes (see struct change). Checksums are put right, so that changes reach what lies behind
 * them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cognate.h"
#include "repair_checksums.h"

enum { FILES = 3, FILE_MAX = 1 << 18, ROWS = 24, QUERIES = 4, BITS_MAX = 2048, KINDS = 10 };

/* Documents bring vectors and statistics; given signatures are quicker to search. The last kind has
 * signatures so wide and slices so narrow that reading posting lists is cheaper than a scan even
 * for few rows: the others search lists only for k nearest. */
static const struct kind {
    bool documents;
    cog_method method;
    unsigned bits, slice_bits, radius;
    cog_measure measure;
} kinds[KINDS] = {{true, COG_METHOD_SLICES, 64, 8, 3, 0},
                  {true, COG_METHOD_COLUMNS, 64, 8, 3, 0},
                  {true, COG_METHOD_PSM, 64, 8, 3, 0},
                  {true, COG_METHOD_FLAT, 64, 8, 3, 0},
                  {false, COG_METHOD_SLICES, 64, 8, 3, 0},
                  {false, COG_METHOD_COLUMNS, 64, 8, 3, 0},
                  {false, COG_METHOD_PSM, 64, 8, 3, 0},
                  {false, COG_METHOD_BPHS, 64, 8, 3, 0},
                  {false, COG_METHOD_SLICES, BITS_MAX, 4, 16, 0},
                  {true, COG_METHOD_AUTO, 64, 8, 3, COG_MEASURE_JACCARD}};

enum file { SEGMENT, STATISTICS, MANIFEST };
static const char *const names[FILES] = {"segment-00000000.cog", "statistics", "manifest"};

/* The files as they were built. */
struct original {
    uint8_t *data[FILES];
    size_t sizes[FILES];
};

static char folder[64];
static struct original originals[KINDS];
static char texts[ROWS][64];
static cog_document items[ROWS];
static uint8_t signatures[ROWS * BITS_MAX / 8];
static float weights[ROWS * BITS_MAX];

static void demand(bool condition) {
    if (!condition)
        abort();
}

static void file_path(char path[128], const char *name) {
    snprintf(path, 128, "%s/%s", folder, name);
}

/* Rows of a family differ in few words. */
static void make_documents(void) {
    for (int row = 0; row < ROWS; row++) {
        snprintf(texts[row], sizeof texts[row], "word%d word%d other%d common", row % 7, row % 5,
                 row);
        items[row] = (cog_document){
            .text = texts[row], .text_size = strlen(texts[row]), .lang = "en", .lang_size = 2};
    }
}

/* Rows of a family differ by a bit or two. */
static void make_signatures(unsigned bits) {
    memset(signatures, 0, sizeof signatures);
    for (unsigned at = 0; at < ROWS * bits; at++) {
        unsigned row = at / bits, bit = at % bits;
        bool set = ((row % 4 + 1) * 2654435761u >> bit % 31 & 1) ^ (bit == row);
        signatures[at / 8] |= (uint8_t)(set << (7 - bit % 8));
        weights[at] = (float)((set ? 1 : -1) * (int)(1 + (bit * 7 + row) % 11));
    }
}

static cog_documents *documents_of(size_t count) {
    cog_documents *documents = NULL;
    demand(cog_documents_from_memory(items, count, &documents, NULL) == COG_OK);
    return documents;
}

static cog_signatures *signatures_of(size_t rows, unsigned bits) {
    cog_signatures *made = NULL;
    make_signatures(bits);
    demand(cog_signatures_from_memory(signatures, rows, bits, &made, NULL) == COG_OK);
    return made;
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

static void build_original(const struct kind *kind, struct original *original) {
    cog_index_options options;
    cog_index *index = NULL;
    cog_index_options_init_for(&options, kind->measure);
    options.method = kind->method;
    if (kind->method == COG_METHOD_SLICES)
        demand(cog_knobs_set(&options.knobs, kind->method, "slice-bits", kind->slice_bits, NULL) ==
               COG_OK);
    options.radius_bits = kind->radius;
    options.sign.signature.bits = kind->bits;
    if (kind->documents) {
        cog_documents *documents = documents_of(ROWS);
        demand(cog_index_build(documents, &options, NULL, &index, NULL, NULL) == COG_OK);
        cog_documents_close(documents);
        demand(cog_index_save(index, folder, NULL) == COG_OK);
        cog_index_close(index);
    } else {
        cog_signatures *rows = signatures_of(ROWS, kind->bits);
        options.weights = weights;
        demand(cog_index_build_signatures(rows, &options, NULL, &index, NULL, NULL) == COG_OK);
        demand(cog_index_save(index, folder, NULL) == COG_OK);
        cog_index_close(index);
        cog_signatures_free(rows);
    }
    read_original(original);
}

/* Built once; the folder, in memory, then only ever holds changed copies. */
static void build_originals(void) {
    strcpy(folder, "/dev/shm/fuzz_index.XXXXXX");
    demand(mkdtemp(folder));
    make_documents();
    for (int kind = 0; kind < KINDS; kind++)
        build_original(&kinds[kind], &originals[kind]);
}

/* The manifest names the segment by the checksum of its header, the last of its 64 bytes. */
static void name_segment(uint8_t *manifest, size_t size, const uint8_t *before,
                         const uint8_t *after) {
    enum { HEADER_CHECKSUM = 56, CHECKSUM_BYTES = 8 };
    uint8_t *place = memmem(manifest, size, before + HEADER_CHECKSUM, CHECKSUM_BYTES);
    if (place)
        memcpy(place, after + HEADER_CHECKSUM, CHECKSUM_BYTES);
}

/* A row of bytes, `stride` apart, gets values that rise by `step`: one byte, a number of 32 bits,
 * or all the offsets of a section. The last section means the whole file. */
struct change {
    uint8_t file, section, place[2], value, step, stride, log2_count;
};

static void apply(const struct change *change, const uint8_t *original, uint8_t *data,
                  size_t size) {
    enum { ENTRY_BYTES = 32 };
    uint64_t table = decode_u64(original + 24), begin = 0, length = size;
    unsigned count = (unsigned)((size - table) / ENTRY_BYTES), section;
    if ((section = change->section % (count + 1)) < count) {
        begin = decode_u64(original + table + section * ENTRY_BYTES + 8);
        length = decode_u64(original + table + section * ENTRY_BYTES + 16);
    }
    size_t place = change->place[0] | change->place[1] << 8, stride = 1 + change->stride % 16;
    for (size_t i = 0; length && i < (size_t)1 << change->log2_count % 16; i++)
        if (place % length + i * stride < length)
            data[begin + place % length + i * stride] = (uint8_t)(change->value + i * change->step);
}

static void write_changed(const struct original *original, const uint8_t *changes, size_t size) {
    static uint8_t changed[FILES][FILE_MAX];
    for (int i = 0; i < FILES; i++) {
        size_t bytes = original->sizes[i];
        uint8_t *data = changed[i];
        char path[128];
        file_path(path, names[i]);
        unlink(path);
        if (!bytes)
            continue;
        memcpy(data, original->data[i], bytes);
        if (i == MANIFEST)
            name_segment(data, bytes, original->data[SEGMENT], changed[SEGMENT]);
        /* Places of sections are those of the original, whatever earlier changes did to the table.
         */
        for (size_t c = 0; c + sizeof(struct change) <= size; c += sizeof(struct change)) {
            struct change change;
            memcpy(&change, changes + c, sizeof change);
            if (change.file % FILES == i)
                apply(&change, original->data[i], data, bytes);
        }
        repair_checksums(data, bytes);
        FILE *file = fopen(path, "wb");
        demand(file && fwrite(data, 1, bytes, file) == bytes);
        fclose(file);
    }
}

static cog_status search(const cog_index *index, const struct kind *kind,
                         const cog_search_options *options, cog_hits **hits) {
    const cog_run_options run = {.threads = 1};
    cog_status status;
    if (kind->documents) {
        cog_documents *queries = documents_of(QUERIES);
        status = cog_index_search(index, queries, options, &run, hits, NULL, NULL);
        cog_documents_close(queries);
    } else {
        cog_signatures *queries = signatures_of(QUERIES, kind->bits);
        status =
            cog_index_search_signatures(index, queries, weights, options, &run, hits, NULL, NULL);
        cog_signatures_free(queries);
    }
    return status;
}

/* choice: of the method (the index's own, or another that every index has), the recall, whether a
 * sample is brute-forced, and k or the radius. */
static void search_by(const cog_index *index, const struct kind *kind, unsigned choice) {
    static const cog_method common[] = {COG_METHOD_EXACT, COG_METHOD_FLAT, COG_METHOD_AUTO};
    cog_search_options options;
    cog_hits *hits = NULL;
    cog_search_options_init(&options);
    options.method = choice % 8 < 3 ? common[choice % 8] : kind->method;
    if (choice & 32 || options.method == COG_METHOD_PSM || options.method == COG_METHOD_BPHS)
        options.radius_bits = kind->radius * (1 + (choice >> 6));
    options.k = options.radius_bits == COG_RADIUS_NONE ? 3 : 0;
    options.recall = choice & 8 ? 1 : 0.9;
    options.recall_sample = choice & 16 ? 2 : 0;
    if (kind->measure != COG_MEASURE_COSINE) {
        options.method = COG_METHOD_AUTO;
        options.radius_bits = COG_RADIUS_NONE;
        options.k = choice & 32 ? 0 : 3;
        options.threshold = choice & 32 ? 0.4 : 0;
    }
    if (search(index, kind, &options, &hits) == COG_OK)
        for (size_t i = 0; i < cog_hits_count(hits); i++) {
            size_t size;
            cog_index_id(index, cog_hits_get(hits, i).row, &size);
        }
    cog_hits_free(hits);
}

static void find_ids(const cog_index *index) {
    for (uint32_t row = 0; row < ROWS; row++) {
        size_t size;
        uint32_t found;
        const char *id = cog_index_id(index, row, &size);
        if (id)
            cog_index_find(index, id, size, &found);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
    cog_index *index = NULL;
    cog_error error;
    if (size < 2)
        return 0;
    if (!folder[0])
        build_originals();
    write_changed(&originals[input[0] % KINDS], input + 2, size - 2);
    if (cog_index_open(folder, &index, &error) != COG_OK)
        return 0;
    search_by(index, &kinds[input[0] % KINDS], input[1]);
    find_ids(index);
    cog_index_check(index, &error);
    cog_index_close(index);
    return 0;
}
