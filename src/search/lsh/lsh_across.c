#include "search/lsh/lsh_across.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "search/probes/probes.h"

enum {
    HALF_BITS_MAX = LSH_KEY_BITS_MAX / 2,
    POSITION_BITS = 6,    /* of a bit in its key, next to its penalty in one sort key */
    COST_MAX = 1 << 28,   /* above every cost */
    COLLECTED_FACTOR = 2, /* times the wanted keys: with more, the bound is too high */
    FIRST_REACH = 1 << 17,
};
/* The cosine for which keys are ordered across tables; 0.6 or 0.8 would find as much. */
#define FLIP_COSINE 0.7

struct half_key {
    int32_t cost;          /* log-odds against agreeing; the costs of flipped bits are added */
    int32_t least_partner; /* the least cost of a half-key that it makes a table with */
    uint32_t bits[HALF_BITS_MAX]; /* penalty and position, rising */
    struct probe_bits probes;     /* the same, to enumerate sets of them */
    struct flip_sets sets;        /* within the bound */
};

/* A key at the last cost taken, with its flipped bits as penalty and position in the key,
 * ascending. Ties are taken in this order. */
struct tie {
    uint32_t flips, bits[FLIPS_MAX];
};

struct lsh_across {
    const struct lsh_options *options;
    const struct flip_kernels *kernels;
    size_t bits, wanted, sets_max; /* margins of a row, keys of a row, sets of a half-key */
    unsigned half_count, half_bits;
    struct half_key *halves;
    uint32_t *masks, *mask_penalties; /* scratch: the sets of one half-key */
    int32_t *set_costs;               /* of all halves */
    uint32_t *set_flips;
    uint32_t *penalties;
    double *differs;
    int32_t least, level; /* cost of a table without flips, and what the reach starts from */
    /* Mean and mean deviation of the last cost above the level, of earlier rows: they predict that
     * of the next row. */
    int32_t reach, spread;
    struct flip_keys collected;
    struct tie *ties;
};

static size_t sets_of(size_t bits) {
    return 1 + bits + bits * (bits - 1) / 2 +
           (bits > 2 ? bits * (bits - 1) / 2 * (bits - 2) / 3 : 0);
}

/* The last set of one half of a table may add all sets of the other half. */
static cog_status make_room(struct lsh_across *made, cog_error *error) {
    const size_t sets = made->half_count * made->sets_max;
    struct flip_keys *keys = &made->collected;
    keys->most = COLLECTED_FACTOR * made->wanted;
    const size_t room = keys->most + made->sets_max + FLIP_SLACK;
    TAKE_ZEROED(made->halves, made->half_count, "flips", error);
    TAKE(made->set_costs, sets, "flips", error);
    TAKE(made->set_flips, sets, "flips", error);
    TAKE(made->masks, made->sets_max, "flips", error);
    TAKE(made->mask_penalties, made->sets_max, "flips", error);
    TAKE(made->penalties, made->bits, "flips", error);
    TAKE(made->differs, made->bits, "flips", error);
    TAKE(made->ties, made->wanted, "flips", error);
    TAKE(keys->costs, room, "flips", error);
    TAKE(keys->keys, room, "flips", error);
    TAKE(keys->tables, room, "flips", error);
    for (unsigned half = 0; half < made->half_count; half++)
        made->halves[half].sets =
            (struct flip_sets){.costs = made->set_costs + half * made->sets_max,
                               .flips = made->set_flips + half * made->sets_max};
    return COG_OK;
}

cog_status lsh_across_create(const struct lsh_options *options, struct lsh_across **across,
                             cog_error *error) {
    struct lsh_across *made;
    TAKE(made, 1, "flips", error);
    *made = (struct lsh_across){.options = options,
                                .kernels = flip_kernels_for(cpu_best_level()),
                                .bits = lsh_bits_used(options),
                                .wanted = (size_t)options->flips * options->tables,
                                .half_count = lsh_half_keys(options->tables),
                                .half_bits = options->key_bits / 2,
                                .sets_max = sets_of(options->key_bits / 2) + FLIP_SLACK,
                                .reach = FIRST_REACH,
                                .spread = FIRST_REACH};
    cog_status status = make_room(made, error);
    return HAND_OUT(status, made, lsh_across_free, across);
}

