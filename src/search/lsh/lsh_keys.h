/* The keys of a signature in the tables of locality-sensitive hashing (Distributed LSH, section 3).
 *
 * Bits: a key is K bits, two half-keys of K/2. R half-keys, taken from the signature one after the
 * other, make R(R-1)/2 tables (section 3.3). Table t is number t of the pairs (0,1), (0,2), (1,2),
 * (0,3), (1,3), ...: the tables of a smaller L are the first ones of a larger L, and R is the
 * smallest that suffices. Flips add F keys per table with one flipped bit each (section 3.4):
 * random bits, or the bits whose margins are nearest to zero. `across` spends the same F * L extra
 * keys in one order over all tables, most likely first to find a row that no own key finds; a key
 * may then have more than one flipped bit.
 *
 * Values (minhash): a key is the hash of `band_values` whole values; band t has the values from t *
 * band_values on. */
#pragma once

#include "base/error.h"
#include "hamming/hamming.h"

enum lsh_flip_mode { LSH_FLIP_NONE, LSH_FLIP_RANDOM, LSH_FLIP_DISTANCE, LSH_FLIP_ACROSS };

enum { LSH_KEY_BITS_MAX = 56, LSH_TABLES_MAX = 4096, LSH_HALVES_MAX = 92 };

struct lsh_options {
    unsigned key_bits; /* K, even; 0 for bands of values */
    unsigned tables;   /* L */
    unsigned flips;    /* F */
    enum lsh_flip_mode flip_mode;
    bool flip_both;       /* rows are in the tables under their flipped keys as well */
    unsigned band_values; /* values per key; 0 for keys of bits */
    unsigned value_bits;
    uint64_t seed; /* of random flips */
};

/* R. */
unsigned lsh_half_keys(unsigned tables);
/* The number of bits of a signature that the keys are taken from. */
size_t lsh_bits_used(const struct lsh_options *options);
/* COG_ERR_USAGE, with the remedy, if the options are invalid or `bits` is too small. */
cog_status lsh_options_check(const struct lsh_options *options, unsigned bits, bool have_margins,
                             cog_error *error);

/* A key is left-aligned in 64 bits. */
struct lsh_key {
    uint64_t key;
    uint32_t table;
};
unsigned lsh_key_width(const struct lsh_options *options);
/* The maximum number of keys of a row, with flips or without. */
size_t lsh_keys_max(const struct lsh_options *options, bool flipped);

/* Scratch memory; one per thread. Free with lsh_keyer_free. */
struct lsh_keyer {
    const struct lsh_options *options; /* borrowed */
    struct lsh_across *across;         /* for flips across tables, else NULL */
};
cog_status lsh_keyer_create(struct lsh_keyer *keyer, const struct lsh_options *options,
                            cog_error *error);
void lsh_keyer_free(struct lsh_keyer *keyer);

/* The own (unflipped) key of a row in one table. */
uint64_t lsh_own_key(const struct lsh_options *options, const uint8_t *signature,
                     size_t stride_bytes, unsigned table);
/* Lists the own key in every table, then, if requested, the flipped ones; returns their number.
 * `margins` belong to the row, at any scale; NULL if flips do not need them. */
size_t lsh_keys_of(struct lsh_keyer *keyer, const uint8_t *signature, size_t stride_bytes,
                   const float *margins, bool flipped, struct lsh_key *keys);
