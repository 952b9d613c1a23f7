/* Inverted signature slice lists (Chappell, Geva, Zuccon: "Approximate Nearest-Neighbour Search
 * with Inverted Signature Slice Lists").
 *
 * A signature is cut into slices; for each value of each slice a posting list holds the rows that
 * have it. A query reads the posting lists of its own slice values and of values a few bits away,
 * counts the lists in which each row occurs (the score), and computes true distances for the best
 * rows.
 *
 * The paper adds the number of equal bits instead of counting. But far neighbours, which are the
 * hard ones, agree little in any slice, and 16 versus 14 equal bits hardly separates them from
 * other rows. The count finds as much with half the true distances.
 *
 * The score is also a bound. A row that does not occur in a slice expanded to e bits differs there
 * in at least e + 1 bits, so its distance is at least the sum of (e + 1) over the slices in which
 * it does not occur (the paper's optimistic distance). If every row without a true distance must be
 * farther than the answer, the answer is exact and is reported as exact. */
#pragma once

#include "base/error.h"
#include "hamming/hamming.h"
#include "search/hits/hit_lists.h"
#include "search/hits/query_batch.h"

enum {
    SLICE_WIDTH_MAX = 26,   /* bits; the lists of one slice then take 256 MiB of offsets */
    SLICE_COUNT_MAX = 4096, /* one-bit slices of the longest signature */
};

/* ---- Layout ---------------------------------------------------------------------------------- */

/* Slices cover the signature from bit 0 on; the first wide_count have one bit more than the others
 * (section 5.1). */
struct slice_layout {
    unsigned bits;
    unsigned count;        /* m, slices */
    unsigned narrow_width; /* bits */
    unsigned wide_count;
};

/* About log2(rows) - 4 bits: one bit more for each doubling, 16 at a million rows (section 6.2). */
unsigned slice_width_for(size_t rows, unsigned bits);
/* width 1 to SLICE_WIDTH_MAX, at most bits. */
struct slice_layout slice_layout_of(unsigned bits, unsigned width);
/* The total length of the offsets of all slices. */
size_t slice_layout_offsets(const struct slice_layout *layout);

static inline unsigned slice_width(const struct slice_layout *layout, unsigned slice) {
    return layout->narrow_width + (slice < layout->wide_count);
}

static inline unsigned slice_first_bit(const struct slice_layout *layout, unsigned slice) {
    return slice * layout->narrow_width + (slice < layout->wide_count ? slice : layout->wide_count);
}

