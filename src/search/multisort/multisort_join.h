/* Exact joins of short signatures (64 or 128 bits) within a small radius, inside one collection or
 * between two.
 *
 * Signatures are cut into radius + 1 to radius + 3 blocks. For each choice of blocks that must
 * agree, signatures that agree in them are sorted together and compared. A pair is reported only
 * for the choice of its first equal blocks, so no set of seen pairs is needed, and no copy of the
 * collection beyond one working array. Equal signatures are joined as one and their pairs written
 * out in full. The result does not depend on the number of threads. */
#pragma once

#include "hamming/hamming.h"
#include "search/hits/hit_lists.h"
#include "search/method.h"

struct multisort_options {
    unsigned radius_bits;
    unsigned threads;    /* 0 means all */
    unsigned blocks;     /* radius + 1 to radius + 3; 0 chooses by the number of rows */
    size_t memory_bytes; /* 0 is no limit; a join that needs more uses a scratch file */
};

/* Pairs a < b of one collection, or, if `second` is not NULL, a of the first with b of the second;
 * sorted by rows. The similarity is the cosine that random projection estimates, cos(pi distance /
 * bits). Zero-initialise `matches`; its limit and sieve apply, and it is empty after a failure. The
 * space of a scratch file is reserved before the first match is found, so a full disk is
 * COG_ERR_DISK without matches. */
cog_status multisort_join(const struct signatures_view *first, const struct signatures_view *second,
                          const struct multisort_options *options, struct match_list *matches,
                          cog_error *error);

/* The descriptor of this method (search/method.h). Jobs over signatures choose it by themselves; it
 * has no number in cog_method. */

extern const struct search_method multisort_method;
/* Whether joining these rows by blocks is faster than comparing all pairs: short signatures, a
 * small radius, and enough rows to pay for sorting. */
bool multisort_pays(const struct method_join *join);
