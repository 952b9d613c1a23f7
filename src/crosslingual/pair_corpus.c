#include "crosslingual/pair_corpus.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"

/* The terms of one side of a batch. */
struct side_terms {
    uint64_t *hashes;
    size_t *string_ends;
    size_t *sentence_ends;
    struct buffer strings;
    size_t count, hash_capacity, string_capacity, sentence_capacity;
};

struct corpus_slot {
    struct pair_batch pairs;
    struct side_terms sides[2];
};

struct pair_worker {
    struct analyzer *analyzers[2];
    struct term_list terms;
};

struct pair_reading {
    struct pair_corpus *corpus;
    struct pair_side *sides[2];
    struct pair_reader *reader;
    const struct pair_corpus_options *options;
    struct progress progress;
    struct pair_worker *workers;
    struct corpus_slot *slots;
    void **batches;
    unsigned worker_count;
    size_t slot_count, used_slots, largest_slot_bytes;
};

static size_t slot_count_of(unsigned workers) {
    return 2 * (size_t)workers + 1;
}

static uint64_t analyzers_bytes(unsigned workers) {
    return (uint64_t)workers * 2 * analyzer_memory_bytes();
}

static cog_status produce(void *context, void *batch, bool *end, cog_error *error) {
    struct pair_reading *reading = context;
    return pair_reader_fill(reading->reader, &((struct corpus_slot *)batch)->pairs, end, error);
}

static cog_status append_terms(struct side_terms *side, const struct term_list *terms,
                               size_t sentence, cog_error *error) {
    size_t needed = side->count + terms->count, base = side->strings.size;
    GROW(side->hashes, side->hash_capacity, needed, "the terms of sentences", error);
    GROW(side->string_ends, side->string_capacity, needed, "the terms of sentences", error);
    GROW(side->sentence_ends, side->sentence_capacity, sentence + 1, "sentences", error);
    if (!buffer_append(&side->strings, terms->strings.data, terms->strings.size))
        return error_memory(error, terms->strings.size, "the terms of sentences");
    for (size_t i = 0; i < terms->count; i++) {
        side->hashes[side->count] = terms->hashes[i];
        side->string_ends[side->count++] = base + terms->ends[i];
    }
    side->sentence_ends[sentence] = side->count;
    return COG_OK;
}

static cog_status analyse(void *context, unsigned number, void *batch, cog_error *error) {
    const struct pair_reading *reading = context;
    struct pair_worker *worker = &reading->workers[number];
    struct corpus_slot *slot = batch;
    for (int side = 0; side < 2; side++) {
        struct side_terms *terms = &slot->sides[side];
        terms->count = 0;
        buffer_reset(&terms->strings);
        for (size_t i = 0; i < slot->pairs.count; i++) {
            const struct pair_span *span = &slot->pairs.items[i];
            struct bytes_view text =
                view_of(slot->pairs.text.data + (side ? span->to_begin : span->from_begin),
                        side ? span->to_size : span->from_size);
            TRY(analyzer_run(worker->analyzers[side], text, view_of("", 0), &worker->terms, error));
            TRY(append_terms(terms, &worker->terms, i, error));
        }
    }
    return COG_OK;
}

static size_t sentence_begin(const struct side_terms *terms, size_t i) {
    return i ? terms->sentence_ends[i - 1] : 0;
}

static size_t sentence_length(const struct side_terms *terms, size_t i) {
    return terms->sentence_ends[i] - sentence_begin(terms, i);
}

/* Adds sentence i of a batch as the corpus's next sentence. */
static cog_status intern_sentence(struct pair_side *side, const struct side_terms *terms, size_t i,
                                  size_t sentence, cog_error *error) {
    uint64_t first = pair_side_begin(side, sentence);
    size_t begin = sentence_begin(terms, i), length = sentence_length(terms, i);
    GROW(side->words, side->word_capacity, first + length, "parallel text", error);
    GROW(side->ends, side->end_capacity, sentence + 1, "parallel text", error);
    for (size_t t = begin; t < begin + length; t++) {
        size_t at = t ? terms->string_ends[t - 1] : 0;
        TRY(word_table_add(&side->vocabulary, terms->hashes[t],
                           view_of(terms->strings.data + at, terms->string_ends[t] - at), 1,
                           &side->words[first + (t - begin)], error));
    }
    side->ends[sentence] = first + length;
    return COG_OK;
}

