#include "join/join_method.h"

const struct search_method exact_method = {
    .name = "exact",
    .summary = "the true measure on vectors and sets; no pair is missed",
    .answers = COG_ANSWERS_PAIRS | COG_ANSWERS_NEAREST | COG_ANSWERS_WITHIN,
    .certain = COG_ANSWERS_PAIRS | COG_ANSWERS_NEAREST | COG_ANSWERS_WITHIN,
    .needs = NEEDS_VECTORS,
};

const struct search_method lists_method = {
    .name = "lists",
    .summary = "inverted lists, cut where the wanted recall allows; pairs by cosine only",
    .answers = COG_ANSWERS_PAIRS,
    .needs = NEEDS_VECTORS,
};
