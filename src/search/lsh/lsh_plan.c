#include "search/lsh/lsh_plan.h"

#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/threads.h"
#include "hamming/hamming.h"

enum {
    PLAN_SAMPLES = 1000,
    PLAN_HALVES_MAX = 24,
    PLAN_FLIPS_MAX = 7,
    SIMULATION_GRAIN = 16,
};

/* Tables are the edges between half-keys: all among the first R - 1 half-keys, and between the last
 * and some of them. Two rows do not meet if no edge has two agreeing ends. */
double lsh_recall_plain(double agreement, unsigned key_bits, unsigned tables) {
    unsigned halves = lsh_half_keys(tables), before = halves - 1;
    unsigned linked = tables - before * (before - 1) / 2;
    double agree = pow(agreement, key_bits / 2), differ = 1 - agree;
    double none = pow(differ, before), one_of_them = agree * pow(differ, before - 1);
    double missed =
        differ * (none + before * one_of_them) + agree * (none + (before - linked) * one_of_them);
    return 1 - missed;
}

double lsh_comparisons(const struct lsh_options *options, size_t rows) {
    double share =
        options->band_values
            ? options->tables * pow(0.5, (double)options->value_bits * options->band_values)
            : lsh_recall_plain(0.5, options->key_bits, options->tables);
    double probes = options->flip_mode == LSH_FLIP_NONE ? 1 : 1 + options->flips;
    double expected = share * probes * (options->flip_both ? probes : 1);
    return (double)rows * (expected < 1 ? expected : 1);
}

/* ---- Simulation ------------------------------------------------------------------------------ */

/* Two independent normal deviates (Box and Muller). */
static void normal_pair(struct random *random, double *x, double *y) {
    double radius = sqrt(-2 * log(1 - random_unit(random))), angle = 2 * M_PI * random_unit(random);
    *x = radius * cos(angle);
    *y = radius * sin(angle);
}

struct simulation {
    struct lsh_keyer keyer;
    struct lsh_key *keys[2];
    size_t key_counts[2];
    float *margins[2];
    uint8_t *signatures[2];
    size_t bits, stride_bytes;
    struct pair_side {
        const uint8_t *signature;
        size_t stride_bytes;
        const float *margins;
    } pair[2]; /* as drawn, or as it is known */
};

/* Two rows whose margins are normal deviates with this correlation. */
static void draw_pair(struct simulation *simulation, struct random *random, double cosine) {
    cosine = cosine < 1 ? cosine : 1;
    for (int side = 0; side < 2; side++) {
        memset(simulation->signatures[side], 0, simulation->stride_bytes);
        simulation->pair[side] = (struct pair_side){
            simulation->signatures[side], simulation->stride_bytes, simulation->margins[side]};
    }
    for (size_t bit = 0; bit < simulation->bits; bit++) {
        double margins[2], other;
        normal_pair(random, &margins[0], &other);
        margins[1] = cosine * margins[0] + sqrt(1 - cosine * cosine) * other;
        for (int side = 0; side < 2; side++) {
            simulation->margins[side][bit] = (float)margins[side];
            simulation->signatures[side][bit / 8] |=
                (uint8_t)((margins[side] >= 0) << (7 - bit % 8));
        }
    }
}

static void take_pair(struct simulation *simulation, const struct method_rows *known,
                      size_t number) {
    for (int side = 0; side < 2; side++)
        simulation->pair[side] = (struct pair_side){signature_row(known[side].signatures, number),
                                                    known[side].signatures->stride_bytes,
                                                    lsh_margins(&known[side], number)};
}

static void find_keys(struct simulation *simulation, int side, bool flipped) {
    const struct pair_side *row = &simulation->pair[side];
    simulation->key_counts[side] =
        lsh_keys_of(&simulation->keyer, row->signature, row->stride_bytes, row->margins, flipped,
                    simulation->keys[side]);
}

