#include "search/psm/psm_method.h"

#include "search/psm/psm.h"

static const cog_knob knobs[] = {
    [PSM_HEADER] = {"header", COG_KNOB_NUMBER, 1, BUCKET_HEADER_BITS_MAX, NULL, "T",
                    "bits of a key that address the table (by the number of rows)", COG_KNOB_BUILD},
    [PSM_FLIPS] = {"flips", COG_KNOB_NUMBER, 1, PSM_PROBES_MAX - 1, NULL, "K",
                   "flips tried per query, the most probable ones (by the recall)",
                   COG_KNOB_SEARCH},
};

const struct search_method psm_method = {
    .name = "psm",
    .summary = "64 or 128 bits within a radius, probably; needs margins",
    .knobs = knobs,
    .knob_count = sizeof knobs / sizeof *knobs,
    .answers = COG_ANSWERS_WITHIN | COG_ANSWERS_ANY,
    .needs = NEEDS_ROW_MARGINS | NEEDS_QUERY_MARGINS,
    .bits_min = 64,
    .bits_max = 128,
    .bits_step = 64,
    .is_chosen_unmeasured = true,
};
