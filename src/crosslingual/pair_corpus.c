#include "crosslingual/pair_corpus.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "input/parallel/pair_reader.h"

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
    struct side_terms from, to;
};

struct pair_worker {
    struct analyzer *from, *to;
    struct term_list terms;
};

struct pair_reading {
    struct pair_corpus *corpus;
    struct pair_reader *reader;
    const struct pair_corpus_options *options;
    struct pair_worker *workers;
    struct corpus_slot *slots;
    void **batches;
    unsigned worker_count;
    size_t slot_count;
    size_t used_slots, largest_slot_bytes;
};

static size_t slot_count_of(unsigned workers) {
    return 2 * (size_t)workers + 1;
}

static uint64_t analyzers_bytes(unsigned workers) {
    return (uint64_t)workers * 2 * analyzer_memory_bytes();
}

static cog_status produce(void *context, void *batch, bool *end, cog_error *error) {
    struct pair_reading *reading = context;
    struct corpus_slot *slot = batch;
    return pair_reader_fill(reading->reader, &slot->pairs, end, error);
}

static cog_status append_terms(struct side_terms *side, const struct term_list *terms,
                               size_t sentence, cog_error *error) {
    size_t needed = side->count + terms->count, base = side->strings.size;
    if (!memory_grow((void **)&side->hashes, &side->hash_capacity, needed, sizeof *side->hashes) ||
        !memory_grow((void **)&side->string_ends, &side->string_capacity, needed,
                     sizeof *side->string_ends) ||
        !memory_grow((void **)&side->sentence_ends, &side->sentence_capacity, sentence + 1,
                     sizeof *side->sentence_ends) ||
        !buffer_append(&side->strings, terms->strings.data, terms->strings.size))
        return error_memory(error, needed * sizeof *side->hashes, "the terms of sentences");
    for (size_t i = 0; i < terms->count; i++) {
        side->hashes[side->count] = terms->hashes[i];
        side->string_ends[side->count++] = base + terms->ends[i];
    }
    side->sentence_ends[sentence] = side->count;
    return COG_OK;
}

static cog_status analyse(void *context, unsigned number, void *batch, cog_error *error) {
    struct pair_reading *reading = context;
    struct pair_worker *worker = &reading->workers[number];
    struct corpus_slot *slot = batch;
    struct bytes_view no_language = view_of("", 0);
    cog_status status = COG_OK;
    slot->from.count = slot->to.count = 0;
    buffer_reset(&slot->from.strings);
    buffer_reset(&slot->to.strings);
    for (size_t i = 0; i < slot->pairs.count && status == COG_OK; i++) {
        const struct pair_span *span = &slot->pairs.items[i];
        const char *text = slot->pairs.text.data;
        status = analyzer_run(worker->from, view_of(text + span->from_begin, span->from_size),
                              no_language, &worker->terms, error);
        THEN(status, append_terms(&slot->from, &worker->terms, i, error));
        THEN(status, analyzer_run(worker->to, view_of(text + span->to_begin, span->to_size),
                                  no_language, &worker->terms, error));
        THEN(status, append_terms(&slot->to, &worker->terms, i, error));
    }
    return status;
}

/* Adds terms [begin, end) of a batch as the corpus's next sentence. */
static cog_status intern_sentence(struct pair_side *side, const struct side_terms *terms,
                                  size_t begin, size_t end, size_t sentence, cog_error *error) {
    uint64_t first = pair_side_begin(side, sentence);
    if (!memory_grow((void **)&side->words, &side->word_capacity, first + (end - begin),
                     sizeof *side->words) ||
        !memory_grow((void **)&side->ends, &side->end_capacity, sentence + 1, sizeof *side->ends))
        return error_memory(error, (first + (end - begin)) * sizeof *side->words, "parallel text");
    for (size_t i = begin; i < end; i++) {
        size_t at = i ? terms->string_ends[i - 1] : 0;
        TRY(word_table_add(&side->vocabulary, terms->hashes[i],
                           view_of(terms->strings.data + at, terms->string_ends[i] - at), 1,
                           &side->words[first + (i - begin)], error));
    }
    side->ends[sentence] = first + (end - begin);
    return COG_OK;
}

static size_t side_bytes(const struct side_terms *side) {
    return side->hash_capacity * sizeof *side->hashes +
           side->string_capacity * sizeof *side->string_ends +
           side->sentence_capacity * sizeof *side->sentence_ends + side->strings.capacity;
}

/* Other slots are being filled meanwhile: each is taken to be as large as the largest so far. */
static void count_slot(struct pair_reading *reading, const struct corpus_slot *slot) {
    size_t bytes = slot->pairs.text.capacity + slot->pairs.capacity * sizeof *slot->pairs.items +
                   side_bytes(&slot->from) + side_bytes(&slot->to);
    if (bytes > reading->largest_slot_bytes)
        reading->largest_slot_bytes = bytes;
    if (reading->used_slots < reading->slot_count)
        reading->used_slots++;
    reading->corpus->reading_bytes =
        analyzers_bytes(reading->worker_count) + reading->used_slots * reading->largest_slot_bytes;
}

static cog_status report_progress(const struct pair_reading *reading, cog_error *error) {
    const struct pair_corpus_options *options = reading->options;
    return options->progress
               ? options->progress(options->progress_context, reading->corpus->count, error)
               : COG_OK;
}

