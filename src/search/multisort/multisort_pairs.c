#include "search/multisort/multisort_pairs.h"

#include "base/memory.h"

enum {
    HEADS_FOR_A_KEY = 2, /* size of the table of chains */
    TRIES_FOR_A_KEY = 8, /* comparisons before a run counts as badly spread */
    RUN_COMPARED = 64,   /* keys that agree so far and are compared all with all */
    BITS_COMPARED = 9,   /* free bits below which all are compared: there are 2^9 keys at most */
    BLOCKS_EXTRA = 2,    /* blocks beyond the radius when a run is split further */
    PAIR_BLOCKS_MAX = SHORT_KEY_RADIUS_MAX + BLOCKS_EXTRA
};

void pair_blocks(short_key from, unsigned blocks, short_key *masks) {
    unsigned bits = short_key_distance(from, 0), seen = 0;
    for (unsigned block = 0; block < blocks; block++)
        masks[block] = 0;
    for (unsigned bit = 0; bit < 128; bit++) {
        short_key one = short_key_mask(bit, 1);
        if (from & one) {
            /* block b holds the free bits [b * bits / blocks, (b + 1) * bits / blocks) */
            unsigned block = ((seen + 1) * blocks - 1) / bits;
            masks[block] |= one;
            seen++;
        }
    }
}

static bool add_pair(struct pair_finder *finder, const struct key_array *keys, size_t i, size_t j,
                     unsigned distance) {
    if (finder->pair_count == finder->pair_capacity &&
        !memory_grow((void **)&finder->pairs, &finder->pair_capacity, finder->pair_count + 1,
                     sizeof *finder->pairs))
        return false;
    uint32_t u = keys->rows ? keys->rows[i] : (uint32_t)i;
    uint32_t v = keys->rows ? keys->rows[j] : (uint32_t)j;
    finder->pairs[finder->pair_count++] = (struct key_pair){u, v, distance};
    return true;
}

/* Reports keys i and j if the step wants them; false when memory ran out. */
static bool try_pair(struct pair_finder *finder, const struct key_array *keys, size_t i, size_t j,
                     const struct pair_step *step) {
    short_key difference =
        short_key_at(keys->keys, keys->words, i) ^ short_key_at(keys->keys, keys->words, j);
    unsigned distance = short_key_distance(difference, 0);
    if (distance > step->radius_bits || (difference & step->equal))
        return true;
    for (unsigned d = 0; d < step->differ_count; d++)
        if ((difference & step->differ[d]) == 0)
            return true;
    return add_pair(finder, keys, i, j, distance);
}

static cog_status out_of_memory(cog_error *error) {
    return error_memory(error, 0, "the pairs of a join; a smaller radius gives fewer");
}

static cog_status compare_all(struct pair_finder *finder, const struct key_array *keys,
                              size_t begin, size_t end, const struct pair_step *step,
                              cog_error *error) {
    for (size_t i = begin; i < end; i++)
        for (size_t j = i + 1; j < end; j++)
            if (!try_pair(finder, keys, i, j, step))
                return out_of_memory(error);
    return COG_OK;
}

static inline __attribute__((always_inline)) size_t
chain_of(const uint64_t *key, uint64_t high, uint64_t low, unsigned words, unsigned shift) {
    uint64_t mixed = (key[0] & high) * 0x9e3779b97f4a7c15u;
    if (words == 2)
        mixed = (mixed ^ (key[1] & low)) * 0xbf58476d1ce4e5b9u;
    return mixed >> shift;
}

/* The fast way: chains of keys in a table that fits the cache. False if keys agree too often (the
 * caller then drops what was added) or memory ran out. */
static inline __attribute__((always_inline)) bool
find_by_chains(struct pair_finder *finder, const struct key_array *array, size_t begin, size_t end,
               const struct pair_step *step, unsigned shift, unsigned words) {
    const uint64_t *keys = array->keys;
    uint64_t high = (uint64_t)(step->equal >> 64), low = (uint64_t)step->equal;
    size_t tries_left = (end - begin) * TRIES_FOR_A_KEY;
    uint32_t *heads = finder->heads, *nexts = finder->nexts;
    for (size_t i = begin; i < end; i++) {
        const uint64_t *key = keys + words * i;
        size_t chain = chain_of(key, high, low, words, shift);
        uint32_t other = heads[chain];
        nexts[i - begin] = other;
        heads[chain] = (uint32_t)(i - begin + 1);
        for (; other != 0; other = nexts[other - 1]) {
            const uint64_t *there = keys + words * (begin + other - 1);
            if (tries_left-- == 0)
                return false;
            if (((key[0] ^ there[0]) & high) == 0 &&
                (words == 1 || ((key[1] ^ there[1]) & low) == 0) &&
                !try_pair(finder, array, begin + other - 1, i, step))
                return false;
        }
    }
    return true;
}

static cog_status make_chains(struct pair_finder *finder, size_t count, unsigned *shift,
                              cog_error *error) {
    unsigned bits = 4;
    while (((size_t)1 << bits) < count * HEADS_FOR_A_KEY)
        bits++;
    size_t heads = (size_t)1 << bits;
    GROW(finder->heads, finder->head_capacity, heads, "a run of a join", error);
    GROW(finder->nexts, finder->next_capacity, count, "a run of a join", error);
    memset(finder->heads, 0, heads * sizeof *finder->heads);
    *shift = 64 - bits;
    return COG_OK;
}

/* A run of keys that agree in a step's bits. */
struct split {
    struct pair_finder *finder;
    const struct key_array *keys;
    size_t begin, end;
};

