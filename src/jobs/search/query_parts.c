#include "jobs/search/query_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/threads.h"

enum { QUERY_GRAIN = 64 };

void query_parts_free(struct query_parts *parts) {
    for (size_t part = 0; parts->items && part < parts->count; part++) {
        struct query_part *item = &parts->items[part];
        sparse_matrix_free(&item->vectors);
        if (!parts->are_borrowed && (part == 0 || !parts->are_one_signed)) {
            free((void *)item->signatures.data);
            free(item->margins);
        }
    }
    FREE(parts->items, parts->units);
    *parts = (struct query_parts){0};
}

static cog_status make_room(struct query_parts *parts, size_t queries, size_t count,
                            cog_error *error) {
    parts->queries = queries;
    if (parts->items)
        return COG_OK;
    parts->count = count;
    return TAKEN_ZEROED(parts->items, count + 1, "queries", error);
}

cog_status query_parts_given(struct query_parts *parts, const struct signatures_view *signatures,
                             const float *margins, cog_error *error) {
    TRY(make_room(parts, signatures->rows, 1, error));
    parts->are_borrowed = parts->are_one_signed = true;
    parts->items[0] = (struct query_part){.signatures = *signatures, .margins = (float *)margins};
    return COG_OK;
}

struct method_rows query_parts_of(const struct query_parts *parts, size_t part) {
    const struct query_part *item = &parts->items[part < parts->count ? part : 0];
    return (struct method_rows){.signatures = &item->signatures,
                                .margins = item->margins,
                                .vectors = parts->has_vectors ? &item->vectors : NULL};
}

/* ---- Vectors --------------------------------------------------------------------------------- */

struct weighing {
    const cog_index *index;
    const struct corpus *corpus;
    float *units;      /* by the corpus's terms: unit-length weights */
    uint32_t *columns; /* by the corpus's terms: columns in the segment */
    const struct segment_terms *terms;
    struct sparse_matrix *vectors;
};

/* Weighs by the current statistics and divides by the length of all terms, known or unknown. */
static cog_status weigh_queries(void *context, unsigned worker, size_t begin, size_t end,
                                cog_error *error) {
    (void)worker;
    (void)error;
    const struct weighing *weighing = context;
    const cog_index *index = weighing->index;
    for (size_t row = begin; row < end; row++) {
        struct bag_view bag = corpus_bag(weighing->corpus, row);
        float *units = weighing->units + weighing->corpus->items[row].first_term;
        weighting_apply(&index->weighting, index->statistics->counts, NULL, &bag, units);
        double sum = 0;
        for (size_t i = 0; i < bag.count; i++)
            sum += (double)units[i] * (double)units[i];
        double scale = sum > 0 ? 1 / sqrt(sum) : 0;
        for (size_t i = 0; i < bag.count; i++)
            units[i] = (float)((double)units[i] * scale);
    }
    return COG_OK;
}

static cog_status find_columns(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    (void)worker;
    (void)error;
    const struct weighing *weighing = context;
    for (size_t row = begin; row < end; row++) {
        const struct corpus_row *item = &weighing->corpus->items[row];
        uint64_t found = 0;
        for (uint64_t i = item->first_term; i < item->first_term + item->term_count; i++) {
            uint32_t column = segment_terms_column(weighing->terms, weighing->corpus->hashes[i]);
            weighing->columns[i] = weighing->units[i] > 0 ? column : SEGMENT_TERM_NONE;
            found += weighing->columns[i] != SEGMENT_TERM_NONE;
        }
        weighing->vectors->offsets[row + 1] = found;
    }
    return COG_OK;
}

static cog_status fill_vectors(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    (void)worker;
    const struct weighing *weighing = context;
    const struct sparse_matrix *vectors = weighing->vectors;
    uint64_t *entries = NULL; /* columns, and positions among the query's terms */
    size_t capacity = 0;
    cog_status status = COG_OK;
    for (size_t row = begin; row < end && status == COG_OK; row++) {
        const struct corpus_row *item = &weighing->corpus->items[row];
        uint64_t first = vectors->offsets[row];
        size_t count = 0;
        status = GROWN(entries, capacity, (size_t)item->term_count + 1, "a query's terms", error);
        const uint32_t *columns = weighing->columns + item->first_term;
        const float *units = weighing->units + item->first_term;
        for (uint32_t i = 0; i < item->term_count && status == COG_OK; i++)
            if (columns[i] != SEGMENT_TERM_NONE)
                entries[count++] = (uint64_t)columns[i] << 32 | i;
        if (count)
            sort_u64(entries, count);
        for (size_t i = 0; i < count; i++) {
            vectors->columns[first + i] = (uint32_t)(entries[i] >> 32);
            vectors->values[first + i] = units[(uint32_t)entries[i]];
        }
    }
    free(entries);
    return status;
}

