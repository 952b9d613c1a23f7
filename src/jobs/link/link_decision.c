#include "jobs/link/link_decision.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A link or a decoy in the order of its margin or height. */
struct place {
    float value;
    bool is_link;
    uint32_t link; /* its number, or that of the link whose decoy it is */
};

/* A run of places with one share of links among links and decoys. */
struct block {
    double links, decoys;
    size_t end; /* of its places */
};

enum view { BY_MARGIN, BY_HEIGHT, VIEWS };

struct fitting {
    const struct link_sample *sample;
    struct place *places[VIEWS];
    size_t place_count;
    struct block *blocks;
    double *weights;       /* by link: how likely it is right by its height */
    double *probabilities; /* the same by its margin */
};

/* A decoy counts as far as its document is likely to have a partner: without one, the decoy is only
 * a second choice. Squared, because of the decoys that a probability p lets in the share 1 - p are
 * second choices. */
static double weight_of(const struct fitting *fitting, const struct place *decoy) {
    double weight = fitting->weights[decoy->link];
    return weight * weight;
}

/* ---- Sorting --------------------------------------------------------------------------------- */

/* Of equal values, decoys stand first. */
static int by_value(const void *x, const void *y) {
    const struct place *a = x, *b = y;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    if (a->is_link != b->is_link)
        return a->is_link ? 1 : -1;
    return (a->link > b->link) - (a->link < b->link);
}

static void add_place(struct fitting *fitting, const struct link_view *view, bool is_link,
                      uint32_t link) {
    size_t at = fitting->place_count++;
    fitting->places[BY_MARGIN][at] = (struct place){view->margin, is_link, link};
    fitting->places[BY_HEIGHT][at] = (struct place){view->height, is_link, link};
}

static cog_status fitting_init(struct fitting *fitting, cog_error *error) {
    const struct link_sample *sample = fitting->sample;
    size_t count = sample->count;
    for (int view = 0; view < VIEWS; view++)
        TAKE(fitting->places[view], 2 * count, "links", error);
    TAKE(fitting->blocks, 2 * count + 1, "links", error);
    TAKE(fitting->weights, count, "links", error);
    TAKE(fitting->probabilities, count, "links", error);
    for (uint32_t i = 0; i < count; i++) {
        fitting->weights[i] = 1;
        add_place(fitting, &sample->links[i], true, i);
        if (!isnan(sample->decoys[i].margin))
            add_place(fitting, &sample->decoys[i], false, i);
    }
    for (int view = 0; view < VIEWS && count; view++)
        qsort(fitting->places[view], fitting->place_count, sizeof(struct place), by_value);
    return COG_OK;
}

static void fitting_free(struct fitting *fitting) {
    for (int view = 0; view < VIEWS; view++)
        free(fitting->places[view]);
    free(fitting->blocks);
    free(fitting->weights);
    free(fitting->probabilities);
}

/* ---- How many links are wrong ---------------------------------------------------------------- */

struct null_rate {
    double rate;          /* wrong links per unit of decoy weight */
    double links, decoys; /* that it was taken from */
};

/* The links up to the decoys' median, where there are hardly any right ones, against half the
 * decoys. */
static struct null_rate rate_of_view(const struct fitting *fitting, enum view view, double total) {
    struct null_rate null = {0};
    for (size_t i = 0; i < fitting->place_count && null.decoys < total / 2; i++) {
        const struct place *place = &fitting->places[view][i];
        if (place->is_link)
            null.links++;
        else
            null.decoys += weight_of(fitting, place);
    }
    null.rate = null.decoys > 0 ? null.links / null.decoys : 0;
    return null;
}

/* The larger one of both views; there are no more wrong links than links. If no decoy counts, no
 * document has a partner. */
static struct null_rate find_null_rate(const struct fitting *fitting) {
    const double all_wrong = 1e9;
    double total = 0;
    for (size_t i = 0; i < fitting->place_count; i++)
        if (!fitting->places[BY_MARGIN][i].is_link)
            total += weight_of(fitting, &fitting->places[BY_MARGIN][i]);
    struct null_rate null = rate_of_view(fitting, BY_MARGIN, total);
    struct null_rate other = rate_of_view(fitting, BY_HEIGHT, total);
    if (other.rate > null.rate)
        null = other;
    if (total > 0)
        null.rate = fmin(null.rate, (double)fitting->sample->count / total);
    else if (fitting->place_count > fitting->sample->count)
        null.rate = all_wrong;
    return null;
}

/* ---- Probabilities --------------------------------------------------------------------------- */

/* Isotonic regression: blocks in which the share of decoys falls from one to the next. Beyond the
 * largest decoy there may be wrong links that no decoy has met: half a decoy stands at infinity, as
 * much as one expects who has counted none (the prior of Jeffreys). */
