/* The block layout of BPHS (Manku, Jain and Das Sarma, WWW 2007): a key is cut into G blocks, and
 * there is one table per choice of g blocks, whose keys have the chosen blocks in front.
 *
 * In: G, g and a radius of h bits. Out: the choices and their permutations. Two keys within h bits
 * of each other differ in at most header_radius_bits of the chosen blocks of some choice; that is 0
 * if G >= g + h. */
#pragma once

#include "search/keys/key_set.h"

enum { BLOCKS_MAX = 16, BLOCK_CHOICES_MAX = 64 };

/* One move of a permutation: rotates the bits of `from` left by `rotation`. */
struct block_move {
    short_key from;
    unsigned rotation;
};

struct block_choice {
    struct block_move moves[BLOCKS_MAX];
    unsigned move_count;
    unsigned header_bits; /* of all chosen blocks */
    unsigned first_block;
};

struct block_layout {
    unsigned key_bits, blocks, chosen;
    unsigned radius_bits, header_radius_bits;
    unsigned choice_count;                          /* T = C(G, g) */
    struct block_choice choices[BLOCK_CHOICES_MAX]; /* by first block; choice 0 is the identity */
};

static inline unsigned block_begin(const struct block_layout *layout, unsigned block) {
    return block * layout->key_bits / layout->blocks;
}

cog_status block_layout_init(struct block_layout *layout, unsigned key_bits, unsigned blocks,
                             unsigned chosen, unsigned radius_bits, cog_error *error);

/* COG_ERR_USAGE if tables of the layout cannot answer queries of this width and radius. */
cog_status block_layout_check(const struct block_layout *layout,
                              const struct signatures_view *queries, unsigned radius_bits,
                              cog_error *error);

/* Permutes a key so that the chosen blocks are in front, and back. */
static inline short_key block_permute(const struct block_layout *layout,
                                      const struct block_choice *choice, short_key key) {
    short_key permuted = 0;
    if (layout->key_bits == 64) {
        uint64_t word = (uint64_t)(key >> 64), result = 0;
        for (unsigned i = 0; i < choice->move_count; i++) {
            uint64_t part = word & (uint64_t)(choice->moves[i].from >> 64);
            unsigned rotation = choice->moves[i].rotation;
            result |= part << rotation | part >> (-rotation & 63);
        }
        return (short_key)result << 64;
    }
    for (unsigned i = 0; i < choice->move_count; i++) {
        short_key part = key & choice->moves[i].from;
        unsigned rotation = choice->moves[i].rotation;
        permuted |= part << rotation | part >> (-rotation & 127);
    }
    return permuted;
}

short_key block_permute_back(const struct block_layout *layout, const struct block_choice *choice,
                             short_key permuted);

/* Permutes `count` keys. */
void block_permute_all(const struct block_layout *layout, const struct block_choice *choice,
                       const uint64_t *keys, size_t count, uint64_t *permuted);

/* All keys, permuted for a choice and sorted. Free with key_array_free. */
cog_status block_permuted_keys(const struct block_layout *layout, unsigned choice,
                               const struct key_array *keys, unsigned threads,
                               struct key_array *permuted, cog_error *error);
