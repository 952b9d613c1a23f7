#include "search/keys/bucket_index.h"

#include "base/memory.h"

#define SECTION_RANKS CONTAINER_TAG('s', 'h', 'r', 'k')
#define SECTION_ENTRIES CONTAINER_TAG('s', 'h', 'e', 'n')
#define SECTION_GROUPS CONTAINER_TAG('s', 'h', 'g', 'r')

enum { TABLES_MAX = 64 };

cog_status bucket_index_init(struct bucket_index *index, unsigned tables, cog_error *error) {
    *index = (struct bucket_index){0};
    TAKE_ZEROED(index->tables, tables, "the tables of signatures", error);
    index->count = tables;
    return COG_OK;
}

void bucket_index_free(struct bucket_index *index) {
    for (unsigned i = 0; i < index->count && !index->is_mapped; i++)
        bucket_table_free(&index->tables[i]);
    if (!index->is_mapped)
        key_rows_free(&index->rows);
    free(index->tables);
    *index = (struct bucket_index){0};
}

/* ---- The file -------------------------------------------------------------------------------- */

/* The section SECTION_BUCKETS_SHAPE: words in the order of docs/format.md. */
struct shape {
    uint64_t kind, radius_bits, entries, group_words;
    uint64_t learned_pairs, learned_radius_bits, blocks, chosen;
    struct table_shape {
        uint64_t header_bits, bucket_bytes, count, overflow_words;
    } tables[TABLES_MAX];
};

static size_t shape_bytes(unsigned tables) {
    return offsetof(struct shape, tables) + tables * sizeof(struct table_shape);
}

/* An array that every table has; a section holds those of all tables, one after the other. */
struct table_array {
    uint32_t section;
    void *data;
    size_t bytes;
};

enum { TABLE_ARRAYS = 3 };

static struct table_array array_of(const struct bucket_table *table, int array) {
    struct table_array arrays[TABLE_ARRAYS] = {
        {CONTAINER_TAG('s', 'h', 'b', 'u'), table->buckets,
         table->bucket_bytes << table->header_bits},
        {CONTAINER_TAG('s', 'h', 'o', 'v'), table->overflow,
         table->overflow_words * sizeof *table->overflow},
        {CONTAINER_TAG('s', 'h', 'g', 's'), table->group_starts,
         bucket_group_count(table) * sizeof *table->group_starts}};
    return arrays[array];
}

cog_status bucket_index_write(const struct bucket_index *index,
                              const struct bucket_description *description,
                              struct container_writer *writer, cog_error *error) {
    const struct key_rows *rows = &index->rows;
    const struct bucket_table *first = &index->tables[0];
    struct shape shape = {
        description->kind,   description->radius_bits,   rows->entry_count,
        rows->group_words,   description->learned_pairs, description->learned_radius_bits,
        description->blocks, description->chosen,        {{0}}};
    for (unsigned i = 0; i < index->count; i++)
        shape.tables[i] =
            (struct table_shape){index->tables[i].header_bits, index->tables[i].bucket_bytes,
                                 index->tables[i].count, index->tables[i].overflow_words};
    TRY(container_writer_section(writer, SECTION_BUCKETS_SHAPE, &shape, shape_bytes(index->count),
                                 error));
    for (int array = 0; array < TABLE_ARRAYS; array++) {
        TRY(container_writer_begin(writer, array_of(first, array).section, error));
        for (unsigned i = 0; i < index->count; i++) {
            struct table_array own = array_of(&index->tables[i], array);
            TRY(container_writer_append(writer, own.data, own.bytes, error));
        }
        TRY(container_writer_end(writer, error));
    }
    TRY(container_writer_section(writer, SECTION_RANKS, first->ranks,
                                 sizeof *first->ranks << first->header_bits, error));
    TRY(container_writer_section(writer, SECTION_ENTRIES, rows->entries,
                                 rows->entry_count * sizeof *rows->entries, error));
    return container_writer_section(writer, SECTION_GROUPS, rows->groups,
                                    rows->group_words * sizeof *rows->groups, error);
}

cog_status bucket_index_damaged(const struct container *container, cog_error *error) {
    return error_set(error, COG_ERR_FORMAT,
                     "%s: the tables of short signatures are impossible; cognate index check tells "
                     "more",
                     container->path);
}

