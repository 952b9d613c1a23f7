/* The terms of a segment's documents, which make its vectors and statistics independent of other
 * segments.
 *
 * A segment numbers its own terms, rarest first; the numbers are the columns of its vectors. It
 * stores in how many of its documents each term occurs (df) and how often (cf), so the statistics
 * of an index are the sum over its segments minus the removed documents. It also keeps the
 * statistics that its signatures were made with: those of the index at that time, for its own
 * terms. A query signed with them has comparable bits.
 *
 * Sections tmsh, tmha, tmno, tmco, tmsi of docs/format.md; 24 bytes per term. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "store/container.h"
#include "vector/statistics.h"
#include "vector/term_numbers.h"

enum { SEGMENT_TERM_NONE = UINT32_MAX };

/* Arrays in the order of the hashes. Mapped, or owned by the caller of segment_terms_build; all
 * zero if the segment has no documents. */
struct segment_terms {
    size_t count;
    uint64_t *hashes;           /* strictly ascending; NULL: no terms */
    uint32_t *numbers;          /* the column of each term, below count */
    struct term_counts *counts; /* in this segment, including removed rows; 0 only with weights */
    uint32_t *signed_frequency; /* df in the index at signing; 0: the term had no weight */
    uint64_t total_length;      /* of all rows; terms with repetition */
    uint64_t signed_documents, signed_length; /* of the index when the rows were signed */
    uint64_t signed_state; /* identifies these statistics within this process; 0: unknown */
    bool has_weights;      /* vectors hold weights from the input, not frequencies */
};

/* In: the terms of the segment's own documents (`present`), their counts (`own`), and the
 * statistics that the documents are signed with. A present term may be counted 0 times, because
 * expected frequencies are rounded to be counted. *terms must be zeroed; segment_terms_free
 * releases. */
cog_status segment_terms_build(const struct statistics *present, const struct statistics *own,
                               const struct term_numbers *numbers, const struct statistics *signing,
                               const struct weighting *weighting, struct segment_terms *terms,
                               cog_error *error);
void segment_terms_free(struct segment_terms *terms);

/* The position of a term in the arrays, SIZE_MAX if the segment does not have it. Hashes are spread
 * evenly, so a few steps are enough. */
size_t segment_terms_place(const struct segment_terms *terms, uint64_t hash);
/* The column of a term, SEGMENT_TERM_NONE if the segment does not have it. */
uint32_t segment_terms_column(const struct segment_terms *terms, uint64_t hash);

/* The hash of each column; free() it. */
cog_status segment_terms_by_column(const struct segment_terms *terms, uint64_t **hashes,
                                   cog_error *error);

cog_status segment_terms_write(const struct segment_terms *terms, struct container_writer *writer,
                               cog_error *error);
/* Constant time, without copying. A file without terms leaves *terms zero. */
cog_status segment_terms_open(const struct container *container, struct segment_terms *terms,
                              cog_error *error);
/* Verifies that hashes ascend, columns are a permutation and counts are possible for `rows` rows.
 */
cog_status segment_terms_check(const struct segment_terms *terms, const char *path, size_t rows,
                               cog_error *error);
