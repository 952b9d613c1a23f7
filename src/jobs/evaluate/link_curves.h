/* Whether the probabilities of links are true, measured against known links: calibration (stated
 * against true, in bins of the probability) and the curve of precision and recall that keeping the
 * links above each probability gives.
 *
 * In: links that link_gold_take judged. Out: a file each, as CSV, or as a picture if its name ends
 * in .svg. A link that is not known counts as wrong. Time: that of sorting the links. */
#pragma once

#include "jobs/evaluate/link_scores.h"

/* Either path may be NULL; "-" is standard output. COG_ERR_INPUT if a link has no probability;
 * `found` is where the links come from, for that error. Sorts gold->links. */
cog_status link_curves_write(struct link_gold *gold, const char *found, const char *calibration,
                             const char *curve, cog_error *error);
