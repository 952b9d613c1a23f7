/* The descriptor of the method lsh (search/method.h), and the numbers of its knobs. */
#pragma once

#include "search/lsh/lsh_keys.h"
#include "search/method.h"

enum lsh_knob {
    LSH_KEY_BITS,
    LSH_TABLES,
    LSH_FLIPS,
    LSH_FLIP_MODE, /* lsh_flip_choice */
    LSH_FLIP_SIDE, /* 1: rows of the tables are flipped as well as queries */
    LSH_BAND_VALUES,
};
/* The choices of LSH_FLIP_MODE. */
enum lsh_flip_choice { LSH_CHOICE_ACROSS, LSH_CHOICE_DISTANCE, LSH_CHOICE_RANDOM, LSH_CHOICE_NONE };

extern const struct search_method lsh_method;

/* The knobs as options; 0 for what is not given. */
struct lsh_options lsh_options_of(const cog_knobs *given, uint64_t seed);
