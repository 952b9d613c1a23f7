/* psm and bphs behind search: what they can be asked, their answers, and the recall of psm. */
#pragma once

#include "jobs/search/search_task.h"

/* Refuses what the methods cannot do; --first asks for one hit. */
cog_status search_short_check(cog_search_options *options, const cog_index *index,
                              cog_error *error);
/* PSM or BPHS where the index has tables that serve the options; else AUTO. */
cog_method search_short_choose(const struct search_task *task);
/* Whether the segment has tables of the method. */
bool search_short_serves(const struct signature_search *search, const struct segment *segment);
/* All within the radius in one segment (psm: the share that the recall asks for), or one of them.
 */
cog_status search_short(struct signature_search *search, size_t part, struct hit_lists *lists,
                        cog_error *error);
/* The memory of a search of a streamed index next to the program: for tables of all rows, or, if
 * that is more than the budget, for tables of chunks. */
double search_stream_bytes(const cog_index *index, cog_method method, size_t queries,
                           uint64_t memory_bytes);
/* Reports the share that a sample of the queries found, against exhaustive search. */
cog_status search_short_measure(const struct search_task *task, cog_error *error);
