/* Evaluates the probabilities of links against known links: calibration (stated against true, in
 * bins of the probability), and the curve of precision and recall for keeping the links above each
 * probability.
 *
 * In: links judged by link_gold_take. Out: one file each, as CSV, or as a picture if its name ends
 * in .svg, also compressed; names of other pictures are refused. An unknown link counts as wrong.
 * Time: that of sorting the links. */
#pragma once

#include "jobs/evaluate/link_scores.h"

/* Either path may be NULL; "-" is standard output. COG_ERR_INPUT if a link has no probability;
 * `found` is the source of the links, for that error. Sorts gold->links. */
cog_status link_curves_write(struct link_gold *gold, const char *found, const char *calibration,
                             const char *curve, cog_error *error);