/* Where the offsets of a slice start among those of all slices. */
static inline size_t slice_first_offset(const struct slice_layout *layout, unsigned slice) {
    size_t wide = slice < layout->wide_count ? slice : layout->wide_count;
    return (wide << layout->narrow_width) + ((size_t)slice << layout->narrow_width) + slice;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

/* Borrowed, from slice_lists or a file. The rows of slice s with value v are postings[s * rows +
 * o[v]] up to o[v + 1], ascending, where o are the offsets of the slice. Nothing is trusted:
 * searching checks the offsets and rows that it reads. */
struct slices_view {
    struct slice_layout layout;
    size_t rows;
    const uint32_t *offsets;
    const uint32_t *postings; /* layout.count * rows */
};

/* Zero-initialise; slice_lists_free releases. */
struct slice_lists {
    struct slices_view view;
    uint32_t *offsets, *postings;
};

/* A width of 0 is chosen automatically. Fewer than 2^32 rows. Takes O(rows * slices) time and 4
 * bytes per row and slice; while building, the same again for four slices per thread. */
cog_status slice_lists_build(struct slice_lists *lists, const struct signatures_view *signatures,
                             unsigned width, unsigned threads, cog_error *error);
/* Peak memory of building, without the signatures. */
double slice_lists_build_bytes(size_t rows, unsigned bits, unsigned width, unsigned threads);
void slice_lists_free(struct slice_lists *lists);
/* Reads all lists and checks that offsets ascend and that rows ascend and exist. The error reports
 * the first fault. */
cog_status slices_check(const struct slices_view *view, cog_error *error);

/* ---- Search ---------------------------------------------------------------------------------- */

/* A request. Zero-initialise and fill in. */
struct slices_request {
    size_t k;             /* nearest rows wanted; 0 asks for all rows within radius_bits */
    uint32_t radius_bits; /* of a radius query */
    unsigned expand;      /* i: bits to which each slice's neighbourhood is expanded */
    unsigned admit;       /* j <= i: lists beyond j add to scores but bring no new rows */
    size_t verify;        /* most true distances for k; 0 means SLICES_VERIFY_DEFAULT */
    /* The query's margins, one per bit, or NULL. If they are given and probes > 0, `probes` lists
     * are read instead of `expand`: over all slices, lists with the least certain flipped bits
     * first. */
    const float *weights;
    size_t probes;
    /* Only an exact answer is acceptable: expand as far as necessary, or scan everything if that is
     * cheaper. Overrides expand, admit, verify and probes. */
    bool certain;
};

enum { SLICES_VERIFY_DEFAULT = 1000 };

/* Scratch of one thread: a byte for each row, and lists. */
struct slices_searcher;

/* view and signatures are borrowed for the searcher's life and must have the same rows and bits. */
cog_status slices_searcher_create(const struct slices_view *view,
                                  const struct signatures_view *signatures,
                                  struct slices_searcher **searcher, cog_error *error);
/* `query` is a signature of the same bits, padded like a row. A radius query is always exact: if
 * `expand` does not suffice, it expands further or scans. */
cog_status slices_search(struct slices_searcher *searcher, const uint8_t *query,
                         const struct slices_request *request, struct query_answer *answer,
                         cog_error *error);
void slices_searcher_free(struct slices_searcher *searcher);

/* The same for many queries (query_batch_run). */
struct slices_batch {
    const struct slices_view *view;
    const struct signatures_view *signatures;
    struct slices_request request;
};
extern const struct query_searching slices_searching; /* its context is a slices_batch */

/* ---- Reading --------------------------------------------------------------------------------- */

/* Selects the lists that a query reads, and looks them up and prefetches them as one sequence over
 * all slices: the part of slice search between the request and the scores. */

/* The query's own value of a slice. */
static inline uint32_t slice_query_key(const struct slices_view *view, const uint8_t *query,
                                       unsigned slice) {
    return (uint32_t)signature_bits(query, signature_stride_bytes(view->layout.bits),
                                    slice_first_bit(&view->layout, slice),
                                    slice_width(&view->layout, slice));
}

/* `at` points to the list's offsets until slice_reading_locate, then to its first row. */
struct slice_list {
    const uint32_t *at;
    uint32_t count;
    uint32_t slice;
};

/* Values up to some bits away from a value, as XOR masks of a slice: ring by ring, ascending within
 * a ring so that adjacent memory is read together. */
struct slice_ball {
    uint32_t *masks;
    size_t capacity;
    unsigned width, rings;                   /* rings 0 .. rings - 1 exist */
    uint32_t ring_ends[SLICE_WIDTH_MAX + 2]; /* masks up to ring d end at ring_ends[d] */
};

enum { SLICE_LOG_SUMS = 129 };
struct slice_odds;

/* Zero-initialise; slice_reading_free releases. */
struct slice_reading {
    struct slice_list *lists;
    size_t count, capacity;
    uint64_t postings;          /* in lists, after slice_reading_locate */
    struct slice_ball balls[2]; /* of narrow and of wide slices */
    uint32_t *probe_masks;      /* scratch of slice_reading_add_probes, like the fields below */
    size_t probe_capacity;
    struct slice_odds *odds;
    size_t odds_capacity;
    double log_sums[SLICE_LOG_SUMS];
};

/* Removes all lists but keeps the memory. */
void slice_reading_reset(struct slice_reading *reading);
/* Appends for each slice s the lists at begin[s] <= d < end[s] bits from the query (begin NULL: 0).
 */
cog_status slice_reading_add_rings(struct slice_reading *reading, const struct slices_view *view,
                                   const uint8_t *query, const uint8_t *begin, const uint8_t *end,
                                   cog_error *error);
/* Appends about `probes` lists: the most probable ones over all slices, if the probability that a
 * bit differs falls with its weight. */
cog_status slice_reading_add_probes(struct slice_reading *reading, const struct slices_view *view,
                                    const uint8_t *query, const float *weights, size_t probes,
                                    cog_error *error);
/* Looks up the lists from number `begin` on, and drops empty and impossible ones. */
void slice_reading_locate(struct slice_reading *reading, const struct slices_view *view,
                          size_t begin);
/* The number of lists in the rings below `reach` of a slice of `width` bits. */
double slice_ball_lists(unsigned width, unsigned reach);
void slice_reading_free(struct slice_reading *reading);