static cog_status run_step(void *context, const struct pair_step *step, unsigned first_block,
                           cog_error *error) {
    (void)first_block;
    const struct split *split = context;
    return pair_finder_run(split->finder, split->keys, split->begin, split->end, step, error);
}

/* The bits in which keys of a run are not all alike. */
static short_key varying_bits(const struct key_array *keys, size_t begin, size_t end) {
    short_key first = short_key_at(keys->keys, keys->words, begin), varying = 0;
    for (size_t i = begin + 1; i < end; i++)
        varying |= short_key_at(keys->keys, keys->words, i) ^ first;
    return varying;
}

static bool can_differ(const struct pair_step *step, short_key varying) {
    for (unsigned d = 0; d < step->differ_count; d++)
        if ((step->differ[d] & varying) == 0)
            return false;
    return true;
}

/* Keys of a run agree in the step's bits. The open bits split it further; when those are used up,
 * the bits of differing blocks are opened again, with errors anywhere. */
static cog_status split_run(struct pair_finder *finder, const struct key_array *keys, size_t begin,
                            size_t end, const struct pair_step *step, cog_error *error) {
    if (end - begin <= RUN_COMPARED)
        return compare_all(finder, keys, begin, end, step, error);
    short_key varying = varying_bits(keys, begin, end);
    if (!can_differ(step, varying))
        return COG_OK;
    struct pair_step base = *step;
    base.open &= varying;
    if (short_key_distance(base.open, 0) < 2 * (base.open_errors + BLOCKS_EXTRA)) {
        base.open = varying & ~base.equal;
        base.open_errors = base.radius_bits;
    }
    unsigned bits = short_key_distance(base.open, 0), blocks = base.open_errors + BLOCKS_EXTRA;
    if (bits <= BITS_COMPARED || bits < 2 * blocks ||
        base.differ_count + base.open_errors > PAIR_DIFFER_MAX)
        return compare_all(finder, keys, begin, end, step, error);
    short_key masks[PAIR_BLOCKS_MAX];
    pair_blocks(base.open, blocks, masks);
    struct split split = {finder, keys, begin, end};
    return pair_steps(&base, masks, blocks, BLOCKS_EXTRA, run_step, &split, error);
}

/* Brings the keys that agree in the step's bits together. */
static cog_status sort_by_agreement(const struct key_array *keys, size_t begin, size_t end,
                                    short_key equal, struct key_array *sorted, cog_error *error) {
    TRY(key_array_init(sorted, end - begin, keys->words, true, error));
    for (size_t i = begin; i < end; i++) {
        short_key key = short_key_at(keys->keys, keys->words, i);
        short_key_put(sorted->keys, sorted->words, i - begin, key & equal);
        sorted->rows[i - begin] = (uint32_t)i;
    }
    cog_status status = key_sort(sorted, 1, error);
    if (status != COG_OK)
        key_array_free(sorted);
    return status;
}

/* The thorough way: exact runs of agreeing keys, each compared or split by further bits. */
static cog_status find_by_sorting(struct pair_finder *finder, const struct key_array *keys,
                                  size_t begin, size_t end, const struct pair_step *step,
                                  cog_error *error) {
    struct key_array sorted, run_keys;
    TRY(sort_by_agreement(keys, begin, end, step->equal, &sorted, error));
    cog_status status = key_array_init(&run_keys, sorted.count, keys->words, true, error);
    for (size_t run = 0, next; status == COG_OK && run < sorted.count; run = next) {
        short_key shared = short_key_at(sorted.keys, sorted.words, run);
        for (next = run;
             next < sorted.count && short_key_at(sorted.keys, sorted.words, next) == shared;
             next++) {
            size_t from = sorted.rows[next];
            short_key_put(run_keys.keys, keys->words, next,
                          short_key_at(keys->keys, keys->words, from));
            run_keys.rows[next] = keys->rows ? keys->rows[from] : (uint32_t)from;
        }
        if (next - run > 1)
            status = split_run(finder, &run_keys, run, next, step, error);
    }
    key_array_free(&run_keys);
    key_array_free(&sorted);
    return status;
}

cog_status pair_finder_run(struct pair_finder *finder, const struct key_array *keys, size_t begin,
                           size_t end, const struct pair_step *step, cog_error *error) {
    if (end - begin < 2)
        return COG_OK;
    unsigned shift = 0;
    size_t before = finder->pair_count;
    TRY(make_chains(finder, end - begin, &shift, error));
    bool spread = keys->words == 1 ? find_by_chains(finder, keys, begin, end, step, shift, 1)
                                   : find_by_chains(finder, keys, begin, end, step, shift, 2);
    if (spread)
        return COG_OK;
    finder->pair_count = before;
    return find_by_sorting(finder, keys, begin, end, step, error);
}

void pair_finder_free(struct pair_finder *finder) {
    FREE(finder->heads, finder->nexts, finder->pairs);
    *finder = (struct pair_finder){0};
}

cog_status pair_steps(const struct pair_step *base, const short_key *masks, unsigned blocks,
                      unsigned chosen, pair_step_use *use, void *context, cog_error *error) {
    for (unsigned members = 0; members < 1u << blocks; members++) {
        if ((unsigned)__builtin_popcount(members) != chosen)
            continue;
        struct pair_step step = *base;
        unsigned last = 31 - (unsigned)__builtin_clz(members);
        for (unsigned block = 0; block <= last; block++) {
            step.open &= ~masks[block];
            if (members >> block & 1) {
                step.equal |= masks[block];
            } else {
                step.differ[step.differ_count++] = masks[block];
                step.open_errors--;
            }
        }
        TRY(use(context, &step, (unsigned)__builtin_ctz(members), error));
    }
    return COG_OK;
}
