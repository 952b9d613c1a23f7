#include "search/psm/psm.h"

#include <math.h>

#include "base/hash.h"
#include "base/memory.h"
#include "estimate/interval.h"

enum {
    SAMPLED_ROWS = 20000,
    SAMPLED_AT_A_TIME = 500, /* rows, until there are PAIRS_ENOUGH */
    PAIRS_ENOUGH = 20000,
    RANDOM_PAIRS = 20000,
    PAIRS_LEAST = 100,
    PAIRS_PER_ROW = 16, /* limits the weight of pages with many near-duplicates */
    DIFFERENCES_PAIRS = 8000,
    SCALE_PAIRS = 2000,
    SCALE_STEPS = 12,
    SEED = 1
};

/* Sampled rows, to be searched for. */
struct row_sample {
    size_t rows;
    uint32_t *numbers;
    uint8_t *signatures;
    float *margins;
};

static void row_sample_free(struct row_sample *sample) {
    FREE(sample->numbers, sample->signatures, sample->margins);
}

/* Divides the margins of a row by their mean size. */
static void put_units(const float *margins, unsigned bits, float *units) {
    float factor = volatility_unit(margins, bits);
    for (unsigned bit = 0; bit < bits; bit++)
        units[bit] = margins[bit] * factor;
}

/* All rows once, in random order; of more rows than wanted, random ones, few of them twice. */
static void draw_rows(size_t rows, size_t wanted, uint32_t *numbers) {
    struct random random = random_seeded(SEED);
    for (size_t i = 0; rows > wanted && i < wanted; i++)
        numbers[i] = (uint32_t)random_below(&random, rows);
    for (size_t i = 0; rows == wanted && i < wanted; i++) {
        size_t place = (size_t)random_below(&random, i + 1);
        numbers[i] = numbers[place];
        numbers[place] = (uint32_t)i;
    }
}

static cog_status row_sample_take(struct row_sample *sample, const struct signatures_view *view,
                                  const float *margins, cog_error *error) {
    size_t row_bytes = view->bits / 8;
    sample->rows = view->rows < SAMPLED_ROWS ? view->rows : SAMPLED_ROWS;
    TAKE(sample->numbers, sample->rows, "a sample of rows", error);
    TAKE(sample->signatures, sample->rows * row_bytes, "a sample of rows", error);
    TAKE(sample->margins, sample->rows * view->bits, "a sample of rows", error);
    draw_rows(view->rows, sample->rows, sample->numbers);
    for (size_t i = 0; i < sample->rows; i++) {
        size_t row = sample->numbers[i];
        memcpy(sample->signatures + i * row_bytes, signature_row(view, row), row_bytes);
        put_units(margins + row * view->bits, view->bits, sample->margins + i * view->bits);
    }
    return COG_OK;
}

/* A sampled row and a key near it that represents `neighbours` neighbours. */
struct near_pair {
    uint32_t query, row, distance;
    uint64_t neighbours;
};

struct near_pairs {
    struct near_pair *items;
    size_t count, capacity;
    size_t apart; /* pairs that are no copies: the bits of these differ */
};

/* The number of rows that have the key of a hit, without the asking row itself. */
static size_t other_rows(const struct psm_training *training, const struct match *hit) {
    const struct psm_index *index = training->index;
    size_t position =
               bucket_find(&index->stored.tables[0], short_key_of_row(training->stored, hit->b)),
           count;
    key_rows_of(&index->stored.rows, position, &count);
    return count - (hit->distance == 0 && training->asked == training->stored);
}

/* Keeps all copies and every step-th other hit of a query, which also represents the hits left out.
 */
static cog_status keep_hits(const struct psm_training *training, const struct match *hits,
                            size_t count, size_t first, struct near_pairs *pairs,
                            cog_error *error) {
    size_t step = (count + PAIRS_PER_ROW - 1) / PAIRS_PER_ROW;
    for (size_t i = 0; i < count; i++) {
        bool is_copy = hits[i].distance == 0;
        if (!is_copy && i % step != 0)
            continue;
        size_t rows = other_rows(training, &hits[i]);
        if (rows == 0)
            continue;
        GROW(pairs->items, pairs->capacity, pairs->count + 1, "pairs", error);
        pairs->items[pairs->count++] = (struct near_pair){
            hits[i].a + (uint32_t)first, hits[i].b, hits[i].distance, rows * (is_copy ? 1 : step)};
        pairs->apart += !is_copy;
    }
    return COG_OK;
}

/* Keeps the hits of a part of the sample that begins with row `first`, query by query. */
static cog_status keep_pairs(const struct psm_training *training, const struct match_list *hits,
                             size_t first, struct near_pairs *pairs, cog_error *error) {
    for (size_t begin = 0, end = 0; begin < hits->count; begin = end) {
        while (end < hits->count && hits->items[end].a == hits->items[begin].a)
            end++;
        TRY(keep_hits(training, hits->items + begin, end - begin, first, pairs, error));
    }
    return COG_OK;
}

