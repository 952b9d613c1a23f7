/* The decision on links: probabilities against the definition of isotonic regression, precision and
 * recall against links whose truth is known because they were made. */
#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "jobs/link/link_decision.h"
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

/* Right links have margins around `lead`. A wrong link is the best of ten candidates. A decoy is
 * that too for a document with a partner; for one without it is the second best. */
static struct made_links make_links(size_t count, double partnerless, double lead, uint64_t seed) {
    enum { CANDIDATES = 10 };
    struct made_links made = {.sample = {.count = count}};
    made.sample.links = calloc(count, sizeof *made.sample.links);
    made.sample.decoys = calloc(count, sizeof *made.sample.decoys);
    made.right = calloc(count, sizeof *made.right);
    for (size_t i = 0; i < count; i++) {
        double first = -9, second = -9;
        for (size_t c = 0; c < CANDIDATES; c++) {
            double drawn = normal(seed, i * (CANDIDATES + 1) + c);
            second = fmax(second, fmin(first, drawn));
            first = fmax(first, drawn);
        }
        made.right[i] = uniform(seed + 1000, i) >= partnerless;
        double link =
            made.right[i] ? lead + normal(seed, i * (CANDIDATES + 1) + CANDIDATES) : first;
        double decoy = made.right[i] ? first : second;
        made.sample.links[i] = (struct link_view){(float)link, (float)link};
        made.sample.decoys[i] = (struct link_view){(float)decoy, (float)decoy};
    }
    return made;
}

static void made_links_free(struct made_links *made) {
    free(made->sample.links);
    free(made->sample.decoys);
    free(made->right);
}

TEST(link_decision_keeps_the_wanted_precision) {
    static const double partnerless[] = {0, 0.1, 0.5, 0.8}, leads[] = {4, 6, 9};
    for (size_t s = 0; s < 4; s++)
        for (size_t l = 0; l < 3; l++) {
            struct made_links made = make_links(5000, partnerless[s], leads[l], 10 * s + l);
            struct link_decision decision = {0};
            CHECK_OK(link_decision_fit(&decision, &made.sample, error));
            struct link_choice choice = link_decision_choose(&decision, 0.98);
            size_t kept = 0, right = 0, known = 0;
            for (size_t i = 0; i < made.sample.count; i++) {
                bool is_kept = made.sample.links[i].margin >= choice.least_margin;
                kept += is_kept;
                right += is_kept && made.right[i];
                known += made.right[i];
            }
            CHECK(kept == choice.kept && kept > 0);
            double precision = (double)right / (double)kept, recall = (double)right / (double)known;
            CHECK(precision >= 0.97 && fabs(precision - choice.precision.share) <= 0.02);
            CHECK(partnerless[s] > 0.1 || fabs(recall - choice.recall.share) <= 0.08);
            CHECK(choice.precision.low <= choice.precision.share &&
                  choice.precision.share <= choice.precision.high);
            CHECK(choice.recall.low <= choice.recall.share &&
                  choice.recall.share <= choice.recall.high);
            CHECK(leads[l] < 9 || recall > 0.99);
            link_decision_free(&decision);
            made_links_free(&made);
        }
}

/* With no partner anywhere, next to nothing is kept. */
TEST(link_decision_without_partners) {
    for (uint64_t seed = 0; seed < 5; seed++) {
        struct made_links made = make_links(2000, 1, 0, 100 + seed);
        struct link_decision decision = {0};
        CHECK_OK(link_decision_fit(&decision, &made.sample, error));
        CHECK(link_decision_choose(&decision, 0.98).kept < 20);
        link_decision_free(&decision);
        made_links_free(&made);
    }
}

/* The share of links at a place by the min-max formula: the largest over starts up to the place of
 * the smallest over ends from the place on, of their share in between. */
static double share_by_definition(const bool *is_link, const double *weights, size_t count,
                                  size_t place) {
    double largest = 0;
    for (size_t begin = 0; begin <= place; begin++) {
        double smallest = 1, links = 0, all = 0;
        for (size_t end = begin; end < count; end++) {
            links += is_link[end] ? weights[end] : 0;
            all += weights[end];
            if (end >= place)
                smallest = fmin(smallest, links / all);
        }
        largest = fmax(largest, smallest);
    }
    return largest;
}

/* Heights that tell every link from every decoy: all decoys count alike, and the probabilities are
 * those of one isotonic regression of margins. */
TEST(link_decision_is_isotonic) {
    enum { LINKS = 40 };
    struct made_links made = make_links(LINKS, 0, 2, 5);
    struct link_decision decision = {0};
    for (size_t i = 0; i < LINKS; i++) {
        made.sample.links[i].height = 2;
        made.sample.decoys[i].height = 1;
    }
    CHECK_OK(link_decision_fit(&decision, &made.sample, error));
    CHECK(decision.count == LINKS && decision.null_rate > 0);
    bool is_link[2 * LINKS + 1];
    double weights[2 * LINKS + 1], margins[2 * LINKS + 1];
    size_t count = 0;
    for (size_t i = 0; i < LINKS; i++)
        for (int decoy = 0; decoy < 2; decoy++) {
            double margin =
                decoy ? (double)made.sample.decoys[i].margin : (double)made.sample.links[i].margin;
            size_t at = count++;
            for (; at && margins[at - 1] > margin; at--) {
                margins[at] = margins[at - 1];
                weights[at] = weights[at - 1];
                is_link[at] = is_link[at - 1];
            }
            margins[at] = margin;
            double right = 1 - decision.null_rate * 0.5 / LINKS;
            weights[at] = decoy ? right * right : 1;
            is_link[at] = !decoy;
        }
    is_link[count] = false;
    weights[count++] = 0.5;
    for (size_t i = 0, level = 0; i + 1 < count; i++) {
        if (!is_link[i])
            continue;
        double share = share_by_definition(is_link, weights, count, i);
        double wrong = fmin(1, decision.null_rate * (1 - share) / share);
        CHECK(fabs(1 - wrong - (double)decision.levels[level++].probability) < 1e-3);
    }
    link_decision_free(&decision);
    made_links_free(&made);
}

TEST(link_decision_of_few) {
    struct link_view links[2] = {{0.5f, 0.9f}, {0.4f, 0.8f}};
    struct link_view decoys[2] = {{NAN, NAN}, {NAN, NAN}};
    struct link_sample sample = {2, links, decoys};
    struct link_decision decision = {0};
    CHECK_OK(link_decision_fit(&decision, &sample, error));
    CHECK(link_decision_choose(&decision, 0.98).kept == 2);
    CHECK(link_probability(&decision, 0.3) == 0);
    CHECK(link_probability(&decision, 0.6) > 0.9);
    link_decision_free(&decision);
    sample.count = 0;
    CHECK_OK(link_decision_fit(&decision, &sample, error));
    struct link_choice choice = link_decision_choose(&decision, 0.98);
    CHECK(choice.kept == 0 && isinf(choice.least_margin));
    CHECK(link_probability(&decision, 1) == 0);
    link_decision_free(&decision);
}
