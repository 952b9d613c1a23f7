#include "jobs/link/link_decision.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "jobs/link/link_null.h"

/* Values of links or decoys in ascending order, with the index of the link of each. */
struct ordered_values {
    float *values;
    uint32_t *links;
};

/* One value (margin, standing, strength) of the links and decoys. */
struct sorted_view {
    struct ordered_values links, decoys;
};

/* Consecutive links that share a probability. */
struct block {
    double wrong; /* expected number of wrong links */
    size_t links;
};

struct place {
    float value;
    uint32_t link;
};

struct fitting {
    const struct link_sample *sample;
    size_t count;
    struct sorted_view margins, standings, strengths;
    struct ordered_values decoys_by_cosine;
    double *partners; /* by link: probability that its source document has a partner, from its
                         standing */
    double *weights;  /* by link: number of wrong links that its decoy represents */
    double *right;    /* by link: probability that it is right */
    double *sorted;   /* weights in the order of a view's decoys */
    double *wrong;    /* by position in the order of links: expected number of wrong links there */
    float *part_links, *part_decoys; /* strengths of one part, ascending */
    double *part_wrong;              /* by position in the order of the part's links */
    struct block *blocks;
    struct place *places; /* for sorting */
};

/* ---- Sorting --------------------------------------------------------------------------------- */

static int by_value(const void *x, const void *y) {
    const struct place *a = x, *b = y;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return ORDER(a->link, b->link);
}

static void sort_places(const struct fitting *fitting, struct ordered_values *ordered) {
    if (fitting->count)
        qsort(fitting->places, fitting->count, sizeof *fitting->places, by_value);
    for (size_t i = 0; i < fitting->count; i++) {
        ordered->values[i] = fitting->places[i].value;
        ordered->links[i] = fitting->places[i].link;
    }
}

/* Sorts by one member of the views; `first` is that member of the first view. */
static void sort_views(const struct fitting *fitting, struct ordered_values *ordered,
                       const float *first) {
    const size_t step = sizeof(struct link_view) / sizeof(float);
    for (uint32_t i = 0; i < fitting->count; i++)
        fitting->places[i] = (struct place){first[i * step], i};
    sort_places(fitting, ordered);
}

static void sort_by_strength(const struct fitting *fitting, struct ordered_values *ordered,
                             const struct link_strength *strength, const struct link_view *views) {
    for (uint32_t i = 0; i < fitting->count; i++)
        fitting->places[i] = (struct place){link_strength_of(strength, &views[i]), i};
    sort_places(fitting, ordered);
}

static void sort_strengths(const struct fitting *fitting, struct sorted_view *view,
                           const struct link_strength *strength) {
    sort_by_strength(fitting, &view->links, strength, fitting->sample->links);
    sort_by_strength(fitting, &view->decoys, strength, fitting->sample->decoys);
}

enum { ORDERS = 7 };
static void list_orders(struct fitting *fitting, struct ordered_values *orders[ORDERS]) {
    struct ordered_values *all[ORDERS] = {&fitting->margins.links,   &fitting->margins.decoys,
                                          &fitting->standings.links, &fitting->standings.decoys,
                                          &fitting->strengths.links, &fitting->strengths.decoys,
                                          &fitting->decoys_by_cosine};
    memcpy(orders, all, sizeof all);
}

static cog_status fitting_init(struct fitting *fitting, const struct link_sample *sample,
                               cog_error *error) {
    size_t count = fitting->count = sample->count;
    struct ordered_values *orders[ORDERS];
    fitting->sample = sample;
    TAKE(fitting->partners, count, "links", error);
    TAKE(fitting->weights, count, "links", error);
    TAKE(fitting->right, count, "links", error);
    TAKE(fitting->sorted, count, "links", error);
    TAKE(fitting->wrong, count, "links", error);
    TAKE(fitting->part_links, count, "links", error);
    TAKE(fitting->part_decoys, count, "links", error);
    TAKE(fitting->part_wrong, count, "links", error);
    TAKE(fitting->blocks, count, "links", error);
    TAKE(fitting->places, count, "links", error);
    list_orders(fitting, orders);
    for (size_t i = 0; i < ORDERS; i++) {
        TAKE(orders[i]->values, count, "links", error);
        TAKE(orders[i]->links, count, "links", error);
    }
    sort_views(fitting, &fitting->margins.links, &sample->links->margin);
    sort_views(fitting, &fitting->margins.decoys, &sample->decoys->margin);
    sort_views(fitting, &fitting->decoys_by_cosine, &sample->decoys->cosine);
    return COG_OK;
}

