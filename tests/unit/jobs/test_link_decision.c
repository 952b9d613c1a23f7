/* The decision on links: the distribution of decoys against shares that are known, probabilities
 * that fall with the strength, precision and recall against links whose truth is known because they
 * were made. */
#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "jobs/link/link_decision.h"
#include "jobs/link/link_null.h"
#include "test.h"

/* A number in (0, 1) by seed and place. */
static double uniform(uint64_t seed, uint64_t place) {
    return ((double)(hash_pair(seed, place) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t seed, uint64_t place) {
    return sqrt(-2 * log(uniform(seed, 2 * place))) *
           cos(6.283185307 * uniform(seed, 2 * place + 1));
}

struct made_links {
    struct link_sample sample;
    bool *right;
};

/* The lead of the n-th best of many unrelated documents over the next. */
static double spacing(uint64_t seed, uint64_t place, double n) {
    return -0.05 / n * log(uniform(seed, place));
}

/* A wrong link: the n-th best of unrelated documents, whose target mostly prefers another. */
static struct link_view wrong_view(uint64_t seed, uint64_t place, double n) {
    double next = spacing(seed + 1, place, n), second = next + spacing(seed + 2, place, n + 1);
    bool preferred = uniform(seed + 3, place) < 0.3;
    double back = preferred ? next : 0.07 * log(uniform(seed + 4, place));
    return (struct link_view){(float)fmin(next, back), (float)fmin(second, back + 0.05),
                              (float)(0.2 + second), (float)(0.5 * normal(seed + 5, place))};
}

/* Right links lead by about `lead`, and the logarithms of their lengths differ by 0.3, with the
 * given spread; those of wrong ones are spread by 0.5. A document without a partner has a wrong
 * link, and its second choice for a decoy. */
static struct made_links make_spread_links(size_t count, double partnerless, double lead,
                                           double spread, uint64_t seed) {
    struct made_links made = {.sample = {.count = count}};
    made.sample.links = calloc(count, sizeof *made.sample.links);
    made.sample.decoys = calloc(count, sizeof *made.sample.decoys);
    made.right = calloc(count, sizeof *made.right);
    for (size_t i = 0; i < count; i++) {
        float margin = (float)(lead + 0.1 * normal(100 * seed, i));
        made.right[i] = uniform(100 * seed + 1, i) >= partnerless;
        float lengths = (float)(0.3 + spread * normal(100 * seed + 2, i));
        made.sample.links[i] =
            made.right[i] ? (struct link_view){margin, margin + 0.03f, margin + 0.23f, lengths}
                          : wrong_view(100 * seed + 10, i, 1);
        made.sample.decoys[i] = wrong_view(100 * seed + 20, i, made.right[i] ? 1 : 2);
    }
    return made;
}

static struct made_links make_links(size_t count, double partnerless, double lead, uint64_t seed) {
    return make_spread_links(count, partnerless, lead, 0.5, seed);
}

/* Counts of links with at least a strength. */
struct kept_links {
    size_t kept, right, known;
};

static struct kept_links count_kept(const struct made_links *made,
                                    const struct link_decision *decision, float least) {
    struct kept_links counts = {0};
    for (size_t i = 0; i < made->sample.count; i++) {
        bool is_kept = link_strength_of(&decision->strength, &made->sample.links[i]) >= least;
        counts.kept += is_kept;
        counts.right += is_kept && made->right[i];
        counts.known += made->right[i];
    }
    return counts;
}

static void made_links_free(struct made_links *made) {
    free(made->sample.links);
    free(made->sample.decoys);
    free(made->right);
}

TEST(link_decision_keeps_the_wanted_precision) {
    static const double partnerless[] = {0, 0.1, 0.5}, leads[] = {0.3, 0.4, 0.6};
    for (size_t s = 0; s < 3; s++)
        for (size_t l = 0; l < 3; l++) {
            struct made_links made = make_links(5000, partnerless[s], leads[l], 10 * s + l);
            struct link_decision decision = {0};
            CHECK_OK(link_decision_fit(&decision, &made.sample, 0.98, error));
            struct link_choice choice = link_decision_choose(&decision, 0.98);
            struct kept_links counts = count_kept(&made, &decision, choice.least_strength);
            CHECK(counts.kept == choice.kept && counts.kept > 0);
            double precision = (double)counts.right / (double)counts.kept;
            double recall = (double)counts.right / (double)counts.known;
            CHECK(precision >= 0.97 && fabs(precision - choice.precision.share) <= 0.02);
            CHECK(fabs(recall - choice.recall.share) <= 0.08);
            CHECK(fabs(decision.null_share - partnerless[s]) <= 0.04);
            CHECK(choice.precision.low <= choice.precision.share &&
                  choice.precision.share <= choice.precision.high);
            CHECK(choice.recall.low <= choice.recall.share &&
                  choice.recall.share <= choice.recall.high);
            CHECK(leads[l] < 0.6 || recall > 0.99);
            link_decision_free(&decision);
            made_links_free(&made);
        }
}

/* Lengths that belong together tell right links from wrong ones where the lead does not. */
TEST(link_decision_learns_from_lengths) {
    static const double spreads[] = {0.5, 0.05};
    double recalls[2];
    for (size_t s = 0; s < 2; s++) {
        struct made_links made = make_spread_links(5000, 0.5, 0.1, spreads[s], 11);
        struct link_decision decision = {0};
        CHECK_OK(link_decision_fit(&decision, &made.sample, 0.98, error));
        struct link_choice choice = link_decision_choose(&decision, 0.98);
        struct kept_links counts = count_kept(&made, &decision, choice.least_strength);
        CHECK((double)counts.right >= 0.97 * (double)counts.kept);
        CHECK(s == 0 || fabs(decision.strength.usual_lengths - 0.3) < 0.05);
        recalls[s] = (double)counts.right / (double)counts.known;
        link_decision_free(&decision);
        made_links_free(&made);
    }
    CHECK(recalls[1] > recalls[0] + 0.1);
}

/* Expected and true wrong links agree in every part of the strengths, not only in the sum. */
TEST(link_decision_is_calibrated) {
    struct made_links made = make_links(20000, 0.5, 0.2, 7);
    struct link_decision decision = {0};
    enum { BINS = 5 };
    double expected[BINS] = {0}, right[BINS] = {0}, count[BINS] = {0};
    CHECK_OK(link_decision_fit(&decision, &made.sample, 0.98, error));
    for (size_t i = 0; i < made.sample.count; i++) {
        float strength = link_strength_of(&decision.strength, &made.sample.links[i]);
        double probability = link_probability(&decision, strength);
        size_t bin = (size_t)fmin(BINS - 1, probability * BINS);
        expected[bin] += probability;
        right[bin] += made.right[i];
        count[bin]++;
    }
    for (size_t bin = 1; bin < BINS; bin++)
        CHECK(count[bin] < 100 || fabs(expected[bin] - right[bin]) <= 0.1 * count[bin]);
    link_decision_free(&decision);
    made_links_free(&made);
}

/* Probabilities rise with the strength, and a link far below its rivals has a probability near 0.
 */
TEST(link_decision_is_monotone) {
    struct made_links made = make_links(1000, 0.4, 0.1, 3);
    struct link_decision decision = {0};
    CHECK_OK(link_decision_fit(&decision, &made.sample, 0.98, error));
    CHECK(decision.count == 1000);
    for (size_t i = 0; i < decision.count; i++) {
        const struct link_level *level = &decision.levels[i];
        CHECK(level->probability >= 0 && level->probability <= 1);
        CHECK(isfinite(level->strength) || level->probability == 0);
        CHECK(i == 0 || (level[-1].strength <= level->strength &&
                         level[-1].probability <= level->probability + 1e-6f));
    }
    struct link_view unwanted = {-0.5f, -0.4f, 0.2f, 0.3f};
    CHECK(link_probability(&decision, link_strength_of(&decision.strength, &unwanted)) < 0.5);
    CHECK(link_probability(&decision, 100) == (double)decision.levels[999].probability);
    link_decision_free(&decision);
    made_links_free(&made);
}

/* If few documents have partners, a single draw may miss the wanted precision by some hundredths:
 * each decoy stands for many links. */
TEST(link_decision_with_few_partners) {
    enum { DRAWS = 12 };
    double precisions = 0, recalls = 0, shares = 0;
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        struct made_links made = make_links(2000, 0.8, 0.4, 200 + seed);
        struct link_decision decision = {0};
        CHECK_OK(link_decision_fit(&decision, &made.sample, 0.98, error));
        struct link_choice choice = link_decision_choose(&decision, 0.98);
        struct kept_links counts = count_kept(&made, &decision, choice.least_strength);
        CHECK(counts.kept > 0);
        shares += decision.null_share;
        precisions += (double)counts.right / (double)counts.kept;
        recalls += (double)counts.right / (double)counts.known;
        link_decision_free(&decision);
        made_links_free(&made);
    }
    CHECK(precisions / DRAWS >= 0.95 && recalls / DRAWS >= 0.9);
    CHECK(fabs(shares / DRAWS - 0.8) <= 0.05);
}

/* A right link that one of its documents does not prefer is kept if it stands out otherwise. */
TEST(link_decision_keeps_links_that_are_not_preferred) {
    struct made_links made = make_spread_links(5000, 0.1, 0.4, 0.05, 5);
    struct link_decision decision = {0};
    size_t others = 0, kept = 0, wrong = 0;
    for (size_t i = 0; i < made.sample.count; i += 10)
        if (made.right[i]) /* a near copy of the partner is nearer by a hair */
            made.sample.links[i].margin = -0.01f;
    CHECK_OK(link_decision_fit(&decision, &made.sample, 0.98, error));
    struct link_choice choice = link_decision_choose(&decision, 0.98);
    for (size_t i = 0; i < made.sample.count; i++) {
        const struct link_view *view = &made.sample.links[i];
        bool is_kept = link_strength_of(&decision.strength, view) >= choice.least_strength;
        others += made.right[i] && !(view->margin > 0);
        kept += is_kept && made.right[i] && !(view->margin > 0);
        wrong += is_kept && !made.right[i];
    }
    CHECK(others > 400 && kept >= others * 9 / 10);
    CHECK((double)wrong <= 0.03 * (double)choice.kept);
    link_decision_free(&decision);
    made_links_free(&made);
}

/* With no partner anywhere, next to nothing is kept. */
TEST(link_decision_without_partners) {
    enum { DRAWS = 20, LINKS = 2000 };
    size_t kept = 0;
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        struct made_links made = make_links(LINKS, 1, 0, 100 + seed);
        struct link_decision decision = {0};
        CHECK_OK(link_decision_fit(&decision, &made.sample, 0.98, error));
        kept += link_decision_choose(&decision, 0.98).kept;
        link_decision_free(&decision);
        made_links_free(&made);
    }
    CHECK(kept <= DRAWS * LINKS / 200);
}

