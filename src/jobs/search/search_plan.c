#include "jobs/search/search_plan.h"

#include <stdlib.h>

#include "base/memory.h"
#include "plan/method_choice.h"

void search_plan_free(struct search_plan *plan) {
    free(plan->parts);
    *plan = (struct search_plan){0};
}

static struct effort_question question_of(const cog_index *index, size_t part,
                                          const struct effort_question *question) {
    const struct segment *segment = &index->parts.segments[part];
    struct effort_question own = *question;
    own.rows = segment->rows;
    if (own.of_cosines && segment->rows)
        own.row_terms = (double)segment_entries(segment) / (double)segment->rows;
    return own;
}

double search_exhaustive_ns(const cog_index *index, const struct effort_question *question) {
    double total_ns = 0;
    for (size_t part = 0; part < index->parts.manifest.count; part++) {
        const struct effort_question own = question_of(index, part, question);
        total_ns += effort_exhaustive_ns(&own);
    }
    return total_ns;
}

double search_look_ns(const cog_index *index, const struct effort_question *question,
                      const struct search_method *method, size_t candidates) {
    double total_ns = 0, largest_ns = 0;
    for (size_t part = 0; part < index->parts.manifest.count; part++) {
        const struct effort_question own = question_of(index, part, question);
        double cosines_ns = effort_cosines_ns(&own, candidates);
        const bool has_tables = segment_tables(&index->parts.segments[part], method);
        total_ns += effort_look_ns(&own, has_tables ? method : method_of(method_exhaustive(false)));
        largest_ns = cosines_ns > largest_ns ? cosines_ns : largest_ns;
    }
    return total_ns + largest_ns;
}

/* Replaces *best by the method's choice if that is cheaper or the first. */
static void consider(const struct effort_question *question, const struct segment *segment,
                     const struct search_method *method, struct effort_choice *best) {
    struct effort_choice own;
    bool answers =
        method->search && method->answers & COG_ANSWERS_NEAREST && !(method->needs & NEEDS_VECTORS);
    if (answers && effort_choose(question, &segment->recall, method, &own) &&
        (!best->method || own.query_ns < best->query_ns))
        *best = own;
}

static bool is_measured(const struct effort_question *question, const struct segment *segment,
                        const struct search_method *method) {
    uint32_t flags = question->of_cosines ? RECALL_OF_COSINES : 0;
    if (!method || !segment_tables(segment, method))
        method = method_of(method_exhaustive(false));
    return recall_is_measured(&segment->recall, method->name, flags, question->k);
}

/* Sets best->method to NULL if nothing reaches the recall. A small unmeasured segment, such as one
 * made from the log of a live index, is compared completely, whatever tables it has. */
static void choose_part(const struct effort_question *question, const struct segment *segment,
                        const struct search_method *method, struct effort_choice *best) {
    const struct search_method *flat = method_of(method_exhaustive(false));
    *best = (struct effort_choice){0};
    if (method && (!method->build || segment_tables(segment, method)))
        consider(question, segment, method, best);
    for (unsigned i = 0; !method && i < segment->table_count; i++)
        consider(question, segment, segment->tables[i].method, best);
    struct effort_choice all;
    const bool is_free = !method || !segment_tables(segment, method);
    const bool has_measures = is_measured(question, segment, method);
    const bool may_take_all = effort_choose_all(question, has_measures, &all);
    if (is_free || (!question->of_cosines && may_take_all && !has_measures))
        consider(question, segment, flat, best);
    if (question->of_cosines && may_take_all &&
        (!best->method || (is_free && all.query_ns < best->query_ns)))
        *best = all;
}

cog_status search_plan_make(const cog_index *index, const struct effort_question *question,
                            const struct search_method *method, struct search_plan *plan,
                            enum plan_result *result, cog_error *error) {
    size_t count = index->parts.manifest.count;
    double rows = 0;
    *result = PLAN_MADE;
    *plan = (struct search_plan){.count = count, .of_cosines = question->of_cosines};
    TAKE_ZEROED(plan->parts, count + 1, "a plan", error);
    for (size_t part = 0; part < count; part++) {
        const struct segment *segment = &index->parts.segments[part];
        struct effort_choice *choice = &plan->parts[part];
        const struct effort_question own = question_of(index, part, question);
        choose_part(&own, segment, method, choice);
        if (!choice->method) {
            *result = is_measured(&own, segment, method) ? PLAN_TOO_LITTLE : PLAN_UNMEASURED;
            search_plan_free(plan);
            return COG_OK;
        }
        rows += (double)segment->rows;
        plan->recall.share += choice->recall.share * (double)segment->rows;
        plan->recall.low += choice->recall.low * (double)segment->rows;
        plan->recall.high += choice->recall.high * (double)segment->rows;
        plan->query_ns += choice->query_ns;
    }
    if (rows > 0)
        plan->recall = (struct measured_share){plan->recall.share / rows, plan->recall.low / rows,
                                               plan->recall.high / rows};
    else
        plan->recall = (struct measured_share){1, 1, 1};
    return COG_OK;
}

const struct effort_choice *search_plan_main(const struct search_plan *plan,
                                             const cog_index *index) {
    size_t largest = 0;
    for (size_t part = 1; part < plan->count; part++)
        if (index->parts.segments[part].rows > index->parts.segments[largest].rows)
            largest = part;
    return &plan->parts[largest];
}
