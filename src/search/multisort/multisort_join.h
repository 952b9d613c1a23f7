/* Exact joins of short signatures (64 or 128 bits) within a small radius, inside one collection or
 * between two. Signatures fall into radius + 1 to radius + 3 blocks; for each choice of the
 * blocks that must agree, signatures that agree in them are sorted together and compared. A pair is
 * reported only for the choice of its first equal blocks, so no set of seen pairs is needed, and no
 * copy of the collection beyond one working array. Equal signatures are joined as one, and their
 * pairs are written out in full. All threads work; the result does not depend on their number. */
#pragma once

#include "hamming/hamming.h"
#include "search/hits/hit_lists.h"
#include "search/method.h"

struct multisort_options {
    unsigned radius_bits;
    unsigned threads;    /* 0 means all */
    unsigned blocks;     /* radius + 1 to radius + 3; 0 chooses by the number of rows */
    size_t memory_bytes; /* 0 is no limit; a join that would need more works from a scratch file */
};

/* Pairs a < b of one collection, or a of the first with b of the second when `second` is not NULL,
 * sorted by rows. similarity is the estimated cosine of a random projection, cos(pi distance /
 * bits). Zero-initialise matches; its limit and its sieve hold, and it is empty after a failure. A
 * scratch file's space is taken before the first match is found: a full disk is COG_ERR_DISK
 * without matches. */
cog_status multisort_join(const struct signatures_view *first, const struct signatures_view *second,
                          const struct multisort_options *options, struct match_list *matches,
                          cog_error *error);

/* The descriptor of joins by blocks of bits that agree (search/method.h). Jobs over signatures
 * choose it by themselves: it has no number of its own. */

extern const struct search_method multisort_method;
/* Whether a join of these rows is quicker by blocks than by comparing all of them: short
 * signatures, a small radius, and enough rows to pay for sorting. */
bool multisort_pays(const struct method_join *join);