TEST(link_decision_of_few) {
    struct link_view links[2] = {{0.5f, 0.9f, 0.9f, 0}, {0.4f, 0.8f, 0.8f, 0}};
    struct link_view none = {-INFINITY, -INFINITY, -INFINITY, 0}, decoys[2] = {none, none};
    struct link_sample sample = {2, links, decoys};
    struct link_decision decision = {0};
    CHECK_OK(link_decision_fit(&decision, &sample, 0.98, error));
    CHECK(link_decision_choose(&decision, 0.98).kept == 2);
    CHECK(link_probability(&decision, -INFINITY) == 0);
    CHECK(link_probability(&decision, link_strength_of(&decision.strength, &links[1])) > 0.9);
    link_decision_free(&decision);
    sample.count = 0;
    CHECK_OK(link_decision_fit(&decision, &sample, 0.98, error));
    struct link_choice choice = link_decision_choose(&decision, 0.98);
    CHECK(choice.kept == 0 && isinf(choice.least_strength));
    CHECK(link_probability(&decision, 1) == 0);
    link_decision_free(&decision);
}

static int by_float(const void *x, const void *y) {
    float a = *(const float *)x, b = *(const float *)y;
    return (a > b) - (a < b);
}

/* Quantiles of a Pareto distribution: below the last three tenths the shares are those of the
 * values, above it the fitted tail is near the true one, also beyond the largest value. */