void lsh_across_free(struct lsh_across *across) {
    if (!across)
        return;
    FREE(across->halves, across->masks, across->mask_penalties, across->set_costs,
         across->set_flips, across->penalties, across->differs, across->collected.costs,
         across->collected.keys, across->collected.tables, across->ties, across);
}

/* ---- What a row's bits and half-keys cost ---------------------------------------------------- */

/* Ranks instead of swaps: no branch depends on the penalties. */
static void sort_bits(const uint32_t *penalties, unsigned count, uint32_t *sorted) {
    uint32_t bits[HALF_BITS_MAX];
    for (unsigned i = 0; i < count; i++)
        bits[i] = penalties[i] << POSITION_BITS | i;
    for (unsigned i = 0; i < count; i++) {
        unsigned rank = 0;
        for (unsigned j = 0; j < count; j++)
            rank += bits[j] < bits[i];
        sorted[rank] = bits[i];
    }
}

static unsigned position_of(uint32_t bit) {
    return bit & ((1 << POSITION_BITS) - 1);
}

static void set_probes(struct half_key *half, unsigned count) {
    half->probes.count = count;
    for (unsigned i = 0; i < count; i++) {
        half->probes.penalties[i] = half->bits[i] >> POSITION_BITS;
        half->probes.masks[i] = (uint64_t)1 << (count - 1 - position_of(half->bits[i]));
    }
}

static void find_halves(struct lsh_across *across) {
    const unsigned bits = across->half_bits;
    double agree[LSH_HALVES_MAX];
    int32_t costs[LSH_HALVES_MAX];
    for (unsigned half = 0; half < across->half_count; half++) {
        agree[half] = 1;
        for (size_t i = 0; i < bits; i++)
            agree[half] *= 1 - across->differs[half * bits + i];
        sort_bits(across->penalties + half * bits, bits, across->halves[half].bits);
        set_probes(&across->halves[half], bits);
    }
    across->kernels->costs(agree, across->half_count, costs);
    for (unsigned half = 0; half < across->half_count; half++) {
        across->halves[half].cost = costs[half];
        across->halves[half].least_partner = COST_MAX;
    }
}

/* The costs of bits and half-keys for a row at FLIP_COSINE. If z is a margin in standard
 * deviations, the other row's margin is cosine * z plus an independent part, so the bit differs
 * with probability Phi(-x), where x = z cosine / sqrt(1 - cosine^2). */
static void find_costs(struct lsh_across *across, const float *margins) {
    const double slope = FLIP_COSINE / sqrt(1 - FLIP_COSINE * FLIP_COSINE);
    double squares = 0;
    for (size_t i = 0; i < across->bits; i++)
        squares += (double)margins[i] * (double)margins[i];
    double scale = squares > 0 ? slope / sqrt(squares / (double)across->bits) : 0;
    across->kernels->penalties(margins, across->bits, scale, across->penalties, across->differs);
    find_halves(across);
}

/* Tables are the pairs a < b, by b, then a. */
static void find_level(struct lsh_across *across) {
    unsigned table = 0;
    int64_t sum = 0;
    across->least = COST_MAX;
    for (unsigned b = 1; b < across->half_count; b++)
        for (unsigned a = 0; a < b && table < across->options->tables; a++, table++) {
            struct half_key *first = &across->halves[a], *second = &across->halves[b];
            if (second->cost < first->least_partner)
                first->least_partner = second->cost;
            if (first->cost < second->least_partner)
                second->least_partner = first->cost;
            if (first->cost + second->cost < across->least)
                across->least = first->cost + second->cost;
        }
    for (unsigned half = 0; half < across->half_count; half++)
        sum += across->halves[half].cost;
    across->level = (across->least + (int32_t)(2 * sum / across->half_count)) / 3;
}

/* ---- The sets of a half-key ------------------------------------------------------------------ */

static void insert_set(struct flip_sets *sets, int32_t cost, uint32_t flips) {
    size_t place = sets->count++;
    for (; sets->costs[place - 1] > cost; place--) {
        sets->costs[place] = sets->costs[place - 1];
        sets->flips[place] = sets->flips[place - 1];
    }
    sets->costs[place] = cost;
    sets->flips[place] = flips;
}

/* Lists the sets of each half-key that make a key within the bound, by cost. False if a half-key
 * has more than `most`. */