static void fitting_free(struct fitting *fitting) {
    struct ordered_values *orders[ORDERS];
    list_orders(fitting, orders);
    for (size_t i = 0; i < ORDERS; i++) {
        free(orders[i]->values);
        free(orders[i]->links);
    }
    FREE(fitting->partners, fitting->weights, fitting->right, fitting->sorted, fitting->wrong,
         fitting->part_links, fitting->part_decoys, fitting->part_wrong, fitting->blocks,
         fitting->places);
}

/* ---- Wrong links ----------------------------------------------------------------------------- */

/* The share of decoys used to fit the tail. */
static const double TAIL = 0.3;

/* The distribution of a view's decoys, with weights. */
static struct link_null null_of(const struct fitting *fitting, const struct sorted_view *view,
                                const double *weights) {
    struct link_null null;
    for (size_t i = 0; i < fitting->count; i++)
        fitting->sorted[i] = weights[view->decoys.links[i]];
    link_null_fit(&null, view->decoys.values, fitting->sorted, fitting->count, TAIL);
    return null;
}

/* The value at which the cumulative weight reaches half. */
static float median_decoy(const struct fitting *fitting, const struct sorted_view *view,
                          const struct link_null *null) {
    double weight = 0;
    for (size_t i = 0; i < fitting->count; i++) {
        weight += fitting->sorted[i];
        if (weight >= null->total / 2)
            return view->decoys.values[i];
    }
    return -INFINITY;
}

/* Estimates the number of wrong links: links up to the median of the decoys, where hardly any are
 * right, represent half of the wrong links. Adds half a link, as there may be one by chance. */
static double count_wrong(const struct fitting *fitting, const struct sorted_view *view,
                          const struct link_null *null) {
    float median = median_decoy(fitting, view, null);
    double links = 0.5, decoys = 0, all = (double)fitting->count;
    for (size_t i = 0; i < fitting->count && view->links.values[i] <= median; i++)
        links++;
    for (size_t i = 0; i < fitting->count && view->decoys.values[i] <= median; i++)
        decoys += fitting->sorted[i];
    return decoys > 0 ? fmin(all, links * null->total / decoys) : all;
}

/* Distributes the wrong links over links by the share of decoys around each. Decoys between two
 * links count half for each; decoys beyond the last count for the last. `above` is the share from
 * the first link on. */
static void spread_wrong(const struct link_null *null, double all, double above,
                         const float *values, size_t count, double *wrong) {
    struct link_null_cursor cursor = {.null = null};
    for (size_t i = 0; i < count; i++) {
        double next = fmin(above, link_null_above(&cursor, (double)values[i]));
        double between = all * (above - next);
        wrong[i] = i ? between / 2 : between;
        if (i)
            wrong[i - 1] += between / 2;
        above = next;
    }
    if (count)
        wrong[count - 1] += all * above;
}

/* Isotonic regression: makes the expected share of wrong links non-increasing from one link to the
 * next, and at most 1. */
static void make_monotone(const struct fitting *fitting, size_t first) {
    struct block *blocks = fitting->blocks;
    size_t count = 0, at = first;
    for (size_t i = first; i < fitting->count; i++) {
        struct block block = {fitting->wrong[i], 1};
        while (count && blocks[count - 1].wrong * (double)block.links <=
                            block.wrong * (double)blocks[count - 1].links) {
            block.wrong += blocks[--count].wrong;
            block.links += blocks[count].links;
        }
        blocks[count++] = block;
    }
    for (size_t b = 0; b < count; b++)
        for (size_t i = 0; i < blocks[b].links; i++)
            fitting->wrong[at++] = fmin(1, blocks[b].wrong / (double)blocks[b].links);
}

/* ---- Documents with partners ----------------------------------------------------------------- */

/* One pass; returns the largest change. A document without a partner has only a second choice as
 * its decoy, so decoys are weighted by these probabilities. From pass SWINGING on, only half of
 * each change is applied, so that passes do not oscillate. */