TEST(link_null_follows_its_decoys) {
    enum { VALUES = 2000 };
    static const double shapes[] = {0, 0.3, 0.6};
    static float values[VALUES];
    static double weights[VALUES];
    for (size_t s = 0; s < 3; s++) {
        double shape = shapes[s];
        for (size_t i = 0; i < VALUES; i++) {
            double above = ((double)i + 0.5) / VALUES;
            values[i] = (float)(shape > 0 ? (pow(above, -shape) - 1) / shape : -log(above));
            weights[i] = 0.5;
        }
        qsort(values, VALUES, sizeof *values, by_float);
        struct link_null null;
        link_null_fit(&null, values, weights, VALUES, 0.3);
        CHECK(fabs(null.total - VALUES / 2.0) < 1e-9 && fabs(null.tail - 0.3) < 0.001);
        CHECK(fabs(null.shape - shape) < 0.1);
        struct link_null_cursor cursor = {.null = &null};
        double before = 1;
        for (double value = 0; value < 12; value += 0.25) {
            double truth = shape > 0 ? pow(1 + shape * value, -1 / shape) : exp(-value);
            double above = link_null_above(&cursor, value);
            CHECK(above <= before && fabs(above - truth) < 0.01 + 0.1 * truth);
            before = above;
        }
    }
}

