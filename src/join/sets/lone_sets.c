#include "join/sets/lone_sets.h"

#include "base/memory.h"
#include "base/threads.h"
#include "join/sets/member_counts.h"

enum {
    ROWS_PER_PIECE = 4096,
    SLOTS_PER_WORD = 16,
    LEAST_BITS = 16,
    MOST_BITS = 36,
    SLOTS_PER_MEMBER = 2, /* preferred; half of it is the minimum */
    AHEAD = 16
};
/* The share of the values that is looked at: this multiple of the share of members that a partner
 * may lack. */
static const double share_times = 3, share_least = 0.1, share_most = 0.9;

struct lone_search {
    const struct set_file *file;
    const struct set_measure *measure;
    uint8_t *marks;
    /* Two bits per slot: the lower is set when a member was met, the upper when one was met again.
     * If there is room, every thread has its own table, one after the other, because contended
     * writes take twice as long; the tables are merged at the end. */
    uint32_t *words;
    unsigned tables;
    bool is_shared; /* by several threads */
    unsigned bits;  /* 2^bits slots per table */
    unsigned share; /* of MEMBER_SHARES */
};

static size_t table_bytes(unsigned bits) {
    return ((size_t)1 << bits) / SLOTS_PER_WORD * sizeof(uint32_t);
}

static size_t table_words(const struct lone_search *search) {
    return ((size_t)1 << search->bits) / SLOTS_PER_WORD;
}

/* Points into the first table. */
static uint32_t *word_of(const struct lone_search *search, uint64_t member) {
    const uint64_t slot = member & (((uint64_t)1 << search->bits) - 1);
    return &search->words[slot / SLOTS_PER_WORD];
}

static unsigned shift_of(uint64_t member) {
    return 2 * (unsigned)(member % SLOTS_PER_WORD);
}

static void look_ahead(const struct lone_search *search, const uint64_t *members, size_t count) {
    for (size_t i = 0; i < AHEAD && i < count; i++)
        __builtin_prefetch(word_of(search, members[i]), 1);
}

/* Calls `take` for the marked rows, with those of their members that are in the share. */
typedef void set_taker(const struct lone_search *search, size_t row,
                       const struct loaded_sets *sets);
static cog_status visit_rows(const struct lone_search *search, size_t begin, size_t end,
                             set_taker *take, cog_error *error) {
    struct set_cursor cursor = {
        .next = begin, .end = end, .marks = search->marks, .share = search->share};
    const struct loaded_sets *sets;
    cog_status status;
    while ((status = set_cursor_next(&cursor, search->file, &sets, error)) == COG_OK && sets)
        take(search, cursor.next - 1, sets);
    set_cursor_free(&cursor);
    return status;
}

/* ---- Meeting --------------------------------------------------------------------------------- */

static void meet_shared(uint32_t *word, unsigned shift) {
    const uint32_t once = (uint32_t)1 << shift, again = (uint32_t)2 << shift;
    const uint32_t old = __atomic_load_n(word, __ATOMIC_RELAXED);
    if (old & again)
        return;
    if (!(old & once) && !(__atomic_fetch_or(word, once, __ATOMIC_RELAXED) & once))
        return;
    __atomic_fetch_or(word, again, __ATOMIC_RELAXED);
}

static void meet_own(uint32_t *word, unsigned shift) {
    const uint32_t once = (uint32_t)1 << shift;
    *word |= once | (*word & once) << 1;
}

static void meet_set(const struct lone_search *shared, const uint64_t *members, size_t count) {
    const struct lone_search search =
        *shared; /* a copy, as writes to the words may alias the original */
    look_ahead(&search, members, count);
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count)
            __builtin_prefetch(word_of(&search, members[i + AHEAD]), 1);
        uint32_t *word = word_of(&search, members[i]);
        const unsigned shift = shift_of(members[i]);
        if (search.is_shared)
            meet_shared(word, shift);
        else
            meet_own(word, shift);
    }
}

static void meet_row(const struct lone_search *search, size_t row, const struct loaded_sets *sets) {
    (void)row;
    meet_set(search, sets->terms, sets->term_count);
    meet_set(search, sets->words, sets->word_count);
}

static cog_status meet_rows(void *context, unsigned worker, size_t begin, size_t end,
                            cog_error *error) {
    struct lone_search search = *(const struct lone_search *)context;
    if (!search.is_shared)
        search.words += worker * table_words(&search);
    return visit_rows(&search, begin, end, meet_row, error);
}

