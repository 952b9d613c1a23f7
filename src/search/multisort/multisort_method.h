/* The descriptor of joins by blocks of bits that agree (search/method.h). Jobs over signatures
 * choose it by themselves: it has no number of its own. */
#pragma once

#include "search/method.h"

extern const struct search_method multisort_method;
/* Whether a join of these rows is quicker by blocks than by comparing all of them: short
 * signatures, a small radius, and enough rows to pay for sorting. */
bool multisort_pays(const struct method_join *join);
