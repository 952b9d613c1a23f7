#include "search/probes/probes.h"

#include <string.h>

#include "base/memory.h"

void probe_bits_init(struct probe_bits *bits, const uint32_t *penalties, unsigned key_bits,
                     uint32_t bound) {
    unsigned count = 0;
    for (unsigned i = 0; i < key_bits; i++) {
        uint32_t penalty = penalties[i];
        if (penalty > bound)
            continue;
        unsigned place = count++;
        for (; place > 0 && bits->penalties[place - 1] > penalty; place--) {
            bits->penalties[place] = bits->penalties[place - 1];
            bits->masks[place] = bits->masks[place - 1];
        }
        bits->penalties[place] = penalty;
        bits->masks[place] = (uint64_t)1 << (key_bits - 1 - i);
    }
    bits->count = count;
}

struct enumeration {
    const struct probe_bits *bits;
    uint32_t *keys, *penalties; /* NULL: counts only; no penalties */
    size_t count, capacity;
};

static inline void put(struct enumeration *all, uint32_t key, uint32_t penalty) {
    if (all->keys)
        all->keys[all->count] = key;
    if (all->penalties)
        all->penalties[all->count] = penalty;
    all->count++;
}

/* The enumeration of sets: extends a set, whose flips make `key` and which costs `penalty`, by
 * every bit from `first` on that stays within the bound. Bits are sorted, so the first bit that
 * does not fit ends the loop and no set is tried in vain. A set follows the set it extends at once
 * (depth_first), or after all sets that extend the same set by one bit. */
static void extend(struct enumeration *all, bool depth_first, unsigned first, unsigned flips_left,
                   uint32_t from, uint32_t bound, uint32_t key, uint32_t penalty) {
    const struct probe_bits *bits = all->bits;
    unsigned end = first;
    for (; end < bits->count && bits->penalties[end] <= bound - penalty; end++) {
        uint32_t extended = key ^ (uint32_t)bits->masks[end];
        uint32_t cost = penalty + bits->penalties[end];
        if (all->count == all->capacity)
            return;
        if (cost >= from)
            put(all, extended, cost);
        if (depth_first && flips_left > 1)
            extend(all, true, end + 1, flips_left - 1, from, bound, extended, cost);
    }
    for (unsigned i = first; !depth_first && flips_left > 1 && i + 1 < end; i++) {
        uint32_t cost = penalty + bits->penalties[i];
        if (bits->penalties[i + 1] > bound - cost)
            return;
        extend(all, false, i + 1, flips_left - 1, from, bound, key ^ (uint32_t)bits->masks[i],
               cost);
    }
}

size_t probes_within(const struct probe_bits *bits, unsigned flips_max, uint32_t bound,
                     uint32_t *masks, uint32_t *penalties, size_t capacity) {
    struct enumeration all = {bits, masks, penalties, 0, capacity};
    if (capacity > 0)
        put(&all, 0, 0);
    if (flips_max > 0)
        extend(&all, true, 0, flips_max, 0, bound, 0, 0);
    return all.count;
}

size_t probes_between(const struct probe_bits *bits, unsigned flips_max, uint32_t from,
                      uint32_t bound, uint32_t key, uint32_t *keys, size_t capacity) {
    struct enumeration all = {bits, keys, NULL, 0, capacity};
    if (from == 0 && capacity > 0)
        put(&all, key, 0);
    if (flips_max > 0)
        extend(&all, false, 0, flips_max, from, bound, key, 0);
    return all.count;
}

void probes_ring(unsigned flips, uint32_t *masks, size_t count) {
    uint32_t mask = (uint32_t)(((uint64_t)1 << flips) - 1);
    for (size_t i = 0; i < count; i++) {
        masks[i] = mask;
        if (i + 1 == count)
            break;
        uint32_t lowest = mask & -mask, ripple = mask + lowest; /* Gosper: the next larger one */
        mask = ripple | (((mask ^ ripple) >> 2) / lowest);
    }
}

/* exp(-penalty) with plain operations, so that a bound is the same on every CPU. */
static double odds_of(uint32_t penalty) {
    double x = (double)penalty / PROBE_PENALTY_ONE;
    unsigned halvings = 0;
    for (; x > 0.0625; x *= 0.5)
        halvings++;
    double power = 1 - x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4 * (1 - x / 5 * (1 - x / 6)))));
    for (; halvings > 0; halvings--)
        power *= power;
    return power;
}

/* The sum over all sets of at most flips_max bits of the product of their odds: the elementary
 * symmetric polynomials, one bit at a time. */
static double odds_of_all_sets(const struct probe_bits *bits, unsigned flips_max) {
    double sums[PROBE_FLIPS_MAX + 1] = {1};
    for (unsigned i = 0; i < bits->count; i++) {
        double odds = odds_of(bits->penalties[i]);
        for (unsigned size = flips_max; size > 0; size--)
            sums[size] += sums[size - 1] * odds;
    }
    double total = 0;
    for (unsigned size = 0; size <= flips_max; size++)
        total += sums[size];
    return total;
}

/* The last thousandth of the probability is spread over very many sets, and no bound is chosen
 * there. */
