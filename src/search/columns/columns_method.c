#include "search/columns/columns_method.h"

#include "hamming/hamming.h"

const struct search_method columns_method = {
    .name = "columns",
    .summary = "the signatures' bits by column, for far neighbours",
    .answers = COG_ANSWERS_NEAREST,
    .needs = PREFERS_QUERY_MARGINS,
    .bits_min = 1,
    .bits_max = HAMMING_MAX_BITS,
    .bits_step = 1,
};