bool bucket_index_describe(const struct container *container,
                           struct bucket_description *description) {
    struct bytes_view view;
    struct shape shape = {0};
    if (!container_find(container, SECTION_BUCKETS_SHAPE, &view))
        return false;
    memcpy(&shape, view.data, view.size < sizeof shape ? view.size : sizeof shape);
    *description = (struct bucket_description){shape.kind,          shape.radius_bits,
                                               shape.learned_pairs, shape.learned_radius_bits,
                                               shape.blocks,        shape.chosen};
    return true;
}

static bool restore_shape(struct bucket_index *index, const struct shape *shape, unsigned bits) {
    for (unsigned i = 0; i < index->count; i++) {
        const struct table_shape *own = &shape->tables[i];
        if (!bucket_table_restore(&index->tables[i], bits, own->header_bits, own->bucket_bytes,
                                  own->count, own->overflow_words))
            return false;
    }
    index->rows.entry_count = (size_t)shape->entries;
    index->rows.group_words = (size_t)shape->group_words;
    return shape->entries <= SHORT_KEY_ROWS_MAX &&
           shape->group_words <= 2 * (uint64_t)SHORT_KEY_ROWS_MAX;
}

static cog_status open_array(struct bucket_index *index, const struct container *container,
                             int array, cog_error *error) {
    const void *data = NULL;
    size_t total = 0;
    for (unsigned i = 0; i < index->count; i++)
        total += array_of(&index->tables[i], array).bytes;
    TRY(container_array(container, array_of(&index->tables[0], array).section, total, 1, &data,
                        error));
    uint8_t *own = (uint8_t *)(uintptr_t)data;
    for (unsigned i = 0; i < index->count; i++) {
        struct bucket_table *table = &index->tables[i];
        if (array == 0)
            table->buckets = own;
        else if (array == 1)
            table->overflow = (uint64_t *)own;
        else
            table->group_starts = (uint32_t *)own;
        own += array_of(table, array).bytes;
    }
    return COG_OK;
}

cog_status bucket_index_open(struct bucket_index *index, const struct container *container,
                             unsigned bits, unsigned tables, cog_error *error) {
    const void *shape = NULL, *ranks = NULL, *entries = NULL, *groups = NULL;
    TRY(bucket_index_init(index, tables, error));
    index->is_mapped = true;
    struct key_rows *rows = &index->rows;
    struct bucket_table *first = &index->tables[0];
    if (tables > TABLES_MAX || (bits != 64 && bits != 128))
        return bucket_index_damaged(container, error);
    TRY(container_array(container, SECTION_BUCKETS_SHAPE, shape_bytes(tables), 1, &shape, error));
    if (!restore_shape(index, shape, bits))
        return bucket_index_damaged(container, error);
    for (int array = 0; array < TABLE_ARRAYS; array++)
        TRY(open_array(index, container, array, error));
    TRY(container_array(container, SECTION_RANKS, (size_t)1 << first->header_bits,
                        sizeof *first->ranks, &ranks, error));
    TRY(container_array(container, SECTION_ENTRIES, rows->entry_count, sizeof *rows->entries,
                        &entries, error));
    TRY(container_array(container, SECTION_GROUPS, rows->group_words, sizeof *rows->groups, &groups,
                        error));
    first->ranks = (uint32_t *)(uintptr_t)ranks;
    rows->entries = (uint32_t *)(uintptr_t)entries;
    rows->groups = (uint32_t *)(uintptr_t)groups;
    return COG_OK;
}

/* ---- Checking -------------------------------------------------------------------------------- */

static bool has_row(const struct key_rows *rows, size_t position, uint32_t row) {
    size_t count, at;
    if (!key_rows_are_sound(rows, position))
        return false;
    const uint32_t *of_key = key_rows_of(rows, position, &count);
    FIND_FIRST_NOT(at, 0, count, of_key[at] < row);
    return at < count && of_key[at] == row;
}

cog_status bucket_index_check(const struct bucket_index *index, const struct signatures_view *view,
                              short_key (*permute)(const void *context, unsigned table,
                                                   short_key key),
                              const void *context, cog_error *error) {
    for (size_t row = 0; row < view->rows; row++) {
        short_key key = short_key_of_row(view, row);
        bool sound = has_row(&index->rows, bucket_find(&index->tables[0], key), (uint32_t)row);
        for (unsigned i = 1; i < index->count && sound; i++)
            sound = bucket_find(&index->tables[i], permute(context, i, key)) != SIZE_MAX;
        if (!sound)
            return error_set_at(error, COG_ERR_FORMAT, row,
                                "the tables of short signatures do not have row %zu: build the "
                                "index again",
                                row);
    }
    return COG_OK;
}
