#include "search/window/window_method.h"

#include "hamming/hamming.h"

static const cog_knob knobs[] = {
    [WINDOW_TABLES] = {"tables", COG_KNOB_NUMBER, 1, 4096, NULL, "Q",
                       "permutations of the bits (chosen)", COG_KNOB_PAIRS},
    [WINDOW_ROWS] = {"window", COG_KNOB_NUMBER, 1, UINT32_MAX, NULL, "B",
                     "rows of a window (chosen)", COG_KNOB_PAIRS},
    [WINDOW_CHUNK] = {"chunk", COG_KNOB_NUMBER, 1, UINT32_MAX, NULL, "M",
                      "rows that a thread takes at a time (chosen)", COG_KNOB_PAIRS},
    [WINDOW_SHARED] = {"shared-window", COG_KNOB_FLAG, 0, 1, NULL, NULL,
                       "two collections share the rows of a window, as published", COG_KNOB_PAIRS},
};

const struct search_method window_method = {
    .name = "window",
    .summary = "windows over signatures sorted under permutations of their bits",
    .knobs = knobs,
    .knob_count = sizeof knobs / sizeof *knobs,
    .answers = COG_ANSWERS_PAIRS,
    .bits_min = 8,
    .bits_max = HAMMING_MAX_BITS,
    .bits_step = 1,
};
