#include "join/sets/member_counts.h"

#include "base/cpu.h"
#include "base/threads.h"

enum {
    ROWS_PER_PIECE = 4096,
    WIDEST = 8,
    LEAST_BITS = 16,
    MOST_BITS = 36,
    SECONDS_FEWER_BITS = 5,
    FREQUENT_FEWER_BITS = 7,
    AHEAD = 16
};

static size_t slot_bytes(unsigned bits, unsigned width) {
    return ((size_t)1 << bits) * width / 8;
}

static size_t second_bytes(unsigned bits) {
    return (size_t)1 << (bits - SECONDS_FEWER_BITS);
}

static size_t frequent_count(unsigned bits) {
    return (size_t)1 << (bits - FREQUENT_FEWER_BITS);
}

static uint64_t all_bytes(unsigned bits, unsigned width) {
    return slot_bytes(bits, width) + second_bytes(bits) + sizeof(uint32_t) * frequent_count(bits);
}

uint64_t member_counts_bytes(const struct member_counts *counts) {
    return counts->slots ? all_bytes(counts->bits, counts->width) : 0;
}

/* One slot per member if memory allows, then the widest slots that fit. */
static void choose_slots(struct member_counts *counts, uint64_t members, uint64_t most_bytes) {
    enum { NARROWEST = 2 };
    counts->bits = LEAST_BITS;
    counts->width = NARROWEST;
    while (counts->bits < MOST_BITS && (uint64_t)1 << counts->bits < members &&
           all_bytes(counts->bits + 1, NARROWEST) <= most_bytes)
        counts->bits++;
    while (counts->width < WIDEST && all_bytes(counts->bits, 2 * counts->width) <= most_bytes)
        counts->width *= 2;
}

uint64_t member_counts_predict_bytes(uint64_t members, uint64_t most_bytes) {
    struct member_counts counts;
    choose_slots(&counts, members, most_bytes);
    return all_bytes(counts.bits, counts.width);
}

static cog_status take_tables(struct member_counts *counts, cog_error *error) {
    counts->full = counts->width < WIDEST ? (1u << counts->width) - 1 : MEMBER_COUNT_EXACT;
    counts->slots = memory_large(slot_bytes(counts->bits, counts->width));
    counts->seconds = memory_large(second_bytes(counts->bits));
    counts->frequent = memory_large(sizeof *counts->frequent * frequent_count(counts->bits));
    if (counts->slots && counts->seconds && counts->frequent)
        return COG_OK;
    const uint64_t bytes = all_bytes(counts->bits, counts->width);
    member_counts_free(counts);
    return error_memory(error, (size_t)bytes, "counts of terms");
}

/* Tables for this total number of members, within most_bytes if that is at least 32 KiB. */
static cog_status member_counts_init(struct member_counts *counts, uint64_t members,
                                     uint64_t most_bytes, cog_error *error) {
    *counts = (struct member_counts){.identity = clock_ns()};
    choose_slots(counts, members, most_bytes);
    return take_tables(counts, error);
}

void member_counts_free(struct member_counts *counts) {
    if (counts->slots)
        memory_large_free(counts->slots, slot_bytes(counts->bits, counts->width));
    if (counts->seconds)
        memory_large_free(counts->seconds, second_bytes(counts->bits));
    if (counts->frequent)
        memory_large_free(counts->frequent,
                          sizeof *counts->frequent * frequent_count(counts->bits));
    *counts = (struct member_counts){0};
}

/* ---- Counting -------------------------------------------------------------------------------- */

static size_t slot_of(const struct member_counts *counts, uint64_t member) {
    return (size_t)(member >> (MEMBER_BITS - counts->bits));
}

static uint8_t *byte_of(const struct member_counts *counts, uint64_t member) {
    return &counts->slots[slot_of(counts, member) * counts->width / 8];
}

/* The bit at which a member's slot starts in its byte. */
static unsigned shift_of(const struct member_counts *counts, uint64_t member) {
    return (unsigned)(slot_of(counts, member) * counts->width % 8);
}

static unsigned in_slot(const struct member_counts *counts, uint64_t member, uint8_t byte) {
    return byte >> shift_of(counts, member) & ((1u << counts->width) - 1);
}

/* Uses other bits of the member than its slot does, as far as there are others. */
static uint8_t *second_of(const struct member_counts *counts, uint64_t member) {
    return &counts->seconds[member & (second_bytes(counts->bits) - 1)];
}

