#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/io/files.h"
#include "base/numbers.h"
#include "index/index_segments.h"
#include "search/columns/columns_method.h"
#include "search/columns/columns_search.h"
#include "search/slices/slices.h"
#include "search/slices/slices_method.h"
#include "test.h"

enum { ROWS = 40, BITS = 70, STRIDE = 16, SLICE_BITS = 6 };

/* A small segment with everything in it. */
struct sample {
    uint64_t words[ROWS * STRIDE / 8];
    uint64_t id_offsets[ROWS + 1], vector_offsets[ROWS + 1];
    char id_bytes[ROWS * 8];
    uint32_t columns[ROWS * 3];
    float values[ROWS * 3];
    struct id_buckets id_buckets;
    struct settings settings;
    struct slice_lists lists;
    struct bit_columns bit_columns;
    struct sparse_matrix vectors;
    struct method_tables tables[2];
    struct segment_parts parts;
};

static const struct slices_view *slices_of(const struct segment *segment) {
    const struct slice_lists *lists = segment_tables(segment, &slices_method);
    return lists ? &lists->view : NULL;
}

static void make_sample(struct sample *sample, uint64_t seed) {
    struct random random = random_seeded(seed);
    memset(sample, 0, sizeof *sample);
    for (size_t row = 0; row < ROWS; row++) {
        sample->words[row * 2] = random_next(&random);
        sample->words[row * 2 + 1] = random_next(&random) & 0xfc; /* six bits of the next byte */
        int length = sprintf(sample->id_bytes + sample->id_offsets[row], "id-%d", (int)(row * row));
        sample->id_offsets[row + 1] = sample->id_offsets[row] + (uint64_t)length;
        uint64_t at = sample->vector_offsets[row];
        for (uint32_t i = 0; i < row % 4; i++, at++) {
            sample->columns[at] = i * 10 + (uint32_t)random_below(&random, 10);
            sample->values[at] = (float)random_unit(&random);
        }
        sample->vector_offsets[row + 1] = at;
    }
    settings_set_text(&sample->settings, "signature", "rp", NULL);
    settings_set_u64(&sample->settings, "bits", BITS, NULL);
    sample->vectors =
        (struct sparse_matrix){ROWS, 30, sample->vector_offsets, sample->columns, sample->values};
    sample->parts =
        (struct segment_parts){.rows = ROWS,
                               .settings = &sample->settings,
                               .id_offsets = sample->id_offsets,
                               .id_bytes = sample->id_bytes,
                               .id_buckets = &sample->id_buckets,
                               .signatures = {(const uint8_t *)sample->words, ROWS, BITS, STRIDE},
                               .tables = sample->tables,
                               .table_count = 2,
                               .vectors = &sample->vectors};
    sample->tables[0] = (struct method_tables){&slices_method, &sample->lists};
    sample->tables[1] = (struct method_tables){&columns_method, &sample->bit_columns};
    slice_lists_build(&sample->lists, &sample->parts.signatures, SLICE_BITS, 1, NULL);
    bit_columns_build(&sample->bit_columns, &sample->parts.signatures, 1, NULL);
    const struct segment named = {
        .rows = ROWS,
        .id_offsets = sample->id_offsets,
        .id_bytes = {sample->id_bytes, sample->id_offsets[ROWS]},
    };
    id_buckets_build(&named, &sample->id_buckets, NULL);
}

static void free_sample(struct sample *sample) {
    id_buckets_free(&sample->id_buckets);
    settings_free(&sample->settings);
    slice_lists_free(&sample->lists);
    bit_columns_free(&sample->bit_columns);
}

static bool segment_holds(const struct segment *segment, const struct sample *sample) {
    const struct slices_view *slices = slices_of(segment);
    bool same = segment->rows == ROWS && slices &&
                settings_equal(&segment->settings, &sample->settings, NULL) &&
                segment->signatures.bits == BITS && segment->signatures.stride_bytes == STRIDE &&
                memcmp(segment->signatures.data, sample->words, sizeof sample->words) == 0 &&
                (uintptr_t)segment->signatures.data % 64 == 0 &&
                memcmp(&slices->layout, &sample->lists.view.layout, sizeof slices->layout) == 0;
    size_t offsets = slice_layout_offsets(&sample->lists.view.layout);
    size_t postings = sample->lists.view.layout.count * (size_t)ROWS;
    same = same && memcmp(slices->offsets, sample->lists.offsets, offsets * 4) == 0 &&
           memcmp(slices->postings, sample->lists.postings, postings * 4) == 0 &&
           segment->vectors.column_count == 30;
    for (size_t row = 0; same && row < ROWS; row++) {
        struct bytes_view id;
        const uint32_t *columns;
        const float *values;
        size_t count, begin = sample->id_offsets[row], at = sample->vector_offsets[row];
        same = segment_id(segment, row, &id) && id.size == sample->id_offsets[row + 1] - begin &&
               memcmp(id.data, sample->id_bytes + begin, id.size) == 0 &&
               segment_vector(segment, row, &columns, &values, &count) &&
               count == sample->vector_offsets[row + 1] - at &&
               memcmp(columns, sample->columns + at, count * 4) == 0 &&
               memcmp(values, sample->values + at, count * 4) == 0;
    }
    return same;
}

