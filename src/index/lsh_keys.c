#include "index/lsh_keys.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"

enum { ACROSS_FLIPS_MAX = 3 };
/* For which the order across tables is made; one for 0.6 or 0.8 finds as much. */
#define FLIP_COSINE 0.7

struct lsh_probe_list {
    struct probe_bits bits;
    struct probe_heap heap;
    struct probe next;
    int64_t own_penalty; /* of the own key: its half-keys' log-odds against agreeing */
    bool ended;
};

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
                         "flips of likely bits need the sums behind the bits: give the weights, "
                         "or flip random bits");
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
    keyer->by_next = memory_array(options->tables, sizeof *keyer->by_next);
    keyer->penalties = memory_array(used, sizeof *keyer->penalties);
    keyer->half_penalties =
        memory_array(lsh_half_keys(options->tables), sizeof *keyer->half_penalties);
    if (keyer->lists && keyer->by_next && keyer->penalties && keyer->half_penalties)
        return COG_OK;
    lsh_keyer_free(keyer);
    return error_memory(error, options->tables * sizeof *keyer->lists, "probes");
}

void lsh_keyer_free(struct lsh_keyer *keyer) {
    free_lists(keyer);
    free(keyer->by_next);
    free(keyer->penalties);
    free(keyer->half_penalties);
    *keyer = (struct lsh_keyer){0};
}

/* ---- Own keys -------------------------------------------------------------------------------- */

static uint64_t bits_key(const struct lsh_options *options, const uint8_t *signature,
                         size_t stride_bytes, unsigned table) {
    unsigned first, second, half = options->key_bits / 2;
    table_halves(table, &first, &second);
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
    table_halves(own.table, &first, &second);
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

/* The probability that a normal deviate is above x >= 0, to within 1.5e-7 (Abramowitz and Stegun,
 * 26.2.19), in arithmetic that is the same everywhere. */
static double normal_tail(double x) {
    static const double terms[] = {0.0000053830, 0.0000488906, 0.0000380036,
                                   0.0032776263, 0.0211410061, 0.0498673470};
    double power = 0;
    for (int i = 0; i < 6; i++)
        power = (power + terms[i]) * x;
    power += 1;
    for (int i = 0; i < 4; i++)
        power *= power;
    return 0.5 / power;
}

/* How unlikely it is that bits, and whole half-keys, differ or agree in a row at that cosine. A
 * sum over its standard deviation is z, the other row's is cosine * z and an independent part:
 * the bit differs with probability Phi(-x), x = z cosine / sqrt(1 - cosine^2). */
static void find_penalties(const struct lsh_keyer *keyer, const float *sums) {
    const struct lsh_options *options = keyer->options;
    const size_t used = lsh_bits_used(options), half = options->key_bits / 2;
    const double slope = FLIP_COSINE / sqrt(1 - FLIP_COSINE * FLIP_COSINE);
    double squares = 0, agree = 1;
    for (size_t i = 0; i < used; i++)
        squares += (double)sums[i] * (double)sums[i];
    double scale = squares > 0 ? slope / sqrt(squares / (double)used) : 0;
    for (size_t i = 0; i < used; i++) {
        double differs = normal_tail(fabs((double)sums[i]) * scale);
        keyer->penalties[i] = probe_penalty(differs);
        agree *= 1 - differs;
        if ((i + 1) % half)
            continue;
        /* Against agreeing: the odds may be for it. */
        keyer->half_penalties[i / half] =
            (int32_t)probe_penalty(agree) - (int32_t)probe_penalty(1 - agree);
        agree = 1;
    }
}

static cog_status start_list(const struct lsh_keyer *keyer, unsigned table, cog_error *error) {
    struct lsh_probe_list *list = &keyer->lists[table];
    unsigned first, second, half = keyer->options->key_bits / 2;
    uint32_t penalties[LSH_KEY_BITS_MAX];
    table_halves(table, &first, &second);
    for (unsigned i = 0; i < half; i++) {
        penalties[i] = keyer->penalties[first * half + i];
        penalties[half + i] = keyer->penalties[second * half + i];
    }
    list->own_penalty = keyer->half_penalties[first] + keyer->half_penalties[second];
    probe_bits_init(&list->bits, penalties, keyer->options->key_bits, PROBE_BOUND_NONE);
    list->ended = false;
    cog_status status = probe_heap_start(&list->heap, &list->bits, ACROSS_FLIPS_MAX, error);
    return status == COG_OK ? probe_heap_next(&list->heap, &list->next, &list->ended, error)
                            : status;
}

/* Ties by table. */
static bool comes_earlier(const struct lsh_probe_list *a, const struct lsh_probe_list *b) {
    if (a->ended || b->ended)
        return !a->ended;
    int64_t difference =
        a->own_penalty + a->next.penalty - (b->own_penalty + (int64_t)b->next.penalty);
    return difference ? difference < 0 : a < b;
}

/* Restores the heap of lists, the one whose next key comes first on top, below this place. */
static void sift_list(const struct lsh_keyer *keyer, size_t place) {
    const size_t count = keyer->options->tables;
    struct lsh_probe_list **heap = keyer->by_next, *moving = heap[place];
    for (size_t child; (child = 2 * place + 1) < count; place = child) {
        if (child + 1 < count && comes_earlier(heap[child + 1], heap[child]))
            child++;
        if (!comes_earlier(heap[child], moving))
            break;
        heap[place] = heap[child];
    }
    heap[place] = moving;
}

static cog_status start_lists(const struct lsh_keyer *keyer, cog_error *error) {
    cog_status status = COG_OK;
    for (unsigned table = 0; table < keyer->options->tables && status == COG_OK; table++) {
        status = start_list(keyer, table, error);
        keyer->by_next[table] = &keyer->lists[table];
    }
    for (size_t place = keyer->options->tables / 2; place-- > 0 && status == COG_OK;)
        sift_list(keyer, place);
    return status;
}

/* F * L keys, the likeliest to find a row that no own key finds first, ties by table. keys[0 .. L)
 * are the own keys.
 *
 * Such a row agrees in one half-key at most. Let a_h be the probability that it agrees in half h;
 * a set of flips with penalty s in the table of halves g and h finds it with a probability
 * proportional to exp(-s) a_g / (1 - a_g) a_h / (1 - a_h), whichever bits of which half it flips.
 */
static cog_status flip_across(const struct lsh_keyer *keyer, const float *sums,
                              const struct lsh_key *own, struct lsh_key *keys, size_t *count,
                              cog_error *error) {
    const struct lsh_options *options = keyer->options;
    const size_t wanted = (size_t)options->flips * options->tables;
    find_penalties(keyer, sums);
    cog_status status = start_lists(keyer, error);
    struct lsh_probe_list **top = keyer->by_next;
    for (*count = 0; *count < wanted && status == COG_OK && !(*top)->ended; (*count)++) {
        uint32_t table = (uint32_t)(*top - keyer->lists);
        uint64_t mask = (*top)->next.mask << (64 - options->key_bits);
        keys[*count] = (struct lsh_key){own[table].key ^ mask, table};
        status = probe_heap_next(&(*top)->heap, &(*top)->next, &(*top)->ended, error);
        sift_list(keyer, 0);
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
