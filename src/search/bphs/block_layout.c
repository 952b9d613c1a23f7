#include "search/bphs/block_layout.h"

#include <string.h>

#include "base/threads.h"

enum { PERMUTED_AT_A_TIME = 1 << 11 /* keys: they stay in cache for all moves */ };

/* Appends a block at bit `at`; adjacent blocks that stay adjacent share one move. */
static void add_block(const struct block_layout *layout, struct block_choice *choice,
                      unsigned block, unsigned *at) {
    unsigned first = block_begin(layout, block);
    unsigned width = block_begin(layout, block + 1) - first;
    unsigned rotation = (first + layout->key_bits - *at) % layout->key_bits;
    struct block_move *last = choice->moves + choice->move_count - 1;
    if (choice->move_count > 0 && last->rotation == rotation)
        last->from |= short_key_mask(first, width);
    else
        choice->moves[choice->move_count++] =
            (struct block_move){short_key_mask(first, width), rotation};
    *at += width;
}

static void add_choice(struct block_layout *layout, unsigned members) {
    struct block_choice *choice = &layout->choices[layout->choice_count++];
    unsigned at = 0;
    *choice = (struct block_choice){0};
    for (unsigned block = 0; block < layout->blocks; block++)
        if (members >> block & 1)
            add_block(layout, choice, block, &at);
    choice->header_bits = at;
    choice->first_block = (unsigned)__builtin_ctz(members);
    for (unsigned block = 0; block < layout->blocks; block++)
        if (!(members >> block & 1))
            add_block(layout, choice, block, &at);
}

/* The largest number of errors in the g least hit blocks: h errors are spread evenly over G blocks.
 */
static unsigned header_radius(unsigned blocks, unsigned chosen, unsigned radius_bits) {
    unsigned each = radius_bits / blocks, lightly_hit = blocks - radius_bits % blocks;
    return chosen * each + (chosen > lightly_hit ? chosen - lightly_hit : 0);
}

cog_status block_layout_init(struct block_layout *layout, unsigned key_bits, unsigned blocks,
                             unsigned chosen, unsigned radius_bits, cog_error *error) {
    *layout = (struct block_layout){
        .key_bits = key_bits, .blocks = blocks, .chosen = chosen, .radius_bits = radius_bits};
    if (chosen < 1 || chosen > blocks || blocks > BLOCKS_MAX)
        return error_set(error, COG_ERR_USAGE,
                         "%u of %u blocks: choose at least 1, of at most %d blocks", chosen, blocks,
                         BLOCKS_MAX);
    layout->header_radius_bits = header_radius(blocks, chosen, radius_bits);
    for (unsigned first = 0; first < blocks; first++)
        for (unsigned members = 1u << first; members < 1u << blocks; members += 2u << first) {
            if ((unsigned)__builtin_popcount(members) != chosen)
                continue;
            if (layout->choice_count == BLOCK_CHOICES_MAX)
                return error_set(error, COG_ERR_USAGE,
                                 "%u of %u blocks need more than %d tables: choose fewer blocks",
                                 chosen, blocks, BLOCK_CHOICES_MAX);
            add_choice(layout, members);
        }
    return COG_OK;
}

cog_status block_layout_check(const struct block_layout *layout,
                              const struct signatures_view *queries, unsigned radius_bits,
                              cog_error *error) {
    TRY(short_key_check(queries, radius_bits, error));
    if (queries->bits == layout->key_bits && radius_bits <= layout->radius_bits)
        return COG_OK;
    return error_set(error, COG_ERR_USAGE,
                     "the index was built for %u bits and radius %u, not for %u bits and radius "
                     "%u: build another",
                     layout->key_bits, layout->radius_bits, queries->bits, radius_bits);
}

short_key block_permute_back(const struct block_layout *layout, const struct block_choice *choice,
                             short_key permuted) {
    short_key key = 0;
    unsigned bits = layout->key_bits;
    short_key all = short_key_mask(0, bits);
    for (unsigned i = 0; i < choice->move_count; i++) {
        unsigned rotation = choice->moves[i].rotation;
        short_key turned =
            rotation == 0 ? permuted : permuted >> rotation | permuted << (bits - rotation);
        key |= turned & all & choice->moves[i].from;
    }
    return key;
}

void block_permute_all(const struct block_layout *layout, const struct block_choice *choice,
                       const uint64_t *keys, size_t count, uint64_t *permuted) {
    if (layout->key_bits == 64) { /* one move at a time, which vectorises */
        memset(permuted, 0, count * sizeof *permuted);
        for (unsigned m = 0; m < choice->move_count; m++) {
            uint64_t from = (uint64_t)(choice->moves[m].from >> 64);
            unsigned left = choice->moves[m].rotation, right = -left & 63;
            for (size_t i = 0; i < count; i++) {
                uint64_t part = keys[i] & from;
                permuted[i] |= part << left | part >> right;
            }
        }
        return;
    }
    for (size_t i = 0; i < count; i++)
        short_key_put(permuted, 2, i, block_permute(layout, choice, short_key_at(keys, 2, i)));
}

struct permute_job {
    const struct block_layout *layout;
    const struct block_choice *choice;
    const struct key_array *from;
    struct key_array *to;
};

static cog_status permute_keys(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    (void)worker;
    (void)error;
    const struct permute_job *job = context;
    size_t first = begin * job->from->words;
    block_permute_all(job->layout, job->choice, job->from->keys + first, end - begin,
                      job->to->keys + first);
    return COG_OK;
}

cog_status block_permuted_keys(const struct block_layout *layout, unsigned choice,
                               const struct key_array *keys, unsigned threads,
                               struct key_array *permuted, cog_error *error) {
    TRY(key_array_init(permuted, keys->count, keys->words, false, error));
    struct permute_job job = {layout, &layout->choices[choice], keys, permuted};
    cog_status status =
        parallel_for(threads, keys->count, PERMUTED_AT_A_TIME, permute_keys, &job, error);
    THEN(status, key_sort(permuted, threads, error));
    if (status != COG_OK)
        key_array_free(permuted);
    return status;
}
