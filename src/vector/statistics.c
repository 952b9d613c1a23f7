#include "vector/statistics.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_table.h"
#include "base/memory.h"
#include "base/numbers.h"

/* 64 tables, chosen by the hash's top bits and addressed by its low bits, each under its own lock.
 * The tables' lines travel between the threads' caches, so a thread first sums up what it has seen
 * lately in a small table of its own, which takes most additions (words are skewed), and brings
 * what was displaced from there to a shared table many at once. */
enum {
    SHARDS = 64,
    SHARD_SHIFT = 58,
    FIRST_ENTRIES = 16, /* of a table: segments of a few documents have statistics too */
    RECENT_BITS = 14,
    PENDING = 512,
    PREFETCH_AHEAD = 16
};

struct counted_term {
    uint64_t hash; /* 0 marks an empty slot; the term whose hash is 0 is stored as 1 */
    struct term_counts counts;
};

struct shard {
    pthread_mutex_t lock;
    struct counted_term *entries;
    size_t entry_count, used; /* entry_count is a power of two */
    size_t gone;              /* of those used: terms that no document has any more */
};

struct statistics {
    struct shard shards[SHARDS];
    uint64_t documents, total_length; /* atomic */
};

struct statistics_batch {
    struct statistics *statistics;
    uint64_t documents, total_length;
    struct counted_term recent[1 << RECENT_BITS];
    struct counted_term pending[SHARDS][PENDING];
    unsigned counts[SHARDS];
};

static uint64_t stored_hash(uint64_t hash) {
    return hash ? hash : 1;
}

cog_status statistics_create(struct statistics **result, cog_error *error) {
    struct statistics *statistics;
    TAKE_ZEROED(statistics, 1, "statistics", error);
    cog_status status = COG_OK;
    for (int i = 0; i < SHARDS; i++) {
        struct shard *shard = &statistics->shards[i];
        pthread_mutex_init(&shard->lock, NULL);
        shard->entry_count = FIRST_ENTRIES;
        THEN(status, TAKEN_ZEROED(shard->entries, FIRST_ENTRIES, "statistics", error));
    }
    return HAND_OUT(status, statistics, statistics_free, result);
}

cog_status statistics_clone(const struct statistics *statistics, struct statistics **result,
                            cog_error *error) {
    struct statistics *copy;
    TAKE_ZEROED(copy, 1, "statistics", error);
    copy->documents = statistics->documents;
    copy->total_length = statistics->total_length;
    cog_status status = COG_OK;
    for (int i = 0; i < SHARDS; i++) {
        const struct shard *from = &statistics->shards[i];
        struct shard *shard = &copy->shards[i];
        pthread_mutex_init(&shard->lock, NULL);
        shard->entry_count = from->entry_count;
        shard->used = from->used;
        shard->gone = from->gone;
        THEN(status, TAKEN(shard->entries, from->entry_count, "statistics", error));
        if (status == COG_OK)
            memcpy(shard->entries, from->entries, from->entry_count * sizeof *from->entries);
    }
    return HAND_OUT(status, copy, statistics_free, result);
}

void statistics_free(struct statistics *statistics) {
    if (!statistics)
        return;
    for (int i = 0; i < SHARDS; i++) {
        pthread_mutex_destroy(&statistics->shards[i].lock);
        free(statistics->shards[i].entries);
    }
    free(statistics);
}

