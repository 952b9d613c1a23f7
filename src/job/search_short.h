/* psm and bphs behind search: what they can be asked, their answers, and the recall of psm. */
#ifndef COGNATE_JOB_SEARCH_SHORT_H
#define COGNATE_JOB_SEARCH_SHORT_H

#include "job/search_task.h"

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
/* Reports the share that a sample of the queries found, against exhaustive search. */
cog_status search_short_measure(const struct search_task *task, cog_error *error);

#endif