static size_t make_blocks(const struct fitting *fitting, enum view view) {
    const double unseen = 0.5;
    struct block *blocks = fitting->blocks;
    size_t count = 0;
    for (size_t i = 0; i <= fitting->place_count; i++) {
        struct block block = {.decoys = unseen, .end = i + 1};
        if (i < fitting->place_count) {
            const struct place *place = &fitting->places[view][i];
            block.links = place->is_link;
            block.decoys = place->is_link ? 0 : weight_of(fitting, place);
        }
        /* As products: a block may have no weight at all. */
        while (count &&
               blocks[count - 1].links * block.decoys >= block.links * blocks[count - 1].decoys) {
            block.links += blocks[--count].links;
            block.decoys += blocks[count].decoys;
        }
        blocks[count++] = block;
    }
    return count;
}

/* Sets by link how likely it is right in one view; returns the largest change. */
static double set_probabilities(const struct fitting *fitting, enum view view, double rate,
                                double *probabilities) {
    size_t blocks = make_blocks(fitting, view), place = 0;
    double change = 0;
    for (size_t b = 0; b < blocks; b++) {
        const struct block *block = &fitting->blocks[b];
        double wrong = block->links > 0 ? fmin(1, rate * block->decoys / block->links) : 1;
        for (; place < block->end && place < fitting->place_count; place++) {
            const struct place *at = &fitting->places[view][place];
            if (!at->is_link)
                continue;
            change = fmax(change, fabs(1 - wrong - probabilities[at->link]));
            probabilities[at->link] = 1 - wrong;
        }
    }
    return change;
}

/* Copies the probabilities in the order of margins. */
static cog_status take_levels(struct link_decision *decision, const struct fitting *fitting,
                              cog_error *error) {
    TAKE(decision->levels, fitting->sample->count, "links", error);
    double right = 0;
    for (size_t i = 0; i < fitting->place_count; i++) {
        const struct place *place = &fitting->places[BY_MARGIN][i];
        if (!place->is_link)
            continue;
        double probability = fitting->probabilities[place->link];
        right += probability;
        decision->levels[decision->count++] = (struct link_level){place->value, (float)probability};
    }
    decision->null_share = decision->count ? 1 - right / (double)decision->count : 0;
    return COG_OK;
}

/* Whether a document has a partner is judged by heights. A page of a family has a small margin and
 * a decoy of a large one: judged by margins, its decoy would count least where it tells most. */
cog_status link_decision_fit(struct link_decision *decision, const struct link_sample *sample,
                             cog_error *error) {
    enum { PASSES = 50 };
    const double settled = 1e-3;
    struct fitting fitting = {.sample = sample};
    cog_status status = fitting_init(&fitting, error);
    struct null_rate null = {0};
    double change = 1;
    for (int pass = 0; pass < PASSES && change > settled && status == COG_OK; pass++) {
        null = find_null_rate(&fitting);
        change = set_probabilities(&fitting, BY_HEIGHT, null.rate, fitting.weights);
    }
    if (status == COG_OK) {
        null = find_null_rate(&fitting);
        set_probabilities(&fitting, BY_MARGIN, null.rate, fitting.probabilities);
        decision->null_rate = null.rate;
        decision->spread =
            sqrt((null.links > 0 ? 1 / null.links : 1) + (null.decoys > 0 ? 1 / null.decoys : 1));
    }
    THEN(status, take_levels(decision, &fitting, error));
    fitting_free(&fitting);
    return status;
}

void link_decision_free(struct link_decision *decision) {
    free(decision->levels);
    *decision = (struct link_decision){0};
}

double link_probability(const struct link_decision *decision, double margin) {
    size_t low = 0, high = decision->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((double)decision->levels[middle].margin <= margin)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? (double)decision->levels[low - 1].probability : 0;
}

/* ---- Choice ---------------------------------------------------------------------------------- */

/* The bounds of the 95% interval of a count's expectation (Wilson and Hilferty's cube roots). */
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

/* Wrong links are known by decoys, so their number has the error of a count of decoys. */
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
    double all = links - wrong, missed = all - right;
    double most = fmin(links - kept, missed + error), least = fmax(0, missed - error);
    return (struct link_expectation){.share = all > 0 ? right / all : 0,
                                     .low = bounded(right / (right + most)),
                                     .high = bounded(right / (right + least))};
}

struct link_choice link_decision_choose(const struct link_decision *decision, double precision) {
    const double likely = 0.5;
    struct link_choice choice = {.least_margin = INFINITY};
    double right = 0, kept_right = 0;
    for (size_t i = decision->count; i-- > 0;) {
        const struct link_level *level = &decision->levels[i];
        size_t kept = decision->count - i;
        right += (double)level->probability;
        bool last = i == 0 || decision->levels[i - 1].margin < level->margin;
        if (!last || (double)level->probability < likely || right < precision * (double)kept)
            continue;
        choice.least_margin = level->margin;
        choice.kept = kept;
        kept_right = right;
    }
    if (choice.kept) {
        choice.precision = expect_precision(decision, (double)choice.kept, kept_right);
        choice.recall = expect_recall(decision, (double)choice.kept, kept_right);
    }
    return choice;
}
