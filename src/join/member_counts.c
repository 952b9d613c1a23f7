#include "join/member_counts.h"

#include "base/threads.h"

enum { ROWS_PER_PIECE = 4096, LEAST_BITS = 16, MOST_BITS = 34, FREQUENT_BITS = 21, AHEAD = 16 };

/* A slot below the limit may be raised by every thread at once before one of them sees it. */
_Static_assert(MEMBER_COUNT_EXACT + COG_MAX_THREADS / 2 <= UINT8_MAX, "slots would wrap");

unsigned member_counts_bits(uint64_t members, uint64_t most_bytes) {
    unsigned bits = LEAST_BITS;
    while (bits < MOST_BITS && (uint64_t)1 << bits < members && (uint64_t)2 << bits <= most_bytes)
        bits++;
    return bits;
}

static size_t slot_of(const struct member_counts *counts, uint64_t member) {
    return (size_t)(member >> (MEMBER_BITS - counts->bits));
}

static uint32_t *frequent_of(const struct member_counts *counts, uint64_t member) {
    return &counts->frequent[member & (((uint64_t)1 << FREQUENT_BITS) - 1)];
}

static void add_set(struct member_counts *counts, const uint64_t *members, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count)
            __builtin_prefetch(&counts->slots[slot_of(counts, members[i + AHEAD])], 1);
        uint8_t *slot = &counts->slots[slot_of(counts, members[i])];
        if (__atomic_load_n(slot, __ATOMIC_RELAXED) < MEMBER_COUNT_EXACT)
            __atomic_fetch_add(slot, 1, __ATOMIC_RELAXED);
        else
            __atomic_fetch_add(frequent_of(counts, members[i]), 1, __ATOMIC_RELAXED);
    }
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
        add_set(counting->counts, sets->terms, sets->term_count);
        add_set(counting->counts, sets->words, sets->word_count);
    }
    set_cursor_free(&cursor);
    return status;
}

cog_status member_counts_make(struct member_counts *counts, unsigned bits,
                              const struct set_file *file, const uint8_t *marks, unsigned threads,
                              cog_error *error) {
    struct counting counting = {counts, file, marks};
    const unsigned most = COG_MAX_THREADS / 2;
    counts->bits = bits;
    counts->slots = memory_large((size_t)1 << bits);
    TAKE_ZEROED(counts->frequent, (size_t)1 << FREQUENT_BITS, "counts of terms", error);
    if (!counts->slots)
        return error_memory(error, (size_t)1 << bits, "counts of terms");
    threads = threads_resolve(threads);
    return parallel_for(threads < most ? threads : most, file->row_count, ROWS_PER_PIECE,
                        count_rows, &counting, error);
}

void member_counts_free(struct member_counts *counts) {
    if (counts->slots)
        memory_large_free(counts->slots, (size_t)1 << counts->bits);
    free(counts->frequent);
    *counts = (struct member_counts){0};
}

/* Four classes per doubling. */
static uint8_t frequent_class(uint32_t count) {
    const uint64_t scaled = ((uint64_t)count + 1) << 2;
    const unsigned log2 = 63 - (unsigned)__builtin_clzll(scaled);
    return (uint8_t)(4 * (log2 - 2) + (scaled >> (log2 - 2)) - 4);
}

void member_counts_get(const struct member_counts *counts, const uint64_t *members, size_t count,
                       uint8_t *classes) {
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count)
            __builtin_prefetch(&counts->slots[slot_of(counts, members[i + AHEAD])]);
        const uint8_t exact = counts->slots[slot_of(counts, members[i])];
        classes[i] =
            exact < MEMBER_COUNT_EXACT
                ? exact
                : (uint8_t)(MEMBER_COUNT_EXACT + frequent_class(*frequent_of(counts, members[i])));
    }
}
