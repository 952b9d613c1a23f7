#include "search/bphs/bphs.h"

#include "base/memory.h"
#include "search/probes/probes.h"

/* All flips of up to header_radius_bits of a table's header: sets of bits without penalty. */
static cog_status make_masks(struct bphs_index *index, unsigned choice, cog_error *error) {
    static const uint32_t no_penalties[PROBE_BITS_MAX];
    struct probe_bits bits;
    unsigned flips = index->layout.header_radius_bits;
    probe_bits_init(&bits, no_penalties, index->tables[choice].header_bits, 0);
    size_t count = probes_within(&bits, flips, 0, NULL, SIZE_MAX);
    if (count > BPHS_PROBES_MAX / index->layout.choice_count)
        return error_set(error, COG_ERR_USAGE,
                         "%u blocks need %zu probes in each table at this radius: take more blocks",
                         index->layout.blocks, count);
    uint64_t *wide = memory_array(count, sizeof *wide);
    index->masks[choice] = memory_array(count, sizeof *index->masks[choice]);
    if (!wide || !index->masks[choice]) {
        free(wide);
        return error_memory(error, count * sizeof *wide, "the probes of a table");
    }
    probes_within(&bits, flips, 0, wide, count);
    for (size_t i = 0; i < count; i++)
        index->masks[choice][i] = (uint32_t)wide[i];
    index->mask_counts[choice] = count;
    free(wide);
    return COG_OK;
}

static cog_status build_table(struct bphs_index *index, unsigned choice,
                              const struct key_array *keys, unsigned threads, cog_error *error) {
    const struct block_layout *layout = &index->layout;
    struct line_table *table = &index->tables[choice];
    struct key_array permuted;
    cog_status status = block_permuted_keys(layout, choice, keys, threads, &permuted, error);
    if (status != COG_OK)
        return status;
    struct line_limits limits = LINE_LIMITS_DEFAULT;
    if (limits.header_bits_max > layout->choices[choice].header_bits)
        limits.header_bits_max = layout->choices[choice].header_bits;
    status = line_table_build(table, &permuted, limits, choice == 0, error);
    key_array_free(&permuted);
    return status;
}

cog_status bphs_lay_out(struct bphs_index *index, unsigned key_bits, unsigned blocks,
                        unsigned chosen, unsigned radius_bits, cog_error *error) {
    *index = (struct bphs_index){0};
    return block_layout_init(&index->layout, key_bits, blocks, chosen, radius_bits, error);
}

cog_status bphs_address_tables(struct bphs_index *index, cog_error *error) {
    const struct block_layout *layout = &index->layout;
    cog_status status = COG_OK;
    for (unsigned choice = 0; choice < layout->choice_count && status == COG_OK; choice++) {
        for (unsigned earlier = 0; earlier < choice; earlier++) {
            short_key header =
                block_permute_back(layout, &layout->choices[earlier],
                                   short_key_mask(0, index->tables[earlier].header_bits));
            index->earlier[choice * (choice - 1) / 2 + earlier] =
                block_permute(layout, &layout->choices[choice], header);
        }
        status = make_masks(index, choice, error);
    }
    return status;
}

cog_status bphs_build(struct bphs_index *index, const struct signatures_view *view, unsigned blocks,
                      unsigned chosen, unsigned radius_bits, unsigned threads, cog_error *error) {
    *index = (struct bphs_index){0};
    cog_status status = short_key_check(view, radius_bits, error);
    THEN(status, bphs_lay_out(index, view->bits, blocks, chosen, radius_bits, error));
    if (status != COG_OK)
        return status;
    struct key_set set;
    status = key_set_build(&set, view, threads, error);
    if (status != COG_OK)
        return status;
    for (unsigned choice = 0; choice < index->layout.choice_count && status == COG_OK; choice++)
        status = build_table(index, choice, &set.keys, threads, error);
    THEN(status, bphs_address_tables(index, error));
    index->rows = set.rows;
    set.rows = (struct key_rows){0};
    key_set_free(&set);
    if (status != COG_OK)
        bphs_free(index);
    return status;
}

void bphs_free(struct bphs_index *index) {
    for (unsigned choice = 0; choice < index->layout.choice_count; choice++) {
        line_table_free(&index->tables[choice]);
        free(index->masks[choice]);
    }
    key_rows_free(&index->rows);
    *index = (struct bphs_index){0};
}

size_t bphs_bytes(const struct bphs_index *index) {
    size_t total = 0;
    for (unsigned choice = 0; choice < index->layout.choice_count; choice++)
        total += line_table_bytes(&index->tables[choice]);
    return total;
}
