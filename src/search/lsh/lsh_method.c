#include "search/lsh/lsh_method.h"

#include "hamming/hamming.h"
#include "search/lsh/lsh_keys.h"

static const char *const modes[] = {"across", "distance", "random", "none"};
static const char *const sides[] = {"query", "both"};

static const cog_knob knobs[] = {
    [LSH_KEY_BITS] = {"key-bits", COG_KNOB_NUMBER, 2, LSH_KEY_BITS_MAX, NULL, "K",
                      "bits of a key, an even number (chosen)", COG_KNOB_PAIRS},
    [LSH_TABLES] = {"tables", COG_KNOB_NUMBER, 1, LSH_TABLES_MAX, NULL, "L",
                    "tables, or bands of minhash values (chosen)", COG_KNOB_PAIRS},
    [LSH_FLIPS] = {"flips", COG_KNOB_NUMBER, 0, LSH_KEY_BITS_MAX, NULL, "F",
                   "extra keys per table, with flipped bits (chosen)", COG_KNOB_PAIRS},
    [LSH_FLIP_MODE] = {"flip-mode", COG_KNOB_CHOICE, 0, 3, modes, "HOW",
                       "flip the likeliest bits of all tables, the bits of each key nearest to "
                       "zero, or random bits (across)",
                       COG_KNOB_PAIRS},
    [LSH_FLIP_SIDE] = {"flip-side", COG_KNOB_CHOICE, 0, 1, sides, "WHICH",
                       "flip bits of queries only, or of rows in the tables as well (query)",
                       COG_KNOB_PAIRS},
    [LSH_BAND_VALUES] = {"band-values", COG_KNOB_NUMBER, 1, 512, NULL, "R",
                         "minhash values per band (chosen)", COG_KNOB_PAIRS},
};

const struct search_method lsh_method = {
    .name = "lsh",
    .summary = "rows that share a key in a hash table, then their true measure",
    .knobs = knobs,
    .knob_count = sizeof knobs / sizeof *knobs,
    .answers = COG_ANSWERS_PAIRS,
    .bits_min = 8,
    .bits_max = HAMMING_MAX_BITS,
    .bits_step = 1,
};
