/* The descriptor of the method lsh (search/method.h), and the numbers of its knobs. */
#pragma once

#include "search/lsh/lsh_keys.h"
#include "search/method.h"

enum lsh_knob {
    LSH_KEY_BITS,
    LSH_TABLES,
    LSH_FLIPS,
    LSH_FLIP_MODE, /* across, distance, random, none */
    LSH_FLIP_SIDE, /* 1: rows of the tables are flipped as well as queries */
    LSH_BAND_VALUES,
};
extern const struct search_method lsh_method;

/* The radius for candidates misses almost no true pair. */
#define LSH_RADIUS_RECALL 0.9999
/* The knobs of a join as options; 0 if not given. */
struct lsh_options lsh_options_of(const struct method_join *join);
