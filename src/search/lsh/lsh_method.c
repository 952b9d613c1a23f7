#include "search/lsh/lsh_method.h"

#include "estimate/interval.h"
#include "hamming/hamming.h"
#include "search/lsh/lsh_join.h"
#include "search/lsh/lsh_plan.h"

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

/* Whether keys are bands of whole minhash values, which have no bits to flip. */
static bool has_bands(const struct method_join *join) {
    return join->is_minhash && join->value_bits > 1;
}

struct lsh_options lsh_options_of(const struct method_join *join) {
    const cog_knobs *given = &join->knobs;
    struct lsh_options options = {.tables = (unsigned)knob_or(given, LSH_TABLES, 0)};
    if (has_bands(join)) {
        options.band_values = (unsigned)knob_or(given, LSH_BAND_VALUES, 0);
        options.value_bits = join->value_bits;
        return options;
    }
    options.key_bits = (unsigned)knob_or(given, LSH_KEY_BITS, 0);
    options.flip_both = knob_or(given, LSH_FLIP_SIDE, 0);
    options.seed = join->seed;
    if (knob_or(given, LSH_FLIPS, 1) > 0) /* choices are in falling order of the modes */
        options.flip_mode = LSH_FLIP_ACROSS - (enum lsh_flip_mode)knob_or(given, LSH_FLIP_MODE, 0);
    if (options.flip_mode != LSH_FLIP_NONE)
        options.flips = (unsigned)knob_or(given, LSH_FLIPS, 0);
    return options;
}

static cog_status check_bands(const struct method_join *join, cog_error *error) {
    struct lsh_options least = lsh_options_of(join);
    if (knob_or(&join->knobs, LSH_KEY_BITS, 0) || knob_or(&join->knobs, LSH_FLIPS, 0) ||
        knob_or(&join->knobs, LSH_FLIP_SIDE, 0))
        return error_about(error, COG_ERR_USAGE, "value_bits",
                           "bands of minhash values of %u bits have no key bits and no flips: give "
                           "tables and values per band, or take one bit per value",
                           join->value_bits);
    least.tables += least.tables == 0;
    least.band_values += least.band_values == 0;
    return lsh_options_check(&least, join->bits, false, error);
}

static cog_status check_join(const struct method_join *join, cog_error *error) {
    if (join->is_minhash != join->is_jaccard)
        return error_about(
            error, COG_ERR_USAGE, "kind",
            join->is_minhash
                ? "minhash signatures do not tell a cosine: use rp, simhash or topsig, "
                  "or the Jaccard measure"
                : "keys tell a Jaccard coefficient only of minhash signatures: use "
                  "minhash");
    if (!join->verify)
        return error_about(error, COG_ERR_USAGE, "verify",
                           "lsh checks every candidate by its true measure: verify, "
                           "or use the method flat");
    if (has_bands(join))
        return check_bands(join, error);
    if (knob_is_given(&join->knobs, LSH_BAND_VALUES))
        return error_about(
            error, COG_ERR_USAGE, "band-values",
            "bands are of minhash values of several bits: use the Jaccard measure with "
            "32 bits per value, or give no number of values per band");
    const struct lsh_demand demand = {
        .bits = join->bits, .have_margins = !join->is_minhash, .given = lsh_options_of(join)};
    return lsh_plan_check(&demand, error);
}

/* Most true pairs are nearer than the threshold: the recall is planned for the pairs of a sample,
 * or, if it has few, for pairs at the threshold. */
static cog_status plan_keys(struct method_join *join, struct lsh_options *options,
                            cog_error *error) {
    const double at_threshold = join_cosine(join, join->threshold);
    const struct method_rows *rows = join_second(join) ? &join->second : &join->first;
    const struct lsh_demand demand = {
        .kind = join_second(join) ? LSH_JOIN_CROSS : LSH_JOIN_SELF,
        .rows = rows->signatures->rows,
        .bits = join->bits,
        .threads = join->threads,
        .have_margins = !join->is_minhash,
        .recall = join->pairs.independent >= 0
                      ? recall_to_plan_for(join->recall, join->pairs.independent)
                      : join->recall,
        .targets = {.cosines = &at_threshold,
                    .count = join->pairs.count ? join->pairs.count : 1,
                    .known = join->pairs.count ? join->pairs.rows : NULL},
        .given = *options};
    return lsh_plan(&demand, options, &join->expected_out, error);
}

static cog_status plan_join(struct method_join *join, cog_error *error) {
    struct lsh_options options = lsh_options_of(join);
    if (has_bands(join)) {
        join->expected_out =
            band_plan(join->threshold, join->recall, join->value_bits,
                      join->bits / join->value_bits, &options.band_values, &options.tables);
    } else {
        TRY(plan_keys(join, &options, error));
        knob_set(&join->knobs, LSH_KEY_BITS, options.key_bits);
        knob_set(&join->knobs, LSH_FLIPS, options.flips);
    }
    knob_set(&join->knobs, LSH_TABLES, options.tables);
    knob_set(&join->knobs, LSH_BAND_VALUES, options.band_values);
    const struct method_rows *rows = join_second(join) ? &join->second : &join->first;
    join->margins_out = options.flip_mode >= LSH_FLIP_DISTANCE ? lsh_bits_used(&options) : 0;
    join->directed_out = !lsh_is_symmetric(&options);
    join->table_bytes_out =
        lsh_tables_memory_bytes(&options, rows->signatures->rows, join->threads);
    report_number(join->report, "key_bits", options.key_bits);
    report_number(join->report, "band_values", options.band_values);
    report_number(join->report, "tables", options.tables);
    report_number(join->report, "flips", options.flips);
    report_number(join->report, "expected_recall", join->expected_out);
    return COG_OK;
}

/* Few true pairs exceed the radius, and most candidates do: they need no true measure. Distances
 * between values of several bits say nothing, so bands have no radius. */
static cog_status join_rows(struct method_join *join, struct match_list *pairs, cog_error *error) {
    const struct lsh_options options = lsh_options_of(join);
    struct lsh_work work = {0};
    TRY(lsh_join(&join->first, join_second(join) ? &join->second : NULL, &options,
                 has_bands(join) ? join->bits : join_radius(join, LSH_RADIUS_RECALL), join->threads,
                 pairs, &work, error));
    report_number(join->report, "candidates", (double)work.entries);
    report_number(join->report, "comparisons", (double)work.comparisons);
    report_number(join->report, "comparisons_a_query", work.comparisons_a_query);
    report_number(join->report, "table_bytes", (double)work.table_bytes);
    return COG_OK;
}

const struct search_method lsh_method = {
    .name = "lsh",
    .summary = "hash tables: rows that share a key are verified",
    .knobs = knobs,
    .knob_count = sizeof knobs / sizeof *knobs,
    .answers = COG_ANSWERS_PAIRS,
    .bits_min = 8,
    .bits_max = HAMMING_MAX_BITS,
    .bits_step = 1,
    .check_join = check_join,
    .planned_rows = 2000,
    .plan_join = plan_join,
    .join = join_rows,
};
