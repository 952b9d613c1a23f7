#include "search/window/window_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "estimate/radius.h"
#include "hamming/hamming.h"

void window_rows_sharing(const uint32_t *histogram, unsigned bits, double scale,
                         double sharing[WINDOW_PREFIX_MAX + 1]) {
    memset(sharing, 0, (WINDOW_PREFIX_MAX + 1) * sizeof *sharing);
    for (unsigned distance = 0; distance <= bits; distance++) {
        double rows = histogram[distance] * scale;
        for (unsigned prefix = 0; prefix <= WINDOW_PREFIX_MAX && rows > 0; prefix++) {
            sharing[prefix] += rows;
            /* None of the first prefix + 1 bits is among the `distance` that differ. */
            rows *= prefix + distance < bits
                        ? (double)(bits - distance - prefix) / (double)(bits - prefix)
                        : 0;
        }
    }
}

/* The number of rows that each row of the other collection represents. */
static double rows_per_sampled(const struct signatures_view *first,
                               const struct signatures_view *second, bool shared) {
    if (!second)
        return 1;
    size_t around = first->rows > second->rows ? first->rows : second->rows;
    if (shared)
        around = first->rows + second->rows;
    return (double)around / (double)second->rows;
}

cog_status window_measure_sharing(const struct signatures_view *first,
                                  const struct signatures_view *second, bool shared,
                                  const uint32_t *places, size_t count,
                                  double sharing[WINDOW_PREFIX_MAX + 1], cog_error *error) {
    const struct signatures_view *others = second ? second : first;
    const unsigned bits = others->bits;
    double scale = rows_per_sampled(first, second, shared);
    uint16_t *distances;
    TAKE(distances, others->rows, "the plan", error);
    memset(sharing, 0, (WINDOW_PREFIX_MAX + 1) * sizeof *sharing);
    for (size_t i = 0; i < count; i++) {
        double of_row[WINDOW_PREFIX_MAX + 1];
        uint32_t histogram[HAMMING_MAX_BITS + 1] = {0};
        hamming_scan(others, signature_row(first, places[i]), 0, others->rows, distances);
        for (size_t row = 0; row < others->rows; row++)
            histogram[distances[row]]++;
        if (!second)
            histogram[0]--; /* the row itself */
        window_rows_sharing(histogram, bits, scale, of_row);
        for (int prefix = 0; prefix <= WINDOW_PREFIX_MAX; prefix++)
            sharing[prefix] += of_row[prefix] / (double)count;
    }
    free(distances);
    return COG_OK;
}

/* Two rows first differ at some bit; each later bit agrees with probability 1 - rho. The position
 * of one row in its half of the block minus that of the other in its half is the sum of (c - b) /
 * 2^i over the later bits. The sum is self-similar, so P(sum <= w) follows from the next bit. */
static double offset_within(double w, double rho, int depth) {
    if (w >= 1)
        return 1;
    if (w <= -1)
        return 0;
    if (depth == 0)
        return (w + 1) / 2;
    return (1 - rho) * offset_within(2 * w, rho, depth - 1) +
           rho / 2 *
               (offset_within(2 * w - 1, rho, depth - 1) +
                offset_within(2 * w + 1, rho, depth - 1));
}

enum { OFFSET_DEPTH = 7, DISTANCE_STEPS = 32 };

/* Two rows that agree in all bits of the model are at random places among the rows that do. */
static double met_alike(const struct window_setting *setting, const double *sharing) {
    const unsigned last = setting->bits < WINDOW_PREFIX_MAX ? setting->bits : WINDOW_PREFIX_MAX;
    double reach = sharing[last] > 0 ? (double)setting->window / sharing[last] : 1;
    return reach < 1 ? 1 - (1 - reach) * (1 - reach) : 1;
}

/* Probability that two rows at a distance come within the window in one table. */
static double met_in_table(const struct window_setting *setting, const double *sharing,
                           unsigned distance) {
    const unsigned bits = setting->bits;
    double rho = (double)distance / bits, alike = 1, met = 0;
    for (unsigned prefix = 0; prefix < WINDOW_PREFIX_MAX && prefix < bits; prefix++) {
        double parting = alike * distance / (double)(bits - prefix);
        double half = sharing[prefix] / 2;
        double reach = half > 0 ? (double)setting->window / half - 1 : 1;
        met += parting * offset_within(reach, rho, OFFSET_DEPTH);
        alike -= parting;
    }
    return met + alike * met_alike(setting, sharing);
}