/* A value without weight does not count, and without any weight nothing lies above anything. */
TEST(link_null_counts_weights) {
    float values[] = {-3, -2, -1, 0, 1};
    double weights[] = {1, 0, 1, 0, 2}, none[] = {0, 0, 0, 0, 0};
    struct link_null null;
    link_null_fit(&null, values, weights, 5, 0.3);
    struct link_null_cursor cursor = {.null = &null};
    CHECK(link_null_above(&cursor, -2.5) == 0.75 && link_null_above(&cursor, -1.5) == 0.75);
    CHECK(link_null_above(&cursor, 0.5) == 0.5 && link_null_above(&cursor, 2) == 0);
    link_null_fit(&null, values, none, 5, 0.3);
    cursor = (struct link_null_cursor){.null = &null};
    CHECK(link_null_above(&cursor, -5) == 0);
}

/* Strengths of right and wrong links are exponential, so that the logarithm of the odds is a line;
 * six decoys, each of which stands for ten wrong links. */
TEST(link_odds_follow_links_and_few_decoys) {
    enum { RIGHT = 1000, WRONG = 60, DECOYS = 6 };
    const double right_mean = 0.3, wrong_mean = 0.06;
    static float links[RIGHT + WRONG];
    float decoys[DECOYS];
    double weights[DECOYS], wrong = 0, wrong_above = 0, truth_above = 0;
    const float above = 0.1f;
    for (size_t i = 0; i < RIGHT; i++)
        links[i] = (float)(-right_mean * log(1 - ((double)i + 0.5) / RIGHT));
    for (size_t i = 0; i < WRONG; i++) {
        links[RIGHT + i] = (float)(-wrong_mean * log(1 - ((double)i + 0.5) / WRONG));
        truth_above += links[RIGHT + i] > above;
    }
    for (size_t i = 0; i < DECOYS; i++) {
        decoys[i] = (float)(-wrong_mean * log(1 - ((double)i + 0.5) / DECOYS));
        weights[i] = (double)WRONG / DECOYS;
    }
    struct link_odds odds = link_odds_fit(links, RIGHT + WRONG, decoys, weights, DECOYS, 0);
    for (size_t i = 0; i < RIGHT + WRONG; i++) {
        double share = link_odds_wrong(&odds, (double)links[i]);
        wrong += share;
        wrong_above += links[i] > above ? share : 0;
    }
    CHECK(fabs(wrong - WRONG) < 0.1 * WRONG);
    CHECK(fabs(odds.slope - (1 / wrong_mean - 1 / right_mean)) < 4);
    CHECK(fabs(wrong_above - truth_above) < 5);
    /* Without any decoy, the doubt alone is wrong, and it is weak. */
    odds = link_odds_fit(links, RIGHT, decoys, weights, 0, 5);
    CHECK(link_odds_wrong(&odds, 0) < 0.2 && link_odds_wrong(&odds, 1) < 0.001);
    CHECK(link_odds_wrong(&odds, 0) > link_odds_wrong(&odds, 0.1));
}
