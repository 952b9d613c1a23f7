/* The descriptors of the methods that compare vectors and sets and need no signatures: exact, and
 * lists, which bounds the tails of rows by what the wanted recall allows. */
#pragma once

#include "search/method.h"

extern const struct search_method exact_method, lists_method;

/* Whether the method lists is worth the pairs that it misses: whether the exact way, at that many
 * nanoseconds per pair of rows and term that the two rows have, would take about a second of a
 * processor or more. The same for every machine and number of threads. */
bool lists_method_pays(const struct sparse_matrix vectors[2], double exact_term_ns);
