/* How each segment is asked for the nearest rows: by which method, with which effort.
 *
 * Segments differ in size, in their tables and in what was measured when they were built, so each
 * has its own choice (plan/effort_choice.h). If every segment finds the wanted share of its own
 * true neighbours, so does the index: a true neighbour is one in its segment too. In: the index and
 * the question. Out: one choice per segment, the recall of all, and about how long a query takes.
 */
#pragma once

#include "jobs/index/index_job.h"
#include "plan/effort_choice.h"

/* Zero-initialise; search_plan_free releases. */
struct search_plan {
    struct effort_choice *parts; /* one per segment; NULL: there is no plan */
    size_t count;
    bool of_cosines;
    struct measured_share recall; /* of all rows */
    double query_ns;
};
void search_plan_free(struct search_plan *plan);

enum plan_result {
    PLAN_MADE,
    PLAN_UNMEASURED, /* the build of a segment measured no such searches */
    PLAN_TOO_LITTLE, /* no effort of a segment reaches the recall */
};
/* The cheapest plan by the method, or by any if it is NULL; `question` has what holds for all
 * segments. A segment without tables of the method compares all signatures. */
cog_status search_plan_make(const cog_index *index, const struct effort_question *question,
                            const struct search_method *method, struct search_plan *plan,
                            enum plan_result *result, cog_error *error);
/* About how long one query takes that gets all cosines of the index. */
double search_exhaustive_ns(const cog_index *index, const struct effort_question *question);
/* The same for a first look by the method, and this number of true cosines. */
double search_look_ns(const cog_index *index, const struct effort_question *question,
                      const struct search_method *method, size_t candidates);
/* The choice of the largest segment; the plan has one. */
const struct effort_choice *search_plan_main(const struct search_plan *plan,
                                             const cog_index *index);
