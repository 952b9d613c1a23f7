/* Sorts a query's hits by a finer distance than Hamming's: the query keeps four bits per position
 * instead of one; the stored signatures stay as they are.
 *
 * A bit of a query is the sign of a sum (its margin), and a sum near zero says little. If the sums
 * are rounded to the sixteen odd numbers from -15 to 15 (in units of half a step), the product with
 * a row of +1 and -1 orders rows like the true cosines, with less noise than the Hamming distance.
 * In bits: each of the four binary digits of the rounded sums is one plane, itself a signature, and
 * the product is a constant minus the sum of 2^p times the Hamming distance from plane p. The
 * highest plane is the query's own signature, so three more distances are needed, from the existing
 * kernels (hamming/hamming.h).
 *
 * In: hits with their distances, the signatures of rows and queries, and the queries' margins. Out:
 * the best hits of each query, by the finer distance, then row. */
#pragma once

#include "search/method.h"

/* Keeps the `keep` best of each list. Items name rows from first_row on, whose signatures are in
 * rows->signatures; their distances are true. Memory: three signatures and the hits of one query
 * per thread. */
cog_status hits_keep_graded(struct hit_lists *lists, const struct method_rows *rows,
                            const struct method_rows *queries, uint32_t first_row, size_t keep,
                            unsigned threads, cog_error *error);

/* The finer distance of each of `count` items, whose rows count from 0. */
cog_status hits_grade(const struct signatures_view *rows, const uint8_t *signature,
                      const float *margins, const struct match *items, size_t count,
                      uint32_t *finer, cog_error *error);