static uint32_t add_saturated(uint32_t a, uint32_t b) {
    return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

static void add_counts(struct term_counts *sum, struct term_counts counts) {
    sum->document_frequency = add_saturated(sum->document_frequency, counts.document_frequency);
    sum->collection_frequency =
        add_saturated(sum->collection_frequency, counts.collection_frequency);
}

static struct counted_term *find_slot(const struct shard *shard, uint64_t hash) {
    size_t at;
    HASH_PROBE(at, hash, shard->entry_count,
               !shard->entries[at].hash || shard->entries[at].hash == hash);
    return &shard->entries[at];
}

static cog_status grow_shard(struct shard *shard, cog_error *error) {
    struct shard grown = *shard;
    grown.entry_count *= 2;
    grown.entries = memory_written_array(grown.entry_count, sizeof *grown.entries);
    if (!grown.entries)
        return error_memory(error, grown.entry_count * sizeof *grown.entries,
                            "the vocabulary; sign with fewer distinct terms (shorter n-grams)");
    for (size_t i = 0; i < shard->entry_count; i++)
        if (shard->entries[i].hash)
            *find_slot(&grown, shard->entries[i].hash) = shard->entries[i];
    free(shard->entries);
    shard->entries = grown.entries;
    shard->entry_count = grown.entry_count;
    return COG_OK;
}

static cog_status shard_add(struct shard *shard, uint64_t hash, struct term_counts counts,
                            cog_error *error) {
    if (shard->used * 4 >= shard->entry_count * 3)
        TRY(grow_shard(shard, error));
    struct counted_term *entry = find_slot(shard, hash);
    if (!entry->hash) {
        entry->hash = hash;
        shard->used++;
    } else if (entry->counts.document_frequency == 0 && counts.document_frequency) {
        shard->gone--;
    }
    add_counts(&entry->counts, counts);
    return COG_OK;
}

cog_status statistics_add_term(struct statistics *statistics, uint64_t hash,
                               struct term_counts counts, cog_error *error) {
    hash = stored_hash(hash);
    struct shard *shard = &statistics->shards[hash >> SHARD_SHIFT];
    pthread_mutex_lock(&shard->lock);
    cog_status status = shard_add(shard, hash, counts, error);
    pthread_mutex_unlock(&shard->lock);
    return status;
}

void statistics_add_documents(struct statistics *statistics, uint64_t documents,
                              uint64_t total_length) {
    __atomic_fetch_add(&statistics->documents, documents, __ATOMIC_RELAXED);
    __atomic_fetch_add(&statistics->total_length, total_length, __ATOMIC_RELAXED);
}

static uint32_t subtract_count(uint32_t a, uint32_t b) {
    return a == UINT32_MAX ? a : a > b ? a - b : 0;
}

void statistics_remove_term(struct statistics *statistics, uint64_t hash,
                            struct term_counts counts) {
    hash = stored_hash(hash);
    struct shard *shard = &statistics->shards[hash >> SHARD_SHIFT];
    pthread_mutex_lock(&shard->lock);
    struct counted_term *entry = find_slot(shard, hash);
    struct term_counts *left = &entry->counts;
    if (entry->hash && left->document_frequency) {
        left->document_frequency =
            subtract_count(left->document_frequency, counts.document_frequency);
        left->collection_frequency =
            subtract_count(left->collection_frequency, counts.collection_frequency);
        shard->gone += left->document_frequency == 0;
    }
    pthread_mutex_unlock(&shard->lock);
}

void statistics_remove_documents(struct statistics *statistics, uint64_t documents,
                                 uint64_t total_length) {
    __atomic_fetch_sub(&statistics->documents, documents, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&statistics->total_length, total_length, __ATOMIC_RELAXED);
}

cog_status statistics_batch_create(struct statistics *statistics, struct statistics_batch **result,
                                   cog_error *error) {
    struct statistics_batch *batch = memory_written_array(1, sizeof *batch);
    if (!batch)
        return error_memory(error, sizeof *batch, "statistics");
    batch->statistics = statistics;
    *result = batch;
    return COG_OK;
}

void statistics_batch_free(struct statistics_batch *batch) {
    free(batch);
}

static cog_status flush_shard(struct statistics_batch *batch, unsigned number, cog_error *error) {
    struct shard *shard = &batch->statistics->shards[number];
    const struct counted_term *pending = batch->pending[number];
    unsigned count = batch->counts[number];
    cog_status status = COG_OK;
    pthread_mutex_lock(&shard->lock);
    for (unsigned i = 0; i < count && status == COG_OK; i++) {
        if (i + PREFETCH_AHEAD < count)
            __builtin_prefetch(
                &shard->entries[pending[i + PREFETCH_AHEAD].hash & (shard->entry_count - 1)], 1);
        status = shard_add(shard, pending[i].hash, pending[i].counts, error);
    }
    pthread_mutex_unlock(&shard->lock);
    batch->counts[number] = 0;
    return status;
}

static cog_status add_pending(struct statistics_batch *batch, const struct counted_term *entry,
                              cog_error *error) {
    unsigned number = (unsigned)(entry->hash >> SHARD_SHIFT);
    cog_status status = COG_OK;
    if (batch->counts[number] == PENDING)
        status = flush_shard(batch, number, error);
    batch->pending[number][batch->counts[number]++] = *entry;
    return status;
}

cog_status statistics_batch_add(struct statistics_batch *batch, const struct bag_view *bag,
                                cog_error *error) {
    for (size_t i = 0; i < bag->count; i++) {
        if (bag->frequencies && bag->frequencies[i] == 0)
            continue;
        uint64_t hash = stored_hash(bag->hashes[i]);
        struct counted_term *recent = &batch->recent[hash & ((1 << RECENT_BITS) - 1)];
        if (recent->hash != hash) {
            TRY(recent->hash ? add_pending(batch, recent, error) : COG_OK);
            *recent = (struct counted_term){.hash = hash};
        }
        add_counts(&recent->counts,
                   (struct term_counts){1, bag->frequencies ? bag->frequencies[i] : 1});
    }
    batch->documents++;
    batch->total_length += bag->length;
    return COG_OK;
}

cog_status statistics_batch_flush(struct statistics_batch *batch, cog_error *error) {
    cog_status status = COG_OK;
    for (size_t i = 0; i < 1 << RECENT_BITS && status == COG_OK; i++) {
        if (batch->recent[i].hash)
            status = add_pending(batch, &batch->recent[i], error);
        batch->recent[i] = (struct counted_term){0};
    }
    for (unsigned i = 0; i < SHARDS && status == COG_OK; i++)
        status = flush_shard(batch, i, error);
    statistics_add_documents(batch->statistics, batch->documents, batch->total_length);
    batch->documents = batch->total_length = 0;
    return status;
}

cog_status statistics_merge(struct statistics *statistics, const struct statistics *other,
                            cog_error *error) {
    statistics_add_documents(statistics, other->documents, other->total_length);
    struct term_cursor terms = {.statistics = other};
    cog_status status = COG_OK;
    while (status == COG_OK && term_cursor_next(&terms, error))
        status = statistics_add_term(statistics, terms.hash, terms.counts, error);
    return term_cursor_end(&terms, status);
}

uint64_t statistics_document_count(const struct statistics *statistics) {
    return statistics->documents;
}

uint64_t statistics_total_length(const struct statistics *statistics) {
    return statistics->total_length;
}

uint64_t statistics_term_count(const struct statistics *statistics) {
    uint64_t count = 0;
    for (int i = 0; i < SHARDS; i++)
        count += statistics->shards[i].used - statistics->shards[i].gone;
    return count;
}

uint64_t statistics_memory_bytes(const struct statistics *statistics) {
    uint64_t bytes = sizeof *statistics;
    for (int i = 0; i < SHARDS; i++)
        bytes += statistics->shards[i].entry_count * sizeof(struct counted_term);
    return bytes;
}

double statistics_mean_length(const struct statistics *statistics) {
    if (statistics->documents == 0 || statistics->total_length == 0)
        return 1;
    return (double)statistics->total_length / (double)statistics->documents;
}

struct term_counts statistics_find(const struct statistics *statistics, uint64_t hash) {
    hash = stored_hash(hash);
    return find_slot(&statistics->shards[hash >> SHARD_SHIFT], hash)->counts;
}

void statistics_prefetch(const struct statistics *statistics, uint64_t hash) {
    hash = stored_hash(hash);
    const struct shard *shard = &statistics->shards[hash >> SHARD_SHIFT];
    __builtin_prefetch(&shard->entries[hash & (shard->entry_count - 1)]);
}

static int by_hash(const void *a, const void *b) {
    const struct counted_term *p = a, *q = b;
    return ORDER(p->hash, q->hash);
}

static cog_status sort_shard(struct term_cursor *cursor, cog_error *error) {
    const struct shard *shard = &cursor->statistics->shards[cursor->shard++];
    cursor->at = cursor->count = 0;
    free(cursor->sorted);
    TAKE(cursor->sorted, shard->used, "sorted statistics", error);
    for (size_t i = 0; i < shard->entry_count; i++)
        if (shard->entries[i].hash && shard->entries[i].counts.document_frequency)
            cursor->sorted[cursor->count++] = shard->entries[i];
    qsort(cursor->sorted, cursor->count, sizeof *cursor->sorted, by_hash);
    return COG_OK;
}

/* Shards follow each other in the order of the hash's top bits, so sorting each gives the whole
 * order. */
bool term_cursor_next(struct term_cursor *cursor, cog_error *error) {
    while (cursor->status == COG_OK && cursor->at == cursor->count && cursor->shard < SHARDS)
        cursor->status = sort_shard(cursor, error);
    if (cursor->status != COG_OK || cursor->at == cursor->count)
        return false;
    cursor->hash = cursor->sorted[cursor->at].hash;
    cursor->counts = cursor->sorted[cursor->at++].counts;
    return true;
}

cog_status term_cursor_end(struct term_cursor *cursor, cog_status status) {
    free(cursor->sorted);
    cursor->sorted = NULL;
    return status != COG_OK ? status : cursor->status;
}

/* ---- Files ----------------------------------------------------------------------------------- */

#define SECTION_SHAPE CONTAINER_TAG('s', 'h', 'a', 'p')
#define SECTION_TERMS CONTAINER_TAG('t', 'e', 'r', 'm')

/* Shape: u64 documents, u64 total length, u64 terms. A term: u64 hash, u32 df, u32 cf. */
enum { SHAPE_BYTES = 24, TERM_BYTES = 16 };

static cog_status write_terms(const struct statistics *statistics, struct container_writer *writer,
                              cog_error *error) {
    struct term_cursor terms = {.statistics = statistics};
    cog_status status = COG_OK;
    while (status == COG_OK && term_cursor_next(&terms, error)) {
        uint8_t bytes[TERM_BYTES];
        encode_u64(bytes, terms.hash);
        encode_u32(bytes + 8, terms.counts.document_frequency);
        encode_u32(bytes + 12, terms.counts.collection_frequency);
        status = container_writer_append(writer, bytes, sizeof bytes, error);
    }
    return term_cursor_end(&terms, status);
}

static cog_status write_sections(const struct statistics *statistics,
                                 const struct settings *settings, struct container_writer *writer,
                                 cog_error *error) {
    uint8_t shape[SHAPE_BYTES];
    encode_u64(shape, statistics_document_count(statistics));
    encode_u64(shape + 8, statistics_total_length(statistics));
    encode_u64(shape + 16, statistics_term_count(statistics));
    TRY(settings_write(settings, writer, error));
    TRY(container_writer_section(writer, SECTION_SHAPE, shape, sizeof shape, error));
    TRY(container_writer_begin(writer, SECTION_TERMS, error));
    TRY(write_terms(statistics, writer, error));
    return container_writer_end(writer, error);
}

/* Closes the writer. */
static cog_status write_file(const struct statistics *statistics, const struct settings *settings,
                             struct container_writer *writer, cog_error *error) {
    cog_status status = write_sections(statistics, settings, writer, error);
    THEN(status, container_writer_commit(writer, error));
    container_writer_close(writer);
    return status;
}

cog_status statistics_save(const struct statistics *statistics, const struct settings *settings,
                           const char *path, cog_error *error) {
    struct container_writer *writer = NULL;
    TRY(container_writer_open(path, CONTAINER_STATISTICS, &writer, error));
    return write_file(statistics, settings, writer, error);
}

cog_status statistics_save_memory(const struct statistics *statistics,
                                  const struct settings *settings, struct buffer *bytes,
                                  cog_error *error) {
    struct container_writer *writer = NULL;
    TRY(container_writer_open_memory(bytes, CONTAINER_STATISTICS, &writer, error));
    return write_file(statistics, settings, writer, error);
}

static cog_status read_terms(const struct container *container, struct statistics *statistics,
                             cog_error *error) {
    struct bytes_view shape, terms;
    TRY(container_require(container, SECTION_SHAPE, &shape, error));
    TRY(container_require(container, SECTION_TERMS, &terms, error));
    const uint8_t *counts = (const uint8_t *)shape.data, *term = (const uint8_t *)terms.data;
    if (shape.size != SHAPE_BYTES || terms.size % TERM_BYTES != 0 ||
        terms.size / TERM_BYTES != decode_u64(counts + 16))
        return error_set(error, COG_ERR_FORMAT,
                         "%s: sections of the wrong size; collect the statistics again",
                         container->path);
    statistics_add_documents(statistics, decode_u64(counts), decode_u64(counts + 8));
    for (size_t i = 0; i < terms.size / TERM_BYTES; i++, term += TERM_BYTES) {
        struct term_counts of_term = {decode_u32(term + 8), decode_u32(term + 12)};
        TRY(statistics_add_term(statistics, decode_u64(term), of_term, error));
    }
    return COG_OK;
}

/* Closes the container. */
static cog_status read_file(struct container *container, struct statistics **result,
                            struct settings *settings, cog_error *error) {
    struct statistics *statistics = NULL;
    cog_status status = container_verify(container, error);
    THEN(status, settings_read(container, settings, error));
    THEN(status, statistics_create(&statistics, error));
    THEN(status, read_terms(container, statistics, error));
    container_close(container);
    if (status != COG_OK)
        settings_free(settings);
    return HAND_OUT(status, statistics, statistics_free, result);
}

cog_status statistics_load(const char *path, struct statistics **result, struct settings *settings,
                           cog_error *error) {
    struct container container = {0};
    TRY(container_open(path, CONTAINER_STATISTICS, &container, error));
    return read_file(&container, result, settings, error);
}

cog_status statistics_load_memory(const void *data, size_t size, struct statistics **result,
                                  struct settings *settings, cog_error *error) {
    struct container container = {0};
    TRY(container_open_memory("statistics in memory", data, size, CONTAINER_STATISTICS, &container,
                              error));
    return read_file(&container, result, settings, error);
}

enum { WEIGHTS_AHEAD = 12, IDF_TABLE_MAX = 65536 };

void weighting_init(struct weighting *weighting, enum weighting_scheme scheme) {
    *weighting =
        (struct weighting){.scheme = scheme, .k1 = 1.2, .b = 0.75, .min_collection_frequency = 1};
}

bool weighting_needs_statistics(const struct weighting *weighting) {
    return weighting->scheme == WEIGHTING_BM25 || weighting->scheme == WEIGHTING_TFIDF;
}

uint32_t weighting_least_frequency(const struct weighting *weighting) {
    return weighting_needs_statistics(weighting) ? weighting->min_collection_frequency : 1;
}

/* idf = log(1 + (N - df + 0.5) / (df + 0.5)): above zero for every df, so that in a collection of
 * two documents a shared term still counts. */
static double inverse_document_frequency(uint64_t documents, uint32_t document_frequency) {
    double df = document_frequency;
    double rest = (double)documents > df ? (double)documents - df : 0;
    return portable_log(1 + (rest + 0.5) / (df + 0.5));
}

cog_status idf_table_fill(struct idf_table *table, const struct statistics *statistics,
                          cog_error *error) {
    uint64_t documents = statistics_document_count(statistics);
    uint32_t count = documents < IDF_TABLE_MAX ? (uint32_t)documents + 1 : IDF_TABLE_MAX;
    TAKE(table->values, count, "weights", error);
    for (uint32_t df = 0; df < count; df++)
        table->values[df] = inverse_document_frequency(documents, df);
    table->count = count;
    return COG_OK;
}

void idf_table_free(struct idf_table *table) {
    free(table->values);
    *table = (struct idf_table){0};
}

double weighting_idf(const struct weighting *weighting, uint64_t documents,
                     const struct idf_table *idf, struct term_counts counts, double frequency) {
    if (!weighting_needs_statistics(weighting))
        return 1;
    uint32_t df = counts.document_frequency ? counts.document_frequency : 1;
    double cf = counts.document_frequency ? counts.collection_frequency : frequency;
    if (cf < weighting->min_collection_frequency)
        return 0;
    return idf && df < idf->count ? idf->values[df] : inverse_document_frequency(documents, df);
}

static void apply_with_statistics(const struct weighting *weighting,
                                  const struct statistics *statistics,
                                  const struct idf_table *table, const struct bag_view *bag,
                                  float *weights) {
    uint64_t documents = statistics_document_count(statistics);
    double saturation =
        weighting_saturation(weighting, statistics_mean_length(statistics), bag->length);
    for (size_t i = 0; i < bag->count && i < WEIGHTS_AHEAD; i++)
        statistics_prefetch(statistics, bag->hashes[i]);
    for (size_t i = 0; i < bag->count; i++) {
        if (i + WEIGHTS_AHEAD < bag->count)
            statistics_prefetch(statistics, bag->hashes[i + WEIGHTS_AHEAD]);
        struct term_counts counts = statistics_find(statistics, bag->hashes[i]);
        double tf = bag_weight(bag, i);
        double idf = weighting_idf(weighting, documents, table, counts, tf);
        weights[i] = weighting_weight(weighting, idf, tf, saturation);
    }
}

void weighting_apply(const struct weighting *weighting, const struct statistics *statistics,
                     const struct idf_table *idf, const struct bag_view *bag, float *weights) {
    if (weighting_needs_statistics(weighting)) {
        apply_with_statistics(weighting, statistics, idf, bag, weights);
        return;
    }
    for (size_t i = 0; i < bag->count; i++)
        weights[i] = weighting->scheme == WEIGHTING_TF ? (float)bag_weight(bag, i) : 1.0f;
}
