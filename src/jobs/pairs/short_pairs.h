/* Pairs with a short document: one with too few weighted terms for a cosine to mean anything. Such
 * a pair is measured by the Jaccard coefficient of all its terms, whatever the other document is,
 * and found exactly under every method. */
#pragma once

#include "jobs/pairs/pair_task.h"

/* Marks the rows that have terms but no vector. */
cog_status short_pairs_mark(struct pair_task *task, cog_error *error);
/* Adds the pairs of marked rows with each other and with all other rows; the list stays sorted. */
cog_status short_pairs_join(const struct pair_task *task, struct match_list *matches,
                            cog_error *error);
/* Terms of the largest short row; 0 where there is none. */
size_t short_pairs_most_terms(const struct corpus *corpus, const uint8_t *is_short);
/* Marks the rows of a side that may match a short row of so many terms: larger sets cannot. */
void short_pairs_mark_partners(const struct pair_task *task, size_t side, size_t most,
                               uint8_t *marks);
bool short_pairs_has(const struct pair_task *task, uint32_t a, uint32_t b);
double short_pairs_similarity(const struct pair_task *task, uint32_t a, uint32_t b);
