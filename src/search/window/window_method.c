#include "search/window/window_method.h"

#include <stdlib.h>

#include "base/memory.h"
#include "estimate/interval.h"
#include "hamming/hamming.h"
#include "search/window/window_join.h"
#include "search/window/window_plan.h"

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

/* The true pairs to plan for, and how many rows share prefixes with theirs. */
struct targets {
    double cosines[32];
    uint32_t *distances;
    double sharing[WINDOW_PREFIX_MAX + 1];
};

/* Pairs of signatures count by their distances; 32 cosines represent all pairs of vectors. */
static cog_status take_pairs(const struct method_join *join, struct targets *targets,
                             struct window_targets *wanted, cog_error *error) {
    enum { COSINES = sizeof targets->cosines / sizeof *targets->cosines };
    const struct match *items = join->pairs.items;
    const size_t count = join->pairs.count;
    uint32_t places[SHARING_SAMPLE];
    size_t sampled = 0;
    *wanted = (struct window_targets){.count = count, .sharing = targets->sharing};
    if (join->threshold == 0) {
        TAKE(targets->distances, count, "the plan", error);
        for (size_t i = 0; i < count; i++)
            targets->distances[i] = items[i].distance;
        wanted->distances = targets->distances;
    } else {
        for (size_t i = 0; i < COSINES; i++)
            targets->cosines[i] = join_cosine(
                join, (double)items[(2 * i + 1) * count / (size_t)(2 * COSINES)].similarity);
        wanted->cosines = targets->cosines;
        wanted->count = COSINES;
    }
    for (size_t i = 0; i < count; i += count / SHARING_SAMPLE + 1)
        places[sampled++] = items[i].a;
    return window_measure_sharing(join->first.signatures, join_second(join),
                                  knob_or(&join->knobs, WINDOW_SHARED, 0), places, sampled,
                                  targets->sharing, error);
}

/* Chooses tables and window for the true pairs of a sample, or, if it has few, for pairs at the
 * threshold or the radius among rows that are evenly spread. */
static cog_status choose(const struct method_join *join, struct window_setting *setting,
                         cog_error *error) {
    struct targets targets = {.cosines = {join_cosine(join, join->threshold)}};
    struct window_targets wanted = {0};
    double recall = join->recall;
    size_t rows = join->first.signatures->rows + (join_second(join) ? join_second(join)->rows : 0);
    if (join->threshold > 0)
        wanted = (struct window_targets){.cosines = targets.cosines, .count = 1};
    cog_status status = COG_OK;
    if (join->pairs.count) {
        status = take_pairs(join, &targets, &wanted, error);
        /* A quarter of the misses is left to the model, which takes an average of the rows. */
        recall = recall_to_plan_for((1 + 3 * recall) / 4, join->pairs.independent);
    }
    if (status == COG_OK) {
        double expected = window_plan(setting, rows, &wanted, recall);
        report_number(join->report, "tables", setting->tables);
        report_number(join->report, "window_rows", (double)setting->window);
        report_number(join->report, "expected_recall", expected);
    }
    free(targets.distances);
    return status;
}

/* Radius and window may both miss a pair: they share what may be missed. */
static cog_status join_rows(struct method_join *join, struct match_list *pairs, cog_error *error) {
    const uint32_t radius_bits = join_radius(join, (1 + join->recall) / 2);
    struct window_setting setting = {join->bits, (unsigned)knob_or(&join->knobs, WINDOW_TABLES, 0),
                                     knob_or(&join->knobs, WINDOW_ROWS, 0), radius_bits};
    struct window_work work = {0};
    TRY(choose(join, &setting, error));
    const struct window_options options = {.tables = setting.tables,
                                           .window = setting.window,
                                           .chunk_rows = knob_or(&join->knobs, WINDOW_CHUNK, 0),
                                           .radius_bits = radius_bits,
                                           .seed = join->seed,
                                           .threads = join->threads,
                                           .memory_bytes = join->memory_bytes,
                                           .shared_window =
                                               knob_or(&join->knobs, WINDOW_SHARED, 0)};
    cog_status status =
        window_join(join->first.signatures, join_second(join), &options, pairs, &work, error);
    if (join->threshold > 0)
        report_number(join->report, "radius_bits", radius_bits);
    else
        report_number(join->report, "pieces_on_disk", (double)work.pieces);
    report_number(join->report, "comparisons", (double)work.comparisons);
    return status;
}

const struct search_method window_method = {
    .name = "window",
    .summary = "sliding windows over signatures sorted under permutations of their bits",
    .knobs = knobs,
    .knob_count = sizeof knobs / sizeof *knobs,
    .answers = COG_ANSWERS_PAIRS,
    .bits_min = 8,
    .bits_max = HAMMING_MAX_BITS,
    .bits_step = 1,
    .check_join = join_check_signatures,
    .planned_rows = 2000,
    .join = join_rows,
    .joins_whole = true,
};
