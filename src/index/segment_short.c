/* The sections of short_tables.h in a segment file, as docs/format.md has them. */
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "index/short_tables.h"

#define SECTION_SHORT_SHAPE CONTAINER_TAG('s', 'h', 's', 'h')
#define SECTION_BUCKETS CONTAINER_TAG('s', 'h', 'b', 'u')
#define SECTION_OVERFLOW CONTAINER_TAG('s', 'h', 'o', 'v')
#define SECTION_GROUP_STARTS CONTAINER_TAG('s', 'h', 'g', 's')
#define SECTION_RANKS CONTAINER_TAG('s', 'h', 'r', 'k')
#define SECTION_ENTRIES CONTAINER_TAG('s', 'h', 'e', 'n')
#define SECTION_GROUPS CONTAINER_TAG('s', 'h', 'g', 'r')
#define SECTION_QUANTILES CONTAINER_TAG('s', 'h', 'q', 'u')
#define SECTION_BOUNDS CONTAINER_TAG('s', 'h', 'b', 'o')

/* Words of the shape: these, then SHAPE_OF_TABLE for each table. */
enum {
    SHAPE_KIND,
    SHAPE_RADIUS,
    SHAPE_ENTRIES,
    SHAPE_GROUP_WORDS,
    SHAPE_PAIRS,
    SHAPE_LEARNED_RADIUS,
    SHAPE_BLOCKS,
    SHAPE_CHOSEN,
    SHAPE_FIXED,
    TABLE_HEADER_BITS = 0,
    TABLE_BUCKET_BYTES,
    TABLE_COUNT,
    TABLE_OVERFLOW_WORDS,
    SHAPE_OF_TABLE,
    SHAPE_WORDS_MAX = SHAPE_FIXED + BLOCK_CHOICES_MAX * SHAPE_OF_TABLE
};

static unsigned table_count(const struct short_tables *tables) {
    return tables->kind == SHORT_PSM ? 1 : tables->bphs.layout.choice_count;
}

static struct line_table *table_at(struct short_tables *tables, unsigned i) {
    return tables->kind == SHORT_PSM ? &tables->psm.table : &tables->bphs.tables[i];
}

