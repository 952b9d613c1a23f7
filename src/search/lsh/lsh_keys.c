#include "search/lsh/lsh_keys.h"

#include <math.h>

#include "base/hash.h"
#include "search/lsh/lsh_across.h"

unsigned lsh_half_keys(unsigned tables) {
    unsigned halves = 2;
    while (halves * (halves - 1) / 2 < tables)
        halves++;
    return halves;
}

static void table_halves(unsigned table, unsigned *first, unsigned *second) {
    unsigned b = 1;
    while ((b + 1) * b / 2 <= table)
        b++;
    *first = table - b * (b - 1) / 2;
    *second = b;
}

size_t lsh_bits_used(const struct lsh_options *options) {
    if (options->band_values)
        return (size_t)options->tables * options->band_values * options->value_bits;
    return (size_t)lsh_half_keys(options->tables) * options->key_bits / 2;
}

unsigned lsh_key_width(const struct lsh_options *options) {
    return options->band_values ? 64 : options->key_bits;
}

size_t lsh_keys_max(const struct lsh_options *options, bool flipped) {
    bool flips = flipped && options->flip_mode != LSH_FLIP_NONE;
    return (size_t)options->tables * (flips ? 1 + options->flips : 1);
}

static cog_status check_bits(const struct lsh_options *options, bool have_margins,
                             cog_error *error) {
    if (options->key_bits < 2 || options->key_bits > LSH_KEY_BITS_MAX || options->key_bits % 2)
        return error_set(error, COG_ERR_USAGE,
                         "keys of %u bits: choose an even number from 2 to %d", options->key_bits,
                         LSH_KEY_BITS_MAX);
    if (options->flip_mode != LSH_FLIP_NONE && options->flips > options->key_bits)
        return error_set(error, COG_ERR_USAGE, "%u flips in keys of %u bits: flip fewer",
                         options->flips, options->key_bits);
    if (options->flip_mode >= LSH_FLIP_DISTANCE && !have_margins)
        return error_set(error, COG_ERR_USAGE,
                         "flips of likely bits need margins: give them, or flip random bits");
    return COG_OK;
}

static cog_status check_values(const struct lsh_options *options, cog_error *error) {
    if (options->value_bits < 1 || options->value_bits > LSH_KEY_BITS_MAX)
        return error_set(error, COG_ERR_USAGE, "values of %u bits: 1 to %d can be keys",
                         options->value_bits, LSH_KEY_BITS_MAX);
    if (options->flip_mode != LSH_FLIP_NONE)
        return error_set(error, COG_ERR_USAGE,
                         "keys made of whole values have no bits to flip: use more bands");
    return COG_OK;
}

cog_status lsh_options_check(const struct lsh_options *options, unsigned bits, bool have_margins,
                             cog_error *error) {
    if (options->tables < 1 || options->tables > LSH_TABLES_MAX)
        return error_set(error, COG_ERR_USAGE, "%u tables: choose 1 to %d", options->tables,
                         LSH_TABLES_MAX);
    TRY(options->band_values ? check_values(options, error)
                             : check_bits(options, have_margins, error));
    size_t used = lsh_bits_used(options);
    if (used > bits)
        return error_set(error, COG_ERR_USAGE,
                         "%u tables take keys from %zu bits, and signatures have %u: use fewer "
                         "tables, shorter keys or longer signatures",
                         options->tables, used, bits);
    return COG_OK;
}

cog_status lsh_keyer_create(struct lsh_keyer *keyer, const struct lsh_options *options,
                            cog_error *error) {
    *keyer = (struct lsh_keyer){.options = options};
    return options->flip_mode == LSH_FLIP_ACROSS && options->flips
               ? lsh_across_create(options, &keyer->across, error)
               : COG_OK;
}

void lsh_keyer_free(struct lsh_keyer *keyer) {
    lsh_across_free(keyer->across);
    *keyer = (struct lsh_keyer){0};
}

/* ---- Own keys -------------------------------------------------------------------------------- */

static uint64_t band_key(const struct lsh_options *options, const uint8_t *signature,
                         size_t stride_bytes, unsigned table) {
    const unsigned width = options->value_bits, values = options->band_values;
    uint64_t key = table;
    for (unsigned i = 0; i < values; i++)
        key = hash_pair(
            key, signature_bits(signature, stride_bytes, (table * values + i) * width, width));
    return key;
}