static cog_status intern(void *context, void *batch, cog_error *error) {
    struct pair_reading *reading = context;
    struct pair_corpus *corpus = reading->corpus;
    struct corpus_slot *slot = batch;
    cog_status status = COG_OK;
    for (size_t i = 0; i < slot->pairs.count && status == COG_OK; i++) {
        size_t from_begin = i ? slot->from.sentence_ends[i - 1] : 0;
        size_t to_begin = i ? slot->to.sentence_ends[i - 1] : 0;
        size_t from_end = slot->from.sentence_ends[i], to_end = slot->to.sentence_ends[i];
        if (from_begin == from_end || to_begin == to_end) {
            corpus->empty++;
            continue;
        }
        if (from_end - from_begin > reading->options->max_words ||
            to_end - to_begin > reading->options->max_words) {
            corpus->too_long++;
            continue;
        }
        status =
            intern_sentence(&corpus->from, &slot->from, from_begin, from_end, corpus->count, error);
        THEN(status,
             intern_sentence(&corpus->to, &slot->to, to_begin, to_end, corpus->count, error));
        corpus->count++;
    }
    count_slot(reading, slot);
    return status == COG_OK ? report_progress(reading, error) : status;
}

static void forget_rare_words(struct pair_side *side, size_t sentences, uint64_t min_count) {
    uint64_t total = pair_side_begin(side, sentences);
    for (uint64_t i = 0; i < total; i++)
        if (side->vocabulary.counts[side->words[i]] < min_count)
            side->words[i] = WORD_NONE;
}

static cog_status open_reading(struct pair_reading *reading, cog_error *error) {
    reading->worker_count = threads_resolve(reading->options->threads);
    reading->slot_count = slot_count_of(reading->worker_count);
    reading->corpus->reading_bytes = analyzers_bytes(reading->worker_count);
    cog_status status = report_progress(reading, error);
    if (status != COG_OK)
        return status;
    reading->workers = memory_zeroed_array(reading->worker_count, sizeof *reading->workers);
    reading->slots = memory_zeroed_array(reading->slot_count, sizeof *reading->slots);
    reading->batches = memory_zeroed_array(reading->slot_count, sizeof *reading->batches);
    if (!reading->workers || !reading->slots || !reading->batches)
        return error_memory(error, reading->slot_count * sizeof *reading->slots, "reading pairs");
    for (size_t i = 0; i < reading->slot_count; i++)
        reading->batches[i] = &reading->slots[i];
    for (unsigned i = 0; i < reading->worker_count && status == COG_OK; i++) {
        reading->workers[i].terms.want_strings = true;
        status = analyzer_create(&reading->options->from, &reading->workers[i].from, error);
        THEN(status, analyzer_create(&reading->options->to, &reading->workers[i].to, error));
    }
    return status;
}

static void side_terms_free(struct side_terms *side) {
    free(side->hashes);
    free(side->string_ends);
    free(side->sentence_ends);
    buffer_free(&side->strings);
}

static void close_reading(struct pair_reading *reading) {
    for (size_t i = 0; reading->slots && i < reading->slot_count; i++) {
        pair_batch_free(&reading->slots[i].pairs);
        side_terms_free(&reading->slots[i].from);
        side_terms_free(&reading->slots[i].to);
    }
    for (unsigned i = 0; reading->workers && i < reading->worker_count; i++) {
        analyzer_free(reading->workers[i].from);
        analyzer_free(reading->workers[i].to);
        term_list_free(&reading->workers[i].terms);
    }
    free(reading->workers);
    free(reading->slots);
    free(reading->batches);
}

cog_status pair_corpus_read(struct pair_corpus *corpus, struct pair_reader *reader,
                            const struct pair_corpus_options *options, cog_error *error) {
    struct pair_reading reading = {.corpus = corpus, .reader = reader, .options = options};
    cog_status status = open_reading(&reading, error);
    struct pipeline pipeline = {produce,  analyse,         intern,
                                &reading, reading.batches, reading.slot_count};
    THEN(status, pipeline_run(&pipeline, reading.worker_count, error));
    close_reading(&reading);
    corpus->reading_bytes = 0;
    if (status != COG_OK)
        return status;
    if (corpus->count == 0)
        return error_set(error, COG_ERR_INPUT,
                         "no usable sentence pair in the parallel text; give two columns with a "
                         "tab between them");
    forget_rare_words(&corpus->from, corpus->count, options->min_count);
    forget_rare_words(&corpus->to, corpus->count, options->min_count);
    return COG_OK;
}

static uint64_t side_memory_bytes(const struct pair_side *side) {
    const struct word_table *words = &side->vocabulary;
    return side->word_capacity * sizeof *side->words + side->end_capacity * sizeof *side->ends +
           words->strings.capacity + words->slot_count * 4 + words->hash_capacity * 24;
}

uint64_t pair_corpus_memory_bytes(const struct pair_corpus *corpus) {
    return side_memory_bytes(&corpus->from) + side_memory_bytes(&corpus->to) +
           corpus->reading_bytes;
}

double pair_corpus_predicted_bytes(double text_bytes, unsigned threads) {
    const double slot_of_batch = 5, corpus_of_text = 1.3; /* measured, and rounded up */
    unsigned workers = threads_resolve(threads);
    double slots = text_bytes / PAIR_BATCH_BYTES + 1;
    if (slots > (double)slot_count_of(workers))
        slots = (double)slot_count_of(workers);
    return (double)analyzers_bytes(workers) + slots * slot_of_batch * PAIR_BATCH_BYTES +
           corpus_of_text * text_bytes;
}

static void side_free(struct pair_side *side) {
    word_table_free(&side->vocabulary);
    free(side->words);
    free(side->ends);
}

void pair_corpus_free(struct pair_corpus *corpus) {
    side_free(&corpus->from);
    side_free(&corpus->to);
    *corpus = (struct pair_corpus){0};
}
