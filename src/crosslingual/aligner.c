#include "crosslingual/aligner.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"

enum { SENTENCES_PER_PIECE = 2048, PRIOR_STEPS = 1024 };

void aligner_options_init(struct aligner_options *options) {
    *options = (struct aligner_options){
        .model1_iterations = 5, .agreement_iterations = 5, .null_probability = 0.08, .diagonal = 4};
}

/* The empty word of one direction: the probability of each word given it, and fixed-point counts in
 * units of 2^-PAIR_UNIT_BITS. */
struct null_word {
    float *probabilities;
    uint64_t *counts;
    size_t words;
};

/* The words of a sentence that can be aligned, with their places among all its words. */
struct sentence_side {
    uint32_t *words;
    float *places; /* (i + 1/2) / length */
    unsigned count, length;
};

/* A sentence pair and the table entries of its word pairs, by source word. They are prefetched
 * while the sentence before is worked on. */
struct sentence_work {
    struct sentence_side from, to;
    struct pair_entry **entries;
};

/* Posteriors of both directions, row by row; one per thread. */
struct align_scratch {
    char *memory; /* of everything below */
    struct sentence_work ahead[2];
    float *prior, *to_posterior, *from_posterior, *sums;
    float *column; /* prior mass of each target word over all source places */
};

struct aligner {
    const struct pair_corpus *corpus;
    struct pair_table *table;
    const struct aligner_options *options;
    struct null_word null_to, null_from; /* words of the target given nothing, of the source */
    uint64_t *from_totals, *to_totals;
    struct align_scratch *scratches;
    unsigned thread_count, longest;
    bool agree;
    float prior_steps[PRIOR_STEPS + 1];
};

/* exp(-rate * i / PRIOR_STEPS) by repeated multiplication, which gives the same on every machine.
 */
static void fill_prior(float *steps, double rate) {
    double x = rate / PRIOR_STEPS;
    double factor = 1 - x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4 * (1 - x / 5))));
    double value = 1;
    for (int i = 0; i <= PRIOR_STEPS; i++, value *= factor)
        steps[i] = (float)value;
}

static void load_side(struct sentence_side *loaded, const struct pair_side *side, size_t sentence) {
    uint64_t begin = pair_side_begin(side, sentence), end = side->ends[sentence];
    loaded->count = 0;
    loaded->length = (unsigned)(end - begin);
    float step = 1.0f / (float)loaded->length;
    for (uint64_t i = begin; i < end; i++) {
        if (side->words[i] == WORD_NONE)
            continue;
        loaded->words[loaded->count] = side->words[i];
        loaded->places[loaded->count++] = ((float)(i - begin) + 0.5f) * step;
    }
}

static void fetch_sentence(const struct aligner *aligner, size_t sentence,
                           struct sentence_work *work) {
    load_side(&work->from, &aligner->corpus->from, sentence);
    load_side(&work->to, &aligner->corpus->to, sentence);
    struct pair_entry **entry = work->entries;
    for (unsigned i = 0; i < work->from.count; i++)
        for (unsigned j = 0; j < work->to.count; j++, entry++) {
            *entry = pair_table_start(aligner->table, work->from.words[i], work->to.words[j]);
            __builtin_prefetch(*entry, 1);
        }
}

/* Prior of every pair of places: 1 in Model 1, otherwise falling with the distance from the
 * diagonal. Only known words are summed over: nowhere else can the mass go. */
static void fill_priors(const struct aligner *aligner, const struct sentence_work *work,
                        float *prior) {
    unsigned rows = work->from.count, columns = work->to.count;
    for (unsigned i = 0; i < rows; i++, prior += columns) {
        float place = work->from.places[i];
        for (unsigned j = 0; j < columns; j++) {
            float distance = place - work->to.places[j];
            distance = distance < 0 ? -distance : distance;
            prior[j] = aligner->agree ? aligner->prior_steps[(int)(distance * PRIOR_STEPS)] : 1;
        }
    }
}