uint64_t lsh_own_key(const struct lsh_options *options, const uint8_t *signature,
                     size_t stride_bytes, unsigned table) {
    if (options->band_values)
        return band_key(options, signature, stride_bytes, table);
    unsigned first, second, half = options->key_bits / 2;
    table_halves(table, &first, &second);
    uint64_t key = signature_bits(signature, stride_bytes, first * half, half) << half |
                   signature_bits(signature, stride_bytes, second * half, half);
    return key << (64 - options->key_bits);
}

/* The half-keys are cut out once. */
static void own_bit_keys(const struct lsh_options *options, const uint8_t *signature,
                         size_t stride_bytes, struct lsh_key *keys) {
    const unsigned half = options->key_bits / 2;
    uint64_t halves[LSH_HALVES_MAX];
    unsigned table = 0;
    halves[0] = signature_bits(signature, stride_bytes, 0, half);
    for (unsigned b = 1; table < options->tables; b++) {
        halves[b] = signature_bits(signature, stride_bytes, b * half, half);
        for (unsigned a = 0; a < b && table < options->tables; a++, table++)
            keys[table] = (struct lsh_key){
                (halves[a] << half | halves[b]) << (64 - options->key_bits), table};
    }
}

/* ---- Flips ----------------------------------------------------------------------------------- */

static uint64_t key_bit(unsigned position) {
    return (uint64_t)1 << (63 - position);
}

/* F different bits, the same for equal keys: rows with equal keys meet anyway, and others draw
 * independently. */
static size_t flip_random(const struct lsh_options *options, struct lsh_key own,
                          struct lsh_key *keys) {
    struct random random = random_seeded(hash_pair(hash_pair(options->seed, own.table), own.key));
    uint64_t taken = 0;
    for (size_t count = 0; count < options->flips;) {
        uint64_t bit = key_bit((unsigned)random_below(&random, options->key_bits));
        if (taken & bit)
            continue;
        taken |= bit;
        keys[count++] = (struct lsh_key){own.key ^ bit, own.table};
    }
    return options->flips;
}

static float key_margin(const struct lsh_options *options, const float *margins, unsigned first,
                        unsigned second, unsigned position) {
    unsigned half = options->key_bits / 2;
    return fabsf(position < half ? margins[first * half + position]
                                 : margins[second * half + position - half]);
}

/* Vectors of few terms have many equal margins. Each key orders these in its own way: two rows with
 * the same order would flip the same bits, which would not make them meet more often. */
static bool flips_earlier(const float *distances, unsigned a, unsigned b, uint64_t own_order) {
    if (distances[a] != distances[b])
        return distances[a] < distances[b];
    return hash_pair(own_order, a) < hash_pair(own_order, b);
}

/* The F bits whose margins are nearest to zero. */
static size_t flip_nearest(const struct lsh_options *options, struct lsh_key own,
                           const float *margins, struct lsh_key *keys) {
    unsigned first, second, order[LSH_KEY_BITS_MAX], count = 0;
    float distances[LSH_KEY_BITS_MAX];
    const uint64_t own_order = hash_pair(own.key, own.table);
    table_halves(own.table, &first, &second);
    for (unsigned position = 0; position < options->key_bits; position++) {
        distances[position] = key_margin(options, margins, first, second, position);
        unsigned place = count;
        for (; place > 0 && flips_earlier(distances, position, order[place - 1], own_order);
             place--)
            if (place < options->flips)
                order[place] = order[place - 1];
        if (place >= options->flips)
            continue;
        order[place] = position;
        count += count < options->flips;
    }
    for (unsigned i = 0; i < count; i++)
        keys[i] = (struct lsh_key){own.key ^ key_bit(order[i]), own.table};
    return count;
}

size_t lsh_keys_of(struct lsh_keyer *keyer, const uint8_t *signature, size_t stride_bytes,
                   const float *margins, bool flipped, struct lsh_key *keys) {
    const struct lsh_options *options = keyer->options;
    size_t count = options->tables;
    for (unsigned table = 0; options->band_values && table < options->tables; table++)
        keys[table] = (struct lsh_key){band_key(options, signature, stride_bytes, table), table};
    if (!options->band_values)
        own_bit_keys(options, signature, stride_bytes, keys);
    if (!flipped || options->flip_mode == LSH_FLIP_NONE || options->flips == 0)
        return count;
    if (options->flip_mode == LSH_FLIP_ACROSS) {
        lsh_across_keys(keyer->across, margins, keys, keys + count);
        return lsh_keys_max(options, true);
    }
    for (unsigned table = 0; table < options->tables; table++)
        count += options->flip_mode == LSH_FLIP_RANDOM
                     ? flip_random(options, keys[table], keys + count)
                     : flip_nearest(options, keys[table], margins, keys + count);
    return count;
}
