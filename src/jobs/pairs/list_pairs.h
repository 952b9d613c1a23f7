/* Pairs by inverted lists whose bounds miss a few: the join that the method exact uses, but its
 * bounds expect less of the ends of two rows than they could add at most (join/cosine_join.h).
 * How much less, the true pairs of some rows tell, for the wanted recall; other rows tell the
 * recall that was reached. */
#pragma once

#include "jobs/pairs/pair_task.h"

cog_status list_pairs_check(const cog_pairs_options *options, cog_error *error);
cog_status list_pairs_join(struct pair_task *task, struct match_list *matches, cog_error *error);
/* The same without the measurement. *exact: no pair is missed. */
cog_status list_pairs_find(struct pair_task *task, struct match_list *matches, bool *exact,
                           cog_error *error);

/* Whether the lists are worth the pairs that they miss: where the exact way, of that many
 * nanoseconds for a pair of rows and each term that the two have, would take about a second of a
 * processor or more. The same for every machine and number of threads. */
bool list_pairs_pay(const struct sparse_matrix vectors[2], double exact_term_ns);