static cog_status weigh_for_part(struct weighing *weighing, size_t part, unsigned threads,
                                 struct sparse_matrix *vectors, cog_error *error) {
    const struct corpus *corpus = weighing->corpus;
    weighing->terms = &weighing->index->parts.segments[part].terms;
    weighing->vectors = vectors;
    sparse_matrix_free(vectors);
    *vectors = (struct sparse_matrix){.rows = corpus->rows,
                                      .column_count = (uint32_t)weighing->terms->count};
    TAKE_ZEROED(vectors->offsets, corpus->rows + 1, "queries", error);
    TRY(parallel_for(threads, corpus->rows, QUERY_GRAIN, find_columns, weighing, error));
    for (size_t row = 0; row < corpus->rows; row++)
        vectors->offsets[row + 1] += vectors->offsets[row];
    TAKE(vectors->columns, vectors->offsets[corpus->rows] + 1, "queries", error);
    TAKE(vectors->values, vectors->offsets[corpus->rows] + 1, "queries", error);
    return parallel_for(threads, corpus->rows, QUERY_GRAIN, fill_vectors, weighing, error);
}

cog_status query_parts_weigh(struct query_parts *parts, const cog_index *index,
                             const struct corpus *corpus, unsigned threads, cog_error *error) {
    struct weighing weighing = {.index = index, .corpus = corpus};
    cog_status status = make_room(parts, corpus->rows, index->parts.manifest.count, error);
    parts->has_vectors = true;
    THEN(status, TAKEN(weighing.units, corpus->term_count + 1, "queries", error));
    THEN(status, TAKEN(weighing.columns, corpus->term_count + 1, "queries", error));
    THEN(status, parallel_for(threads, corpus->rows, QUERY_GRAIN, weigh_queries, &weighing, error));
    for (size_t part = 0; part < parts->count && status == COG_OK; part++)
        status = weigh_for_part(&weighing, part, threads, &parts->items[part].vectors, error);
    free(weighing.units);
    free(weighing.columns);
    return status;
}

cog_status query_parts_weigh_later(struct query_parts *parts, const cog_index *index,
                                   const struct corpus *corpus, cog_error *error) {
    bool is_first = !parts->items;
    TRY(make_room(parts, corpus->rows, index->parts.manifest.count, error));
    for (size_t part = 0; part < parts->count; part++) {
        parts->items[part].is_weighed = false;
        if (is_first)
            parts->items[part].vectors.column_count =
                (uint32_t)index->parts.segments[part].terms.count;
    }
    parts->index = index;
    parts->corpus = corpus;
    parts->has_units = parts->has_vectors = false;
    return COG_OK;
}

cog_status query_parts_vectors(const struct query_parts *asked, size_t part,
                               const struct sparse_matrix **vectors, cog_error *error) {
    struct query_parts *parts =
        (struct query_parts *)asked; /* the observable value does not change */
    struct query_part *item = &parts->items[part];
    *vectors = &item->vectors;
    if (!parts->index || item->is_weighed)
        return COG_OK;
    struct weighing weighing = {.index = parts->index, .corpus = parts->corpus};
    GROW(parts->units, parts->unit_capacity, parts->corpus->term_count + 1, "a query", error);
    weighing.units = parts->units;
    if (!parts->has_units)
        TRY(weigh_queries(&weighing, 0, 0, parts->corpus->rows, error));
    parts->has_units = true;
    TAKE(weighing.columns, parts->corpus->term_count + 1, "a query", error);
    cog_status status = weigh_for_part(&weighing, part, 1, &item->vectors, error);
    free(weighing.columns);
    item->is_weighed = status == COG_OK;
    return status;
}

cog_status query_parts_weigh_now(struct query_parts *parts, cog_error *error) {
    const struct sparse_matrix *vectors;
    for (size_t part = 0; part < parts->count; part++)
        TRY(query_parts_vectors(parts, part, &vectors, error));
    parts->has_vectors = true;
    return COG_OK;
}

/* ---- Signatures ------------------------------------------------------------------------------ */

struct signing {
    const cog_index *index;
    const struct corpus *corpus;
    const struct segment_terms *terms;
    float *weights; /* by the corpus's terms */
};

/* The idf that the segment's rows were signed with. For the segment's own terms, df is from that
 * time; for others it is the current df, which does not matter as no row has them. */