/* The other slots are being filled meanwhile: each is taken to be as large as the largest so far.
 */
static void count_slot(struct pair_reading *reading, const struct corpus_slot *slot) {
    size_t bytes = slot->pairs.text.capacity + slot->pairs.capacity * sizeof *slot->pairs.items;
    for (int i = 0; i < 2; i++) {
        const struct side_terms *side = &slot->sides[i];
        bytes += side->hash_capacity * sizeof *side->hashes +
                 side->string_capacity * sizeof *side->string_ends +
                 side->sentence_capacity * sizeof *side->sentence_ends + side->strings.capacity;
    }
    if (bytes > reading->largest_slot_bytes)
        reading->largest_slot_bytes = bytes;
    if (reading->used_slots < reading->slot_count)
        reading->used_slots++;
    reading->corpus->reading_bytes =
        analyzers_bytes(reading->worker_count) + reading->used_slots * reading->largest_slot_bytes;
}

static cog_status intern(void *context, void *batch, cog_error *error) {
    struct pair_reading *reading = context;
    struct pair_corpus *corpus = reading->corpus;
    const struct corpus_slot *slot = batch;
    uint64_t left;
    for (size_t i = 0; i < slot->pairs.count; i++) {
        size_t from = sentence_length(&slot->sides[0], i), to = sentence_length(&slot->sides[1], i);
        if (!from || !to) {
            corpus->empty++;
        } else if (from > reading->options->max_words || to > reading->options->max_words) {
            corpus->too_long++;
        } else {
            for (int side = 0; side < 2; side++)
                TRY(intern_sentence(reading->sides[side], &slot->sides[side], i, corpus->count,
                                    error));
            corpus->count++;
        }
    }
    count_slot(reading, slot);
    TRY(pair_corpus_check_budget(corpus, reading->options->job, &left, error));
    return progress_report(&reading->progress, pair_reader_read_bytes(reading->reader), error);
}

static void forget_rare_words(struct pair_side *side, size_t sentences, uint64_t min_count) {
    uint64_t total = pair_side_begin(side, sentences);
    for (uint64_t i = 0; i < total; i++)
        if (side->vocabulary.counts[side->words[i]] < min_count)
            side->words[i] = WORD_NONE;
}

static cog_status open_reading(struct pair_reading *reading, cog_error *error) {
    const struct pair_corpus_options *options = reading->options;
    uint64_t left;
    reading->worker_count = options->job->threads;
    reading->slot_count = slot_count_of(reading->worker_count);
    reading->corpus->reading_bytes = analyzers_bytes(reading->worker_count);
    progress_start(&reading->progress, &options->job->run, "reading parallel text",
                   pair_reader_total_bytes(reading->reader));
    TRY(pair_corpus_check_budget(reading->corpus, options->job, &left, error));
    TAKE_ZEROED(reading->workers, reading->worker_count, "reading pairs", error);
    TAKE_ZEROED(reading->slots, reading->slot_count, "reading pairs", error);
    TAKE_ZEROED(reading->batches, reading->slot_count, "reading pairs", error);
    for (size_t i = 0; i < reading->slot_count; i++)
        reading->batches[i] = &reading->slots[i];
    for (unsigned i = 0; i < reading->worker_count; i++) {
        reading->workers[i].terms.want_strings = true;
        TRY(analyzer_create(&options->from, &reading->workers[i].analyzers[0], error));
        TRY(analyzer_create(&options->to, &reading->workers[i].analyzers[1], error));
    }
    return COG_OK;
}