/* Whether a key of one side is an own key of the other; those come first, by table. */
static bool meets_own(const struct simulation *simulation, int side) {
    const struct lsh_key *keys = simulation->keys[side], *own = simulation->keys[!side];
    for (size_t i = 0; i < simulation->key_counts[side]; i++)
        if (keys[i].key == own[keys[i].table].key)
            return true;
    return false;
}

static int by_table(const void *x, const void *y) {
    const struct lsh_key *p = x, *q = y;
    return p->table != q->table ? ORDER(p->table, q->table) : ORDER(p->key, q->key);
}

/* Whether the sides have any key in common. */
static bool meets_flipped(const struct simulation *simulation) {
    struct lsh_key *others = simulation->keys[1];
    const size_t count = simulation->key_counts[1];
    qsort(others, count, sizeof *others, by_table);
    for (size_t i = 0; i < simulation->key_counts[0]; i++)
        if (bsearch(&simulation->keys[0][i], others, count, sizeof *others, by_table))
            return true;
    return false;
}

/* Flipped keys are made only for pairs that share no own key. */
static bool pair_meets(struct simulation *simulation, enum lsh_join_kind kind) {
    const struct lsh_options *options = simulation->keyer.options;
    find_keys(simulation, 0, false);
    find_keys(simulation, 1, false);
    if (meets_own(simulation, 0))
        return true;
    if (options->flip_mode == LSH_FLIP_NONE)
        return false;
    find_keys(simulation, 0, true);
    if (meets_own(simulation, 0))
        return true;
    if (kind == LSH_JOIN_CROSS && !options->flip_both)
        return false;
    find_keys(simulation, 1, true);
    return meets_own(simulation, 1) || (options->flip_both && meets_flipped(simulation));
}

static void simulation_free(struct simulation *simulation) {
    lsh_keyer_free(&simulation->keyer);
    for (int side = 0; side < 2; side++) {
        FREE(simulation->keys[side], simulation->margins[side], simulation->signatures[side]);
    }
}

static cog_status simulation_create(struct simulation *simulation,
                                    const struct lsh_options *options, cog_error *error) {
    *simulation = (struct simulation){.bits = lsh_bits_used(options)};
    simulation->stride_bytes = signature_stride_bytes((unsigned)simulation->bits);
    cog_status status = lsh_keyer_create(&simulation->keyer, options, error);
    for (int side = 0; side < 2 && status == COG_OK; side++) {
        status = TAKEN(simulation->keys[side], lsh_keys_max(options, true), "a simulation", error);
        THEN(status, TAKEN(simulation->margins[side], simulation->bits, "a simulation", error));
        THEN(status,
             TAKEN(simulation->signatures[side], simulation->stride_bytes, "a simulation", error));
    }
    return status;
}

struct simulated_pairs {
    const struct lsh_targets *targets;
    enum lsh_join_kind kind;
    size_t samples;
    struct simulation *simulations; /* one per worker */
    size_t met;                     /* atomic */
};

/* Each pair has its own random numbers, so the result does not depend on the threads. */
static cog_status simulate_pairs(void *context, unsigned worker, size_t begin, size_t end,
                                 cog_error *error) {
    (void)error;
    struct simulated_pairs *pairs = context;
    struct simulation *simulation = &pairs->simulations[worker];
    size_t met = 0;
    for (size_t i = begin; i < end; i++) {
        struct random random = random_seeded(hash_pair(simulation->bits, i));
        /* Spread evenly over the targets, however many there are. */
        size_t number =
            (size_t)((double)i / (double)pairs->samples * (double)pairs->targets->count);
        if (pairs->targets->known)
            take_pair(simulation, pairs->targets->known, i);
        else
            draw_pair(simulation, &random, pairs->targets->cosines[number]);
        met += pair_meets(simulation, pairs->kind);
    }
    __atomic_add_fetch(&pairs->met, met, __ATOMIC_RELAXED);
    return COG_OK;
}

