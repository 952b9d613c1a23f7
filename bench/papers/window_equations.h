/* The recall of sliding windows as Ture et al. (2011) predict it: equations 4 and 5. Benchmarks
 * print the figures next to measured recall and to the model that the planner uses
 * (search/window/window_plan.h). */
#pragma once

#include "search/window/window_plan.h"

/* Equation 4: two rows at this cosine share a prefix of n bits in at least one of m tables, if the
 * tables had bits of their own. */
double window_equation_4(double cosine, unsigned prefix_bits, unsigned tables);
/* Equation 5: their distance is within T when they share the prefix. */
double window_equation_5(double cosine, unsigned prefix_bits, unsigned bits, uint32_t radius_bits);
/* The product, with a prefix of log2(C / B) bits, rounded down or up: the paper's range. */
double window_recall_published(const struct window_setting *setting, size_t rows, double cosine,
                               bool round_up);
