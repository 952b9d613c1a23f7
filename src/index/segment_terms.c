#include "index/segment_terms.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"

#define SECTION_SHAPE CONTAINER_TAG('t', 'm', 's', 'h')
#define SECTION_HASHES CONTAINER_TAG('t', 'm', 'h', 'a')
#define SECTION_NUMBERS CONTAINER_TAG('t', 'm', 'n', 'o')
#define SECTION_COUNTS CONTAINER_TAG('t', 'm', 'c', 'o')
#define SECTION_SIGNED CONTAINER_TAG('t', 'm', 's', 'i')

/* Offsets in the section "tmsh". */
enum {
    SHAPE_TERMS = 0,
    SHAPE_LENGTH = 8,
    SHAPE_SIGNED_DOCUMENTS = 16,
    SHAPE_SIGNED_LENGTH = 24,
    SHAPE_FLAGS = 32,
    SHAPE_BYTES = 48,
    FLAG_WEIGHTS = 1,
};

/* ---- Building -------------------------------------------------------------------------------- */

static cog_status make_room(struct segment_terms *terms, size_t count, cog_error *error) {
    terms->count = count;
    TAKE(terms->hashes, count + 1, "the terms of a segment", error);
    TAKE(terms->numbers, count + 1, "the terms of a segment", error);
    TAKE(terms->counts, count + 1, "the terms of a segment", error);
    return TAKEN(terms->signed_frequency, count + 1, "the terms of a segment", error);
}

cog_status segment_terms_build(const struct statistics *present, const struct statistics *own,
                               const struct term_numbers *numbers, const struct statistics *signing,
                               const struct weighting *weighting, struct segment_terms *terms,
                               cog_error *error) {
    TRY(make_room(terms, statistics_term_count(present), error));
    terms->total_length = statistics_total_length(own);
    terms->signed_documents = statistics_document_count(signing);
    terms->signed_length = statistics_total_length(signing);
    struct term_cursor cursor = {.statistics = present};
    for (size_t i = 0; i < terms->count && term_cursor_next(&cursor, error); i++) {
        struct term_counts all = statistics_find(signing, cursor.hash);
        bool weighs = weighting_idf(weighting, terms->signed_documents, NULL, all, 0) > 0;
        terms->hashes[i] = cursor.hash;
        terms->numbers[i] = term_numbers_find(numbers, cursor.hash);
        terms->counts[i] = present == own ? cursor.counts : statistics_find(own, cursor.hash);
        terms->signed_frequency[i] = weighs ? all.document_frequency : 0;
    }
    return term_cursor_end(&cursor, COG_OK);
}

void segment_terms_free(struct segment_terms *terms) {
    FREE(terms->hashes, terms->numbers, terms->counts, terms->signed_frequency);
    *terms = (struct segment_terms){0};
}

/* ---- Finding --------------------------------------------------------------------------------- */