static struct sample sample, other;

TEST(segment_round_trip) {
    const char *path = test_path("segment");
    struct segment segment;
    struct bytes_view id;
    make_sample(&sample, 1);
    CHECK_OK(segment_write(path, &sample.parts, error));
    CHECK_OK(segment_open(path, &segment, error));
    CHECK_OK(segment_verify(&segment, error));
    CHECK(segment_holds(&segment, &sample));
    CHECK(!segment_id(&segment, ROWS, &id));
    struct slices_searcher *searcher = NULL;
    struct query_answer answer;
    struct slices_request request = {.k = 3, .certain = true};
    CHECK_OK(slices_searcher_create(slices_of(&segment), &segment.signatures, &searcher, error));
    CHECK_OK(
        slices_search(searcher, signature_row(&segment.signatures, 7), &request, &answer, error));
    CHECK(answer.count == 3 && answer.hits[0].row == 7 && answer.hits[0].distance == 0);
    slices_searcher_free(searcher);
    segment_close(&segment);
    free_sample(&sample);
}

TEST(segment_parts_may_be_missing) {
    const char *path = test_path("bare");
    struct segment segment;
    struct bytes_view id;
    const uint32_t *columns;
    const float *values;
    size_t count;
    struct segment_parts parts = {.rows = 5};
    CHECK_OK(segment_write(path, &parts, error));
    CHECK_OK(segment_open(path, &segment, error));
    CHECK_OK(segment_verify(&segment, error));
    CHECK(segment.rows == 5 && segment.signatures.bits == 0 && segment.table_count == 0);
    CHECK(!segment_id(&segment, 0, &id));
    CHECK(!segment_vector(&segment, 0, &columns, &values, &count));
    segment_close(&segment);
    make_sample(&sample, 1);
    sample.parts.rows = ROWS - 1;
    CHECK(segment_write(path, &sample.parts, NULL) == COG_ERR_USAGE);
    free_sample(&sample);
}

/* Numbers made while they are written are the bytes of numbers that were there before, over more
 * digits and more rows than are written at once. */
TEST(segment_numbers_its_rows) {
    enum { NUMBERED = 12000, FIRST = 95 };
    static uint64_t offsets[NUMBERED + 1];
    static char bytes[NUMBERED * 8];
    for (int row = 0; row < NUMBERED; row++)
        offsets[row + 1] =
            offsets[row] + (uint64_t)sprintf(bytes + offsets[row], "%d", FIRST + row);
    struct segment named = {
        .rows = NUMBERED, .id_offsets = offsets, .id_bytes = {bytes, offsets[NUMBERED]}};
    struct id_buckets buckets = {0};
    CHECK_OK(id_buckets_build(&named, &buckets, error));
    struct segment_parts parts = {
        .rows = NUMBERED, .id_offsets = offsets, .id_bytes = bytes, .id_buckets = &buckets};
    struct segment_parts numbered = {.rows = NUMBERED, .is_numbered = true, .first_number = FIRST};
    const char *paths[2] = {test_path("named"), test_path("numbered")};
    CHECK_OK(segment_write(paths[0], &parts, error));
    CHECK_OK(segment_write(paths[1], &numbered, error));
    struct mapping files[2] = {{0}};
    for (int i = 0; i < 2; i++)
        CHECK_OK(mapping_open(paths[i], &files[i], error));
    CHECK(files[0].size == files[1].size);
    CHECK(memcmp(files[0].data, files[1].data, files[0].size) == 0);
    CHECK(numbered_ids_memory_bytes(NUMBERED) < 2 * NUMBERED);
    for (int i = 0; i < 2; i++)
        mapping_close(&files[i]);
    id_buckets_free(&buckets);
}

