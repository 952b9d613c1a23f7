/* The order of a query's hits by a finer distance than Hamming's: the query is kept as numbers of
 * four bits, not of one, and the stored signatures stay as they are.
 *
 * A bit of a query tells the sign of a sum (its margin), and a sum near zero says little. With the
 * sums rounded to the sixteen odd numbers from -15 to 15 in units of half a step, the product with
 * a row of +1 and -1 orders rows as the true cosines do, with less noise than the distance has. In
 * bits: the four binary digits of a rounded sum, one plane of bits for each digit, are four
 * signatures, and the product is a constant less the sum of 2^p times the Hamming distance from
 * plane p. The highest plane is the query's own signature, so three distances are left, by the
 * kernels that there are (hamming/hamming.h).
 *
 * In: hits with their distances, the signatures of rows and queries, and margins of the queries.
 * Out: the best hits of each query, by the finer distance, then row. */
#pragma once

#include "search/method.h"

/* Keeps the `keep` best of each list. Items name rows from first_row on, whose signatures stand in
 * rows->signatures; their distances are true. Memory: three signatures and the hits of a query for
 * each thread. */
cog_status hits_keep_graded(struct hit_lists *lists, const struct method_rows *rows,
                            const struct method_rows *queries, uint32_t first_row, size_t keep,
                            unsigned threads, cog_error *error);

/* The finer distance of each of `count` items, whose rows count from 0. */
cog_status hits_grade(const struct signatures_view *rows, const uint8_t *signature,
                      const float *margins, const struct match *items, size_t count,
                      uint32_t *finer, cog_error *error);