static const double RECALL_FOLLOWED = 0.999;

cog_status probe_recall_add(struct probe_recall *recall, const struct probe_bits *bits,
                            unsigned flips_max, cog_error *error) {
    struct probe_heap heap = {0};
    cog_status status = probe_heap_start(&heap, bits, flips_max, error);
    if (status != COG_OK)
        return status;
    double total = odds_of_all_sets(bits, flips_max), held = 1;
    recall->queries += 1;
    recall->shares[0] += 1 / total;
    bool end = false;
    while (held < RECALL_FOLLOWED * total && status == COG_OK && !end) {
        struct probe probe = {0};
        status = probe_heap_next(&heap, &probe, &end, error);
        if (status != COG_OK || end)
            break;
        size_t cell = probe.penalty / PROBE_RECALL_CELL;
        held += odds_of(probe.penalty);
        if (cell < PROBE_RECALL_CELLS)
            recall->shares[cell] += odds_of(probe.penalty) / total;
    }
    probe_heap_free(&heap);
    return status;
}

uint32_t probe_recall_bound(const struct probe_recall *recall, double wanted) {
    double held = 0;
    if (wanted < RECALL_FOLLOWED)
        for (uint32_t cell = 0; cell < PROBE_RECALL_CELLS; cell++) {
            held += recall->shares[cell];
            if (held >= wanted * recall->queries)
                return (cell + 1) * PROBE_RECALL_CELL - 1;
        }
    return PROBE_BOUND_NONE;
}

static bool comes_before(const struct probe_set *x, const struct probe_set *y) {
    if (x->penalty != y->penalty)
        return x->penalty < y->penalty;
    if (x->size != y->size)
        return x->size < y->size;
    return memcmp(x->members, y->members, x->size) < 0;
}

static cog_status heap_push(struct probe_heap *heap, struct probe_set set, cog_error *error) {
    set.penalty = 0;
    for (unsigned i = 0; i < set.size; i++)
        set.penalty += heap->bits->penalties[set.members[i]];
    GROW(heap->sets, heap->capacity, heap->count + 1, "the probes of a query", error);
    size_t place = heap->count++;
    for (; place > 0 && comes_before(&set, &heap->sets[(place - 1) / 2]); place = (place - 1) / 2)
        heap->sets[place] = heap->sets[(place - 1) / 2];
    heap->sets[place] = set;
    return COG_OK;
}

static struct probe_set heap_pop(struct probe_heap *heap) {
    struct probe_set top = heap->sets[0];
    struct probe_set last = heap->sets[--heap->count];
    size_t place = 0;
    for (size_t child = 1; child < heap->count; child = 2 * place + 1) {
        if (child + 1 < heap->count && comes_before(&heap->sets[child + 1], &heap->sets[child]))
            child++;
        if (!comes_before(&heap->sets[child], &last))
            break;
        heap->sets[place] = heap->sets[child];
        place = child;
    }
    heap->sets[place] = last;
    return top;
}

cog_status probe_heap_start(struct probe_heap *heap, const struct probe_bits *bits,
                            unsigned flips_max, cog_error *error) {
    if (flips_max > PROBE_FLIPS_MAX)
        return error_set(error, COG_ERR_USAGE, "at most %d bits can be flipped, not %u",
                         PROBE_FLIPS_MAX, flips_max);
    heap->bits = bits;
    heap->count = 0;
    struct probe_set root = {0};
    for (unsigned i = 0; i < PROBE_FLIPS_MAX; i++)
        root.members[i] = (uint8_t)i;
    for (unsigned size = 1; size <= flips_max && size <= bits->count; size++) {
        root.size = (uint8_t)size;
        TRY(heap_push(heap, root, error));
    }
    return COG_OK;
}

/* Algorithm 2: the left child moves the last bit; the right child moves the bit before the last
 * gap, if that gap is exactly 2, so that no set has two parents. */
static cog_status push_children(struct probe_heap *heap, const struct probe_set *set,
                                cog_error *error) {
    unsigned last = set->size - 1u;
    cog_status status = COG_OK;
    if (set->members[last] + 1u < heap->bits->count) {
        struct probe_set left = *set;
        left.members[last]++;
        status = heap_push(heap, left, error);
    }
    unsigned j = last;
    while (j > 0 && set->members[j] - set->members[j - 1] < 2)
        j--;
    if (status == COG_OK && j > 0 && set->members[j] - set->members[j - 1] == 2) {
        struct probe_set right = *set;
        right.members[j - 1]++;
        status = heap_push(heap, right, error);
    }
    return status;
}

cog_status probe_heap_next(struct probe_heap *heap, struct probe *probe, bool *end,
                           cog_error *error) {
    *end = heap->count == 0;
    if (*end)
        return COG_OK;
    struct probe_set set = heap_pop(heap);
    *probe = (struct probe){0, set.penalty, set.size};
    for (unsigned i = 0; i < set.size; i++)
        probe->mask ^= heap->bits->masks[set.members[i]];
    return push_children(heap, &set, error);
}

void probe_heap_free(struct probe_heap *heap) {
    free(heap->sets);
    *heap = (struct probe_heap){0};
}
