#include "index/lsh_keys.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"

enum { ACROSS_FLIPS_MAX = 3 };
#define DEFAULT_FLIP_COSINE 0.7

struct lsh_probe_list {
    struct probe_bits bits;
    struct probe_heap heap;
    struct probe next;
    bool ended;
};

unsigned lsh_half_keys(unsigned tables) {
    unsigned halves = 2;
    while (halves * (halves - 1) / 2 < tables)
        halves++;
    return halves;
}

void lsh_table_halves(unsigned table, unsigned *first, unsigned *second) {
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

static cog_status check_bits(const struct lsh_options *options, bool have_sums, cog_error *error) {
    if (options->key_bits < 2 || options->key_bits > LSH_KEY_BITS_MAX || options->key_bits % 2)
        return error_set(error, COG_ERR_USAGE,
                         "keys of %u bits: choose an even number from 2 to %d", options->key_bits,
                         LSH_KEY_BITS_MAX);
    if (options->flip_mode != LSH_FLIP_NONE && options->flips > options->key_bits)
        return error_set(error, COG_ERR_USAGE, "%u flips in keys of %u bits: flip fewer",
                         options->flips, options->key_bits);
    if (options->flip_mode >= LSH_FLIP_DISTANCE && !have_sums)
        return error_set(error, COG_ERR_USAGE,
                         "flips by distance need the sums behind the bits: give the weights, or "
                         "flip random bits");
    if (options->flip_cosine < 0 || options->flip_cosine >= 1)
        return error_set(error, COG_ERR_USAGE, "flips for a cosine of %g: choose one below 1",
                         options->flip_cosine);
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

cog_status lsh_options_check(const struct lsh_options *options, unsigned bits, bool have_sums,
                             cog_error *error) {
    if (options->tables < 1 || options->tables > LSH_TABLES_MAX)
        return error_set(error, COG_ERR_USAGE, "%u tables: choose 1 to %d", options->tables,
                         LSH_TABLES_MAX);
    cog_status status =
        options->band_values ? check_values(options, error) : check_bits(options, have_sums, error);
    if (status != COG_OK)
        return status;
    size_t used = lsh_bits_used(options);
    if (used > bits)
        return error_set(error, COG_ERR_USAGE,
                         "%u tables take keys from %zu bits, and signatures have %u: use fewer "
                         "tables, shorter keys or longer signatures",
                         options->tables, used, bits);
    return COG_OK;
}

static void free_lists(struct lsh_keyer *keyer) {
    for (unsigned table = 0; keyer->lists && table < keyer->options->tables; table++)
        probe_heap_free(&keyer->lists[table].heap);
    free(keyer->lists);
}

cog_status lsh_keyer_create(struct lsh_keyer *keyer, const struct lsh_options *options,
                            cog_error *error) {
    *keyer = (struct lsh_keyer){.options = options};
    if (options->flip_mode != LSH_FLIP_ACROSS)
        return COG_OK;
    size_t used = lsh_bits_used(options);
    keyer->lists = memory_zeroed_array(options->tables, sizeof *keyer->lists);
    keyer->penalties = memory_array(used, sizeof *keyer->penalties);
    if (keyer->lists && keyer->penalties)
        return COG_OK;
    lsh_keyer_free(keyer);
    return error_memory(error, options->tables * sizeof *keyer->lists, "probes");
}

void lsh_keyer_free(struct lsh_keyer *keyer) {
    free_lists(keyer);
    free(keyer->penalties);
    *keyer = (struct lsh_keyer){0};
}

/* ---- Own keys -------------------------------------------------------------------------------- */

static uint64_t bits_key(const struct lsh_options *options, const uint8_t *signature,
                         size_t stride_bytes, unsigned table) {
    unsigned first, second, half = options->key_bits / 2;
    lsh_table_halves(table, &first, &second);
    uint64_t key = signature_bits(signature, stride_bytes, first * half, half) << half |
                   signature_bits(signature, stride_bytes, second * half, half);
    return key << (64 - options->key_bits);
}

static uint64_t band_key(const struct lsh_options *options, const uint8_t *signature,
                         size_t stride_bytes, unsigned table) {
    uint64_t key = table;
    for (unsigned i = 0; i < options->band_values; i++)
        key =
            hash_pair(key, signature_bits(signature, stride_bytes,
                                          (table * options->band_values + i) * options->value_bits,
                                          options->value_bits));
    return key;
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

static float key_sum(const struct lsh_options *options, const float *sums, unsigned first,
                     unsigned second, unsigned position) {
    unsigned half = options->key_bits / 2;
    return fabsf(position < half ? sums[first * half + position]
                                 : sums[second * half + position - half]);
}

/* Of equal sums, which vectors of few terms have many of, every key has an order of its own: two
 * rows that went by the same order would flip the same bits, and meet no more often for it. */
static bool flips_earlier(const float *distances, unsigned a, unsigned b, uint64_t own_order) {
    if (distances[a] != distances[b])
        return distances[a] < distances[b];
    return hash_pair(own_order, a) < hash_pair(own_order, b);
}

/* The F bits whose sums are nearest to zero. */
static size_t flip_nearest(const struct lsh_options *options, struct lsh_key own, const float *sums,
                           struct lsh_key *keys) {
    unsigned first, second, order[LSH_KEY_BITS_MAX], count = 0;
    float distances[LSH_KEY_BITS_MAX];
    const uint64_t own_order = hash_pair(own.key, own.table);
    lsh_table_halves(own.table, &first, &second);
    for (unsigned position = 0; position < options->key_bits; position++) {
        distances[position] = key_sum(options, sums, first, second, position);
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

/* How unlikely each bit is to differ in a row at the given cosine. A sum over its standard
 * deviation is z, the other row's is cosine * z and an independent part: the bit differs with
 * probability Phi(-x), x = z cosine / sqrt(1 - cosine^2). The log-odds of Phi(x) are 1.5976 x +
 * 0.070566 x^3 to within 0.0002 of the probability, in arithmetic that is the same everywhere. */
static void find_penalties(const struct lsh_keyer *keyer, const float *sums) {
    const struct lsh_options *options = keyer->options;
    double cosine = options->flip_cosine > 0 ? options->flip_cosine : DEFAULT_FLIP_COSINE;
    double slope = cosine / sqrt(1 - cosine * cosine), squares = 0;
    size_t used = lsh_bits_used(options);
    for (size_t i = 0; i < used; i++)
        squares += (double)sums[i] * (double)sums[i];
    double scale = squares > 0 ? slope / sqrt(squares / (double)used) : 0;
    for (size_t i = 0; i < used; i++) {
        double x = fabs((double)sums[i]) * scale;
        double penalty = (1.5976 * x + 0.070566 * x * x * x) * PROBE_PENALTY_ONE + 0.5;
        keyer->penalties[i] = penalty < PROBE_PENALTY_MAX ? (uint32_t)penalty : PROBE_PENALTY_MAX;
    }
}

static cog_status start_list(const struct lsh_keyer *keyer, unsigned table, cog_error *error) {
    struct lsh_probe_list *list = &keyer->lists[table];
    unsigned first, second, half = keyer->options->key_bits / 2;
    uint32_t penalties[LSH_KEY_BITS_MAX];
    lsh_table_halves(table, &first, &second);
    for (unsigned i = 0; i < half; i++) {
        penalties[i] = keyer->penalties[first * half + i];
        penalties[half + i] = keyer->penalties[second * half + i];
    }
    probe_bits_init(&list->bits, penalties, keyer->options->key_bits, PROBE_BOUND_NONE);
    list->ended = false;
    cog_status status = probe_heap_start(&list->heap, &list->bits, ACROSS_FLIPS_MAX, error);
    return status == COG_OK ? probe_heap_next(&list->heap, &list->next, &list->ended, error)
                            : status;
}

/* F * L keys in the order of their penalties, ties by table. keys[0 .. L) are the own keys. */
static cog_status flip_across(const struct lsh_keyer *keyer, const float *sums,
                              const struct lsh_key *own, struct lsh_key *keys, size_t *count,
                              cog_error *error) {
    const struct lsh_options *options = keyer->options;
    cog_status status = COG_OK;
    find_penalties(keyer, sums);
    for (unsigned table = 0; table < options->tables && status == COG_OK; table++)
        status = start_list(keyer, table, error);
    size_t wanted = (size_t)options->flips * options->tables;
    for (*count = 0; *count < wanted && status == COG_OK;) {
        unsigned best = 0;
        for (unsigned table = 1; table < options->tables; table++)
            if (!keyer->lists[table].ended &&
                (keyer->lists[best].ended ||
                 keyer->lists[table].next.penalty < keyer->lists[best].next.penalty))
                best = table;
        struct lsh_probe_list *list = &keyer->lists[best];
        if (list->ended)
            break;
        uint64_t mask = list->next.mask << (64 - options->key_bits);
        keys[(*count)++] = (struct lsh_key){own[best].key ^ mask, best};
        status = probe_heap_next(&list->heap, &list->next, &list->ended, error);
    }
    return status;
}

cog_status lsh_keys_of(struct lsh_keyer *keyer, const uint8_t *signature, size_t stride_bytes,
                       const float *sums, bool flipped, struct lsh_key *keys, size_t *count,
                       cog_error *error) {
    const struct lsh_options *options = keyer->options;
    for (unsigned table = 0; table < options->tables; table++)
        keys[table] = (struct lsh_key){options->band_values
                                           ? band_key(options, signature, stride_bytes, table)
                                           : bits_key(options, signature, stride_bytes, table),
                                       table};
    *count = options->tables;
    if (!flipped || options->flip_mode == LSH_FLIP_NONE || options->flips == 0)
        return COG_OK;
    if (options->flip_mode == LSH_FLIP_ACROSS) {
        size_t extra = 0;
        cog_status status = flip_across(keyer, sums, keys, keys + options->tables, &extra, error);
        *count += extra;
        return status;
    }
    for (unsigned table = 0; table < options->tables; table++)
        *count += options->flip_mode == LSH_FLIP_RANDOM
                      ? flip_random(options, keys[table], keys + *count)
                      : flip_nearest(options, keys[table], sums, keys + *count);
    return COG_OK;
}
