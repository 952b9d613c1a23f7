#include "crosslingual/projection.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* ---- What becomes of each source term -------------------------------------------------------- */

/* A source term's translation before columns are known. */
struct hashed_term {
    uint32_t source;
    float weight;
    uint64_t hash;
};

struct projecting {
    struct projection *projection;
    struct word_projector words;
    const struct statistics *from, *to;
    const struct unknown_words *unknown;
    struct hashed_term *terms; /* in the order in which the sources are visited */
    size_t count, capacity;
    uint32_t *source_frequencies; /* documents that have each source term */
};

static cog_status project_source(struct projecting *work, uint64_t hash, struct term_counts counts,
                                 cog_error *error) {
    uint32_t source = term_numbers_find(work->projection->sources, hash);
    if (source == TERM_NUMBER_NONE)
        return COG_OK;
    work->source_frequencies[source] = counts.document_frequency;
    TRY(word_project(&work->words, hash, work->unknown, error));
    GROW(work->terms, work->capacity, work->count + work->words.count, "projected terms", error);
    for (size_t i = 0; i < work->words.count; i++)
        work->terms[work->count++] =
            (struct hashed_term){source, work->words.words[i].weight, work->words.words[i].hash};
    return COG_OK;
}

static cog_status project_sources(struct projecting *work, cog_error *error) {
    struct term_cursor terms = {.statistics = work->from};
    cog_status status = COG_OK;
    while (status == COG_OK && term_cursor_next(&terms, error))
        status = project_source(work, terms.hash, terms.counts, error);
    return term_cursor_end(&terms, status);
}

/* ---- Columns, and document frequencies that are expected ------------------------------------- */

/* Columns are ordered by the number of source documents times the number of target documents that
 * have the term, so that joins meet the fewest pairs. Rarity among target documents alone would not
 * do: a rare term may be an unlikely translation of a frequent word and occur in many source
 * documents. */
struct numbering {
    const struct statistics *to;
    struct statistics *reached; /* target terms with the source documents that reach them, about */
    struct statistics *ranks;
    double from_documents;
};

static cog_status rank_native(const struct numbering *numbering, cog_error *error) {
    struct term_cursor terms = {.statistics = numbering->to};
    cog_status status = COG_OK;
    while (status == COG_OK && term_cursor_next(&terms, error)) {
        double from = statistics_find(numbering->reached, terms.hash).document_frequency;
        from = from < numbering->from_documents ? from : numbering->from_documents;
        double rank = 1 + 64 * sqrt(from * (double)terms.counts.document_frequency);
        uint32_t bounded = rank < UINT32_MAX ? (uint32_t)rank : UINT32_MAX;
        status = statistics_add_term(numbering->ranks, terms.hash,
                                     (struct term_counts){bounded, bounded}, error);
    }
    return term_cursor_end(&terms, status);
}

static cog_status rank_foreign(const struct numbering *numbering, cog_error *error) {
    struct term_cursor terms = {.statistics = numbering->reached};
    cog_status status = COG_OK;
    while (status == COG_OK && term_cursor_next(&terms, error))
        if (statistics_find(numbering->to, terms.hash).document_frequency == 0)
            status = statistics_add_term(numbering->ranks, terms.hash, (struct term_counts){1, 1},
                                         error);
    return term_cursor_end(&terms, status);
}

/* Numbers the target terms: those of the target collection and those that something is projected
 * to. */
static cog_status number_targets(struct projecting *work, cog_error *error) {
    struct numbering numbering = {.to = work->to,
                                  .from_documents = (double)statistics_document_count(work->from)};
    cog_status status = statistics_create(&numbering.reached, error);
    THEN(status, statistics_create(&numbering.ranks, error));
    for (size_t i = 0; i < work->count && status == COG_OK; i++)
        status = statistics_add_term(
            numbering.reached, work->terms[i].hash,
            (struct term_counts){work->source_frequencies[work->terms[i].source], 1}, error);
    THEN(status, rank_native(&numbering, error));
    THEN(status, rank_foreign(&numbering, error));
    THEN(status, term_numbers_create(numbering.ranks, 1, 1, &work->projection->targets, error));
    statistics_free(numbering.reached);
    statistics_free(numbering.ranks);
    return status;
}

static cog_status add_frequencies(struct projection *projection, const struct statistics *from,
                                  cog_error *error) {
    struct term_cursor terms = {.statistics = from};
    while (term_cursor_next(&terms, error)) {
        uint32_t source = term_numbers_find(projection->sources, terms.hash);
        for (uint64_t i = projection->offsets[source]; i < projection->offsets[source + 1]; i++)
            projection->document_frequencies[projection->terms[i].column] +=
                (double)projection->terms[i].weight * terms.counts.document_frequency;
    }
    return term_cursor_end(&terms, COG_OK);
}

