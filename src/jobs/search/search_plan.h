/* Plans how each segment is searched for the nearest rows: by which method, with which effort.
 *
 * Segments differ in size, tables and measurements, so each has its own choice
 * (plan/effort_choice.h). If every segment finds the wanted share of its own true neighbours, so
 * does the index, because a true neighbour is also one within its segment. In: the index and the
 * question. Out: one choice per segment, the total recall, and the approximate time per query. */
#pragma once

#include "jobs/index/index_job.h"
#include "plan/effort_choice.h"

/* Zero-initialise; search_plan_free releases. */
struct search_plan {
    struct effort_choice *parts; /* one per segment; NULL: no plan */
    size_t count;
    bool of_cosines;
    struct measured_share recall; /* of all rows */
    double query_ns;
};
void search_plan_free(struct search_plan *plan);

enum plan_result {
    PLAN_MADE,
    PLAN_UNMEASURED, /* the build of a segment did not measure such searches */
    PLAN_TOO_LITTLE, /* no effort of a segment reaches the recall */
};
/* The cheapest plan by the method, or by any method if it is NULL; `question` has the values common
 * to all segments. A segment without tables of the method compares all signatures. */
cog_status search_plan_make(const cog_index *index, const struct effort_question *question,
                            const struct search_method *method, struct search_plan *plan,
                            enum plan_result *result, cog_error *error);
/* The approximate time per query of computing all cosines of the index. */
double search_exhaustive_ns(const cog_index *index, const struct effort_question *question);
/* The approximate time per query of a first look by the method, plus this number of true cosines.
 */
double search_look_ns(const cog_index *index, const struct effort_question *question,
                      const struct search_method *method, size_t candidates);
/* The choice of the largest segment. The plan must exist. */
const struct effort_choice *search_plan_main(const struct search_plan *plan,
                                             const cog_index *index);
