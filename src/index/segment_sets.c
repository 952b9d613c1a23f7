#include "index/segment_sets.h"

#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"

#define SECTION_SHAPE CONTAINER_TAG('s', 't', 's', 'h')
#define SECTION_ROWS CONTAINER_TAG('s', 't', 'r', 'o')
#define SECTION_BYTES CONTAINER_TAG('s', 't', 'b', 'y')
#define SECTION_TERM_STARTS CONTAINER_TAG('s', 't', 't', 's')
#define SECTION_TERM_ENTRIES CONTAINER_TAG('s', 't', 't', 'e')
#define SECTION_WORD_STARTS CONTAINER_TAG('s', 't', 'w', 's')
#define SECTION_WORD_ENTRIES CONTAINER_TAG('s', 't', 'w', 'e')

/* Offsets in the section "stsh". */
enum { SHAPE_BYTES_OF_SETS = 0, SHAPE_TERMS = 8, SHAPE_WORDS = 16, SHAPE_SIZE = 48 };

enum { TEXT_BYTES = 16 }; /* of a fingerprint */

_Static_assert(sizeof(struct set_row) == 16, "rows are mapped");

void segment_sets_free(struct segment_sets *sets) {
    FREE(sets->rows, sets->bytes);
    member_lists_free(&sets->terms);
    member_lists_free(&sets->words);
    *sets = (struct segment_sets){0};
}

/* ---- Comparing ------------------------------------------------------------------------------- */

bool set_comparison_plan(const struct set_measure *measure, const struct document_set *a,
                         const struct document_set *b, struct set_comparison *comparison) {
    const bool by_words = a->term_count == 0 || b->term_count == 0;
    const size_t first = by_words ? a->word_count : a->term_count;
    const size_t second = by_words ? b->word_count : b->term_count;
    const uint64_t least = set_needed_overlap(measure, first, second);
    *comparison = (struct set_comparison){by_words, first, second, (size_t)least};
    return first && second && least <= first && least <= second;
}

double set_comparison_run(const struct set_measure *measure,
                          const struct set_comparison *comparison, const uint64_t *a,
                          const uint64_t *b) {
    const size_t overlap =
        member_set_overlap(a, comparison->a_count, b, comparison->b_count, comparison->least);
    return overlap < comparison->least
               ? 0
               : set_similarity(measure, comparison->a_count, comparison->b_count, overlap);
}