static double improve_partners(const struct fitting *fitting, int pass) {
    enum { SWINGING = 20 };
    const struct sorted_view *view = &fitting->standings;
    struct link_null null = null_of(fitting, view, fitting->partners);
    spread_wrong(&null, count_wrong(fitting, view, &null), 1, view->links.values, fitting->count,
                 fitting->wrong);
    make_monotone(fitting, 0);
    double change = 0;
    for (size_t i = 0; i < fitting->count; i++) {
        double *partner = &fitting->partners[view->links.links[i]];
        double next = 1 - fitting->wrong[i];
        if (pass > SWINGING)
            next = (next + *partner) / 2;
        change = fmax(change, fabs(next - *partner));
        *partner = next;
    }
    return change;
}

static void iterate_partners(const struct fitting *fitting) {
    enum { PASSES = 50 };
    const double tolerance = 1e-3;
    double change = 1;
    for (size_t i = 0; i < fitting->count; i++)
        fitting->partners[i] = 1;
    for (int pass = 0; pass < PASSES && change > tolerance; pass++)
        change = improve_partners(fitting, pass);
}

/* Uses heights first, then what is learned from them without the margin. A page with a near copy
 * has a small margin and a decoy with a large one; with margins, the decoys of such pages, which
 * discriminate best, would count least. */
static cog_status find_partners(struct fitting *fitting, cog_error *error) {
    enum { ROUNDS = 2 };
    struct link_strength standing = link_strength_of_heights();
    sort_strengths(fitting, &fitting->standings, &standing);
    iterate_partners(fitting);
    for (int round = 0; round < ROUNDS; round++) {
        TRY(link_strength_learn_partners(&standing, fitting->sample, fitting->partners, error));
        sort_strengths(fitting, &fitting->standings, &standing);
        iterate_partners(fitting);
    }
    return COG_OK;
}

/* ---- Wrong links by cosine ------------------------------------------------------------------- */

/* Documents without a partner may differ in kind from those with one: statutes among manual pages
 * resemble nothing. So decoys may be grouped by cosine, and those of a group represent the wrong
 * links with such cosines. */
enum { MOST_GROUPS = 5 };

struct cosine_groups {
    size_t count;
    float ends[MOST_GROUPS]; /* a cosine equal to an end belongs to the next group */
};

static size_t group_of(const struct cosine_groups *groups, float cosine) {
    size_t group = 0;
    while (group + 1 < groups->count && cosine >= groups->ends[group])
        group++;
    return group;
}

/* Makes groups with equal weights of decoys. */
static struct cosine_groups make_groups(const struct fitting *fitting, size_t count, double total) {
    const struct ordered_values *decoys = &fitting->decoys_by_cosine;
    struct cosine_groups groups = {.count = count};
    double weight = 0;
    size_t group = 0;
    for (size_t i = 0; i < fitting->count && group + 1 < count; i++) {
        weight += fitting->partners[decoys->links[i]];
        while (group + 1 < count && weight >= total * (double)(group + 1) / (double)count)
            groups.ends[group++] = decoys->values[i];
    }
    while (group + 1 < count)
        groups.ends[group++] = INFINITY;
    return groups;
}

/* The number of links and the weight of decoys of a group with small margins, where hardly any link
 * is right. */
struct small_margins {
    double links, decoys;
};

/* Counts margins up to 0, as a right link is nearly always preferred by both of its documents. With
 * several groups, the limit is the median of the group's decoys if that is smaller, because right
 * links below 0 have similar cosines. */
static struct small_margins look_below(const struct fitting *fitting,
                                       const struct cosine_groups *groups, size_t group) {
    const struct sorted_view *view = &fitting->margins;
    const struct link_sample *sample = fitting->sample;
    struct small_margins found = {.links = 0.5 / (double)groups->count};
    double total = 0;
    float last = groups->count > 1 ? -INFINITY : 0;
    for (size_t i = 0; i < fitting->count; i++)
        if (group_of(groups, sample->decoys[i].cosine) == group)
            total += fitting->partners[i];
    for (size_t i = 0; i < fitting->count && view->decoys.values[i] <= 0; i++) {
        uint32_t link = view->decoys.links[i];
        if (group_of(groups, sample->decoys[link].cosine) != group)
            continue;
        if (groups->count > 1 && found.decoys >= total / 2 && view->decoys.values[i] > last)
            break;
        if (groups->count > 1)
            last = view->decoys.values[i];
        found.decoys += fitting->partners[link];
    }
    for (size_t i = 0; i < fitting->count && view->links.values[i] <= last; i++)
        found.links += group_of(groups, sample->links[view->links.links[i]].cosine) == group;
    return found;
}