/* Posterior that target word j comes from source word i, normalised by column. */
static void target_posteriors(const struct aligner *aligner, const struct sentence_work *work,
                              const struct align_scratch *scratch) {
    unsigned rows = work->from.count, columns = work->to.count;
    float null = (float)aligner->options->null_probability;
    float *sums = scratch->sums, *mass = scratch->column, *out = scratch->to_posterior;
    memset(sums, 0, columns * sizeof *sums);
    memset(mass, 0, columns * sizeof *mass);
    for (unsigned i = 0, at = 0; i < rows; i++)
        for (unsigned j = 0; j < columns; j++, at++) {
            out[at] = scratch->prior[at] * work->entries[at]->to_given_from;
            sums[j] += out[at];
            mass[j] += scratch->prior[at];
        }
    for (unsigned j = 0; j < columns; j++) {
        float scale = (1 - null) / mass[j];
        float empty = null * aligner->null_to.probabilities[work->to.words[j]];
        float total = scale * sums[j] + empty;
        sums[j] = total > 0 ? scale / total : 0;
        float share = total > 0 ? empty / total : 0;
        __atomic_fetch_add(&aligner->null_to.counts[work->to.words[j]],
                           (uint64_t)(share * 0x1p31f + 0.5f), __ATOMIC_RELAXED);
    }
    for (unsigned i = 0, at = 0; i < rows; i++)
        for (unsigned j = 0; j < columns; j++, at++)
            out[at] *= sums[j];
}

/* Posterior that source word i comes from target word j, normalised by row. */
static void source_posteriors(const struct aligner *aligner, const struct sentence_work *work,
                              const struct align_scratch *scratch) {
    unsigned rows = work->from.count, columns = work->to.count;
    float null = (float)aligner->options->null_probability;
    float *out = scratch->from_posterior;
    for (unsigned i = 0, row = 0; i < rows; i++, row += columns) {
        float sum = 0, mass = 0;
        for (unsigned j = 0; j < columns; j++) {
            out[row + j] = scratch->prior[row + j] * work->entries[row + j]->from_given_to;
            sum += out[row + j];
            mass += scratch->prior[row + j];
        }
        float scale = (1 - null) / mass;
        float empty = null * aligner->null_from.probabilities[work->from.words[i]];
        float total = scale * sum + empty;
        float factor = total > 0 ? scale / total : 0, share = total > 0 ? empty / total : 0;
        for (unsigned j = 0; j < columns; j++)
            out[row + j] *= factor;
        __atomic_fetch_add(&aligner->null_from.counts[work->from.words[i]],
                           (uint64_t)(share * 0x1p31f + 0.5f), __ATOMIC_RELAXED);
    }
}

static inline uint32_t fixed_point(float posterior, const struct pair_entry *entry) {
    float clipped = posterior < 1 ? posterior : 1;
    return (uint32_t)((double)clipped * (double)(UINT64_C(1) << entry_shift(entry)) + 0.5);
}

static void count_sentence(const struct aligner *aligner, const struct sentence_work *work,
                           const struct align_scratch *scratch) {
    unsigned pairs = work->from.count * work->to.count;
    for (unsigned at = 0; at < pairs; at++) {
        struct pair_entry *entry = work->entries[at];
        float to = scratch->to_posterior[at], from = scratch->from_posterior[at];
        if (aligner->agree) {
            uint32_t both = fixed_point(to * from, entry);
            if (both)
                __atomic_fetch_add(&entry->to_count, both, __ATOMIC_RELAXED);
            continue;
        }
        __atomic_fetch_add(&entry->to_count, fixed_point(to, entry), __ATOMIC_RELAXED);
        __atomic_fetch_add(&entry->from_count, fixed_point(from, entry), __ATOMIC_RELAXED);
    }
}

static void align_sentence(const struct aligner *aligner, struct sentence_work *work,
                           const struct align_scratch *scratch) {
    struct pair_entry **entry = work->entries;
    if (work->from.count == 0 || work->to.count == 0)
        return;
    for (unsigned i = 0; i < work->from.count; i++)
        for (unsigned j = 0; j < work->to.count; j++, entry++)
            *entry =
                pair_table_find(aligner->table, work->from.words[i], work->to.words[j], *entry);
    fill_priors(aligner, work, scratch->prior);
    target_posteriors(aligner, work, scratch);
    source_posteriors(aligner, work, scratch);
    count_sentence(aligner, work, scratch);
}