/* Rows wider than they need to be are written as narrow as the format has them. */
TEST(segment_takes_signatures_of_any_stride) {
    static uint64_t wide[ROWS * 4];
    const char *path = test_path("wide");
    struct segment segment;
    make_sample(&sample, 2);
    for (size_t row = 0; row < ROWS; row++)
        memcpy(wide + row * 4, sample.words + row * 2, STRIDE);
    sample.parts.signatures.data = (const uint8_t *)wide;
    sample.parts.signatures.stride_bytes = 32;
    CHECK_OK(segment_write(path, &sample.parts, error));
    CHECK_OK(segment_open(path, &segment, error));
    CHECK(segment_holds(&segment, &sample));
    segment_close(&segment);
    free_sample(&sample);
}

static void search_columns(const struct segment *segment) {
    struct columns_searcher *searcher = NULL;
    struct query_answer answer;
    const struct bit_columns *columns = segment_tables(segment, &columns_method);
    if (!columns)
        return;
    CHECK_OK(columns_searcher_create(&columns->view, &segment->signatures, &searcher, error));
    for (int whole = 0; whole < 2; whole++) {
        struct columns_request request = {.k = 3, .share = whole, .columns = 15, .verify = 20};
        CHECK_OK(columns_search(searcher, signature_row(&segment->signatures, 7), &request, &answer,
                                error));
        for (size_t i = 0; i < answer.count; i++)
            CHECK(answer.hits[i].row < ROWS);
    }
    columns_searcher_free(searcher);
}

/* Where an id is found; ROWS where it is not, and for a fault. */
static uint64_t row_found(const struct segment *segment, struct bytes_view id) {
    uint64_t row;
    cog_status status = id_buckets_find(&segment->id_buckets, segment, id, &row, NULL);
    return status == COG_OK && row != UINT64_MAX ? row : ROWS;
}

TEST(segment_finds_rows_by_id) {
    static const char *const absent[] = {"", "id-", "id-2", "id-00", "nobody"};
    const char *path = test_path("ids");
    struct segment segment;
    struct bytes_view id;
    make_sample(&sample, 6);
    CHECK_OK(segment_write(path, &sample.parts, error));
    CHECK_OK(segment_open(path, &segment, error));
    for (size_t row = 0; row < ROWS; row++)
        CHECK(segment_id(&segment, row, &id) && row_found(&segment, id) == row);
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        CHECK(row_found(&segment, view_of_text(absent[i])) == ROWS);
    segment_close(&segment);
    free_sample(&sample);
}

/* Two buckets of the ten ids "0" to "9", as docs/format.md lays them out: these bytes belong to the
 * format. */
TEST(segment_golden_table_of_ids) {
    static const uint64_t offsets[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    static const uint32_t starts[] = {0, 6, 10};
    static const uint8_t entries[10][ID_ENTRY_BYTES] = {{0x55, 0}, {0x58, 1}, {0xf0, 3}, {0xfa, 7},
                                                        {0xea, 8}, {0x68, 9}, {0x14, 2}, {0x3f, 4},
                                                        {0x72, 5}, {0x0d, 6}};
    const struct segment named = {
        .rows = 10, .id_offsets = offsets, .id_bytes = {"0123456789", 10}};
    struct id_buckets buckets = {0};
    CHECK_OK(id_buckets_build(&named, &buckets, error));
    CHECK(memcmp(buckets.starts, starts, sizeof starts) == 0);
    CHECK(memcmp(buckets.entries, entries, sizeof entries) == 0);
    id_buckets_free(&buckets);
}

/* Any damage: verified files are refused, unverified ones are read without an access outside. */
TEST(segment_damage_is_noticed_or_harmless) {
    const char *path = test_path("damaged");
    struct mapping mapping;
    make_sample(&sample, 3);
    CHECK_OK(segment_write(path, &sample.parts, error));
    CHECK_OK(mapping_open(path, &mapping, error));
    uint8_t *bytes = aligned_alloc(64, (mapping.size + 63) / 64 * 64);
    struct random random = random_seeded(5);
    for (int trial = 0; trial < 3000; trial++) {
        memcpy(bytes, mapping.data, mapping.size);
        size_t place = 64 + random_below(&random, mapping.size - 64);
        bytes[place] ^= (uint8_t)(1 << random_below(&random, 8));
        struct segment segment;
        struct slices_searcher *searcher = NULL;
        struct query_answer answer;
        struct slices_request request = {.k = 3, .expand = 1, .admit = 1};
        if (segment_open_memory("memory", bytes, mapping.size, &segment, NULL) != COG_OK)
            continue;
        CHECK_MSG(segment_verify(&segment, NULL) == COG_ERR_FORMAT, "byte %zu", place);
        for (size_t row = 0; row < ROWS; row++) {
            struct bytes_view id, other_id;
            const uint32_t *columns;
            const float *values;
            size_t count;
            if (segment_id(&segment, row, &id)) {
                CHECK(id.size <= segment.id_bytes.size);
                uint64_t found = row_found(&segment, id);
                CHECK(found == ROWS ||
                      (segment_id(&segment, found, &other_id) && view_equals(id, other_id)));
            }
            if (segment_vector(&segment, row, &columns, &values, &count) && count)
                CHECK(columns[count - 1] < 30);
        }
        if (slices_of(&segment)) {
            CHECK_OK(
                slices_searcher_create(slices_of(&segment), &segment.signatures, &searcher, error));
            CHECK_OK(slices_search(searcher, signature_row(&segment.signatures, 7), &request,
                                   &answer, error));
            slices_searcher_free(searcher);
        }
        search_columns(&segment);
        segment_close(&segment);
    }
    free(bytes);
    mapping_close(&mapping);
    free_sample(&sample);
}

/* A width at which the bytes of a row would wrap to zero. */
TEST(segment_of_an_impossible_width_is_refused) {
    static const uint8_t shape[] = {ROWS, 0, 0, 0, 0, 0, 0, 0, BITS, 0, 0, 0, STRIDE, 0, 0, 0};
    const char *path = test_path("wide");
    struct mapping mapping;
    struct segment segment;
    make_sample(&sample, 7);
    CHECK_OK(segment_write(path, &sample.parts, error));
    CHECK_OK(mapping_open(path, &mapping, error));
    uint8_t *bytes = aligned_alloc(64, (mapping.size + 63) / 64 * 64);
    static const uint32_t widths[] = {UINT32_MAX, UINT32_MAX - 62, HAMMING_MAX_BITS + 1, 1u << 31};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        memcpy(bytes, mapping.data, mapping.size);
        uint8_t *found = memmem(bytes, mapping.size, shape, sizeof shape);
        CHECK(found);
        encode_u32(found + 8, widths[i]);
        encode_u32(found + 12, (uint32_t)signature_stride_bytes(widths[i]));
        CHECK(segment_open_memory("memory", bytes, mapping.size, &segment, NULL) == COG_ERR_FORMAT);
    }
    free(bytes);
    mapping_close(&mapping);
    free_sample(&sample);
}

