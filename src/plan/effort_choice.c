#include "plan/effort_choice.h"

#include "plan/method_choice.h"

/* Measured nanoseconds per entry of a vector: in a scan for one query, in a tile of many queries,
 * of a candidate whose row is weighed for this query only, and of a candidate already weighed. */
static const double SCANNED_TERM_NS = 1, TILED_TERM_NS = 0.1, WEIGHED_TERM_NS = 14, TERM_NS = 1.5;
static const double ROW_NS = 200;      /* to find a row */
static const double PROPOSED_NS = 250; /* per row that signatures propose: listed and sorted */

/* The log of a live index is a segment of up to 4,096 documents plus those of one commit. */
enum { ALL_ROWS_MAX = 4096, UNMEASURED_ROWS_MAX = 8192, TILED_QUERIES = 16 };

bool effort_weighs_all(size_t rows, size_t queries, size_t candidates) {
    return queries > 1 && (double)queries * (double)candidates >= (double)rows;
}

double effort_cosines_ns(const struct effort_question *question, size_t candidates) {
    double rows = (double)candidates, terms = question->row_terms;
    if (!question->of_cosines)
        return 0;
    if (!effort_weighs_all(question->rows, question->queries, candidates))
        return rows * (ROW_NS + terms * WEIGHED_TERM_NS);
    double weighing = (double)question->rows * terms * WEIGHED_TERM_NS / (double)question->queries;
    return rows * (ROW_NS + terms * TERM_NS) + weighing;
}

static size_t proposed_for(const struct effort_question *question, size_t candidates,
                           bool uses_margins) {
    return question->of_cosines && uses_margins ? recall_proposed(candidates) : candidates;
}

/* The additional cost of a method's candidates: margins choose them, then true cosines decide. */
static double proposals_ns(const struct effort_question *question, size_t candidates,
                           bool uses_margins) {
    double proposed = (double)proposed_for(question, candidates, uses_margins);
    return question->of_cosines ? effort_cosines_ns(question, candidates) + PROPOSED_NS * proposed
                                : 0;
}

double effort_exhaustive_ns(const struct effort_question *question) {
    bool are_many = question->queries >= TILED_QUERIES;
    double weighing = WEIGHED_TERM_NS / (double)(question->queries ? question->queries : 1);
    return (double)question->rows * question->row_terms *
           (are_many ? TILED_TERM_NS + weighing : SCANNED_TERM_NS);
}

/* Without k, which methods need to predict memory but not time. */
static struct method_size size_of(const struct effort_question *question, bool uses_margins) {
    return (struct method_size){.rows = question->rows,
                                .queries = question->queries,
                                .bits = question->bits,
                                .has_margins = uses_margins,
                                .threads = 1};
}

static double predicted_ns(const struct search_method *method, const struct method_size *size) {
    struct method_prediction prediction = {0};
    if (method->predict)
        method->predict(size, NULL, &prediction);
    return prediction.query_ns;
}

static double method_ns(const struct effort_question *question, const struct search_method *method,
                        unsigned effort, bool uses_margins) {
    struct method_size size = size_of(question, uses_margins);
    size.effort = effort;
    return predicted_ns(method, &size);
}

double effort_look_ns(const struct effort_question *question, const struct search_method *method) {
    struct method_size size = size_of(question, true);
    size.looks = true;
    return method->has_looks ? predicted_ns(method, &size)
                             : method_ns(question, method_of(method_exhaustive(false)), 0, false);
}

bool effort_is_hopeless(const struct effort_question *question, const struct search_method *method,
                        unsigned effort, bool uses_margins) {
    /* Models are rough, methods can be requested by name, and other segments may be cheaper. */
    enum { TIMES_SLOWER = 16, TIMES_ALL_COSINES = 2 };
    double own_ns = method_ns(question, method, effort, uses_margins);
    if (own_ns > TIMES_SLOWER * method_ns(question, method_of(method_exhaustive(false)), 0, false))
        return true;
    size_t candidates = recall_candidates(question->k, effort);
    return question->of_cosines && own_ns + proposals_ns(question, candidates, uses_margins) >
                                       TIMES_ALL_COSINES * effort_exhaustive_ns(question);
}

/* Chooses the cheapest of all sufficient efforts if it is cheaper than *choice or there is no
 * choice yet. */
static bool choose_measured(const struct effort_question *question,
                            const struct recall_measures *measures,
                            const struct search_method *method, bool uses_margins, bool has_choice,
                            struct effort_choice *choice) {
    uint32_t flags =
        (question->of_cosines ? RECALL_OF_COSINES : 0) | (uses_margins ? RECALL_WITH_MARGINS : 0);
    const struct recall_measure *measure = NULL;
    while ((measure = recall_measure_reaching(measures, method->name, flags, question->k,
                                              question->recall, measure))) {
        if (measure->effort >= method->effort_steps) /* only in a damaged file */
            continue;
        size_t candidates = recall_candidates(question->k, measure->effort);
        double query_ns = method_ns(question, method, measure->effort, uses_margins) +
                          proposals_ns(question, candidates, uses_margins);
        if (has_choice && query_ns >= choice->query_ns)
            continue;
        has_choice = true;
        *choice =
            (struct effort_choice){.method = method,
                                   .effort = measure->effort,
                                   .candidates = candidates,
                                   .proposed = proposed_for(question, candidates, uses_margins),
                                   .uses_margins = uses_margins,
                                   .recall = recall_measure_share(measure),
                                   .query_ns = query_ns};
    }
    return has_choice;
}

bool effort_choose(const struct effort_question *question, const struct recall_measures *measures,
                   const struct search_method *method, struct effort_choice *choice) {
    if (!question->of_cosines && method == method_of(method_exhaustive(false))) {
        *choice = (struct effort_choice){.method = method, .recall = {1, 1, 1}};
        choice->query_ns = method_ns(question, method, 0, false);
        return true;
    }
    bool found =
        question->has_margins && choose_measured(question, measures, method, true, false, choice);
    return choose_measured(question, measures, method, false, found, choice);
}

bool effort_choose_all(const struct effort_question *question, bool is_measured,
                       struct effort_choice *choice) {
    const struct search_method *method = method_of(method_exhaustive(false));
    *choice = (struct effort_choice){.method = method,
                                     .candidates = question->rows,
                                     .proposed = question->rows,
                                     .recall = {1, 1, 1}};
    choice->query_ns =
        method_ns(question, method, 0, false) + effort_cosines_ns(question, question->rows);
    return question->rows <= (is_measured ? ALL_ROWS_MAX : UNMEASURED_ROWS_MAX);
}