cog_status lsh_recall_simulated(const struct lsh_options *options, enum lsh_join_kind kind,
                                const struct lsh_targets *targets, size_t samples, unsigned threads,
                                double *recall, cog_error *error) {
    struct simulated_pairs pairs = {.targets = targets, .kind = kind};
    pairs.samples = targets->known ? targets->count : samples;
    threads = threads_resolve(threads);
    TAKE_ZEROED(pairs.simulations, threads, "a simulation", error);
    cog_status status = COG_OK;
    for (unsigned i = 0; i < threads && status == COG_OK; i++)
        status = simulation_create(&pairs.simulations[i], options, error);
    THEN(status,
         parallel_for(threads, pairs.samples, SIMULATION_GRAIN, simulate_pairs, &pairs, error));
    for (unsigned i = 0; i < threads; i++)
        simulation_free(&pairs.simulations[i]);
    free(pairs.simulations);
    *recall = (double)pairs.met / (double)pairs.samples;
    return status;
}

/* ---- Choosing -------------------------------------------------------------------------------- */

struct plan {
    struct lsh_options options;
    double recall, cost;
    bool reached;
};

static bool is_better(const struct plan *a, const struct plan *b) {
    if (a->reached != b->reached)
        return a->reached;
    return a->reached ? a->cost < b->cost : a->recall > b->recall;
}

/* In comparisons: a key and its bucket cost about one, putting a row into a table several. */
static double plan_cost(const struct lsh_options *options, size_t rows) {
    enum { TABLE_COMPARISONS = 3 };
    return lsh_comparisons(options, rows) + (double)lsh_keys_max(options, true) +
           TABLE_COMPARISONS * (double)options->tables;
}

static cog_status judge(const struct lsh_demand *demand, unsigned tables, struct plan *plan,
                        cog_error *error) {
    plan->options.tables = tables;
    if (lsh_bits_used(&plan->options) > demand->bits) {
        plan->recall = -1;
        return COG_OK;
    }
    plan->cost = plan_cost(&plan->options, demand->rows);
    cog_status status = lsh_recall_simulated(&plan->options, demand->kind, &demand->targets,
                                             PLAN_SAMPLES, demand->threads, &plan->recall, error);
    plan->reached = plan->recall >= demand->recall;
    return status;
}

/* The fewest half-keys (all pairs of them are tables) that reach the recall, or all of them. */
static cog_status plan_tables(const struct lsh_demand *demand, struct plan *plan,
                              cog_error *error) {
    unsigned halves_max = demand->bits / (plan->options.key_bits / 2);
    halves_max = halves_max < PLAN_HALVES_MAX ? halves_max : PLAN_HALVES_MAX;
    if (demand->given.tables)
        return judge(demand, demand->given.tables, plan, error);
    struct plan tried = *plan;
    cog_status status = judge(demand, halves_max * (halves_max - 1) / 2, plan, error);
    for (unsigned low = 2, high = halves_max; low < high && status == COG_OK;) {
        unsigned middle = (low + high) / 2;
        status = judge(demand, middle * (middle - 1) / 2, &tried, error);
        if (tried.reached) {
            high = middle;
            *plan = tried;
        } else {
            low = middle + 1;
        }
    }
    return status;
}

static cog_status plan_with_key(const struct lsh_demand *demand, unsigned key_bits,
                                struct plan *best, cog_error *error) {
    bool may_flip = demand->have_margins || demand->given.flip_mode == LSH_FLIP_RANDOM;
    unsigned first = demand->given.flips, last = first ? first : PLAN_FLIPS_MAX;
    if (demand->given.flip_mode == LSH_FLIP_NONE || !may_flip)
        last = first = 0;
    cog_status status = COG_OK;
    for (unsigned flips = first; flips <= last && flips <= key_bits && status == COG_OK;
         flips += flips + 1) {
        struct plan tried = {.options = demand->given};
        tried.options.key_bits = key_bits;
        tried.options.flips = flips;
        if (flips == 0)
            tried.options.flip_mode = LSH_FLIP_NONE;
        status = plan_tables(demand, &tried, error);
        if (status == COG_OK && is_better(&tried, best))
            *best = tried;
    }
    return status;
}