/* Checksums cannot tell wrong content that was written as such; the second look of verifying does.
 */
TEST(segment_impossible_content_is_refused) {
    const char *path = test_path("impossible");
    struct segment segment;
    cog_error failure = {0};
    for (int fault = 0; fault < 8; fault++) {
        make_sample(&sample, 4);
        if (fault == 0)
            sample.id_offsets[3] = 1000;
        else if (fault == 1)
            sample.columns[5] = 30;
        else if (fault == 2)
            sample.lists.postings[9] = ROWS;
        else if (fault == 3)
            sample.id_buckets.entries[0] ^= 1; /* a tag */
        else if (fault == 4)
            sample.id_buckets.entries[1] = ROWS;
        else if (fault == 5)
            sample.id_buckets.starts[1] = ROWS + 1;
        else if (fault == 6) /* a row twice, another not at all */
            memcpy(sample.id_buckets.entries, sample.id_buckets.entries + ID_ENTRY_BYTES,
                   ID_ENTRY_BYTES);
        else
            sample.vector_offsets[0] = 1;
        CHECK_OK(segment_write(path, &sample.parts, error));
        CHECK_OK(segment_open(path, &segment, error));
        CHECK_MSG(segment_verify(&segment, &failure) == COG_ERR_FORMAT, "fault %d", fault);
        segment_close(&segment);
        free_sample(&sample);
    }
}

TEST(manifest_lists_segments_and_removed_rows) {
    const char *folder = test_path("index");
    struct manifest manifest = {0};
    struct index_segments index;
    CHECK(!manifest_exists(folder));
    make_sample(&sample, 10);
    make_sample(&other, 11);
    CHECK_OK(manifest_add_segment(folder, &manifest, &sample.parts, error));
    CHECK(!manifest_exists(folder));
    CHECK_OK(manifest_add_segment(folder, &manifest, &other.parts, error));
    const uint64_t removed[] = {3, ROWS - 1, ROWS, ROWS + 5}, more[] = {2, 3, ROWS + 6};
    CHECK_OK(manifest_remove_rows(&manifest, removed, 4, error));
    CHECK_OK(manifest_remove_rows(&manifest, more, 3, error));
    const uint64_t beyond[] = {2 * ROWS};
    CHECK(manifest_remove_rows(&manifest, beyond, 1, NULL) == COG_ERR_USAGE);
    CHECK_OK(manifest_write(folder, &manifest, error));
    manifest_free(&manifest);

    CHECK_OK(index_segments_open(folder, NULL, &index, error));
    CHECK_OK(index_segments_verify(&index, error));
    CHECK(index.rows == 2 * ROWS && index.manifest.count == 2 && index.manifest.next_number == 2);
    CHECK(segment_holds(&index.segments[0], &sample) && segment_holds(&index.segments[1], &other));
    for (uint32_t row = 0; row < ROWS; row++) {
        CHECK(manifest_is_removed(&index.manifest.entries[0], row) ==
              (row == 2 || row == 3 || row == ROWS - 1));
        CHECK(manifest_is_removed(&index.manifest.entries[1], row) ==
              (row == 0 || row == 5 || row == 6));
    }
    index_segments_close(&index);
    free_sample(&sample);
    free_sample(&other);
}

