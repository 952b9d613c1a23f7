/* How every approximate run tells its measured recall, and every exact one that it is exact. */
#pragma once

#include "estimate/interval.h"
#include "run/report.h"

struct noun {
    const char *one, *many;
};

/* The true `things` ("pairs", "neighbours") of sample_size sampled `units` ("rows", "queries").
 */
void report_recall(cog_report *report, const struct share_tally *tally, size_t sample_size,
                   struct noun things, struct noun units);
/* The same of pairs of rows, and a word where it is less than was asked for, with the method that
 * misses none. */
void report_pair_recall(cog_report *report, const struct share_tally *tally, size_t sample_size,
                        double wanted, const char *exact_method);
void report_exact(cog_report *report);