static uint32_t *frequent_of(const struct member_counts *counts, uint64_t member) {
    return &counts->frequent[member & (frequent_count(counts->bits) - 1)];
}

/* Concurrent increments may overflow a second. Its class is then wrong, but any classes above 1
 * make an order. */
static void add_second(const struct member_counts *counts, uint64_t member) {
    uint8_t *second = second_of(counts, member);
    if (__atomic_load_n(second, __ATOMIC_RELAXED) < MEMBER_COUNT_EXACT - counts->full)
        __atomic_fetch_add(second, 1, __ATOMIC_RELAXED);
    else
        __atomic_fetch_add(frequent_of(counts, member), 1, __ATOMIC_RELAXED);
}

/* Concurrent increments of a byte-wide slot cannot overflow it; narrow slots have no such margin.
 */
static bool raise_slot(const struct member_counts *counts, uint64_t member) {
    uint8_t *byte = byte_of(counts, member);
    const uint8_t one = (uint8_t)(1u << shift_of(counts, member));
    uint8_t old = __atomic_load_n(byte, __ATOMIC_RELAXED);
    if (counts->width == WIDEST && old < counts->full) {
        __atomic_fetch_add(byte, 1, __ATOMIC_RELAXED);
        return true;
    }
    while (in_slot(counts, member, old) < counts->full)
        if (__atomic_compare_exchange_n(byte, &old, (uint8_t)(old + one), true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return true;
    return false;
}

/* Prefetches the bytes of the first members, as the loops do for later ones: sets of short texts
 * have few more. */
static inline void look_ahead(const struct member_counts *counts, const uint64_t *members,
                              size_t count, bool is_written) {
    for (size_t i = 0; i < AHEAD && i < count; i++)
        if (is_written)
            __builtin_prefetch(byte_of(counts, members[i]), 1);
        else
            __builtin_prefetch(byte_of(counts, members[i]));
}

static void add_set(const struct member_counts *shared, const uint64_t *members, size_t count) {
    const struct member_counts counts =
        *shared; /* a copy, as writes to the bytes may alias the original */
    look_ahead(&counts, members, count, true);
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count)
            __builtin_prefetch(byte_of(&counts, members[i + AHEAD]), 1);
        if (!raise_slot(&counts, members[i]))
            add_second(&counts, members[i]);
    }
}

struct counting {
    struct member_counts *counts;
    const struct set_file *file;
    const uint8_t *marks;
    size_t first_row; /* of the current part */
};

static cog_status count_rows(void *context, unsigned worker, size_t begin, size_t end,
                             cog_error *error) {
    const struct counting *counting = context;
    struct set_cursor cursor = {.next = counting->first_row + begin,
                                .end = counting->first_row + end,
                                .marks = counting->marks};
    const struct loaded_sets *sets;
    cog_status status;
    (void)worker;
    while ((status = set_cursor_next(&cursor, counting->file, &sets, error)) == COG_OK && sets) {
        add_set(counting->counts, sets->terms, sets->term_count);
        add_set(counting->counts, sets->words, sets->word_count);
    }
    set_cursor_free(&cursor);
    return status;
}

static cog_status count_part(struct counting *counting, size_t rows, unsigned threads,
                             cog_error *error) {
    const unsigned most = UINT8_MAX - MEMBER_COUNT_EXACT; /* no byte wraps around */
    return parallel_for(threads < most ? threads : most, rows,
                        threads_grain(threads, rows, ROWS_PER_PIECE), count_rows, counting, error);
}

/* ---- Checkpoints ----------------------------------------------------------------------------- */

static const char saved_name[] = "counts";
enum { SAVED_ROWS, SAVED_BITS, SAVED_WIDTH, SAVED_IDENTITY, SAVED_NUMBERS };

cog_status member_counts_save(const struct member_counts *counts, size_t rows,
                              struct join_checkpoints *checkpoints, cog_error *error) {
    const uint64_t numbers[SAVED_NUMBERS] = {rows, counts->bits, counts->width, counts->identity};
    const struct checkpoint_array arrays[] = {
        {counts->slots, slot_bytes(counts->bits, counts->width)},
        {counts->seconds, second_bytes(counts->bits)},
        {counts->frequent, frequent_count(counts->bits) * sizeof *counts->frequent}};
    return join_checkpoint_save(checkpoints, saved_name, numbers, SAVED_NUMBERS, arrays, 3, error);
}

