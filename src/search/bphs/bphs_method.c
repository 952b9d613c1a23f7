#include "search/bphs/bphs_method.h"

#include "search/bphs/block_layout.h"

static const cog_knob knobs[] = {
    [BPHS_BLOCKS] = {"blocks", COG_KNOB_NUMBER, 1, BLOCKS_MAX, NULL, "G",
                     "blocks of a key (radius + 2)", COG_KNOB_BUILD},
    [BPHS_CHOOSE] = {"choose", COG_KNOB_NUMBER, 1, BLOCKS_MAX, NULL, "G",
                     "blocks that address a table (2)", COG_KNOB_BUILD},
};

const struct search_method bphs_method = {
    .name = "bphs",
    .summary = "64 or 128 bits within a radius, exactly; ten times the memory at radius 3",
    .knobs = knobs,
    .knob_count = sizeof knobs / sizeof *knobs,
    .answers = COG_ANSWERS_WITHIN | COG_ANSWERS_ANY,
    .certain = COG_ANSWERS_WITHIN | COG_ANSWERS_ANY,
    .bits_min = 64,
    .bits_max = 128,
    .bits_step = 64,
    .is_chosen_unmeasured = true,
};