TEST(manifest_refuses_what_was_made_otherwise) {
    const char *folder = test_path("mixed");
    struct manifest manifest = {0};
    struct index_segments index;
    cog_error failure = {0};
    make_sample(&sample, 20);
    CHECK_OK(manifest_add_segment(folder, &manifest, &sample.parts, error));
    CHECK_OK(manifest_write(folder, &manifest, error));
    CHECK_OK(settings_set_u64(&sample.settings, "bits", 71, error));
    CHECK(manifest_add_segment(folder, &manifest, &sample.parts, &failure) == COG_ERR_USAGE);
    CHECK(strstr(failure.message, "bits is 70 here and 71 there"));
    /* Another file under a segment's name. */
    char *path = manifest_segment_path(folder, 0);
    make_sample(&other, 21);
    CHECK_OK(segment_write(path, &other.parts, error));
    CHECK(index_segments_open(folder, NULL, &index, &failure) == COG_ERR_FORMAT);
    CHECK(strstr(failure.message, "not the segment named in the manifest"));
    unlink(path);
    CHECK(index_segments_open(folder, NULL, &index, &failure) != COG_OK);
    free(path);
    manifest_free(&manifest);
    free_sample(&sample);
    free_sample(&other);
}

static bool file_exists(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static void touch(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    write_at(path, "", 0);
}

TEST(manifest_sweep_deletes_only_leftovers) {
    const char *folder = test_path("swept");
    static const char *const gone[] = {"segment-00000007.cog", "segment-00000000.cog.tmp.123",
                                       "manifest.tmp.99", "statistics.tmp.7.0"};
    static const char *const kept[] = {"notes.txt", "segment-x.cog", "segment-00000000.cog",
                                       "manifest", "segment-00000000.cogs"};
    struct manifest manifest = {0};
    make_sample(&sample, 30);
    CHECK_OK(manifest_add_segment(folder, &manifest, &sample.parts, error));
    CHECK_OK(manifest_write(folder, &manifest, error));
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        touch(folder, gone[i]);
    touch(folder, kept[0]);
    touch(folder, kept[1]);
    touch(folder, kept[4]);
    CHECK_OK(index_sweep(folder, &manifest, error));
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        CHECK(!file_exists(folder, gone[i]));
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        CHECK(file_exists(folder, kept[i]));
    manifest_free(&manifest);
    free_sample(&sample);
}

TEST(manifest_impossible_lists_are_refused) {
    const char *folder = test_path("bad manifest");
    struct manifest manifest = {0}, read = {0};
    make_sample(&sample, 40);
    CHECK_OK(manifest_add_segment(folder, &manifest, &sample.parts, error));
    uint32_t *unsorted = NULL;
    CHECK_OK(removed_rows_take(2, &unsorted, error));
    unsorted[0] = 4;
    unsorted[1] = 4;
    manifest.entries[0].removed = unsorted;
    manifest.entries[0].removed_count = 2;
    CHECK_OK(manifest_write(folder, &manifest, error));
    CHECK(manifest_read(folder, &read, NULL) == COG_ERR_FORMAT && read.count == 0);
    unsorted[1] = ROWS;
    CHECK_OK(manifest_write(folder, &manifest, error));
    CHECK(manifest_read(folder, &read, NULL) == COG_ERR_FORMAT);
    unsorted[1] = 5;
    manifest.next_number = 0;
    CHECK_OK(manifest_write(folder, &manifest, error));
    CHECK(manifest_read(folder, &read, NULL) == COG_ERR_FORMAT);
    manifest.next_number = 1;
    CHECK_OK(manifest_write(folder, &manifest, error));
    CHECK_OK(manifest_read(folder, &read, error));
    CHECK(read.entries[0].removed_count == 2);
    manifest_free(&read);
    manifest_free(&manifest);
    free_sample(&sample);
}