static bool list_sets(struct lsh_across *across, int32_t bound, size_t most) {
    size_t capacity = most + 1 < across->sets_max ? most + 1 : across->sets_max;
    for (unsigned number = 0; number < across->half_count; number++) {
        struct half_key *half = &across->halves[number];
        int32_t left = bound - half->least_partner - half->cost;
        size_t count = left < 0 ? 1
                                : probes_within(&half->probes, FLIPS_MAX, (uint32_t)left,
                                                across->masks, across->mask_penalties, capacity);
        if (count > most)
            return false;
        half->sets.costs[0] = half->cost;
        half->sets.flips[0] = 0;
        half->sets.count = 1;
        for (size_t i = 1; i < count; i++) {
            uint32_t flips = (uint32_t)__builtin_popcount(across->masks[i]);
            insert_set(&half->sets, half->cost + (int32_t)across->mask_penalties[i],
                       across->masks[i] | flips << FLIP_COUNT_SHIFT);
        }
        for (int i = 0; i < FLIP_SLACK; i++)
            half->sets.costs[half->sets.count + (size_t)i] = COST_MAX;
    }
    return true;
}

/* ---- The keys of all tables ------------------------------------------------------------------ */

/* Collects the keys within the bound and returns their number; stops beyond COLLECTED_FACTOR times
 * the wanted number. */
static size_t collect(struct lsh_across *across, const struct lsh_key *own, int32_t bound) {
    struct flip_keys *keys = &across->collected;
    unsigned table = 0;
    keys->count = 0;
    if (!list_sets(across, bound, across->wanted + 1))
        return keys->most + 1;
    for (unsigned b = 1; b < across->half_count; b++)
        for (unsigned a = 0; a < b && table < across->options->tables && keys->count <= keys->most;
             a++, table++)
            across->kernels->collect(keys, &across->halves[a].sets, &across->halves[b].sets,
                                     own[table], across->half_bits, bound);
    return keys->count;
}

/* The cost of the wanted-th collected key; costs are above `low` and at most `high`. Counting all
 * of them repeatedly is faster than partitioning them. */
static int32_t last_cost(const struct lsh_across *across, size_t count, int32_t low, int32_t high) {
    int32_t last;
    FIND_FIRST_NOT(last, low + 1, high,
                   across->kernels->count(across->collected.costs, count, last) < across->wanted);
    return last;
}

static size_t keep_within(const struct lsh_across *across, size_t count, int32_t bound,
                          struct lsh_key *keys) {
    const struct flip_keys *collected = &across->collected;
    size_t kept = 0;
    for (size_t i = 0; i < count && kept < across->wanted; i++) {
        keys[kept] = (struct lsh_key){collected->keys[i], collected->tables[i]};
        kept += collected->costs[i] <= bound;
    }
    return kept;
}

/* ---- Ties ------------------------------------------------------------------------------------ */

static bool is_earlier(const struct tie *x, const struct tie *y) {
    if (x->flips != y->flips)
        return x->flips < y->flips;
    for (unsigned i = 0; i < x->flips; i++)
        if (x->bits[i] != y->bits[i])
            return x->bits[i] < y->bits[i];
    return false;
}

static void insert_tie(struct tie *ties, size_t *count, size_t most, struct tie tie) {
    if (*count == most && !is_earlier(&tie, &ties[most - 1]))
        return;
    *count += *count < most;
    size_t place = *count - 1;
    for (; place > 0 && is_earlier(&tie, &ties[place - 1]); place--)
        ties[place] = ties[place - 1];
    ties[place] = tie;
}

/* Positions of a key's first half begin at 0, those of its second half at half_bits. */
static void add_bits(struct tie *tie, const struct half_key *half, unsigned half_bits,
                     uint32_t flips, unsigned first_position) {
    for (unsigned i = 0; i < half_bits; i++) {
        if (!(flips >> (half_bits - 1 - position_of(half->bits[i])) & 1))
            continue;
        uint32_t bit = half->bits[i] + first_position;
        unsigned place = tie->flips++;
        for (; place > 0 && tie->bits[place - 1] > bit; place--)
            tie->bits[place] = tie->bits[place - 1];
        tie->bits[place] = bit;
    }
}

/* Lists the first keys of a table that cost exactly `cost`, at most `most`; returns their number.
 */