static double signed_idf(const struct signing *signing, uint64_t hash, double frequency) {
    const struct segment_terms *terms = signing->terms;
    size_t place = segment_terms_place(terms, hash);
    struct term_counts counts;
    if (place == SIZE_MAX)
        counts = statistics_find(signing->index->statistics->counts, hash);
    else if (terms->signed_frequency[place])
        counts = (struct term_counts){terms->signed_frequency[place], UINT32_MAX};
    else
        return 0;
    return weighting_idf(&signing->index->weighting, terms->signed_documents, NULL, counts,
                         frequency);
}

static cog_status weigh_as_signed(void *context, unsigned worker, size_t begin, size_t end,
                                  cog_error *error) {
    (void)worker;
    (void)error;
    const struct signing *signing = context;
    const struct weighting *weighting = &signing->index->weighting;
    const struct segment_terms *terms = signing->terms;
    double mean_length = terms->signed_documents && terms->signed_length
                             ? (double)terms->signed_length / (double)terms->signed_documents
                             : 1;
    for (size_t row = begin; row < end; row++) {
        struct bag_view bag = corpus_bag(signing->corpus, row);
        float *weights = signing->weights + signing->corpus->items[row].first_term;
        double saturation = weighting_saturation(weighting, mean_length, bag.length);
        for (size_t i = 0; i < bag.count; i++) {
            double frequency = bag_weight(&bag, i);
            weights[i] = weighting_weight(weighting, signed_idf(signing, bag.hashes[i], frequency),
                                          frequency, saturation);
        }
    }
    return COG_OK;
}

static cog_status take_margins(const cog_index *index, const struct corpus *corpus, bool wanted,
                               struct query_part *item, cog_error *error) {
    return wanted ? TAKEN(item->margins, (corpus->rows + 1) * index_bits(index), "margins", error)
                  : COG_OK;
}

/* Weights that need no statistics are the same for all segments, so one signing serves all. */
static cog_status sign_once(struct query_parts *parts, const cog_index *index,
                            const struct corpus *corpus, bool want_margins, unsigned threads,
                            cog_error *error) {
    struct query_part *first = &parts->items[0];
    struct signable_rows rows = {.corpus = corpus, .count = corpus->rows};
    parts->are_one_signed = true;
    TRY(take_margins(index, corpus, want_margins, first, error));
    TRY(corpus_sign(&rows, &index->sign, index->statistics->counts, threads, &first->signatures,
                    first->margins, index_bits(index), error));
    for (size_t part = 1; part < parts->count; part++) {
        parts->items[part].signatures = first->signatures;
        parts->items[part].margins = first->margins;
    }
    return COG_OK;
}

static cog_status sign_for_parts(struct query_parts *parts, const cog_index *index,
                                 const struct corpus *corpus, bool want_margins, unsigned threads,
                                 float *weights, cog_error *error) {
    struct signable_rows rows = {.corpus = corpus, .count = corpus->rows, .weights = weights};
    struct signing signing = {.index = index, .corpus = corpus, .weights = weights};
    struct signature_options options;
    cog_status status = options_signature(&index->sign.signature, &options, error);
    for (size_t part = 0; part < parts->count && status == COG_OK; part++) {
        struct query_part *item = &parts->items[part];
        signing.terms = &index->parts.segments[part].terms;
        status = take_margins(index, corpus, want_margins, item, error);
        THEN(status,
             parallel_for(threads, corpus->rows, QUERY_GRAIN, weigh_as_signed, &signing, error));
        THEN(status, vector_sign(&rows, &options, threads, &item->signatures, item->margins,
                                 index_bits(index), error));
    }
    return status;
}

size_t query_parts_signings(const cog_index *index) {
    return weighting_needs_statistics(&index->weighting) ? index->parts.manifest.count : 1;
}

cog_status query_parts_sign(struct query_parts *parts, const cog_index *index,
                            const struct corpus *corpus, bool want_margins, unsigned threads,
                            cog_error *error) {
    float *weights;
    TRY(make_room(parts, corpus->rows, index->parts.manifest.count, error));
    if (parts->count == 0)
        return COG_OK;
    if (!weighting_needs_statistics(&index->weighting))
        return sign_once(parts, index, corpus, want_margins, threads, error);
    TAKE(weights, corpus->term_count + 1, "queries", error);
    cog_status status = sign_for_parts(parts, index, corpus, want_margins, threads, weights, error);
    free(weights);
    return status;
}

/* Allocates the signature of one query. */
static cog_status take_room(struct query_part *item, unsigned bits, bool want_margins,
                            cog_error *error) {
    size_t stride = signature_stride_bytes(bits);
    if (item->signatures.data)
        return COG_OK;
    uint8_t *data;
    if (want_margins && !item->margins)
        TAKE(item->margins, (size_t)bits, "margins", error);
    TAKE_ZEROED(data, stride, "a query", error);
    item->signatures = (struct signatures_view){data, 1, bits, stride};
    return COG_OK;
}