/* Merges the words [begin, end) of the other tables into the first. */
static cog_status join_tables(void *context, unsigned worker, size_t begin, size_t end,
                              cog_error *error) {
    const struct lone_search *search = context;
    const uint32_t once = 0x55555555;
    (void)worker;
    (void)error;
    for (unsigned table = 1; table < search->tables; table++) {
        const uint32_t *other = search->words + table * table_words(search);
        for (size_t i = begin; i < end; i++) {
            const uint32_t both = search->words[i] & other[i] & once;
            search->words[i] |= other[i] | both << 1;
        }
    }
    return COG_OK;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

/* Whether more members of a set of `size` were met once than a partner may lack. `members` are
 * those in the share. */
static bool has_no_partner(const struct lone_search *search, size_t size, const uint64_t *members,
                           size_t count) {
    const size_t needed = set_prefix_places(search->measure, size);
    size_t alone = 0;
    if (count < needed)
        return false;
    look_ahead(search, members, count);
    for (size_t i = 0; alone < needed; i++) {
        if (alone + (count - i) < needed)
            return false;
        if (i + AHEAD < count)
            __builtin_prefetch(word_of(search, members[i + AHEAD]));
        alone += (*word_of(search, members[i]) >> shift_of(members[i]) & 2) == 0;
    }
    return true;
}

static void ask_row(const struct lone_search *search, size_t row, const struct loaded_sets *sets) {
    const struct set_row *sizes = &search->file->rows[row];
    if (has_no_partner(search, sizes->terms, sets->terms, sets->term_count) &&
        has_no_partner(search, sizes->words, sets->words, sets->word_count))
        search->marks[row] = 0;
}

static cog_status ask_rows(void *context, unsigned worker, size_t begin, size_t end,
                           cog_error *error) {
    (void)worker;
    return visit_rows(context, begin, end, ask_row, error);
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* False if the search would not pay. */
static bool choose_table(struct lone_search *search, uint64_t members, uint64_t most_bytes) {
    const double wanted = share_times * (1 - search->measure->threshold);
    const double share = wanted > share_least ? wanted : share_least;
    if (search->measure->containment || share > share_most + 1e-9)
        return false;
    search->share = (unsigned)(share * MEMBER_SHARES);
    const uint64_t in_share = members / MEMBER_SHARES * search->share;
    search->bits = LEAST_BITS;
    while (search->bits < MOST_BITS && (uint64_t)1 << search->bits < SLOTS_PER_MEMBER * in_share &&
           table_bytes(search->bits + 1) <= most_bytes)
        search->bits++;
    return (uint64_t)1 << search->bits >= in_share;
}

static cog_status meet_and_ask(struct lone_search *search, unsigned threads, cog_error *error) {
    enum { WORDS_PER_PIECE = 1 << 14 };
    const size_t rows = search->file->row_count;
    const size_t grain = threads_grain(threads, rows, ROWS_PER_PIECE);
    TRY(parallel_for(threads, rows, grain, meet_rows, search, error));
    TRY(parallel_for(threads, table_words(search), WORDS_PER_PIECE, join_tables, search, error));
    return parallel_for(threads, rows, grain, ask_rows, search, error);
}

cog_status lone_sets_unmark(const struct set_file *file, uint64_t members,
                            const struct set_measure *measure, uint64_t most_bytes,
                            unsigned threads, uint8_t *marks, uint64_t *taken_bytes,
                            cog_error *error) {
    struct lone_search search = {.file = file, .measure = measure, .marks = marks};
    *taken_bytes = 0;
    if (!choose_table(&search, members, most_bytes))
        return COG_OK;
    threads = threads_resolve(threads);
    const uint64_t own_bytes = threads * (uint64_t)table_bytes(search.bits);
    search.tables = own_bytes <= member_counts_predict_bytes(members, most_bytes) ? threads : 1;
    search.is_shared = search.tables < threads;
    const size_t bytes = search.tables * table_bytes(search.bits);
    search.words = memory_large(bytes);
    if (!search.words)
        return error_memory(error, bytes, "terms that are met once");
    *taken_bytes = bytes;
    cog_status status = meet_and_ask(&search, threads, error);
    memory_large_free(search.words, bytes);
    return status;
}