/* Searches for parts of the sample until there are enough pairs. Rows were drawn at random, so any
 * part of them is a sample. */
static cog_status find_pairs(const struct psm_training *training, const struct row_sample *sample,
                             const struct volatility *volatility, unsigned threads,
                             struct near_pairs *pairs, cog_error *error) {
    unsigned bits = training->asked->bits;
    struct short_search search = {.radius_bits = training->radius_bits,
                                  .penalty_bound = PROBE_BOUND_NONE,
                                  .threads = threads,
                                  .distinct = true};
    cog_status status = COG_OK;
    for (size_t first = 0; first < sample->rows && pairs->count < PAIRS_ENOUGH && status == COG_OK;
         first += SAMPLED_AT_A_TIME) {
        size_t left = sample->rows - first;
        struct match_list hits = {0};
        struct psm_queries queries = {{sample->signatures + first * (bits / 8),
                                       left < SAMPLED_AT_A_TIME ? left : SAMPLED_AT_A_TIME, bits,
                                       bits / 8},
                                      sample->margins + first * bits,
                                      volatility,
                                      false};
        status = psm_search(training->index, &queries, &search, &hits, error);
        THEN(status, keep_pairs(training, &hits, first, pairs, error));
        match_list_free(&hits);
    }
    return status;
}

/* Learns from the margins of both rows, in all bits of up to DIFFERENCES_PAIRS pairs. */
static cog_status learn_differences(const struct psm_training *training,
                                    const struct row_sample *sample, const struct near_pairs *pairs,
                                    struct volatility *volatility, cog_error *error) {
    unsigned bits = training->stored->bits;
    size_t apart = pairs->apart;
    size_t step = apart > DIFFERENCES_PAIRS ? apart / DIFFERENCES_PAIRS : 1, seen = 0, used = 0;
    float *differences;
    TAKE(differences, (apart / step + 1) * bits, "margin differences", error);
    for (size_t i = 0; i < pairs->count; i++) {
        const struct near_pair *pair = &pairs->items[i];
        if (pair->distance == 0 || seen++ % step != 0)
            continue;
        const float *of_query = sample->margins + (size_t)pair->query * bits;
        float *difference = differences + used++ * bits;
        put_units(training->stored_margins + (size_t)pair->row * bits, bits, difference);
        for (unsigned bit = 0; bit < bits; bit++)
            difference[bit] -= of_query[bit];
    }
    cog_status status = volatility_learn(volatility, differences, used * bits, error);
    free(differences);
    return status;
}

/* The bits in which a pair differs. */
static short_key difference_of(const struct psm_training *training, const struct row_sample *sample,
                               const struct near_pair *pair) {
    return short_key_of_row(training->asked, sample->numbers[pair->query]) ^
           short_key_of_row(training->stored, pair->row);
}

/* The log-likelihood of the flips that were seen. */
static double flips_likelihood(const struct psm_training *training, const struct row_sample *sample,
                               const struct near_pairs *pairs,
                               const struct volatility *volatility) {
    unsigned bits = training->stored->bits;
    double sum = 0;
    size_t seen = 0;
    for (size_t i = 0; i < pairs->count && seen < SCALE_PAIRS; i++) {
        const struct near_pair *pair = &pairs->items[i];
        if (pair->distance == 0)
            continue;
        seen++;
        short_key difference = difference_of(training, sample, pair);
        const float *margins = sample->margins + (size_t)pair->query * bits;
        for (unsigned bit = 0; bit < bits; bit++) {
            double p = volatility_probability(volatility, margins[bit]);
            sum += log(difference >> (127 - bit) & 1 ? p : 1 - p);
        }
    }
    return sum;
}

/* Only the margins of the queries are known. The differences of random pairs stand in; they are
 * larger than those of near-duplicates, so they are divided by the square root of 2 as long as that
 * makes the seen flips more likely. */
static cog_status learn_scale(const struct psm_training *training, const struct row_sample *sample,
                              const struct near_pairs *pairs, struct volatility *volatility,
                              cog_error *error) {
    double best = flips_likelihood(training, sample, pairs, volatility);
    struct volatility *narrower;
    TAKE(narrower, 1, "margin differences", error);
    cog_status status = COG_OK;
    for (unsigned step = 0; step < SCALE_STEPS && status == COG_OK; step++) {
        double quantiles[VOLATILITY_QUANTILES];
        for (unsigned i = 0; i < VOLATILITY_QUANTILES; i++)
            quantiles[i] = volatility->quantiles[i] * M_SQRT1_2;
        status = volatility_restore(narrower, quantiles, volatility->tail, error);
        double likelihood =
            status == COG_OK ? flips_likelihood(training, sample, pairs, narrower) : best;
        if (likelihood <= best)
            break;
        best = likelihood;
        *volatility = *narrower;
    }
    free(narrower);
    return status;
}

/* A pair, and the penalty of the header bits in which it differs. */
struct header_penalty {
    const struct near_pair *pair;
    short_key difference;
    uint32_t penalty;
};

