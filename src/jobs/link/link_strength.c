#include "jobs/link/link_strength.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"

enum { MARGIN, HEIGHT, COSINE, LENGTHS };
enum { WEIGHTS = LINK_FEATURES + 1 }; /* the last one is the constant */

/* ---- Features -------------------------------------------------------------------------------- */

/* Lengths that differ by a factor of more than 4.5 are treated as differing by that factor. */
static const double MOST_UNUSUAL = 1.5;

static void take_features(const struct link_strength *strength, const struct link_view *view,
                          double features[LINK_FEATURES]) {
    features[MARGIN] = (double)view->margin;
    features[HEIGHT] = (double)view->height;
    features[COSINE] = (double)view->cosine;
    features[LENGTHS] = fmin(fabs((double)view->lengths - strength->usual_lengths), MOST_UNUSUAL);
}

int link_part_of(const struct link_view *view) {
    return view->margin > 0 ? LINK_PREFERRED : LINK_OTHERS;
}

float link_strength_of(const struct link_strength *strength, const struct link_view *view) {
    const struct link_weights *weights = &strength->parts[link_part_of(view)];
    double features[LINK_FEATURES], sum = weights->constant;
    if (!weights->is_known || isinf(view->margin))
        return -INFINITY;
    take_features(strength, view, features);
    for (size_t f = 0; f < LINK_FEATURES; f++)
        sum += weights->features[f] * features[f];
    return (float)sum;
}

struct link_strength link_strength_of_heights(void) {
    const struct link_weights height = {true, {[HEIGHT] = 1}, 0};
    return (struct link_strength){.parts = {height, height}};
}

struct weighted {
    float value;
    double weight;
};

static int by_value(const void *x, const void *y) {
    float a = ((const struct weighted *)x)->value, b = ((const struct weighted *)y)->value;
    return ORDER(a, b);
}

/* The median of the lengths, weighted by link. */
static cog_status find_usual_lengths(struct link_strength *strength,
                                     const struct link_sample *sample, const double *weights,
                                     cog_error *error) {
    struct weighted *lengths;
    size_t count = 0;
    double total = 0, passed = 0;
    TAKE(lengths, sample->count, "links", error);
    for (size_t i = 0; i < sample->count; i++)
        if (sample->links[i].margin > 0) {
            lengths[count++] = (struct weighted){sample->links[i].lengths, weights[i]};
            total += weights[i];
        }
    if (count)
        qsort(lengths, count, sizeof *lengths, by_value);
    strength->usual_lengths = 0;
    for (size_t i = 0; i < count && passed < total / 2; i++) {
        strength->usual_lengths = (double)lengths[i].value;
        passed += lengths[i].weight;
    }
    free(lengths);
    return COG_OK;
}

/* ---- Examples -------------------------------------------------------------------------------- */

struct examples {
    const struct link_strength *strength;
    const struct link_sample *sample;
    const double *right, *partners;
    unsigned parts; /* bits of the parts used */
    size_t first;   /* the first feature used */
    size_t count;
    double means[LINK_FEATURES], scales[LINK_FEATURES];
};

struct example {
    double features[WEIGHTS]; /* standardised once the scales are known; the last one is 1 */
    double weight;
    bool is_link;
};

/* Example 2i is link i and example 2i + 1 its decoy. False if it is not used. */
static bool take_example(const struct examples *examples, size_t place, struct example *example) {
    const struct link_sample *sample = examples->sample;
    size_t link = place / 2;
    example->is_link = place % 2 == 0;
    const struct link_view *view = (example->is_link ? sample->links : sample->decoys) + link;
    if (isinf(view->margin) || !(examples->parts >> link_part_of(view) & 1))
        return false;
    example->weight = (example->is_link ? examples->right : examples->partners)[link];
    take_features(examples->strength, view, example->features);
    for (size_t f = 0; f < LINK_FEATURES; f++)
        example->features[f] =
            f < examples->first ? 0
                                : (example->features[f] - examples->means[f]) / examples->scales[f];
    example->features[LINK_FEATURES] = 1;
    return true;
}

