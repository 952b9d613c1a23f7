/* The sample that tells the recall of an approximate run: some rows or queries are answered again,
 * exhaustively, and what was found is counted against that. */
#pragma once

#include <stddef.h>

#include "estimate/interval.h"
#include "search/hits/match_list.h"

/* Distinct numbers below rows, rising; all of them where there are no more than `most`. sample has
 * room for `most`. */
size_t recall_sample_rows(size_t rows, size_t most, uint64_t seed, uint32_t *sample);

/* Whether the rising numbers of a sample have this one: a pair of two sampled rows counts once. */
bool recall_sample_holds(const uint32_t *sample, size_t count, uint32_t row);

/* Both lists are answers to one query. A found hit counts if it is as good as the last of the
 * truth, by distance or else by similarity, so ties are worth the same whichever is found. */
enum recall_key { RECALL_BY_DISTANCE, RECALL_BY_SIMILARITY };
void recall_count_nearest(const struct match *truth, size_t truth_count, const struct match *found,
                          size_t found_count, enum recall_key key, struct share_tally *tally);