/* A key has a bit for each flip. */
static unsigned least_key_bits(const struct lsh_options *given) {
    return given->flips > 2 ? (given->flips + 1) / 2 * 2 : 2;
}

cog_status lsh_plan_check(const struct lsh_demand *demand, cog_error *error) {
    struct lsh_options least = demand->given;
    least.key_bits = least.key_bits ? least.key_bits : least_key_bits(&demand->given);
    least.tables = least.tables ? least.tables : 1;
    if (least.flips == 0)
        least.flip_mode = LSH_FLIP_NONE;
    return lsh_options_check(&least, demand->bits, demand->have_margins, error);
}

cog_status lsh_plan(const struct lsh_demand *demand, struct lsh_options *options, double *recall,
                    cog_error *error) {
    const struct lsh_options *given = &demand->given;
    struct plan best = {.recall = -1};
    const unsigned least_bits = least_key_bits(given);
    unsigned key_bits = given->key_bits ? given->key_bits : least_bits;
    while (!given->key_bits && key_bits + 2 <= LSH_KEY_BITS_MAX &&
           (double)demand->rows > ldexp(1, (int)key_bits + 1))
        key_bits += 2;
    cog_status status = lsh_plan_check(demand, error);
    for (; (given->key_bits || key_bits >= least_bits) && !best.reached && status == COG_OK;
         key_bits -= 2) {
        if (demand->bits >= key_bits)
            status = plan_with_key(demand, key_bits, &best, error);
        if (given->key_bits)
            break;
    }
    if (status == COG_OK && !best.reached && !given->key_bits && !given->tables && !given->flips)
        status = error_set(error, COG_ERR_USAGE,
                           "no tables over %u bits reach a recall of %g: use longer signatures, or "
                           "the exact method",
                           demand->bits, demand->recall);
    *options = best.options;
    *recall = best.recall;
    return status;
}

/* ---- Bands of values ------------------------------------------------------------------------- */

double band_recall(double similarity, unsigned value_bits, unsigned band_values, unsigned bands) {
    double agreement = similarity + (1 - similarity) * ldexp(1, -(int)value_bits);
    return 1 - pow(1 - pow(agreement, band_values), bands);
}

/* Mean share of pairs below the threshold that become candidates, similarities taken as uniform. */
static double false_share(double threshold, unsigned value_bits, unsigned band_values,
                          unsigned bands) {
    enum { STEPS = 64 };
    double sum = 0;
    for (int i = 0; i < STEPS; i++)
        sum += band_recall(threshold * (i + 0.5) / STEPS, value_bits, band_values, bands);
    return sum / STEPS;
}

/* The fewest bands of `values` values that reach the recall, at most `most`. */
static unsigned fewest_bands(double threshold, double recall, unsigned value_bits, unsigned values,
                             unsigned most) {
    unsigned needed = 1;
    while (needed < most && band_recall(threshold, value_bits, values, needed) < recall)
        needed++;
    return needed;
}

double band_plan(double threshold, double recall, unsigned value_bits, unsigned value_count,
                 unsigned *band_values, unsigned *bands) {
    const unsigned given_values = *band_values, given_bands = *bands;
    unsigned longest = given_values ? given_values : value_count / (given_bands ? given_bands : 1);
    double least = INFINITY;
    for (unsigned values = given_values ? given_values : 1; values <= longest || values == 1;
         values++) {
        unsigned most = value_count / values ? value_count / values : 1;
        unsigned count =
            given_bands ? given_bands : fewest_bands(threshold, recall, value_bits, values, most);
        bool reached = band_recall(threshold, value_bits, values, count) >= recall;
        double share = reached ? false_share(threshold, value_bits, values, count) : 1;
        if (share < least) {
            least = share;
            *band_values = values;
            *bands = count;
        }
        if (!reached)
            break; /* longer bands find fewer still */
    }
    return band_recall(threshold, value_bits, *band_values, *bands);
}
