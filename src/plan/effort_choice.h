/* The effort of a search of the nearest rows: the cheapest that reaches the wanted recall, by what
 * was measured when the rows were indexed.
 *
 * In: the question, and the measures of a segment. Out: method, effort, candidates for the true
 * cosine, the recall measured, and about how long a query takes. A higher recall leaves fewer
 * choices, so the cheapest of them is never cheaper than that of a lower recall. */
#pragma once

#include "plan/method_table.h"
#include "plan/recall_measures.h"

struct effort_question {
    size_t rows, queries, k;
    unsigned bits;
    double recall;
    double row_terms; /* of a row's vector, on average */
    bool of_cosines;  /* vectors decide, and signatures propose */
    bool has_margins; /* of the queries */
};

struct effort_choice {
    const struct search_method *method;
    unsigned effort;
    size_t candidates; /* for the true cosine, or rows that get a true distance, at least */
    size_t proposed;   /* rows of which the margins choose the candidates, or the candidates */
    bool uses_margins;
    struct measured_share recall;
    double query_ns;
};

/* The cheapest effort of the method; false if no effort that was measured is enough. Every distance
 * is exact by the method that compares all. */
bool effort_choose(const struct effort_question *question, const struct recall_measures *measures,
                   const struct search_method *method, struct effort_choice *choice);
/* Every row gets its true cosine: for segments too small to be measured, or not measured yet. False
 * if there are more rows than that is worth. */
bool effort_choose_all(const struct effort_question *question, bool is_measured,
                       struct effort_choice *choice);
/* Whether a query with this effort takes so much longer than comparing all signatures, or all
 * vectors if cosines decide, that nobody would choose it: it is not worth measuring. */
bool effort_is_hopeless(const struct effort_question *question, const struct search_method *method,
                        unsigned effort, bool uses_margins);
/* About how long one query takes that gets the true cosine of every row. */
double effort_exhaustive_ns(const struct effort_question *question);
/* About how long one query takes for a first look by a method, or to be compared with all
 * signatures if the method has none, */
double effort_look_ns(const struct effort_question *question, const struct search_method *method);
/* and to get the true cosines of this number of rows. */
double effort_cosines_ns(const struct effort_question *question, size_t candidates);

/* Whether a search that has this number of candidates per query weighs all rows once, rather than
 * each candidate for itself. */
bool effort_weighs_all(size_t rows, size_t queries, size_t candidates);

/* Segments of fewer rows are not measured. */
enum { EFFORT_ROWS_MIN = 2000 };
