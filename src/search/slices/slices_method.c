#include "search/slices/slices_method.h"

#include "hamming/hamming.h"
#include "search/slices/slices.h"

static const cog_knob knobs[] = {
    [SLICES_WIDTH] = {"slice-bits", COG_KNOB_NUMBER, 1, SLICE_WIDTH_MAX, NULL, "W",
                      "width of the slices (by the number of rows)", COG_KNOB_BUILD},
    [SLICES_EXPAND] = {"expand", COG_KNOB_NUMBER, 0, SLICE_WIDTH_MAX, NULL, "I",
                       "read the posting lists of values up to I bits away (by the recall)",
                       COG_KNOB_SEARCH},
    [SLICES_ADMIT] = {"admit", COG_KNOB_NUMBER, 0, SLICE_WIDTH_MAX, NULL, "J",
                      "posting lists beyond J bits bring no new candidates (as many as are read)",
                      COG_KNOB_SEARCH},
};

const struct search_method slices_method = {
    .name = "slices",
    .summary = "posting lists of rows by slices of their signatures",
    .knobs = knobs,
    .knob_count = sizeof knobs / sizeof *knobs,
    .answers = COG_ANSWERS_NEAREST | COG_ANSWERS_WITHIN,
    .certain = COG_ANSWERS_NEAREST | COG_ANSWERS_WITHIN,
    .needs = PREFERS_QUERY_MARGINS,
    .bits_min = 1,
    .bits_max = HAMMING_MAX_BITS,
    .bits_step = 1,
};
