#include "search/bphs/bphs_method.h"

#include "base/memory.h"
#include "search/bphs/bphs.h"

static const double TABLE_COPIES = 1.2; /* of the keys, per table */

static const cog_knob knobs[] = {
    [BPHS_BLOCKS] = {"blocks", COG_KNOB_NUMBER, 1, BLOCKS_MAX, NULL, "G",
                     "blocks of a key (radius + 2)", COG_KNOB_BUILD},
    [BPHS_CHOOSE] = {"choose", COG_KNOB_NUMBER, 1, BLOCKS_MAX, NULL, "C",
                     "blocks that address a table (2)", COG_KNOB_BUILD},
};

/* ---- Settings -------------------------------------------------------------------------------- */

/* If neither knob is given, takes two of radius + 2 blocks: one bucket per table, and headers long
 * enough for millions of rows. If one is given, the other follows for one bucket per table. */
static cog_status complete(unsigned bits, unsigned radius_bits, const cog_knobs *given,
                           struct block_layout *layout, cog_error *error) {
    enum { CHOSEN = 2 };
    unsigned blocks = (unsigned)knob_or(given, BPHS_BLOCKS, 0);
    unsigned chosen = (unsigned)knob_or(given, BPHS_CHOOSE, 0);
    *layout = (struct block_layout){0};
    TRY(short_key_check(&(struct signatures_view){.bits = bits}, radius_bits, error));
    if (blocks == 0) {
        chosen = chosen ? chosen : CHOSEN;
        blocks = radius_bits + chosen;
    } else if (chosen == 0) {
        chosen = blocks > radius_bits ? blocks - radius_bits : 1;
    }
    return block_layout_init(layout, bits, blocks, chosen, radius_bits, error);
}

static cog_status settings(const struct method_size *size, cog_knobs *given, cog_error *error) {
    struct block_layout layout;
    TRY(complete(size->bits, size->radius_bits, given, &layout, error));
    knob_set(given, BPHS_BLOCKS, layout.blocks);
    knob_set(given, BPHS_CHOOSE, layout.chosen);
    return COG_OK;
}

static void predict(const struct method_size *size, const cog_knobs *given,
                    struct method_prediction *prediction) {
    struct block_layout layout;
    complete(size->bits, size->radius_bits, given, &layout, NULL);
    short_predict(size, TABLE_COPIES * layout.choice_count, prediction);
    prediction->recall = 1;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void reset(void *tables) {
    bphs_free(tables);
}

static cog_status build(const struct method_build *asked, void *tables, cog_error *error) {
    const struct signatures_view *view = asked->rows.signatures;
    struct block_layout layout;
    TRY(complete(view->bits, asked->radius_bits, asked->knobs, &layout, error));
    return bphs_build(tables, view, layout.blocks, layout.chosen, asked->radius_bits,
                      asked->threads, error);
}

static cog_status write(const void *tables, struct container_writer *writer, cog_error *error) {
    const struct bphs_index *index = tables;
    struct bucket_description description = {.kind = BUCKETS_BPHS,
                                             .radius_bits = index->layout.radius_bits,
                                             .blocks = index->layout.blocks,
                                             .chosen = index->layout.chosen};
    return bucket_index_write(&index->stored, &description, writer, error);
}

static cog_status open(const struct container *container, const struct method_rows *rows,
                       void *tables, cog_error *error) {
    unsigned bits = rows->signatures->bits;
    struct bucket_description own;
    struct bphs_index *index = tables;
    if (!bucket_index_describe(container, &own) || (bits != 64 && bits != 128) ||
        own.radius_bits > SHORT_KEY_RADIUS_MAX || own.blocks > BLOCKS_MAX ||
        own.chosen > own.blocks ||
        block_layout_init(&index->layout, bits, (unsigned)own.blocks, (unsigned)own.chosen,
                          (unsigned)own.radius_bits, NULL) != COG_OK)
        return bucket_index_damaged(container, error);
    TRY(bucket_index_open(&index->stored, container, bits, index->layout.choice_count, error));
    return bphs_address_tables(index, error);
}

static short_key permute_for(const void *context, unsigned table, short_key key) {
    const struct block_layout *layout = context;
    return block_permute(layout, &layout->choices[table], key);
}

static cog_status check(const void *tables, const struct method_rows *rows, cog_error *error) {
    const struct bphs_index *index = tables;
    return bucket_index_check(&index->stored, rows->signatures, permute_for, &index->layout, error);
}

static void describe(const void *tables, cog_index_info *info) {
    const struct bphs_index *index = tables;
    info->radius_bits = index->layout.radius_bits;
    info->header_bits = index->stored.tables[0].header_bits;
    info->tables = index->stored.count;
    info->blocks = index->layout.blocks;
    info->chosen = index->layout.chosen;
}

/* ---- Searching ------------------------------------------------------------------------------- */

static cog_status search(const void *tables, struct method_search *asked, struct hit_lists *lists,
                         cog_error *error) {
    struct short_search own = short_search_of(asked);
    struct match_list hits = {0};
    struct block_layout layout;
    cog_status status = COG_OK;
    asked->is_exact_out = true;
    if (tables) {
        status = bphs_search(tables, asked->queries.signatures, &own, &hits, error);
    } else {
        status = complete(asked->rows.signatures->bits, asked->streamed->radius_bits,
                          asked->streamed->knobs, &layout, error);
        THEN(status, bphs_search_chunks(asked->rows.signatures,
                                        short_chunk_rows(asked, TABLE_COPIES * layout.choice_count),
                                        layout.blocks, layout.chosen, asked->queries.signatures,
                                        &own, &hits, error));
    }
    return short_hits_finish(&hits, asked, status, lists, error);
}

static const char *const records[] = {[BPHS_BLOCKS] = "blocks", [BPHS_CHOOSE] = "chosen blocks"};

const struct search_method bphs_method = {
    .name = "bphs",
    .summary = "64 or 128 bits within a radius, exactly; ten times the memory at radius 3",
    .knobs = knobs,
    .knob_count = sizeof knobs / sizeof *knobs,
    .knob_records = records,
    .answers = COG_ANSWERS_WITHIN | COG_ANSWERS_ANY,
    .certain = COG_ANSWERS_WITHIN | COG_ANSWERS_ANY,
    .bits_min = 64,
    .bits_max = 128,
    .bits_step = 64,
    .is_for_radius = true,
    .is_chosen_unmeasured = true,
    .predict = predict,
    .settings = settings,
    .section = SECTION_BUCKETS_SHAPE,
    .section_kind = BUCKETS_BPHS,
    .tables_bytes = sizeof(struct bphs_index),
    .build = build,
    .write = write,
    .open = open,
    .check = check,
    .describe = describe,
    .reset = reset,
    .search = search,
};