static cog_status align_piece(void *context, unsigned worker, size_t begin, size_t end,
                              cog_error *error) {
    (void)error;
    const struct aligner *aligner = context;
    struct align_scratch *scratch = &aligner->scratches[worker];
    fetch_sentence(aligner, begin, &scratch->ahead[begin & 1]);
    for (size_t sentence = begin; sentence < end; sentence++) {
        if (sentence + 1 < end)
            fetch_sentence(aligner, sentence + 1, &scratch->ahead[(sentence + 1) & 1]);
        align_sentence(aligner, &scratch->ahead[sentence & 1], scratch);
    }
    return COG_OK;
}

/* ---- From counts to probabilities ------------------------------------------------------------ */

static inline uint64_t in_common_units(uint32_t count, const struct pair_entry *entry) {
    return (uint64_t)count << (PAIR_UNIT_BITS - entry_shift(entry));
}

static inline float ratio(uint64_t part, uint64_t whole) {
    return whole ? (float)((double)part / (double)whole) : 0;
}

/* Works on one shard when its counts are complete. Shards run in parallel: the source words of a
 * shard are in no other, so that only the totals of target words are shared. */
static cog_status total_shard(void *context, unsigned worker, size_t begin, size_t end,
                              cog_error *error) {
    (void)worker;
    (void)end;
    (void)error;
    const struct aligner *aligner = context;
    const struct pair_shard *shard = &aligner->table->shards[begin];
    for (struct pair_entry *entry = NULL; (entry = pair_shard_next(shard, entry));) {
        if (aligner->agree)
            entry->from_count = entry->to_count;
        aligner->from_totals[entry_from(entry)] += in_common_units(entry->to_count, entry);
        if (entry->from_count)
            __atomic_fetch_add(&aligner->to_totals[entry_to(entry)],
                               in_common_units(entry->from_count, entry), __ATOMIC_RELAXED);
    }
    return COG_OK;
}

static cog_status normalise_shard(void *context, unsigned worker, size_t begin, size_t end,
                                  cog_error *error) {
    (void)worker;
    (void)end;
    (void)error;
    const struct aligner *aligner = context;
    const struct pair_shard *shard = &aligner->table->shards[begin];
    for (struct pair_entry *entry = NULL; (entry = pair_shard_next(shard, entry));) {
        entry->to_given_from =
            ratio(in_common_units(entry->to_count, entry), aligner->from_totals[entry_from(entry)]);
        entry->from_given_to =
            ratio(in_common_units(entry->from_count, entry), aligner->to_totals[entry_to(entry)]);
        entry->to_count = entry->from_count = 0;
    }
    return COG_OK;
}

static void normalise_null(struct null_word *null) {
    uint64_t total = 0;
    for (size_t i = 0; i < null->words; i++)
        total += null->counts[i] >> 8;
    for (size_t i = 0; i < null->words; i++)
        null->probabilities[i] = ratio(null->counts[i] >> 8, total);
    memset(null->counts, 0, null->words * sizeof *null->counts);
}

