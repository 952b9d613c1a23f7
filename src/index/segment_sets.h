/* The sets of a segment's documents, for an index by Jaccard or containment: what dedup compares
 * (vector/member_set.h), and posting lists of their members.
 *
 * A document has the set of its terms; a short text has the set of its words as well, or alone; a
 * text without any terms is known by a fingerprint of its bytes, which stands in the lists of words
 * as one member. Two documents of which one has no terms are compared by their words.
 *
 * Goes in: documents one by one. Comes out: sections stsh, stro, stby and the lists stts, stte of
 * terms, stws, stwe of words (docs/format.md). 14 bytes per member. */
#pragma once

#include "base/memory.h"
#include "index/member_lists.h"
#include "join/sets/set_measure.h"
#include "store/container.h"
#include "vector/set_file.h"

/* A document as its sets, strictly rising; borrowed. */
struct document_set {
    const uint64_t *terms, *words;
    size_t term_count, word_count;
    uint64_t text[2]; /* fingerprint of a text without terms and words */
};
static inline bool document_set_is_text(const struct document_set *set) {
    return set->term_count + set->word_count == 0;
}
/* The member by which a text without terms stands in the lists of words. */
static inline uint64_t document_set_text_member(const struct document_set *set) {
    return member_of_hash(set->text[0]);
}

/* How two documents with terms or words are compared: by terms, or by words if one has no terms,
 * and the overlap that they need. */
struct set_comparison {
    bool by_words;
    size_t a_count, b_count, least;
};
/* From the numbers of their members alone. False if these say that the threshold is not reached. */
bool set_comparison_plan(const struct set_measure *measure, const struct document_set *a,
                         const struct document_set *b, struct set_comparison *comparison);
/* The similarity by these members, terms or words; 0 if it is below the threshold. */
double set_comparison_run(const struct set_measure *measure,
                          const struct set_comparison *comparison, const uint64_t *a,
                          const uint64_t *b);
/* The similarity of two documents; 0 if it is below the threshold. */
double document_set_similarity(const struct set_measure *measure, const struct document_set *a,
                               const struct document_set *b);

/* In a map, or owned by segment_sets_finish's caller; zero: a segment without sets. */
struct segment_sets {
    struct set_row *rows; /* NULL: no sets are known */
    uint8_t *bytes;
    uint64_t size_bytes; /* MEMBER_SET_SLACK zeros at the end included */
    struct member_lists terms, words;
};
void segment_sets_free(struct segment_sets *sets);

/* Sets that become a segment. Zero-initialise; set_builder_free releases what was not taken. */
struct set_builder {
    struct set_row *rows;
    size_t count, capacity;
    struct buffer bytes;
};
cog_status set_builder_add(struct set_builder *builder, const struct document_set *set,
                           cog_error *error);
void set_builder_free(struct set_builder *builder);
/* Takes what the builder has, and makes the lists. */
cog_status segment_sets_finish(struct set_builder *builder, unsigned threads,
                               struct segment_sets *sets, cog_error *error);
/* Makes the lists of sets that have rows and bytes; `beside`: see member_lists_build. After an
 * error the lists that were made stay. */
cog_status segment_sets_list(struct segment_sets *sets, size_t rows, unsigned threads,
                             const char *beside, cog_error *error);

/* The bytes of a row's sets in the section. False if they are damaged. */
bool segment_sets_record(const struct segment_sets *sets, size_t row, struct bytes_view *record);
/* The document of a row; `loaded` holds its members. False if it is damaged. */
bool segment_sets_load(const struct segment_sets *sets, size_t row, struct loaded_sets *loaded,
                       struct document_set *set);

cog_status segment_sets_write(const struct segment_sets *sets, size_t rows,
                              struct container_writer *writer, cog_error *error);
/* Constant time, without copying. A file without sets leaves *sets zero. */
cog_status segment_sets_open(const struct container *container, size_t rows,
                             struct segment_sets *sets, cog_error *error);
/* Whether the sets are possible and the lists are those of the sets. */
cog_status segment_sets_check(const struct segment_sets *sets, const char *path, size_t rows,
                              cog_error *error);