/* Interpolation search, with bisection at every fourth step. */
size_t segment_terms_place(const struct segment_terms *terms, uint64_t hash) {
    size_t low = 0, high = terms->count;
    hash = hash ? hash : 1; /* as statistics store it */
    for (unsigned step = 0; low < high; step++) {
        uint64_t first = terms->hashes[low], last = terms->hashes[high - 1];
        if (hash < first || hash > last)
            return SIZE_MAX;
        size_t middle = low + (high - low) / 2;
        if (step % 4 != 3 && last > first)
            middle = low + (size_t)((double)(hash - first) / (double)(last - first) *
                                    (double)(high - 1 - low));
        middle = middle < high ? middle : high - 1;
        if (terms->hashes[middle] == hash)
            return middle;
        if (terms->hashes[middle] < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return SIZE_MAX;
}

uint32_t segment_terms_column(const struct segment_terms *terms, uint64_t hash) {
    size_t place = segment_terms_place(terms, hash);
    return place != SIZE_MAX && terms->numbers[place] < terms->count ? terms->numbers[place]
                                                                     : SEGMENT_TERM_NONE;
}

cog_status segment_terms_by_column(const struct segment_terms *terms, uint64_t **hashes,
                                   cog_error *error) {
    TAKE_ZEROED(*hashes, terms->count + 1, "the terms of a segment", error);
    for (size_t i = 0; i < terms->count; i++)
        if (terms->numbers[i] < terms->count)
            (*hashes)[terms->numbers[i]] = terms->hashes[i];
    return COG_OK;
}

/* ---- Files ----------------------------------------------------------------------------------- */

cog_status segment_terms_write(const struct segment_terms *terms, struct container_writer *writer,
                               cog_error *error) {
    uint8_t shape[SHAPE_BYTES] = {0};
    encode_u64(shape + SHAPE_TERMS, terms->count);
    encode_u64(shape + SHAPE_LENGTH, terms->total_length);
    encode_u64(shape + SHAPE_SIGNED_DOCUMENTS, terms->signed_documents);
    encode_u64(shape + SHAPE_SIGNED_LENGTH, terms->signed_length);
    encode_u64(shape + SHAPE_FLAGS, terms->has_weights ? FLAG_WEIGHTS : 0);
    const struct container_part parts[] = {
        {SECTION_SHAPE, shape, sizeof shape, 1},
        {SECTION_HASHES, terms->hashes, terms->count, sizeof *terms->hashes},
        {SECTION_NUMBERS, terms->numbers, terms->count, sizeof *terms->numbers},
        {SECTION_COUNTS, terms->counts, terms->count, sizeof *terms->counts},
        {SECTION_SIGNED, terms->signed_frequency, terms->count, sizeof *terms->signed_frequency}};
    return container_writer_sections(writer, parts, sizeof parts / sizeof *parts, error);
}

cog_status segment_terms_open(const struct container *container, struct segment_terms *terms,
                              cog_error *error) {
    struct bytes_view view;
    const void *shape, *hashes, *numbers, *counts, *signing;
    if (!container_find(container, SECTION_SHAPE, &view))
        return COG_OK;
    TRY(container_array(container, SECTION_SHAPE, SHAPE_BYTES, 1, &shape, error));
    const uint8_t *bytes = shape;
    uint64_t count = decode_u64(bytes + SHAPE_TERMS);
    TRY(container_array(container, SECTION_HASHES, count, sizeof(uint64_t), &hashes, error));
    TRY(container_array(container, SECTION_NUMBERS, count, sizeof(uint32_t), &numbers, error));
    TRY(container_array(container, SECTION_COUNTS, count, sizeof(struct term_counts), &counts,
                        error));
    TRY(container_array(container, SECTION_SIGNED, count, sizeof(uint32_t), &signing, error));
    *terms = (struct segment_terms){.count = (size_t)count,
                                    .hashes = (uint64_t *)hashes,
                                    .numbers = (uint32_t *)numbers,
                                    .counts = (struct term_counts *)counts,
                                    .signed_frequency = (uint32_t *)signing,
                                    .total_length = decode_u64(bytes + SHAPE_LENGTH),
                                    .signed_documents = decode_u64(bytes + SHAPE_SIGNED_DOCUMENTS),
                                    .signed_length = decode_u64(bytes + SHAPE_SIGNED_LENGTH),
                                    .has_weights = decode_u64(bytes + SHAPE_FLAGS) & FLAG_WEIGHTS};
    return COG_OK;
}

cog_status segment_terms_check(const struct segment_terms *terms, const char *path, size_t rows,
                               cog_error *error) {
    uint8_t *seen;
    TAKE_ZEROED(seen, terms->count + 1, "a check", error);
    const char *fault = NULL;
    size_t i = 0;
    for (; i < terms->count && !fault; i++) {
        uint32_t number = terms->numbers[i], df = terms->counts[i].document_frequency;
        uint32_t cf = terms->counts[i].collection_frequency;
        bool is_uncounted = terms->has_weights && df == 0 && cf == 0;
        if (terms->hashes[i] == 0 || (i && terms->hashes[i - 1] >= terms->hashes[i]))
            fault = "is out of order";
        else if (number >= terms->count || seen[number]++)
            fault = "has an invalid or repeated column";
        else if (!is_uncounted && (df == 0 || df > rows || cf < df))
            fault = "has invalid counts";
    }
    free(seen);
    return fault ? error_set_at(error, COG_ERR_FORMAT, i - 1, "%s: term %zu %s", path, i - 1, fault)
                 : COG_OK;
}