static cog_status iterate(struct aligner *aligner, cog_error *error) {
    cog_status status = parallel_for(aligner->thread_count, aligner->corpus->count,
                                     SENTENCES_PER_PIECE, align_piece, aligner, error);
    memset(aligner->from_totals, 0, aligner->table->from_words * sizeof *aligner->from_totals);
    memset(aligner->to_totals, 0, aligner->table->to_words * sizeof *aligner->to_totals);
    THEN(status, parallel_for(aligner->thread_count, PAIR_SHARDS, 1, total_shard, aligner, error));
    THEN(status,
         parallel_for(aligner->thread_count, PAIR_SHARDS, 1, normalise_shard, aligner, error));
    normalise_null(&aligner->null_to);
    normalise_null(&aligner->null_from);
    return status;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static cog_status null_init(struct null_word *null, size_t words, cog_error *error) {
    null->words = words;
    TAKE(null->probabilities, words, "word alignment", error);
    TAKE_ZEROED(null->counts, words, "word alignment", error);
    for (size_t i = 0; i < words; i++)
        null->probabilities[i] = 1;
    return COG_OK;
}

static void *take_memory(char **next, size_t count, size_t size_bytes) {
    void *memory = *next;
    *next += count * size_bytes;
    return memory;
}

static cog_status scratch_init(struct align_scratch *scratch, size_t longest, cog_error *error) {
    size_t pairs = longest * longest;
    size_t side_bytes = sizeof *scratch->ahead->from.words + sizeof *scratch->ahead->from.places;
    size_t total = 2 * pairs * sizeof(void *) + longest * 4 * side_bytes +
                   (3 * pairs + 2 * longest) * sizeof(float);
    TAKE(scratch->memory, total, "word alignment", error);
    char *next = scratch->memory;
    for (int k = 0; k < 2; k++)
        scratch->ahead[k].entries = take_memory(&next, pairs, sizeof(void *));
    for (int k = 0; k < 2; k++) {
        struct sentence_side *sides[2] = {&scratch->ahead[k].from, &scratch->ahead[k].to};
        for (int i = 0; i < 2; i++) {
            sides[i]->words = take_memory(&next, longest, sizeof *sides[i]->words);
            sides[i]->places = take_memory(&next, longest, sizeof *sides[i]->places);
        }
    }
    scratch->prior = take_memory(&next, pairs, sizeof(float));
    scratch->to_posterior = take_memory(&next, pairs, sizeof(float));
    scratch->from_posterior = take_memory(&next, pairs, sizeof(float));
    scratch->sums = take_memory(&next, longest, sizeof(float));
    scratch->column = take_memory(&next, longest, sizeof(float));
    return COG_OK;
}

static size_t longest_sentence(const struct pair_corpus *corpus) {
    uint64_t longest = 1;
    for (size_t s = 0; s < corpus->count; s++) {
        uint64_t from = corpus->from.ends[s] - pair_side_begin(&corpus->from, s);
        uint64_t to = corpus->to.ends[s] - pair_side_begin(&corpus->to, s);
        longest = from > longest ? from : longest;
        longest = to > longest ? to : longest;
    }
    return (size_t)longest;
}

static cog_status aligner_init(struct aligner *aligner, cog_error *error) {
    const struct pair_table *table = aligner->table;
    size_t longest = longest_sentence(aligner->corpus);
    aligner->thread_count = threads_resolve(aligner->options->threads);
    TAKE_ZEROED(aligner->scratches, aligner->thread_count, "word alignment", error);
    TAKE(aligner->from_totals, table->from_words, "word alignment", error);
    TAKE(aligner->to_totals, table->to_words, "word alignment", error);
    TRY(null_init(&aligner->null_to, table->to_words, error));
    TRY(null_init(&aligner->null_from, table->from_words, error));
    for (unsigned i = 0; i < aligner->thread_count; i++)
        TRY(scratch_init(&aligner->scratches[i], longest, error));
    fill_prior(aligner->prior_steps, aligner->options->diagonal);
    return COG_OK;
}

static void aligner_reset(struct aligner *aligner) {
    for (unsigned i = 0; aligner->scratches && i < aligner->thread_count; i++)
        free(aligner->scratches[i].memory);
    FREE(aligner->scratches, aligner->from_totals, aligner->to_totals,
         aligner->null_to.probabilities, aligner->null_to.counts, aligner->null_from.probabilities,
         aligner->null_from.counts);
}

cog_status aligner_run(const struct pair_corpus *corpus, struct pair_table *table,
                       const struct aligner_options *options, cog_error *error) {
    struct aligner aligner = {.corpus = corpus, .table = table, .options = options};
    cog_status status = aligner_init(&aligner, error);
    unsigned total = options->model1_iterations + options->agreement_iterations;
    for (unsigned i = 0; i < total && status == COG_OK; i++) {
        aligner.agree = i >= options->model1_iterations;
        status = iterate(&aligner, error);
        if (options->progress)
            THEN(status, progress_report(options->progress, i + 1, error));
    }
    aligner_reset(&aligner);
    return status;
}
