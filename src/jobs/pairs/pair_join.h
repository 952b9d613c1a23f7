/* The common path from prepared sides to pairs, for every method: sample true pairs, choose
 * settings, sign, join by the method's descriptor, verify, measure the recall. Used for documents
 * in memory, documents with terms on disk, existing signatures, and links. */
#pragma once

#include "jobs/pairs/pair_task.h"
#include "search/method.h"

/* pair_task_init; also resolves AUTO to a method. COG_ERR_USAGE for options that the method does
 * not support, before documents are read. */
cog_status pair_join_init(struct pair_task *task, const cog_pairs_options *options, size_t sides,
                          const cog_run_options *run, cog_report *report, cog_error *error);

/* The inputs of a join, and the data made for it. */
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

/* Lists the rows to compare and finds all their pairs at or above the threshold, sorted; reports
 * the recall. `matches` must be zeroed. */
cog_status pair_join_run(struct pair_task *task, struct match_list *matches, cog_error *error);

/* Finds candidates only, neither verified nor measured. views: signatures of the compared rows if
 * the method needs them, otherwise NULL; they may be replaced by signatures with margins.
 * radius_bits may be COG_RADIUS_NONE. The limit of `matches` applies. */
cog_status pair_join_propose(struct pair_task *task, struct signatures_view views[2],
                             uint32_t radius_bits, struct match_list *matches, cog_error *error);

/* Pairs of signatures within radius_bits; `second` may be NULL. AUTO chooses a method that misses
 * no pair. */
cog_status pair_join_signatures(const struct signatures_view *first,
                                const struct signatures_view *second, uint32_t radius_bits,
                                const cog_pairs_options *options, const cog_run_options *run,
                                struct match_list *matches, cog_report *report, cog_error *error);
