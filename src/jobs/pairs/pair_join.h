/* One path from prepared sides to pairs, for every method: sample true pairs, choose settings,
 * sign, join by the method's descriptor, verify, measure the recall. Documents in memory, documents
 * whose terms wait on disk, signatures that exist already, and links take it. */
#pragma once

#include "jobs/pairs/pair_task.h"
#include "search/method.h"

/* pair_task_init; AUTO becomes a method. COG_ERR_USAGE for what the method cannot do, before
 * documents are read. */
cog_status pair_join_init(struct pair_task *task, const cog_pairs_options *options, size_t sides,
                          const cog_run_options *run, cog_report *report, cog_error *error);

/* What is joined, and what of it was made for the join. */
struct joining {
    struct pair_task *task;
    const struct search_method *method;
    struct method_join join;
    struct signatures_view views[2], pair_views[2];
    float *margins[2], *pair_margins[2];
    struct match_list truth;
};
/* Samples true pairs and chooses the settings of the task's method for its compared rows.
 * joining_free releases, also after an error. */
cog_status joining_plan(struct joining *joining, struct pair_task *task, cog_error *error);
void joining_free(struct joining *joining);

/* Lists the rows to compare, and all pairs of them at or above the threshold, sorted, with recall
 * reported; matches must be zeroed. */
cog_status pair_join_run(struct pair_task *task, struct match_list *matches, cog_error *error);

/* Candidates only: neither verified nor measured. views: signatures of the compared rows if the
 * method needs them, else NULL; they may be replaced by signatures with margins. radius_bits may be
 * COG_RADIUS_NONE. The limit of matches holds. */
cog_status pair_join_propose(struct pair_task *task, struct signatures_view views[2],
                             uint32_t radius_bits, struct match_list *matches, cog_error *error);

/* Pairs of signatures within radius_bits; second may be NULL. AUTO chooses a method that misses
 * none. */
cog_status pair_join_signatures(const struct signatures_view *first,
                                const struct signatures_view *second, uint32_t radius_bits,
                                const cog_pairs_options *options, const cog_run_options *run,
                                struct match_list *matches, cog_report *report, cog_error *error);