static struct key_rows *rows_of(struct short_tables *tables) {
    return tables->kind == SHORT_PSM ? &tables->psm.rows : &tables->bphs.rows;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static cog_status write_shape(struct short_tables *tables, struct container_writer *writer,
                              cog_error *error) {
    uint8_t shape[SHAPE_WORDS_MAX * 8];
    const struct key_rows *rows = rows_of(tables);
    encode_u64(shape + 8 * SHAPE_KIND, tables->kind);
    encode_u64(shape + 8 * SHAPE_RADIUS, tables->radius_bits);
    encode_u64(shape + 8 * SHAPE_ENTRIES, rows->entry_count);
    encode_u64(shape + 8 * SHAPE_GROUP_WORDS, rows->group_words);
    encode_u64(shape + 8 * SHAPE_PAIRS, tables->learned.pairs);
    encode_u64(shape + 8 * SHAPE_LEARNED_RADIUS, tables->learned.radius_bits);
    encode_u64(shape + 8 * SHAPE_BLOCKS, tables->bphs.layout.blocks);
    encode_u64(shape + 8 * SHAPE_CHOSEN, tables->bphs.layout.chosen);
    for (unsigned i = 0; i < table_count(tables); i++) {
        const struct line_table *table = table_at(tables, i);
        uint8_t *own = shape + 8 * (SHAPE_FIXED + i * SHAPE_OF_TABLE);
        encode_u64(own + 8 * TABLE_HEADER_BITS, table->header_bits);
        encode_u64(own + 8 * TABLE_BUCKET_BYTES, table->bucket_bytes);
        encode_u64(own + 8 * TABLE_COUNT, table->count);
        encode_u64(own + 8 * TABLE_OVERFLOW_WORDS, table->overflow_words);
    }
    return container_writer_section(writer, SECTION_SHORT_SHAPE, shape,
                                    8 * (SHAPE_FIXED + table_count(tables) * SHAPE_OF_TABLE),
                                    error);
}

/* The same array of all tables, one after the other. */
enum table_array { ARRAY_BUCKETS, ARRAY_OVERFLOW, ARRAY_GROUP_STARTS, ARRAY_COUNT };
static const uint32_t array_sections[ARRAY_COUNT] = {SECTION_BUCKETS, SECTION_OVERFLOW,
                                                     SECTION_GROUP_STARTS};

static size_t array_bytes(const struct line_table *table, enum table_array array) {
    switch (array) {
    case ARRAY_BUCKETS:
        return table->bucket_bytes << table->header_bits;
    case ARRAY_OVERFLOW:
        return table->overflow_words * sizeof *table->overflow;
    default:
        return line_group_count(table) * sizeof *table->group_starts;
    }
}

static const void *array_data(const struct line_table *table, enum table_array array) {
    return array == ARRAY_BUCKETS    ? (const void *)table->buckets
           : array == ARRAY_OVERFLOW ? (const void *)table->overflow
                                     : (const void *)table->group_starts;
}

static cog_status write_array(struct short_tables *tables, enum table_array array,
                              struct container_writer *writer, cog_error *error) {
    cog_status status = container_writer_begin(writer, array_sections[array], error);
    for (unsigned i = 0; i < table_count(tables) && status == COG_OK; i++) {
        const struct line_table *table = table_at(tables, i);
        status = container_writer_append(writer, array_data(table, array),
                                         array_bytes(table, array), error);
    }
    return status == COG_OK ? container_writer_end(writer, error) : status;
}

static cog_status write_learned(const struct psm_learned *learned, struct container_writer *writer,
                                cog_error *error) {
    double quantiles[VOLATILITY_QUANTILES + 1];
    memcpy(quantiles, learned->volatility.quantiles, sizeof learned->volatility.quantiles);
    quantiles[VOLATILITY_QUANTILES] = learned->volatility.tail;
    TRY(container_writer_section(writer, SECTION_QUANTILES, quantiles, sizeof quantiles, error));
    return container_writer_section(writer, SECTION_BOUNDS, learned->bounds, sizeof learned->bounds,
                                    error);
}

cog_status short_tables_write(const struct short_tables *written, struct container_writer *writer,
                              cog_error *error) {
    struct short_tables *tables = (struct short_tables *)written; /* only read here */
    const struct key_rows *rows = rows_of(tables);
    const struct line_table *first = table_at(tables, 0);
    cog_status status = write_shape(tables, writer, error);
    for (enum table_array array = 0; array < ARRAY_COUNT && status == COG_OK; array++)
        status = write_array(tables, array, writer, error);
    THEN(status, container_writer_section(writer, SECTION_RANKS, first->ranks,
                                          line_rank_bytes(first), error));
    THEN(status, container_writer_section(writer, SECTION_ENTRIES, rows->entries,
                                          rows->entry_count * sizeof *rows->entries, error));
    THEN(status, container_writer_section(writer, SECTION_GROUPS, rows->groups,
                                          rows->group_words * sizeof *rows->groups, error));
    if (status == COG_OK && tables->kind == SHORT_PSM)
        status = write_learned(&tables->learned, writer, error);
    return status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static cog_status damaged(const struct container *container, cog_error *error) {
    return error_set(error, COG_ERR_FORMAT,
                     "%s: the tables of short signatures are impossible; cognate index check tells "
                     "more",
                     container->path);
}

static cog_status require_bytes(const struct container *container, uint32_t section, size_t bytes,
                                const void **data, cog_error *error) {
    struct bytes_view view;
    cog_status status = container_require(container, section, &view, error);
    if (status == COG_OK && view.size != bytes)
        status = damaged(container, error);
    *data = status == COG_OK ? view.data : NULL;
    return status;
}

static cog_status open_shape(const struct container *container, unsigned bits,
                             struct bytes_view shape, struct short_tables *tables,
                             cog_error *error) {
    const uint8_t *words = (const uint8_t *)shape.data;
    uint64_t kind = shape.size >= 8 * SHAPE_FIXED ? decode_u64(words + 8 * SHAPE_KIND) : 0;
    uint64_t radius_bits = kind ? decode_u64(words + 8 * SHAPE_RADIUS) : 0;
    if ((kind != SHORT_PSM && kind != SHORT_BPHS) || radius_bits > SHORT_KEY_RADIUS_MAX ||
        (bits != 64 && bits != 128))
        return damaged(container, error);
    tables->kind = (enum short_kind)kind;
    tables->radius_bits = (unsigned)radius_bits;
    if (kind == SHORT_BPHS) {
        uint64_t blocks = decode_u64(words + 8 * SHAPE_BLOCKS);
        uint64_t chosen = decode_u64(words + 8 * SHAPE_CHOSEN);
        if (blocks > BLOCKS_MAX || chosen > blocks ||
            bphs_lay_out(&tables->bphs, bits, (unsigned)blocks, (unsigned)chosen,
                         tables->radius_bits, NULL) != COG_OK)
            return damaged(container, error);
    }
    if (shape.size != 8 * (SHAPE_FIXED + (size_t)table_count(tables) * SHAPE_OF_TABLE))
        return damaged(container, error);
    struct key_rows *rows = rows_of(tables);
    rows->entry_count = (size_t)decode_u64(words + 8 * SHAPE_ENTRIES);
    rows->group_words = (size_t)decode_u64(words + 8 * SHAPE_GROUP_WORDS);
    tables->learned.pairs = (size_t)decode_u64(words + 8 * SHAPE_PAIRS);
    tables->learned.radius_bits = (unsigned)decode_u64(words + 8 * SHAPE_LEARNED_RADIUS);
    for (unsigned i = 0; i < table_count(tables); i++) {
        const uint8_t *own = words + 8 * (SHAPE_FIXED + i * SHAPE_OF_TABLE);
        if (!line_table_restore(table_at(tables, i), bits, decode_u64(own + 8 * TABLE_HEADER_BITS),
                                decode_u64(own + 8 * TABLE_BUCKET_BYTES),
                                decode_u64(own + 8 * TABLE_COUNT),
                                decode_u64(own + 8 * TABLE_OVERFLOW_WORDS)))
            return damaged(container, error);
    }
    if (rows->entry_count > SHORT_KEY_ROWS_MAX ||
        rows->group_words > 2 * (size_t)SHORT_KEY_ROWS_MAX)
        return damaged(container, error);
    return kind == SHORT_BPHS ? bphs_address_tables(&tables->bphs, error) : COG_OK;
}

static cog_status open_array(const struct container *container, struct short_tables *tables,
                             enum table_array array, cog_error *error) {
    size_t total = 0, at = 0;
    const void *data = NULL;
    for (unsigned i = 0; i < table_count(tables); i++)
        total += array_bytes(table_at(tables, i), array);
    cog_status status = require_bytes(container, array_sections[array], total, &data, error);
    for (unsigned i = 0; i < table_count(tables) && status == COG_OK; i++) {
        struct line_table *table = table_at(tables, i);
        const void *own = (const uint8_t *)data + at;
        at += array_bytes(table, array);
        if (array == ARRAY_BUCKETS)
            table->buckets = (uint8_t *)own;
        else if (array == ARRAY_OVERFLOW)
            table->overflow = (uint64_t *)own;
        else
            table->group_starts = (uint32_t *)own;
    }
    return status;
}

static cog_status open_learned(const struct container *container, struct psm_learned *learned,
                               cog_error *error) {
    const void *quantiles = NULL, *bounds = NULL;
    cog_status status =
        require_bytes(container, SECTION_QUANTILES, (VOLATILITY_QUANTILES + 1) * sizeof(double),
                      &quantiles, error);
    THEN(status, require_bytes(container, SECTION_BOUNDS, sizeof learned->bounds, &bounds, error));
    if (status != COG_OK)
        return status;
    memcpy(learned->bounds, bounds, sizeof learned->bounds);
    const double *values = quantiles;
    return volatility_restore(&learned->volatility, values, values[VOLATILITY_QUANTILES], error);
}

static cog_status open_rows(const struct container *container, struct short_tables *tables,
                            cog_error *error) {
    struct key_rows *rows = rows_of(tables);
    struct line_table *first = table_at(tables, 0);
    const void *ranks = NULL, *entries = NULL, *groups = NULL;
    cog_status status = require_bytes(container, SECTION_RANKS,
                                      sizeof *first->ranks << first->header_bits, &ranks, error);
    THEN(status, require_bytes(container, SECTION_ENTRIES,
                               rows->entry_count * sizeof *rows->entries, &entries, error));
    THEN(status, require_bytes(container, SECTION_GROUPS, rows->group_words * sizeof *rows->groups,
                               &groups, error));
    first->ranks = (uint32_t *)ranks;
    rows->entries = (uint32_t *)entries;
    rows->groups = (uint32_t *)groups;
    return status;
}

cog_status short_tables_open(const struct container *container, unsigned bits,
                             struct short_tables **tables, cog_error *error) {
    struct bytes_view shape;
    *tables = NULL;
    if (!container_find(container, SECTION_SHORT_SHAPE, &shape))
        return COG_OK;
    struct short_tables *opened = memory_zeroed_array(1, sizeof *opened);
    if (!opened)
        return error_memory(error, sizeof *opened, "the tables of short signatures");
    opened->is_mapped = true;
    cog_status status = open_shape(container, bits, shape, opened, error);
    for (enum table_array array = 0; array < ARRAY_COUNT && status == COG_OK; array++)
        status = open_array(container, opened, array, error);
    THEN(status, open_rows(container, opened, error));
    if (status == COG_OK && opened->kind == SHORT_PSM)
        status = open_learned(container, &opened->learned, error);
    if (status == COG_OK)
        *tables = opened;
    else
        short_tables_free(opened);
    return status;
}
