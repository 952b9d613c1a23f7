#include "search/bphs/bphs.h"

#include "base/memory.h"
#include "search/probes/probes.h"

/* All sets of up to header_radius_bits bits of a table's header; no bit has a penalty. */
static cog_status make_masks(struct bphs_index *index, unsigned choice, cog_error *error) {
    static const uint32_t no_penalties[PROBE_BITS_MAX];
    struct probe_bits bits;
    unsigned flips = index->layout.header_radius_bits;
    probe_bits_init(&bits, no_penalties, index->stored.tables[choice].header_bits, 0);
    size_t count = probes_within(&bits, flips, 0, NULL, NULL, SIZE_MAX);
    if (count > BPHS_PROBES_MAX / index->layout.choice_count)
        return error_set(error, COG_ERR_USAGE,
                         "%u blocks need %zu probes in each table at this radius: take more blocks",
                         index->layout.blocks, count);
    uint32_t *masks = index->masks[choice] = memory_array(count, sizeof *masks);
    if (!masks)
        return error_memory(error, count * sizeof *masks, "the probes of a table");
    index->mask_counts[choice] = probes_within(&bits, flips, 0, masks, NULL, count);
    return COG_OK;
}

cog_status bphs_address_tables(struct bphs_index *index, cog_error *error) {
    const struct block_layout *layout = &index->layout;
    for (unsigned choice = 0; choice < layout->choice_count; choice++) {
        for (unsigned earlier = 0; earlier < choice; earlier++) {
            short_key header =
                block_permute_back(layout, &layout->choices[earlier],
                                   short_key_mask(0, index->stored.tables[earlier].header_bits));
            index->earlier[choice * (choice - 1) / 2 + earlier] =
                block_permute(layout, &layout->choices[choice], header);
        }
        TRY(make_masks(index, choice, error));
    }
    return COG_OK;
}

static cog_status build_table(struct bphs_index *index, unsigned choice,
                              const struct key_array *keys, unsigned threads, cog_error *error) {
    const struct block_layout *layout = &index->layout;
    struct bucket_limits limits = BUCKET_LIMITS_DEFAULT;
    struct key_array permuted;
    TRY(block_permuted_keys(layout, choice, keys, threads, &permuted, error));
    if (limits.header_bits_max > layout->choices[choice].header_bits)
        limits.header_bits_max = layout->choices[choice].header_bits;
    cog_status status =
        bucket_table_build(&index->stored.tables[choice], &permuted, limits, choice == 0, error);
    key_array_free(&permuted);
    return status;
}

cog_status bphs_build(struct bphs_index *index, const struct signatures_view *view, unsigned blocks,
                      unsigned chosen, unsigned radius_bits, unsigned threads, cog_error *error) {
    struct key_set set;
    *index = (struct bphs_index){0};
    TRY(short_key_check(view, radius_bits, error));
    TRY(block_layout_init(&index->layout, view->bits, blocks, chosen, radius_bits, error));
    TRY(key_set_build(&set, view, threads, error));
    cog_status status = bucket_index_init(&index->stored, index->layout.choice_count, error);
    for (unsigned choice = 0; choice < index->layout.choice_count && status == COG_OK; choice++)
        status = build_table(index, choice, &set.keys, threads, error);
    THEN(status, bphs_address_tables(index, error));
    index->stored.rows = set.rows;
    set.rows = (struct key_rows){0};
    key_set_free(&set);
    if (status != COG_OK)
        bphs_free(index);
    return status;
}

void bphs_free(struct bphs_index *index) {
    for (unsigned choice = 0; choice < index->layout.choice_count; choice++)
        free(index->masks[choice]);
    bucket_index_free(&index->stored);
    *index = (struct bphs_index){0};
}