/* The first segment whose rows were signed with the same statistics as this one; a live index has
 * many such small segments. */
static size_t signed_alike(const cog_index *index, size_t part) {
    uint64_t state = index->parts.segments[part].terms.signed_state;
    size_t first = state ? 0 : part;
    while (first < part && index->parts.segments[first].terms.signed_state != state)
        first++;
    return first;
}

static void copy_signature(const struct query_part *from, struct query_part *to) {
    memcpy((uint8_t *)to->signatures.data, from->signatures.data, from->signatures.stride_bytes);
    if (to->margins)
        memcpy(to->margins, from->margins, from->signatures.bits * sizeof *from->margins);
}

cog_status query_parts_sign_one(struct query_parts *parts, const cog_index *index,
                                const struct corpus *corpus, bool want_margins,
                                const struct text_signer *signer,
                                struct text_signer_scratch *scratch, cog_error *error) {
    struct bag_view bag = corpus_bag(corpus, 0);
    bool by_part = weighting_needs_statistics(&index->weighting);
    size_t term_count;
    TRY(make_room(parts, 1, index->parts.manifest.count, error));
    GROW(scratch->weights, scratch->weight_capacity, bag.count + 1, "a query's weights", error);
    struct signing signing = {.index = index, .corpus = corpus, .weights = scratch->weights};
    for (size_t part = 0; part < parts->count; part++) {
        struct query_part *item = &parts->items[part];
        TRY(take_room(item, index_bits(index), want_margins, error));
        uint8_t *signature = (uint8_t *)item->signatures.data;
        if (!by_part && part > 0) {
            copy_signature(&parts->items[0], item);
            continue;
        }
        if (!by_part) {
            TRY(text_signer_sign_bag(signer, scratch, &bag, signature, item->margins, &term_count,
                                     error));
            continue;
        }
        signing.terms = &index->parts.segments[part].terms;
        size_t same = signed_alike(index, part);
        if (same != part) {
            copy_signature(&parts->items[same], item);
            continue;
        }
        TRY(weigh_as_signed(&signing, 0, 0, 1, error));
        struct weighted_terms terms = {bag.hashes, scratch->weights, bag.count};
        signer_sign(signer->signer, scratch->workspace, &terms, signature, item->margins);
    }
    return COG_OK;
}

/* ---- Some of them ---------------------------------------------------------------------------- */

/* Copies one row per query. */
static cog_status copy_rows(const void *rows, size_t size_bytes, const uint32_t *queries,
                            size_t count, void *copies, cog_error *error) {
    uint8_t *copy = memory_array(count + 1, size_bytes);
    if (!copy)
        return error_memory(error, count * size_bytes, "the recall sample");
    for (size_t i = 0; i < count; i++)
        memcpy(copy + i * size_bytes, (const uint8_t *)rows + queries[i] * size_bytes, size_bytes);
    *(void **)copies = copy;
    return COG_OK;
}

static cog_status select_signatures(const struct query_part *from, const uint32_t *queries,
                                    size_t count, struct query_part *to, cog_error *error) {
    size_t stride = from->signatures.stride_bytes, bits = from->signatures.bits;
    void *data = NULL;
    if (bits == 0)
        return COG_OK;
    TRY(copy_rows(from->signatures.data, stride, queries, count, &data, error));
    to->signatures = (struct signatures_view){data, count, (unsigned)bits, stride};
    return from->margins
               ? copy_rows(from->margins, bits * sizeof(float), queries, count, &to->margins, error)
               : COG_OK;
}

cog_status query_parts_select(const struct query_parts *parts, const uint32_t *queries,
                              size_t count, struct query_parts *copy, cog_error *error) {
    TRY(make_room(copy, count, parts->count, error));
    copy->has_vectors = parts->has_vectors;
    copy->are_one_signed = parts->are_one_signed;
    for (size_t part = 0; part < parts->count; part++) {
        const struct query_part *from = &parts->items[part];
        struct query_part *to = &copy->items[part];
        if (part == 0 || !parts->are_one_signed) {
            TRY(select_signatures(from, queries, count, to, error));
        } else {
            to->signatures = copy->items[0].signatures;
            to->margins = copy->items[0].margins;
        }
        if (parts->has_vectors &&
            !sparse_matrix_select(&from->vectors, queries, count, &to->vectors))
            return error_memory(error, count * sizeof(uint64_t), "the recall sample");
    }
    return COG_OK;
}
