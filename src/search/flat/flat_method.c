#include "search/flat/flat_method.h"

#include "hamming/hamming.h"

const struct search_method flat_method = {
    .name = "flat",
    .summary = "all signatures are compared, then the true measure of what is near",
    .answers = COG_ANSWERS_PAIRS | COG_ANSWERS_NEAREST | COG_ANSWERS_WITHIN,
    .certain = COG_ANSWERS_PAIRS | COG_ANSWERS_NEAREST | COG_ANSWERS_WITHIN,
    .bits_min = 1,
    .bits_max = HAMMING_MAX_BITS,
    .bits_step = 1,
};