static int by_penalty(const void *x, const void *y) {
    uint32_t a = ((const struct header_penalty *)x)->penalty;
    uint32_t b = ((const struct header_penalty *)y)->penalty;
    return ORDER(a, b);
}

/* The neighbours of each sampled row, and how many of them a bound has found. */
struct found_neighbours {
    uint64_t *all, *found; /* by sampled row */
    struct share_tally none;
};

static void found_neighbours_free(struct found_neighbours *counts) {
    FREE(counts->all, counts->found);
}

static cog_status found_neighbours_init(const struct row_sample *sample,
                                        const struct near_pairs *pairs,
                                        struct found_neighbours *counts, cog_error *error) {
    TAKE_ZEROED(counts->all, sample->rows, "neighbours", error);
    TAKE_ZEROED(counts->found, sample->rows, "neighbours", error);
    for (size_t i = 0; i < pairs->count; i++)
        counts->all[pairs->items[i].query] += pairs->items[i].neighbours;
    for (size_t i = 0; i < sample->rows; i++)
        share_tally_add(&counts->none, 0, counts->all[i]);
    return COG_OK;
}

/* The least bounds for all recalls. As pairs are found in the order of their penalties, a recall is
 * reached if the lower end of the interval of the found share reaches it. Recalls that so few pairs
 * cannot show get the bound that finds them all. */
static void put_bounds(const struct header_penalty *penalties, size_t count,
                       struct found_neighbours *counts, size_t rows, uint32_t *bounds) {
    struct share_tally tally = counts->none;
    size_t next = 0;
    memset(counts->found, 0, rows * sizeof *counts->found);
    for (size_t at = 0; at < count; at++) {
        const struct near_pair *pair = penalties[at].pair;
        const double more = (double)pair->neighbours, before = (double)counts->found[pair->query];
        tally.hits += pair->neighbours;
        tally.hits_squared += more * (2 * before + more);
        tally.products += more * (double)counts->all[pair->query];
        counts->found[pair->query] += pair->neighbours;
        const double low = measured_share(&tally).low;
        while (next < PSM_RECALLS && low * (PSM_RECALLS - 1) >= (double)next)
            bounds[next++] = penalties[at].penalty;
    }
    while (next < PSM_RECALLS)
        bounds[next++] = penalties[count - 1].penalty;
}

/* The bounds of every header size, from neighbours that include copies. Each step adds one bit to
 * the header. */
static cog_status learn_bounds(const struct psm_training *training, const struct row_sample *sample,
                               const struct near_pairs *pairs, struct psm_learned *learned,
                               cog_error *error) {
    struct header_penalty *penalties;
    struct found_neighbours counts = {0};
    TAKE(penalties, pairs->count, "penalties", error);
    cog_status status = found_neighbours_init(sample, pairs, &counts, error);
    for (size_t i = 0; i < pairs->count; i++) {
        const struct near_pair *pair = &pairs->items[i];
        penalties[i] = (struct header_penalty){pair, difference_of(training, sample, pair), 0};
    }
    for (unsigned header = 1; status == COG_OK && header <= BUCKET_HEADER_BITS_MAX; header++) {
        for (size_t i = 0; i < pairs->count; i++) {
            size_t margin = (size_t)penalties[i].pair->query * training->stored->bits + header - 1;
            if (penalties[i].difference >> (128 - header) & 1)
                penalties[i].penalty +=
                    volatility_penalty(&learned->volatility, sample->margins[margin]);
        }
        qsort(penalties, pairs->count, sizeof *penalties, by_penalty);
        put_bounds(penalties, pairs->count, &counts, sample->rows, learned->bounds[header]);
    }
    found_neighbours_free(&counts);
    free(penalties);
    return status;
}

static cog_status learn_from_pairs(const struct psm_training *training,
                                   const struct row_sample *sample, const struct near_pairs *pairs,
                                   struct psm_learned *learned, cog_error *error) {
    if (pairs->apart < PAIRS_LEAST)
        return COG_OK;
    learned->pairs = pairs->apart;
    TRY(training->stored_margins
            ? learn_differences(training, sample, pairs, &learned->volatility, error)
            : learn_scale(training, sample, pairs, &learned->volatility, error));
    return learn_bounds(training, sample, pairs, learned, error);
}

cog_status psm_learn(const struct psm_training *training, unsigned threads,
                     struct psm_learned *learned, cog_error *error) {
    struct row_sample sample = {0};
    struct near_pairs pairs = {0};
    *learned = (struct psm_learned){.radius_bits = training->radius_bits};
    cog_status status = row_sample_take(&sample, training->asked, training->asked_margins, error);
    THEN(status, volatility_learn_random_pairs(&learned->volatility, sample.margins, sample.rows,
                                               training->asked->bits, RANDOM_PAIRS, SEED, error));
    THEN(status, find_pairs(training, &sample, &learned->volatility, threads, &pairs, error));
    THEN(status, learn_from_pairs(training, &sample, &pairs, learned, error));
    free(pairs.items);
    row_sample_free(&sample);
    return status;
}