void member_counts_remove_saved(const struct join_checkpoints *checkpoints) {
    join_checkpoint_remove(checkpoints, saved_name);
}

/* Whether such tables are possible and fit. Budgets differ slightly from job to job. */
static bool can_be(const uint64_t numbers[SAVED_NUMBERS], uint64_t most_bytes, size_t row_count) {
    const uint64_t bits = numbers[SAVED_BITS], width = numbers[SAVED_WIDTH];
    return bits >= LEAST_BITS && bits <= MOST_BITS &&
           (width == 2 || width == 4 || width == WIDEST) && numbers[SAVED_ROWS] <= row_count &&
           (bits == LEAST_BITS ||
            all_bytes((unsigned)bits, (unsigned)width) <= most_bytes + most_bytes / 8);
}

/* Sets *rows to the number of rows counted. */
static bool restore(struct member_counts *counts, uint64_t most_bytes, size_t row_count,
                    const struct join_checkpoints *checkpoints, size_t *rows) {
    struct container saved;
    uint64_t numbers[SAVED_NUMBERS];
    if (!join_checkpoint_open(checkpoints, saved_name, numbers, SAVED_NUMBERS, &saved))
        return false;
    bool is_whole = can_be(numbers, most_bytes, row_count);
    if (is_whole) {
        *counts = (struct member_counts){.bits = (unsigned)numbers[SAVED_BITS],
                                         .width = (unsigned)numbers[SAVED_WIDTH],
                                         .identity = numbers[SAVED_IDENTITY]};
        is_whole = take_tables(counts, NULL) == COG_OK &&
                   join_checkpoint_copy(&saved, 0, counts->slots,
                                        slot_bytes(counts->bits, counts->width)) &&
                   join_checkpoint_copy(&saved, 1, counts->seconds, second_bytes(counts->bits)) &&
                   join_checkpoint_copy(&saved, 2, counts->frequent,
                                        frequent_count(counts->bits) * sizeof *counts->frequent);
    }
    container_close(&saved);
    *rows = (size_t)numbers[SAVED_ROWS];
    if (!is_whole)
        member_counts_free(counts);
    return is_whole;
}

cog_status member_counts_make(struct member_counts *counts, uint64_t members, uint64_t most_bytes,
                              const struct set_file *file, const uint8_t *marks, unsigned threads,
                              struct join_checkpoints *checkpoints, cog_error *error) {
    struct counting counting = {counts, file, marks, 0};
    threads = threads_resolve(threads);
    if (!restore(counts, most_bytes, file->row_count, checkpoints, &counting.first_row)) {
        counting.first_row = 0;
        TRY(member_counts_init(counts, members, most_bytes, error));
    }
    while (counting.first_row < file->row_count) {
        const size_t end = join_checkpoints_part_end(checkpoints, file, counting.first_row);
        TRY(count_part(&counting, end - counting.first_row, threads, error));
        counting.first_row = end;
        if (end < file->row_count && join_checkpoints_are_due(checkpoints))
            TRY(member_counts_save(counts, end, checkpoints, error));
    }
    return COG_OK;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

/* Four classes per doubling. */
static uint8_t frequent_class(uint32_t count) {
    const uint64_t scaled = ((uint64_t)count + 1) << 2;
    const unsigned log2 = 63 - (unsigned)__builtin_clzll(scaled);
    return (uint8_t)(4 * (log2 - 2) + (scaled >> (log2 - 2)) - 4);
}

static uint8_t class_of_full(const struct member_counts *counts, uint64_t member) {
    const unsigned second = *second_of(counts, member);
    return counts->full + second < MEMBER_COUNT_EXACT
               ? (uint8_t)(counts->full + second)
               : (uint8_t)(MEMBER_COUNT_EXACT + frequent_class(*frequent_of(counts, member)));
}

bool member_counts_get(const struct member_counts *shared, const uint64_t *members, size_t count,
                       size_t most_alone, uint8_t *classes) {
    const struct member_counts counts = *shared;
    size_t alone = 0;
    look_ahead(&counts, members, count, false);
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count)
            __builtin_prefetch(byte_of(&counts, members[i + AHEAD]));
        const unsigned met = in_slot(&counts, members[i], *byte_of(&counts, members[i]));
        classes[i] = met < counts.full ? (uint8_t)met : class_of_full(&counts, members[i]);
        alone += met < 2;
        if (alone > most_alone)
            return false;
    }
    return true;
}