static size_t tie_table(const struct lsh_across *across, const struct half_key *first,
                        const struct half_key *second, int32_t cost, size_t most) {
    const struct flip_sets *x = &first->sets, *y = &second->sets;
    const unsigned bits = across->half_bits;
    size_t count = 0;
    for (size_t i = 0; x->costs[i] + y->costs[0] <= cost; i++)
        for (size_t j = 0; x->costs[i] + y->costs[j] <= cost; j++) {
            struct tie tie = {0};
            if (x->costs[i] + y->costs[j] < cost ||
                (x->flips[i] >> FLIP_COUNT_SHIFT) + (y->flips[j] >> FLIP_COUNT_SHIFT) > FLIPS_MAX)
                continue;
            add_bits(&tie, first, bits, x->flips[i], 0);
            add_bits(&tie, second, bits, y->flips[j], bits);
            if (tie.flips)
                insert_tie(across->ties, &count, most, tie);
        }
    return count;
}

static uint64_t tie_mask(const struct tie *tie) {
    uint64_t mask = 0;
    for (unsigned i = 0; i < tie->flips; i++)
        mask |= (uint64_t)1 << (63 - position_of(tie->bits[i]));
    return mask;
}

/* Fills up with keys of this cost. */
static void add_ties(struct lsh_across *across, const struct lsh_key *own, int32_t cost,
                     size_t count, struct lsh_key *keys) {
    unsigned table = 0;
    list_sets(across, cost, across->sets_max);
    for (unsigned b = 1; b < across->half_count; b++)
        for (unsigned a = 0; a < b && count < across->wanted; a++, table++) {
            size_t ties = tie_table(across, &across->halves[a], &across->halves[b], cost,
                                    across->wanted - count);
            for (size_t i = 0; i < ties; i++)
                keys[count++] =
                    (struct lsh_key){own[table].key ^ tie_mask(&across->ties[i]), own[table].table};
        }
}

/* ---- One row --------------------------------------------------------------------------------- */

/* Between rows, the level varies more than the reach above it. */
static int32_t guess_bound(const struct lsh_across *across) {
    int32_t bound = across->level + across->reach + across->spread * 3 / 2;
    return bound > across->least ? bound : across->least;
}

static void learn(struct lsh_across *across, int32_t last) {
    int32_t off = last - across->level - across->reach;
    across->reach += off / 16;
    across->spread += ((off < 0 ? -off : off) - across->spread) / 16;
}

/* A step from the last bound towards the other end, or half-way to it if that is nearer. */
static int32_t next_bound(int32_t low, int32_t high, bool was_low, int32_t step) {
    int32_t half = (high - low) / 2;
    step = step < half ? step : half;
    return was_low ? low + step : high - step;
}

/* Collects the wanted keys and some more, all within *bound, and returns their number. If too many
 * keys share one cost, no bound gives about the wanted number: then it collects only the keys below
 * *bound, and the keys that cost exactly *bound are more than enough for the rest. */
static size_t collect_enough(struct lsh_across *across, const struct lsh_key *own, int32_t *bound) {
    const size_t wanted = across->wanted, most = COLLECTED_FACTOR * wanted;
    /* Fewer than the wanted keys are within `low`, and no fewer within `high`. */
    int32_t low = across->least - 1, high = COST_MAX, step = across->spread + 1;
    *bound = guess_bound(across);
    for (;; step = step < COST_MAX / 2 ? 2 * step : step) {
        size_t count = collect(across, own, *bound);
        if (count >= wanted && count <= most)
            return count;
        if (count < wanted)
            low = *bound;
        else
            high = *bound;
        if (high - low == 1) {
            *bound = high;
            return collect(across, own, low);
        }
        *bound = next_bound(low, high, count < wanted, step);
    }
}

void lsh_across_keys(struct lsh_across *across, const float *margins, const struct lsh_key *own,
                     struct lsh_key *keys) {
    int32_t last;
    find_costs(across, margins);
    find_level(across);
    size_t count = collect_enough(across, own, &last);
    if (count >= across->wanted)
        last = last_cost(across, count, across->least - 1, last);
    bool all = across->kernels->count(across->collected.costs, count, last) == across->wanted;
    size_t kept = keep_within(across, count, all ? last : last - 1, keys);
    if (kept < across->wanted)
        add_ties(across, own, last, kept, keys);
    learn(across, last);
}
