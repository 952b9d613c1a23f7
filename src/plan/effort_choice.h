/* Chooses the effort of a nearest-neighbour search: the cheapest that reaches the wanted recall, by
 * measurements made when the rows were indexed.
 *
 * In: the question, and the measures of a segment. Out: method, effort, number of candidates for
 * the true cosine, the measured recall, and the approximate time per query. A higher recall leaves
 * fewer choices, so it never gets a cheaper one. */
#pragma once

#include "plan/method_table.h"
#include "plan/recall_measures.h"

struct effort_question {
    size_t rows, queries, k;
    unsigned bits;
    double recall;
    double row_terms; /* entries of a row's vector, on average */
    bool of_cosines;  /* vectors decide, and signatures only propose */
    bool has_margins; /* of the queries */
};

struct effort_choice {
    const struct search_method *method;
    unsigned effort;
    size_t candidates; /* minimum number of rows that get the true cosine, or a true distance */
    size_t proposed;   /* rows among which margins choose the candidates; without, the candidates */
    bool uses_margins;
    struct measured_share recall;
    double query_ns;
};

/* The cheapest effort of the method; false if no measured effort is sufficient. For the exhaustive
 * method every distance is exact. */
bool effort_choose(const struct effort_question *question, const struct recall_measures *measures,
                   const struct search_method *method, struct effort_choice *choice);
/* Computes every row's true cosine: for segments too small to be measured, or not measured yet.
 * False if there are too many rows for that. */
bool effort_choose_all(const struct effort_question *question, bool is_measured,
                       struct effort_choice *choice);
/* Whether a query with this effort is so much slower than comparing all signatures, or all vectors
 * if cosines decide, that it is not worth measuring. */
bool effort_is_hopeless(const struct effort_question *question, const struct search_method *method,
                        unsigned effort, bool uses_margins);
/* The approximate time per query if every row gets its true cosine. */
double effort_exhaustive_ns(const struct effort_question *question);
/* The approximate time per query of a first look by a method, or of comparing all signatures if the
 * method has none. */
double effort_look_ns(const struct effort_question *question, const struct search_method *method);
/* The approximate time per query of computing the true cosines of this number of rows. */
double effort_cosines_ns(const struct effort_question *question, size_t candidates);

/* Whether a search with this number of candidates per query weighs all rows once instead of each
 * candidate separately. */
bool effort_weighs_all(size_t rows, size_t queries, size_t candidates);

/* Segments with fewer rows are not measured. */
enum { EFFORT_ROWS_MIN = 2000 };