/* Mean and standard deviation of each feature. */
static void measure_features(struct examples *examples) {
    const double least = 1e-9; /* for a constant feature */
    double sums[LINK_FEATURES] = {0}, squares[LINK_FEATURES] = {0};
    struct example example;
    for (size_t f = 0; f < LINK_FEATURES; f++) {
        examples->means[f] = 0;
        examples->scales[f] = 1;
    }
    for (size_t i = 0; i < 2 * examples->sample->count; i++) {
        if (!take_example(examples, i, &example))
            continue;
        examples->count++;
        for (size_t f = 0; f < LINK_FEATURES; f++) {
            sums[f] += example.features[f];
            squares[f] += example.features[f] * example.features[f];
        }
    }
    for (size_t f = 0; f < LINK_FEATURES && examples->count; f++) {
        double mean = sums[f] / (double)examples->count;
        double variance = squares[f] / (double)examples->count - mean * mean;
        examples->means[f] = mean;
        examples->scales[f] = sqrt(fmax(variance, 0)) + least;
    }
}

/* ---- Regression ------------------------------------------------------------------------------ */

/* The loss (negative log-likelihood plus a penalty on large weights) with its first and second
 * derivatives. */
struct loss {
    double value, slope[WEIGHTS], curve[WEIGHTS][WEIGHTS];
};

static void add_example(struct loss *loss, const struct example *example, const double *weights) {
    double sum = 0;
    for (size_t f = 0; f < WEIGHTS; f++)
        sum += weights[f] * example->features[f];
    double small = portable_exp(-fabs(sum)), decoy_share = (sum > 0 ? small : 1) / (1 + small);
    double miss = example->is_link ? -decoy_share : 1 - decoy_share;
    double curve = example->weight * decoy_share * (1 - decoy_share);
    bool is_surprise = example->is_link ? sum < 0 : sum > 0;
    loss->value += example->weight * (portable_log(1 + small) + (is_surprise ? fabs(sum) : 0));
    for (size_t f = 0; f < WEIGHTS; f++) {
        loss->slope[f] += example->weight * miss * example->features[f];
        for (size_t g = 0; g <= f; g++)
            loss->curve[f][g] += curve * example->features[f] * example->features[g];
    }
}

static struct loss measure_loss(const struct examples *examples, const double *weights) {
    const double penalty = 1e-3; /* per example and square of a standardised weight */
    struct loss loss = {0};
    struct example example;
    for (size_t i = 0; i < 2 * examples->sample->count; i++)
        if (take_example(examples, i, &example))
            add_example(&loss, &example, weights);
    for (size_t f = 0; f < LINK_FEATURES; f++) {
        double strength = penalty * (double)examples->count;
        loss.value += strength * weights[f] * weights[f];
        loss.slope[f] += 2 * strength * weights[f];
        loss.curve[f][f] += 2 * strength;
    }
    loss.curve[LINK_FEATURES][LINK_FEATURES] +=
        penalty; /* with examples of only one kind the constant would be undetermined */
    return loss;
}

/* Newton's step: solves curve * step = slope by Cholesky decomposition. */
static void find_step(struct loss *loss, double step[WEIGHTS]) {
    double(*a)[WEIGHTS] = loss->curve;
    for (size_t row = 0; row < WEIGHTS; row++) {
        step[row] = loss->slope[row];
        for (size_t column = 0; column <= row; column++) {
            for (size_t k = 0; k < column; k++)
                a[row][column] -= a[row][k] * a[column][k];
            a[row][column] =
                column < row ? a[row][column] / a[column][column] : sqrt(fmax(a[row][row], 1e-12));
        }
        for (size_t k = 0; k < row; k++)
            step[row] -= a[row][k] * step[k];
        step[row] /= a[row][row];
    }
    for (size_t row = WEIGHTS; row-- > 0;) {
        for (size_t k = row + 1; k < WEIGHTS; k++)
            step[row] -= a[k][row] * step[k];
        step[row] /= a[row][row];
    }
}