static void close_reading(struct pair_reading *reading) {
    for (size_t i = 0; reading->slots && i < reading->slot_count; i++) {
        pair_batch_free(&reading->slots[i].pairs);
        for (int side = 0; side < 2; side++) {
            struct side_terms *terms = &reading->slots[i].sides[side];
            FREE(terms->hashes, terms->string_ends, terms->sentence_ends);
            buffer_free(&terms->strings);
        }
    }
    for (unsigned i = 0; reading->workers && i < reading->worker_count; i++) {
        analyzer_free(reading->workers[i].analyzers[0]);
        analyzer_free(reading->workers[i].analyzers[1]);
        term_list_free(&reading->workers[i].terms);
    }
    FREE(reading->workers, reading->slots, reading->batches);
}

cog_status pair_corpus_read(struct pair_corpus *corpus, struct pair_reader *reader,
                            const struct pair_corpus_options *options, cog_error *error) {
    struct pair_reading reading = {.corpus = corpus,
                                   .sides = {&corpus->from, &corpus->to},
                                   .reader = reader,
                                   .options = options};
    cog_status status = open_reading(&reading, error);
    struct pipeline pipeline = {.produce = produce,
                                .work = analyse,
                                .consume = intern,
                                .context = &reading,
                                .batches = reading.batches,
                                .batch_count = reading.slot_count};
    THEN(status, pipeline_run(&pipeline, reading.worker_count, error));
    THEN(status, progress_finish(&reading.progress, error));
    close_reading(&reading);
    corpus->reading_bytes = 0;
    TRY(status);
    if (corpus->count == 0)
        return error_set(error, COG_ERR_INPUT,
                         "no usable sentence pair in the parallel text; give two columns with a "
                         "tab between them");
    forget_rare_words(&corpus->from, corpus->count, options->min_count);
    forget_rare_words(&corpus->to, corpus->count, options->min_count);
    return COG_OK;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static uint64_t side_memory_bytes(const struct pair_side *side) {
    const struct word_table *words = &side->vocabulary;
    return side->word_capacity * sizeof *side->words + side->end_capacity * sizeof *side->ends +
           words->strings.capacity + words->slot_count * 4 + words->hash_capacity * 24;
}

cog_status pair_corpus_check_budget(const struct pair_corpus *corpus, const struct job *job,
                                    uint64_t *left, cog_error *error) {
    enum { PROGRAM_BYTES = 9 << 20 }; /* measured */
    uint64_t budget = job->run.memory_bytes;
    uint64_t used = PROGRAM_BYTES + side_memory_bytes(&corpus->from) +
                    side_memory_bytes(&corpus->to) + corpus->reading_bytes;
    *left = used < budget ? budget - used : 0;
    if (budget == 0 || used < budget)
        return COG_OK;
    return error_about(
        error, COG_ERR_MEMORY, "memory_bytes",
        "training needs more than %llu MB and the budget is %llu MB; raise the budget, "
        "take fewer threads, or give less parallel text",
        (unsigned long long)(used >> 20), (unsigned long long)(budget >> 20));
}

double pair_corpus_predicted_bytes(double text_bytes, unsigned threads) {
    const double slot_of_batch = 5, corpus_of_text = 1.3; /* measured, and rounded up */
    double slots = text_bytes / PAIR_BATCH_BYTES + 1;
    if (slots > (double)slot_count_of(threads))
        slots = (double)slot_count_of(threads);
    return (double)analyzers_bytes(threads) + slots * slot_of_batch * PAIR_BATCH_BYTES +
           corpus_of_text * text_bytes;
}

static void side_free(struct pair_side *side) {
    word_table_free(&side->vocabulary);
    FREE(side->words, side->ends);
}

void pair_corpus_free(struct pair_corpus *corpus) {
    side_free(&corpus->from);
    side_free(&corpus->to);
    *corpus = (struct pair_corpus){0};
}