/* Weighs each decoy by the number of wrong links that it represents. Returns the totals that this
 * is derived from. */
static struct small_margins weigh_by_cosine(const struct fitting *fitting, size_t group_count,
                                            double total) {
    struct cosine_groups groups = make_groups(fitting, group_count, total);
    struct small_margins all = {0, 0};
    double rates[MOST_GROUPS];
    for (size_t group = 0; group < group_count; group++) {
        struct small_margins found = look_below(fitting, &groups, group);
        rates[group] = found.decoys > 0 ? found.links / found.decoys : 0;
        all.links += found.links;
        all.decoys += found.decoys;
    }
    for (size_t i = 0; i < fitting->count; i++)
        fitting->weights[i] =
            fitting->partners[i] * rates[group_of(&groups, fitting->sample->decoys[i].cosine)];
    return all;
}

/* ---- The decision ---------------------------------------------------------------------------- */

static size_t count_weak(const struct fitting *fitting, const struct ordered_values *strengths) {
    size_t count = 0;
    while (count < fitting->count && isinf(strengths->values[count]))
        count++;
    return count;
}

static double sum_of(const double *values, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

/* Extracts the values of one part from an order, without -INFINITY, and stores their positions in
 * `places`. */
static size_t take_part(const struct fitting *fitting, const struct ordered_values *ordered,
                        const struct link_view *views, int part, float *values) {
    size_t count = 0;
    for (size_t i = count_weak(fitting, ordered); i < fitting->count; i++) {
        if (link_part_of(&views[ordered->links[i]]) != part)
            continue;
        fitting->places[count].link = (uint32_t)i;
        values[count++] = ordered->values[i];
    }
    return count;
}

/* Distributes the wrong links of one part over its links by the decoys of that part, and returns
 * the weight of the tail, at most `most_tail`: right links that are not preferred are few, and are
 * among the last of many decoys. */
static double spread_part(const struct fitting *fitting, int part, bool has_decoys,
                          double most_tail) {
    const struct sorted_view *view = &fitting->strengths;
    const struct link_sample *sample = fitting->sample;
    struct link_null null;
    size_t decoys = take_part(fitting, &view->decoys, sample->decoys, part, fitting->part_decoys);
    for (size_t i = 0; i < decoys; i++)
        fitting->sorted[i] = fitting->weights[view->decoys.links[fitting->places[i].link]];
    double total = sum_of(fitting->sorted, decoys), tail = fmin(TAIL * total, most_tail);
    link_null_fit(&null, fitting->part_decoys, fitting->sorted, decoys,
                  total > 0 ? tail / total : TAIL);
    size_t count = take_part(fitting, &view->links, sample->links, part, fitting->part_links);
    double links = (double)count, wrong = has_decoys ? fmin(links, total) : links;
    spread_wrong(&null, wrong, 1, fitting->part_links, count, fitting->part_wrong);
    for (size_t i = 0; i < count; i++)
        fitting->wrong[fitting->places[i].link] = fitting->part_wrong[i];
    return tail;
}

/* If hardly any decoy has a margin above 0, estimates from these decoys and the links what a margin
 * means. One decoy then represents many wrong links, so another half decoy may have been missed. */
static void spread_by_odds(const struct fitting *fitting, double decoys, size_t first) {
    const struct sorted_view *view = &fitting->strengths;
    size_t weak = count_weak(fitting, &view->decoys), count = fitting->count;
    double rate = decoys > 0 ? sum_of(fitting->weights, count) / decoys : 0;
    for (size_t i = weak; i < count; i++)
        fitting->sorted[i] = fitting->weights[view->decoys.links[i]];
    struct link_odds odds =
        link_odds_fit(view->links.values + first, count - first, view->decoys.values + weak,
                      fitting->sorted + weak, count - weak, rate / 2);
    for (size_t i = first; i < count; i++)
        fitting->wrong[i] = decoys > 0 ? link_odds_wrong(&odds, (double)view->links.values[i]) : 1;
}

static void spread_by_strengths(const struct fitting *fitting, bool has_decoys) {
    double tail = spread_part(fitting, LINK_PREFERRED, has_decoys, INFINITY);
    spread_part(fitting, LINK_OTHERS, has_decoys, tail);
}

static bool is_preferred(const struct fitting *fitting, size_t place) {
    uint32_t link = fitting->strengths.links.links[place];
    return link_part_of(&fitting->sample->links[link]) == LINK_PREFERRED;
}

/* The number of right links among the preferred ones: all except the wrong ones distributed over
 * them. */
static double count_preferred(const struct fitting *fitting, size_t first) {
    double right = 0;
    for (size_t i = first; i < fitting->count; i++)
        right += is_preferred(fitting, i) ? 1 - fitting->wrong[i] : 0;
    return fmax(0, right);
}

/* The number of right links among the others. Links that are more likely wrong are not counted:
 * they are many, and the sum of their probabilities is the error of the estimate. */
static double count_others(const struct fitting *fitting, const struct link_decision *decision) {
    double right = 0;
    for (size_t i = 0; i < fitting->count; i++) {
        double probability = (double)decision->levels[i].probability;
        right += probability >= 0.5 && !is_preferred(fitting, i) ? probability : 0;
    }
    return right;
}

/* Fits the probabilities by strength. Links without a strength are assumed to be wrong. */
static cog_status fit_strengths(struct link_decision *decision, const struct fitting *fitting,
                                const struct link_strength *strength, size_t groups,
                                cog_error *error) {
    const struct sorted_view *view = &fitting->strengths;
    double decoys = sum_of(fitting->partners, fitting->count), links = (double)fitting->count;
    struct small_margins small = weigh_by_cosine(fitting, groups, decoys);
    size_t first = count_weak(fitting, &view->links);
    if (strength->is_learned)
        spread_by_strengths(fitting, decoys > 0);
    else
        spread_by_odds(fitting, decoys, first);
    double right = count_preferred(fitting, first);
    make_monotone(fitting, first);
    decision->strength = *strength;
    TAKE(decision->levels, fitting->count, "links", error);
    for (size_t i = 0; i < fitting->count; i++) {
        double probability = i < first ? 0 : 1 - fitting->wrong[i];
        decision->levels[decision->count++] =
            (struct link_level){view->links.values[i], (float)probability};
    }
    right += count_others(fitting, decision);
    decision->null_share = 1 - right / links;
    decision->null_rate = decoys > 0 ? sum_of(fitting->weights, fitting->count) / decoys : 0;
    decision->spread = sqrt(1 / small.links + (small.decoys > 0 ? 1 / small.decoys : 1));
    return COG_OK;
}

/* Of the estimates with all decoys in one group and with several groups, chooses the one that
 * admits more links: each is too cautious for collections that suit the other. */
static cog_status fit_groups(struct link_decision *decision, const struct fitting *fitting,
                             const struct link_strength *strength, double precision,
                             cog_error *error) {
    struct link_decision other = {0};
    cog_status status = fit_strengths(decision, fitting, strength, 1, error);
    THEN(status, fit_strengths(&other, fitting, strength, MOST_GROUPS, error));
    if (status == COG_OK && link_decision_choose(&other, precision).kept >
                                link_decision_choose(decision, precision).kept) {
        struct link_decision less = *decision;
        *decision = other;
        other = less;
    }
    link_decision_free(&other);
    return status;
}

/* Sets what the next round learns from: the probabilities, or if they admit no link, which
 * documents have partners. */
static void take_training_targets(const struct fitting *fitting,
                                  const struct link_decision *decision, double precision) {
    bool is_known = link_decision_choose(decision, precision).kept > 0;
    for (size_t i = 0; i < fitting->count; i++) {
        uint32_t link = fitting->strengths.links.links[i];
        fitting->right[link] =
            is_known ? (double)decision->levels[i].probability : fitting->partners[link];
    }
}

/* Alternates strengths and probabilities, each learned from the other. */
static cog_status fit_rounds(struct link_decision *decision, struct fitting *fitting,
                             double precision, cog_error *error) {
    enum { ROUNDS = 3 };
    struct link_strength strength;
    memcpy(fitting->right, fitting->partners, fitting->count * sizeof *fitting->right);
    for (int round = 1; round <= ROUNDS; round++) {
        link_decision_free(decision);
        TRY(link_strength_learn(&strength, fitting->sample, fitting->right, fitting->partners,
                                error));
        sort_strengths(fitting, &fitting->strengths, &strength);
        if (round == ROUNDS)
            return fit_groups(decision, fitting, &strength, precision, error);
        TRY(fit_strengths(decision, fitting, &strength, 1, error));
        take_training_targets(fitting, decision, precision);
    }
    return COG_OK;
}

cog_status link_decision_fit(struct link_decision *decision, const struct link_sample *sample,
                             double precision, cog_error *error) {
    struct fitting fitting = {0};
    if (!sample->count)
        return COG_OK;
    cog_status status = fitting_init(&fitting, sample, error);
    THEN(status, find_partners(&fitting, error));
    THEN(status, fit_rounds(decision, &fitting, precision, error));
    fitting_free(&fitting);
    return status;
}

void link_decision_free(struct link_decision *decision) {
    free(decision->levels);
    *decision = (struct link_decision){0};
}

double link_probability(const struct link_decision *decision, float strength) {
    size_t low;
    FIND_FIRST_NOT(low, 0, decision->count, decision->levels[low].strength <= strength);
    return low ? (double)decision->levels[low - 1].probability : 0;
}

/* ---- Choice ---------------------------------------------------------------------------------- */

/* The bounds of the 95% interval of the expected value of a count (Wilson and Hilferty's cube
 * roots). */
static double count_low(double count) {
    double root = count > 0 ? 1 - 1 / (9 * count) - 1.96 / (3 * sqrt(count)) : 0;
    return root > 0 ? count * root * root * root : 0;
}

static double count_high(double count) {
    double next = count + 1, root = 1 - 1 / (9 * next) + 1.96 / (3 * sqrt(next));
    return next * root * root * root;
}

static double bounded(double share) {
    return fmin(1, fmax(0, share));
}

/* Wrong links are estimated from decoys, so their number has the error of a count of decoys. */
static struct link_expectation expect_precision(const struct link_decision *decision, double kept,
                                                double right) {
    double rate = decision->null_rate, wrong = kept - right;
    double decoys = rate > 0 ? wrong / rate : 0;
    return (struct link_expectation){.share = right / kept,
                                     .low = bounded(1 - rate * count_high(decoys) / kept),
                                     .high = bounded(1 - rate * count_low(decoys) / kept)};
}

static struct link_expectation expect_recall(const struct link_decision *decision, double kept,
                                             double right) {
    double links = (double)decision->count, wrong = links * decision->null_share;
    double error = 1.96 * decision->spread * (wrong - (kept - right));
    double all = fmax(right, links - wrong), missed = all - right;
    double most = fmax(missed, fmin(links - kept, missed + error));
    double least = fmax(0, missed - error), share = all > 0 ? right / all : 0;
    return (struct link_expectation){.share = share,
                                     .low = fmin(share, bounded(right / (right + most))),
                                     .high = fmax(share, bounded(right / (right + least)))};
}

/* Half a standard error of the number of wrong links, which is that of a count of decoys. Among
 * uncertain thresholds, the one that admits most is likely to be too optimistic. */
static double half_standard_error(const struct link_decision *decision, double wrong) {
    return 0.5 * sqrt(fmax(0, wrong * decision->null_rate));
}

struct link_choice link_decision_choose(const struct link_decision *decision, double precision) {
    const double likely = fmax(0.5, 1 - 10 * (1 - precision));
    struct link_choice choice = {.least_strength = INFINITY};
    double right = 0, kept_right = 0;
    for (size_t i = decision->count; i-- > 0;) {
        const struct link_level *level = &decision->levels[i];
        double kept = (double)(decision->count - i);
        right += (double)level->probability;
        bool last = i == 0 || decision->levels[i - 1].strength < level->strength;
        if (!last || (double)level->probability < likely ||
            right - half_standard_error(decision, kept - right) < precision * kept)
            continue;
        choice.least_strength = level->strength;
        choice.least_probability = (double)level->probability;
        choice.kept = decision->count - i;
        kept_right = right;
    }
    if (choice.kept) {
        choice.precision = expect_precision(decision, (double)choice.kept, kept_right);
        choice.recall = expect_recall(decision, (double)choice.kept, kept_right);
    }
    return choice;
}
