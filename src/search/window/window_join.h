/* The sliding window join (Ture et al. 2011, section 4.3): rows are sorted by their signatures
 * under Q random permutations of the bits, and in each order every row is compared with the B rows
 * before it. Misses pairs that never come close; listed pairs are always correct. The result
 * depends on the seed, but not on the number of threads, the size of the chunks, or the memory. */
#pragma once

#include "hamming/hamming.h"
#include "search/hits/hit_lists.h"

struct window_options {
    unsigned tables;      /* Q */
    size_t window;        /* B */
    size_t chunk_rows;    /* M: rows per thread and step, plus B more that it reads; 0: chosen */
    uint32_t radius_bits; /* T */
    uint64_t seed;
    unsigned threads; /* 0 means all */
    /* 0: no limit. If rows and tables take more, rows are sorted into a scratch file and joined in
     * pieces that fit. The rows themselves need not be in memory (they may be a mapped file). */
    uint64_t memory_bytes;
    /* Two collections: the window holds the last B rows of both together, as in the paper, instead
     * of the last B rows of the other collection. */
    bool shared_window;
};

/* The work that a join did. */
struct window_work {
    uint64_t comparisons; /* pairs of a window; the same for every number of threads */
    uint64_t order_ns;    /* making the tables: the paper's chunk generation */
    uint64_t detect_ns;   /* comparing: its detection */
    size_t pieces;        /* pieces of a table loaded from disk; 0 if all rows fit */
};

/* If `second` is NULL: pairs (a, b), a < b, of one collection. Otherwise: pairs of a row of the
 * first and a row of the second, sorted into common tables. The similarity is the cosine that
 * random projection estimates, cos(pi distance / bits). `matches` is overwritten: zero-initialise
 * it, free it with match_list_free; its limit and sieve apply, and a pair that the sieve rejected
 * may be offered to it again. `work` may be NULL. */
cog_status window_join(const struct signatures_view *first, const struct signatures_view *second,
                       const struct window_options *options, struct match_list *matches,
                       struct window_work *work, cog_error *error);

/* Memory that the join takes in addition to its input and the matches; `second` may be NULL. */
size_t window_join_memory_bytes(const struct signatures_view *first,
                                const struct signatures_view *second,
                                const struct window_options *options);