void window_found(const struct window_setting *setting, const double *sharing, double *found) {
    unsigned step = setting->radius_bits / DISTANCE_STEPS + 1;
    double last = 0;
    for (unsigned distance = 0;; distance += step) {
        double met =
            met_in_table(setting, sharing, distance < setting->bits ? distance : setting->bits);
        double now = 1 - pow(1 - (met < 1 ? met : 1), setting->tables);
        if (distance == 0) /* equal rows have the same order in all tables */
            found[0] = met_alike(setting, sharing);
        for (unsigned i = 1; i <= step && distance; i++)
            if (distance - step + i <= setting->radius_bits)
                found[distance - step + i] = last + (now - last) * i / step;
        last = now;
        if (distance >= setting->radius_bits)
            return;
    }
}

double window_recall(const struct window_setting *setting, const double *found, double cosine) {
    double p = bit_flip_probability_cosine(cosine), recall = 0;
    if (p <= 0)
        return found[0];
    double log_ratio = log(p / (1 - p)), log_probability = setting->bits * log1p(-p);
    for (unsigned distance = 0; distance <= setting->radius_bits && distance <= setting->bits;
         distance++) {
        recall += exp(log_probability) * found[distance];
        log_probability += log((double)(setting->bits - distance) / (distance + 1)) + log_ratio;
    }
    return recall;
}

/* ---- Choosing -------------------------------------------------------------------------------- */

enum {
    PLAN_TABLES_MAX = 4096,
    PLAN_WINDOW_MIN = 32,
    /* What a row of a table costs before its first comparison: its place in the order, and its
     * preparation for comparing. */
    ORDER_COMPARISONS = 200
};

static double expected_recall(const struct window_setting *setting,
                              const struct window_targets *targets) {
    double found[HAMMING_MAX_BITS + 1], sum = 0;
    window_found(setting, targets->sharing, found);
    if (!targets->cosines && !targets->distances)
        return found[setting->radius_bits];
    for (size_t i = 0; i < targets->count; i++)
        sum += targets->cosines ? window_recall(setting, found, targets->cosines[i])
                                : found[targets->distances[i]];
    return sum / (double)targets->count;
}

/* Comparisons of a row in a table, on average over all rows: windows end at the first. */
static double window_comparisons(double window, double rows) {
    return window < rows ? window * (1 - window / (2 * rows)) : rows / 2;
}

/* The share of the targets within the radius. */
static double reachable_recall(const struct window_setting *setting,
                               const struct window_targets *targets) {
    double sum = 0;
    if (!targets->cosines)
        return 1;
    for (size_t i = 0; i < targets->count; i++)
        sum += probability_within(setting->bits, bit_flip_probability_cosine(targets->cosines[i]),
                                  setting->radius_bits);
    return sum / (double)targets->count;
}

/* The fewest tables that reach the recall with this window, PLAN_TABLES_MAX where none do. */
static unsigned fewest_tables(struct window_setting setting, const struct window_targets *targets,
                              double recall) {
    FIND_FIRST_NOT(setting.tables, 1, PLAN_TABLES_MAX, expected_recall(&setting, targets) < recall);
    return setting.tables;
}

double window_plan(struct window_setting *setting, size_t rows, const struct window_targets *wanted,
                   double recall) {
    double spread[WINDOW_PREFIX_MAX + 1], best_cost = INFINITY;
    struct window_setting best = *setting, tried = *setting;
    struct window_targets targets = *wanted;
    for (int prefix = 0; prefix <= WINDOW_PREFIX_MAX; prefix++)
        spread[prefix] = ldexp((double)rows, -prefix);
    if (!targets.sharing)
        targets.sharing = spread;
    double reachable = reachable_recall(setting, &targets);
    recall = recall < 0.999 * reachable ? recall : 0.999 * reachable;
    for (size_t window = PLAN_WINDOW_MIN; window / 2 < rows || window == PLAN_WINDOW_MIN;
         window *= 2) {
        tried.window = setting->window ? setting->window : window;
        tried.tables = setting->tables ? setting->tables : fewest_tables(tried, &targets, recall);
        double cost = tried.tables *
                      (window_comparisons((double)tried.window, (double)rows) + ORDER_COMPARISONS);
        if (cost < best_cost && expected_recall(&tried, &targets) >= recall) {
            best_cost = cost;
            best = tried;
        }
        if (setting->window)
            break;
    }
    if (isinf(best_cost))
        best = tried; /* nothing suffices: the widest window comes nearest */
    *setting = best;
    return expected_recall(setting, &targets);
}

double window_pairs(size_t first_rows, size_t second_rows, size_t window, bool shared) {
    const double first = (double)first_rows, second = (double)second_rows, rows = first + second;
    if (second_rows == 0)
        return first * window_comparisons((double)window + 0.5, first) - first / 2;
    if (shared)
        return rows * window_comparisons((double)window, rows) * 2 * first / rows * second / rows;
    return first * window_comparisons((double)window, second) +
           second * window_comparisons((double)window, first);
}
