/* The terms of a segment's documents: what makes its vectors and statistics independent of any
 * other segment.
 *
 * A segment numbers its own terms, the rarest first; the numbers are the columns of its vectors. It
 * counts in how many of its documents each term occurs (df) and how often (cf), so the statistics
 * of an index are the sum over its segments, less its removed documents. It also keeps the
 * statistics by which its signatures were made: those of the index at that time, for its own
 * terms. A query that is signed by them has bits that can be compared.
 *
 * Sections tmsh, tmha, tmno, tmco, tmsi of docs/format.md; 24 bytes per term. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "store/container.h"
#include "vector/statistics.h"
#include "vector/term_numbers.h"

enum { SEGMENT_TERM_NONE = UINT32_MAX };

/* Arrays in the order of the hashes. In a map, or owned by segment_terms_build's caller; zero:
 * a segment without documents. */
struct segment_terms {
    size_t count;
    uint64_t *hashes;           /* strictly rising; NULL: no terms are known */
    uint32_t *numbers;          /* the column of each, below count */
    struct term_counts *counts; /* in this segment, removed rows included; 0 only with weights */
    uint32_t *signed_frequency; /* df in the index when the rows were signed; 0: weighed nothing */
    uint64_t total_length;      /* of all rows: terms with repetition */
    uint64_t signed_documents, signed_length; /* of the index when the rows were signed */
    uint64_t signed_state; /* name of these statistics in this process; 0: not known */
    bool has_weights;      /* values of the vectors are weights of the input, not frequencies */
};

/* From the terms that the segment's own documents have (`present`), their counts, and the
 * statistics that the documents are signed by. A term that is present may be counted 0 times:
 * documents have expected frequencies, which are rounded to be counted. *terms must be zeroed;
 * segment_terms_free releases. */
cog_status segment_terms_build(const struct statistics *present, const struct statistics *own,
                               const struct term_numbers *numbers, const struct statistics *signing,
                               const struct weighting *weighting, struct segment_terms *terms,
                               cog_error *error);
void segment_terms_free(struct segment_terms *terms);

/* The place of a term among the arrays, SIZE_MAX if the segment does not have it. Hashes are spread
 * evenly, so a few looks are enough. */
size_t segment_terms_place(const struct segment_terms *terms, uint64_t hash);
/* Its column, SEGMENT_TERM_NONE if there is none. */
uint32_t segment_terms_column(const struct segment_terms *terms, uint64_t hash);

/* The hash of each column; free() it. */
cog_status segment_terms_by_column(const struct segment_terms *terms, uint64_t **hashes,
                                   cog_error *error);

cog_status segment_terms_write(const struct segment_terms *terms, struct container_writer *writer,
                               cog_error *error);
/* Constant time, without copying. A file without terms leaves *terms zero. */
cog_status segment_terms_open(const struct container *container, struct segment_terms *terms,
                              cog_error *error);
/* Whether hashes rise, columns are a permutation and counts are possible for `rows` rows. */
cog_status segment_terms_check(const struct segment_terms *terms, const char *path, size_t rows,
                               cog_error *error);
