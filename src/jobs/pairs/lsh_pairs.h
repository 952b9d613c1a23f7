/* Pairs by hash tables over signatures: rows that share a key propose, the true measure decides,
 * and a brute-forced sample of rows tells the recall that was reached. Keys are bits of the
 * signature, or for minhash values of more than one bit, bands of whole values. What is not given
 * is chosen: keys by the number of rows, tables and flips by the wanted recall. */
#pragma once

#include "jobs/pairs/pair_task.h"

/* COG_ERR_USAGE for what cannot be, before documents are read. */
cog_status lsh_pairs_check(const cog_pairs_options *options, cog_error *error);
cog_status lsh_pairs_join(struct pair_task *task, struct match_list *matches, cog_error *error);
