/* Pairs by signatures, all of them against all or in sliding windows: a radius wide enough for the
 * wanted recall proposes, the true measure decides, and a brute-forced sample of rows tells the
 * recall that was reached. */
#pragma once

#include "jobs/pairs/pair_task.h"

/* COG_ERR_USAGE where the signatures do not tell the measure. */
cog_status flat_pairs_check(const cog_pairs_options *options, cog_error *error);
cog_status flat_pairs_join(struct pair_task *task, struct match_list *matches, cog_error *error);
cog_status window_pairs_join(struct pair_task *task, struct match_list *matches, cog_error *error);

/* Two steps of it: candidates by signatures of the compared rows that exist, in sliding windows;
 * and those of them whose true measure reaches the threshold. */
cog_status window_pairs_propose(const struct pair_task *task, const struct signatures_view *views,
                                struct match_list *matches, cog_error *error);
cog_status flat_pairs_verify(const struct pair_task *task, struct match_list *matches,
                             cog_error *error);