double document_set_similarity(const struct set_measure *measure, const struct document_set *a,
                               const struct document_set *b) {
    struct set_comparison comparison;
    if (document_set_is_text(a) || document_set_is_text(b))
        return document_set_is_text(a) && document_set_is_text(b) && a->text[0] == b->text[0] &&
               a->text[1] == b->text[1];
    if (!set_comparison_plan(measure, a, b, &comparison))
        return 0;
    return comparison.by_words ? set_comparison_run(measure, &comparison, a->words, b->words)
                               : set_comparison_run(measure, &comparison, a->terms, b->terms);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static size_t record_bytes(uint32_t terms, uint32_t words) {
    return (uint64_t)terms + words == 0 ? TEXT_BYTES
                                        : member_set_bytes(terms) + member_set_bytes(words);
}

bool segment_sets_record(const struct segment_sets *sets, size_t row, struct bytes_view *record) {
    const struct set_row at = sets->rows[row];
    const uint64_t room = sets->size_bytes - MEMBER_SET_SLACK;
    if (at.offset > room || at.terms > room || at.words > room ||
        record_bytes(at.terms, at.words) > room - at.offset)
        return false;
    *record = view_of((const char *)sets->bytes + at.offset, record_bytes(at.terms, at.words));
    return true;
}

bool segment_sets_load(const struct segment_sets *sets, size_t row, struct loaded_sets *loaded,
                       struct document_set *set) {
    const struct set_row at = sets->rows[row];
    struct bytes_view record;
    *set = (struct document_set){.term_count = at.terms, .word_count = at.words};
    if (!segment_sets_record(sets, row, &record))
        return false;
    const uint8_t *bytes = sets->bytes + at.offset;
    if (document_set_is_text(set)) {
        set->text[0] = decode_u64(bytes);
        set->text[1] = decode_u64(bytes + 8);
        return true;
    }
    if (!memory_grow((void **)&loaded->terms, &loaded->term_capacity, at.terms + (size_t)1,
                     sizeof *loaded->terms) ||
        !memory_grow((void **)&loaded->words, &loaded->word_capacity, at.words + (size_t)1,
                     sizeof *loaded->words))
        return false;
    member_set_decode(bytes, at.terms, loaded->terms);
    member_set_decode(bytes + member_set_bytes(at.terms), at.words, loaded->words);
    set->terms = loaded->terms;
    set->words = loaded->words;
    return true;
}

cog_status set_builder_add(struct set_builder *builder, const struct document_set *set,
                           cog_error *error) {
    const uint32_t terms = (uint32_t)set->term_count, words = (uint32_t)set->word_count;
    const size_t size = record_bytes(terms, words);
    GROW(builder->rows, builder->capacity, builder->count + 1, "documents", error);
    if (!buffer_reserve(&builder->bytes, size + MEMBER_SET_SLACK))
        return error_memory(error, size, "documents");
    uint8_t *to = (uint8_t *)builder->bytes.data + builder->bytes.size;
    if (document_set_is_text(set)) {
        encode_u64(to, set->text[0]);
        encode_u64(to + 8, set->text[1]);
    } else {
        member_set_encode(set->terms, terms, to);
        member_set_encode(set->words, words, to + member_set_bytes(terms));
    }
    builder->rows[builder->count++] = (struct set_row){builder->bytes.size, terms, words};
    builder->bytes.size += size;
    return COG_OK;
}

void set_builder_free(struct set_builder *builder) {
    free(builder->rows);
    buffer_free(&builder->bytes);
    *builder = (struct set_builder){0};
}

/* ---- Lists ----------------------------------------------------------------------------------- */

struct listed_sets {
    const struct segment_sets *sets;
    struct loaded_sets loaded;
    bool of_words;
    uint64_t text_member;
};

static size_t members_of(void *context, size_t row, const uint64_t **members) {
    struct listed_sets *listed = context;
    struct document_set set;
    if (!segment_sets_load(listed->sets, row, &listed->loaded, &set))
        return 0;
    if (listed->of_words && document_set_is_text(&set)) {
        listed->text_member = document_set_text_member(&set);
        *members = &listed->text_member;
        return 1;
    }
    *members = listed->of_words ? set.words : set.terms;
    return listed->of_words ? set.word_count : set.term_count;
}

/* Makes room for the largest sets of all rows first, so that reading them cannot fail. */
static cog_status make_lists(const struct segment_sets *sets, size_t rows, bool of_words,
                             unsigned threads, const char *near_path, struct member_lists *lists,
                             cog_error *error) {
    struct listed_sets listed = {.sets = sets, .of_words = of_words};
    const struct member_source source = {members_of, &listed, rows};
    size_t terms = 0, words = 0;
    for (size_t row = 0; row < rows; row++) {
        terms = sets->rows[row].terms > terms ? sets->rows[row].terms : terms;
        words = sets->rows[row].words > words ? sets->rows[row].words : words;
    }
    struct loaded_sets *loaded = &listed.loaded;
    cog_status status =
        GROWN(loaded->terms, loaded->term_capacity, terms + 1, "posting lists", error);
    THEN(status, GROWN(loaded->words, loaded->word_capacity, words + 1, "posting lists", error));
    THEN(status, member_lists_build(&source, threads, near_path, lists, error));
    loaded_sets_free(loaded);
    return status;
}

cog_status segment_sets_list(struct segment_sets *sets, size_t rows, unsigned threads,
                             const char *near_path, cog_error *error) {
    TRY(make_lists(sets, rows, false, threads, near_path, &sets->terms, error));
    return make_lists(sets, rows, true, threads, near_path, &sets->words, error);
}

cog_status segment_sets_finish(struct set_builder *builder, unsigned threads,
                               struct segment_sets *sets, cog_error *error) {
    const size_t rows = builder->count;
    if (!buffer_append(&builder->bytes, (const uint8_t[MEMBER_SET_SLACK]){0}, MEMBER_SET_SLACK))
        return error_memory(error, builder->bytes.size, "documents");
    GROW(builder->rows, builder->capacity, rows + 1, "documents", error);
    *sets = (struct segment_sets){.rows = builder->rows,
                                  .bytes = (uint8_t *)builder->bytes.data,
                                  .size_bytes = builder->bytes.size};
    *builder = (struct set_builder){0};
    cog_status status = segment_sets_list(sets, rows, threads, NULL, error);
    if (status != COG_OK)
        segment_sets_free(sets);
    return status;
}

/* ---- Files ----------------------------------------------------------------------------------- */

cog_status segment_sets_write(const struct segment_sets *sets, size_t rows,
                              struct container_writer *writer, cog_error *error) {
    uint8_t shape[SHAPE_SIZE] = {0};
    encode_u64(shape + SHAPE_BYTES_OF_SETS, sets->size_bytes);
    encode_u64(shape + SHAPE_TERMS, sets->terms.count);
    encode_u64(shape + SHAPE_WORDS, sets->words.count);
    const struct container_part parts[] = {
        {SECTION_SHAPE, shape, sizeof shape, 1},
        {SECTION_ROWS, sets->rows, rows, sizeof *sets->rows},
        {SECTION_BYTES, sets->bytes, (size_t)sets->size_bytes, 1},
        {SECTION_TERM_STARTS, sets->terms.starts, ((size_t)1 << sets->terms.bits) + 1, 8},
        {SECTION_TERM_ENTRIES, sets->terms.entries, (size_t)sets->terms.count, 8},
        {SECTION_WORD_STARTS, sets->words.starts, ((size_t)1 << sets->words.bits) + 1, 8},
        {SECTION_WORD_ENTRIES, sets->words.entries, (size_t)sets->words.count, 8}};
    return container_writer_sections(writer, parts, sizeof parts / sizeof *parts, error);
}

static cog_status open_lists(const struct container *container, uint64_t count, uint32_t starts,
                             uint32_t entries, struct member_lists *lists, cog_error *error) {
    const void *first = NULL, *second = NULL;
    const unsigned bits = member_lists_bits(count);
    TRY(container_array(container, starts, ((size_t)1 << bits) + 1, 8, &first, error));
    TRY(container_array(container, entries, (size_t)count, 8, &second, error));
    *lists = (struct member_lists){
        .starts = (uint64_t *)first, .entries = (uint64_t *)second, .count = count, .bits = bits};
    return COG_OK;
}

cog_status segment_sets_open(const struct container *container, size_t rows,
                             struct segment_sets *sets, cog_error *error) {
    struct bytes_view view;
    const void *shape = NULL, *table = NULL, *bytes = NULL;
    if (!container_find(container, SECTION_SHAPE, &view))
        return COG_OK;
    TRY(container_array(container, SECTION_SHAPE, SHAPE_SIZE, 1, &shape, error));
    const uint64_t size = decode_u64((const uint8_t *)shape + SHAPE_BYTES_OF_SETS);
    TRY(container_array(container, SECTION_ROWS, rows, sizeof *sets->rows, &table, error));
    TRY(container_array(container, SECTION_BYTES, (size_t)size, 1, &bytes, error));
    if (size < MEMBER_SET_SLACK)
        return error_set(error, COG_ERR_FORMAT, "%s: the sets are damaged (%llu bytes)",
                         container->path, (unsigned long long)size);
    TRY(open_lists(container, decode_u64((const uint8_t *)shape + SHAPE_TERMS), SECTION_TERM_STARTS,
                   SECTION_TERM_ENTRIES, &sets->terms, error));
    TRY(open_lists(container, decode_u64((const uint8_t *)shape + SHAPE_WORDS), SECTION_WORD_STARTS,
                   SECTION_WORD_ENTRIES, &sets->words, error));
    sets->rows = (struct set_row *)table;
    sets->bytes = (uint8_t *)bytes;
    sets->size_bytes = size;
    return COG_OK;
}

/* ---- Checking -------------------------------------------------------------------------------- */

static bool is_rising(const uint64_t *members, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (members[i - 1] >= members[i])
            return false;
    return true;
}

/* Checks that records are adjacent and cover the section. */
static cog_status check_rows(const struct segment_sets *sets, const char *path, size_t rows,
                             cog_error *error) {
    struct loaded_sets loaded = {0};
    struct document_set set;
    uint64_t offset = 0;
    size_t row = 0;
    for (; row < rows && sets->rows[row].offset == offset &&
           segment_sets_load(sets, row, &loaded, &set) && is_rising(set.terms, set.term_count) &&
           is_rising(set.words, set.word_count);
         row++)
        offset += record_bytes(sets->rows[row].terms, sets->rows[row].words);
    loaded_sets_free(&loaded);
    return row == rows && offset == sets->size_bytes - MEMBER_SET_SLACK
               ? COG_OK
               : error_set_at(error, COG_ERR_FORMAT, row, "%s: the set of row %zu is invalid", path,
                              row);
}

static cog_status check_lists(const struct segment_sets *sets, const char *path, size_t rows,
                              bool of_words, cog_error *error) {
    const struct member_lists *lists = of_words ? &sets->words : &sets->terms;
    struct member_lists made = {0};
    TRY(make_lists(sets, rows, of_words, 1, NULL, &made, error));
    const size_t starts = ((size_t)1 << made.bits) + 1;
    const bool same =
        made.count == lists->count && memcmp(made.starts, lists->starts, starts * 8) == 0 &&
        (made.count == 0 || memcmp(made.entries, lists->entries, (size_t)made.count * 8) == 0);
    member_lists_free(&made);
    return same ? COG_OK
                : error_set(error, COG_ERR_FORMAT,
                            "%s: the posting lists of %s do not match the documents", path,
                            of_words ? "words" : "terms");
}

cog_status segment_sets_check(const struct segment_sets *sets, const char *path, size_t rows,
                              cog_error *error) {
    TRY(check_rows(sets, path, rows, error));
    TRY(check_lists(sets, path, rows, false, error));
    return check_lists(sets, path, rows, true, error);
}
