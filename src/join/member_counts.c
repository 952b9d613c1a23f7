#include "join/member_counts.h"

#include "base/threads.h"

enum {
    ROWS_PER_PIECE = 4096,
    SLOTS_PER_MEMBER = 2,
    LEAST_BITS = 16,
    MOST_BITS = 36,
    FULL = 3, /* of a slot */
    SECONDS_FEWER_BITS = 5,
    SECONDS_FULL = MEMBER_COUNT_EXACT - FULL,
    FREQUENT_BITS = 21,
    AHEAD = 16
};

static size_t slot_bytes(unsigned bits) {
    return (size_t)1 << (bits - 2);
}

static size_t second_bytes(unsigned bits) {
    return (size_t)1 << (bits - SECONDS_FEWER_BITS);
}

uint64_t member_counts_bytes(unsigned bits) {
    return slot_bytes(bits) + second_bytes(bits) +
           sizeof(uint32_t) * ((uint64_t)1 << FREQUENT_BITS);
}

unsigned member_counts_bits(uint64_t members, uint64_t most_bytes) {
    unsigned bits = LEAST_BITS;
    while (bits < MOST_BITS && (uint64_t)1 << bits < SLOTS_PER_MEMBER * members &&
           member_counts_bytes(bits + 1) <= most_bytes)
        bits++;
    return bits;
}

cog_status member_counts_init(struct member_counts *counts, unsigned bits, cog_error *error) {
    *counts = (struct member_counts){.bits = bits};
    counts->slots = memory_large(slot_bytes(bits));
    counts->seconds = memory_large(second_bytes(bits));
    counts->frequent = memory_large(sizeof *counts->frequent << FREQUENT_BITS);
    if (counts->slots && counts->seconds && counts->frequent)
        return COG_OK;
    member_counts_free(counts);
    return error_memory(error, (size_t)member_counts_bytes(bits), "counts of terms");
}

void member_counts_free(struct member_counts *counts) {
    if (counts->slots)
        memory_large_free(counts->slots, slot_bytes(counts->bits));
    if (counts->seconds)
        memory_large_free(counts->seconds, second_bytes(counts->bits));
    if (counts->frequent)
        memory_large_free(counts->frequent, sizeof *counts->frequent << FREQUENT_BITS);
    *counts = (struct member_counts){0};
}

/* ---- Counting -------------------------------------------------------------------------------- */

static size_t slot_of(const struct member_counts *counts, uint64_t member) {
    return (size_t)(member >> (MEMBER_BITS - counts->bits));
}

static uint8_t *byte_of(const struct member_counts *counts, uint64_t member) {
    return &counts->slots[slot_of(counts, member) / 4];
}

static unsigned shift_of(const struct member_counts *counts, uint64_t member) {
    return (unsigned)(slot_of(counts, member) % 4 * 2);
}

/* Other bits of the member than those of its slot, as far as there are others. */
static uint8_t *second_of(const struct member_counts *counts, uint64_t member) {
    return &counts->seconds[member & (second_bytes(counts->bits) - 1)];
}

static uint32_t *frequent_of(const struct member_counts *counts, uint64_t member) {
    return &counts->frequent[member & (((uint64_t)1 << FREQUENT_BITS) - 1)];
}

/* Many threads at once may push a second over its end. Its classes are then wrong, and any classes
 * above 2 make an order. */
static void add_second(struct member_counts *counts, uint64_t member) {
    uint8_t *second = second_of(counts, member);
    if (__atomic_load_n(second, __ATOMIC_RELAXED) < SECONDS_FULL)
        __atomic_fetch_add(second, 1, __ATOMIC_RELAXED);
    else
        __atomic_fetch_add(frequent_of(counts, member), 1, __ATOMIC_RELAXED);
}

/* Adds 1 or -1 to a slot that is not full; false if it is. */
static bool change_slot(uint8_t *byte, unsigned shift, int change) {
    uint8_t old = __atomic_load_n(byte, __ATOMIC_RELAXED), changed;
    do {
        if ((old >> shift & FULL) == FULL)
            return false;
        changed = (uint8_t)(old + change * (1 << shift));
    } while (!__atomic_compare_exchange_n(byte, &old, changed, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return true;
}

void member_counts_prefetch(const struct member_counts *counts, const uint64_t *members,
                            size_t count) {
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(byte_of(counts, members[i]), 1);
}

void member_counts_add(struct member_counts *counts, const uint64_t *members, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count)
            __builtin_prefetch(byte_of(counts, members[i + AHEAD]), 1);
        if (!change_slot(byte_of(counts, members[i]), shift_of(counts, members[i]), 1))
            add_second(counts, members[i]);
    }
}

void member_counts_remove(struct member_counts *counts, const uint64_t *members, size_t count) {
    member_counts_prefetch(counts, members, count);
    for (size_t i = 0; i < count; i++)
        change_slot(byte_of(counts, members[i]), shift_of(counts, members[i]), -1);
}

struct counting {
    struct member_counts *counts;
    const struct set_file *file;
    const uint8_t *marks;
};

static cog_status count_rows(void *context, unsigned worker, size_t begin, size_t end,
                             cog_error *error) {
    const struct counting *counting = context;
    struct set_cursor cursor = {.next = begin, .end = end};
    const struct loaded_sets *sets;
    cog_status status;
    (void)worker;
    while ((status = set_cursor_next(&cursor, counting->file, &sets, error)) == COG_OK && sets) {
        if (counting->marks && !counting->marks[cursor.next - 1])
            continue;
        member_counts_add(counting->counts, sets->terms, sets->term_count);
        member_counts_add(counting->counts, sets->words, sets->word_count);
    }
    set_cursor_free(&cursor);
    return status;
}

cog_status member_counts_add_rows(struct member_counts *counts, const struct set_file *file,
                                  const uint8_t *marks, unsigned threads, cog_error *error) {
    struct counting counting = {counts, file, marks};
    return parallel_for(threads, file->row_count, ROWS_PER_PIECE, count_rows, &counting, error);
}

/* ---- Asking ---------------------------------------------------------------------------------- */

/* Four classes per doubling. */
static uint8_t frequent_class(uint32_t count) {
    const uint64_t scaled = ((uint64_t)count + 1) << 2;
    const unsigned log2 = 63 - (unsigned)__builtin_clzll(scaled);
    return (uint8_t)(4 * (log2 - 2) + (scaled >> (log2 - 2)) - 4);
}

static uint8_t class_of_full(const struct member_counts *counts, uint64_t member) {
    const uint8_t second = *second_of(counts, member);
    return second < SECONDS_FULL
               ? (uint8_t)(FULL + second)
               : (uint8_t)(MEMBER_COUNT_EXACT + frequent_class(*frequent_of(counts, member)));
}

bool member_counts_get(const struct member_counts *counts, const uint64_t *members, size_t count,
                       size_t most_alone, uint8_t *classes) {
    size_t alone = 0;
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count)
            __builtin_prefetch(byte_of(counts, members[i + AHEAD]));
        const unsigned in_slot = *byte_of(counts, members[i]) >> shift_of(counts, members[i]);
        classes[i] =
            (in_slot & FULL) < FULL ? (uint8_t)(in_slot & FULL) : class_of_full(counts, members[i]);
        alone += classes[i] < 2;
        if (alone > most_alone)
            return false;
    }
    return true;
}