/* Sorts the terms by source: sources were visited in another order. */
static cog_status store_terms(struct projecting *work, cog_error *error) {
    struct projection *projection = work->projection;
    size_t sources = term_numbers_count(projection->sources),
           targets = term_numbers_count(projection->targets);
    TAKE_ZEROED(projection->offsets, sources + 2, "projected terms", error);
    TAKE(projection->terms, work->count, "projected terms", error);
    TAKE_ZEROED(projection->document_frequencies, targets, "projected terms", error);
    TAKE_ZEROED(projection->target_hashes, targets, "projected terms", error);
    uint64_t *next = projection->offsets + 1;
    for (size_t i = 0; i < work->count; i++)
        next[work->terms[i].source + 1]++;
    for (size_t s = 0; s < sources; s++)
        next[s + 1] += next[s];
    for (size_t i = 0; i < work->count; i++) {
        const struct hashed_term *term = &work->terms[i];
        uint32_t column = term_numbers_find(projection->targets, term->hash);
        projection->target_hashes[column] = term->hash;
        projection->terms[next[term->source]++] = (struct projected_term){column, term->weight};
    }
    return add_frequencies(projection, work->from, error);
}

cog_status projection_create(const struct lexicon *lexicon,
                             const struct projection_options *options,
                             const struct term_options *from_terms, const struct statistics *from,
                             const struct statistics *to, const struct unknown_words *unknown,
                             struct projection **result, cog_error *error) {
    struct projecting work = {.from = from, .to = to, .unknown = unknown};
    TAKE_ZEROED(work.projection, 1, "a projection", error);
    cog_status status = term_numbers_create(from, 1, 1, &work.projection->sources, error);
    THEN(status, word_projector_init(&work.words, lexicon, options, from_terms, to, error));
    THEN(status, TAKEN_ZEROED(work.source_frequencies, term_numbers_count(work.projection->sources),
                              "frequencies", error));
    THEN(status, project_sources(&work, error));
    THEN(status, number_targets(&work, error));
    THEN(status, store_terms(&work, error));
    if (status == COG_OK) {
        work.projection->known = work.words.known;
        work.projection->split = work.words.split;
        work.projection->passed = work.words.passed;
        work.projection->dropped = work.words.dropped;
    }
    word_projector_free(&work.words);
    FREE(work.terms, work.source_frequencies);
    return HAND_OUT(status, work.projection, projection_free, result);
}

void projection_free(struct projection *projection) {
    if (!projection)
        return;
    term_numbers_free(projection->sources);
    term_numbers_free(projection->targets);
    FREE(projection->offsets, projection->terms, projection->document_frequencies,
         projection->target_hashes, projection);
}

/* ---- Documents ------------------------------------------------------------------------------- */

cog_status column_sums_init(struct column_sums *sums, size_t column_count, cog_error *error) {
    *sums = (struct column_sums){.column_count = column_count};
    TAKE_ZEROED(sums->sums, column_count, "sums", error);
    return TAKEN_ZEROED(sums->marks, column_count / 64 + 1, "sums", error);
}

void column_sums_free(struct column_sums *sums) {
    FREE(sums->sums, sums->marks, sums->columns);
    *sums = (struct column_sums){0};
}

cog_status column_sums_add(struct column_sums *sums, uint32_t column, double value,
                           cog_error *error) {
    if (value <= 0)
        return COG_OK;
    if (sums->sums[column] == 0) {
        GROW(sums->columns, sums->capacity, sums->count + 1, "a projected document", error);
        sums->columns[sums->count++] = column;
    }
    sums->sums[column] += value;
    return COG_OK;
}

void column_sums_sort(struct column_sums *sums) {
    for (size_t i = 0; i < sums->count; i++)
        sums->marks[sums->columns[i] / 64] |= 1ull << sums->columns[i] % 64;
    size_t count = 0;
    for (size_t word = 0; count < sums->count; word++) {
        for (uint64_t bits = sums->marks[word]; bits; bits &= bits - 1)
            sums->columns[count++] = (uint32_t)(word * 64 + (size_t)__builtin_ctzll(bits));
        sums->marks[word] = 0;
    }
}

void column_sums_clear(struct column_sums *sums) {
    for (size_t i = 0; i < sums->count; i++)
        sums->sums[sums->columns[i]] = 0;
    sums->count = 0;
}

cog_status projection_add(const struct projection *projection, const struct bag_view *bag,
                          struct column_sums *sums, cog_error *error) {
    for (size_t t = 0; t < bag->count; t++) {
        uint32_t source = term_numbers_find(projection->sources, bag->hashes[t]);
        if (source == TERM_NUMBER_NONE)
            continue;
        for (uint64_t i = projection->offsets[source]; i < projection->offsets[source + 1]; i++) {
            double weight = (double)projection->terms[i].weight * bag->frequencies[t];
            TRY(column_sums_add(sums, projection->terms[i].column, weight, error));
        }
    }
    return COG_OK;
}