/* Halves steps that increase the loss. */
static void minimise_loss(const struct examples *examples, double weights[WEIGHTS]) {
    enum { PASSES = 40 };
    const double tolerance = 1e-7; /* relative change of the loss */
    double step[WEIGHTS], next[WEIGHTS], part = 1;
    struct loss loss = measure_loss(examples, weights);
    double value = loss.value;
    find_step(&loss, step);
    for (int pass = 0; pass < PASSES; pass++) {
        for (size_t f = 0; f < WEIGHTS; f++)
            next[f] = weights[f] - part * step[f];
        loss = measure_loss(examples, next);
        if (loss.value > value) {
            part /= 2;
            continue;
        }
        double gain = value - loss.value;
        for (size_t f = 0; f < WEIGHTS; f++)
            weights[f] = next[f];
        if (gain <= tolerance * value)
            return;
        value = loss.value;
        part = 1;
        find_step(&loss, step);
    }
}

/* ---- Learning -------------------------------------------------------------------------------- */

/* Four per learned weight. */
static const double LEAST_EXAMPLES = 4 * WEIGHTS;

/* The total weight of the links or decoys used. */
static double weigh_examples(const struct examples *examples, bool of_links) {
    double sum = 0;
    struct example example;
    for (size_t i = of_links ? 0 : 1; i < 2 * examples->sample->count; i += 2)
        if (take_example(examples, i, &example))
            sum += example.weight;
    return sum;
}

static void learn_weights(struct examples *examples, struct link_weights *learned) {
    double weights[WEIGHTS] = {0};
    measure_features(examples);
    minimise_loss(examples, weights);
    *learned = (struct link_weights){.is_known = true, .constant = weights[LINK_FEATURES]};
    for (size_t f = examples->first; f < LINK_FEATURES; f++) {
        learned->features[f] = weights[f] / examples->scales[f];
        learned->constant -= learned->features[f] * examples->means[f];
    }
}

static struct examples examples_of(const struct link_strength *strength,
                                   const struct link_sample *sample, const double *right,
                                   const double *partners) {
    struct examples examples = {
        .strength = strength, .sample = sample, .right = right, .partners = partners};
    for (size_t f = 0; f < LINK_FEATURES; f++)
        examples.scales[f] = 1;
    return examples;
}

cog_status link_strength_learn(struct link_strength *strength, const struct link_sample *sample,
                               const double *right, const double *partners, cog_error *error) {
    struct examples preferred = examples_of(strength, sample, right, partners), others = preferred;
    preferred.parts = 1U << LINK_PREFERRED;
    others.parts = 1U << LINK_OTHERS;
    *strength = (struct link_strength){.parts[LINK_PREFERRED] = {true, {[MARGIN] = 1}, 0}};
    if (weigh_examples(&preferred, false) < LEAST_EXAMPLES)
        return COG_OK;
    strength->is_learned = true;
    TRY(find_usual_lengths(strength, sample, partners, error));
    learn_weights(&preferred, &strength->parts[LINK_PREFERRED]);
    if (weigh_examples(&others, true) >= LEAST_EXAMPLES &&
        weigh_examples(&others, false) >= LEAST_EXAMPLES)
        learn_weights(&others, &strength->parts[LINK_OTHERS]);
    return COG_OK;
}

cog_status link_strength_learn_partners(struct link_strength *strength,
                                        const struct link_sample *sample, const double *partners,
                                        cog_error *error) {
    struct examples both = examples_of(strength, sample, partners, partners);
    both.parts = 1U << LINK_PREFERRED | 1U << LINK_OTHERS;
    both.first = HEIGHT;
    *strength = link_strength_of_heights();
    if (weigh_examples(&both, false) < LEAST_EXAMPLES)
        return COG_OK;
    strength->is_learned = true;
    TRY(find_usual_lengths(strength, sample, partners, error));
    learn_weights(&both, &strength->parts[LINK_PREFERRED]);
    strength->parts[LINK_OTHERS] = strength->parts[LINK_PREFERRED];
    return COG_OK;
}
