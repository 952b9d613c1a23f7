/* The sets of a segment's documents, for an index by Jaccard or containment: the same sets that
 * dedup compares (vector/member_set.h), plus posting lists of their members.
 *
 * A document has the set of its terms. A short text has the set of its words as well, or only that.
 * A text without any terms has a fingerprint of its bytes, which is in the lists of words as one
 * member. If one of two documents has no terms, they are compared by their words.
 *
 * In: documents one by one. Out: sections stsh, stro, stby, and the lists stts, stte of terms and
 * stws, stwe of words (docs/format.md). 14 bytes per member. */
#pragma once

#include "base/memory.h"
#include "index/member_lists.h"
#include "join/sets/set_measure.h"
#include "store/container.h"
#include "vector/set_file.h"

/* The sets of a document, strictly ascending; borrowed. */
struct document_set {
    const uint64_t *terms, *words;
    size_t term_count, word_count;
    uint64_t text[2]; /* fingerprint of a text without terms and words */
};
static inline bool document_set_is_text(const struct document_set *set) {
    return set->term_count + set->word_count == 0;
}
/* The member that represents a text without terms in the lists of words. */
static inline uint64_t document_set_text_member(const struct document_set *set) {
    return member_of_hash(set->text[0]);
}

/* How two documents with terms or words are compared: by terms, or by words if one has no terms,
 * and the overlap needed. */
struct set_comparison {
    bool by_words;
    size_t a_count, b_count, least;
};
/* Needs only the numbers of members. False if these already rule out the threshold. */
bool set_comparison_plan(const struct set_measure *measure, const struct document_set *a,
                         const struct document_set *b, struct set_comparison *comparison);
/* The similarity of these members (terms or words); 0 if below the threshold. */
double set_comparison_run(const struct set_measure *measure,
                          const struct set_comparison *comparison, const uint64_t *a,
                          const uint64_t *b);
/* The similarity of two documents; 0 if below the threshold. */
double document_set_similarity(const struct set_measure *measure, const struct document_set *a,
                               const struct document_set *b);

/* Mapped, or owned by the caller of segment_sets_finish; all zero if the segment has no sets. */
struct segment_sets {
    struct set_row *rows; /* NULL: no sets */
    uint8_t *bytes;
    uint64_t size_bytes; /* including MEMBER_SET_SLACK zeros at the end */
    struct member_lists terms, words;
};
void segment_sets_free(struct segment_sets *sets);

/* Collects the sets of a new segment. Zero-initialise; set_builder_free releases what was not
 * taken. */
struct set_builder {
    struct set_row *rows;
    size_t count, capacity;
    struct buffer bytes;
};
cog_status set_builder_add(struct set_builder *builder, const struct document_set *set,
                           cog_error *error);
void set_builder_free(struct set_builder *builder);
/* Takes the builder's contents and makes the lists. */
cog_status segment_sets_finish(struct set_builder *builder, unsigned threads,
                               struct segment_sets *sets, cog_error *error);
/* Makes the lists for sets with rows and bytes; `near_path` as in member_lists_build. After an
 * error, lists already made remain. */
cog_status segment_sets_list(struct segment_sets *sets, size_t rows, unsigned threads,
                             const char *near_path, cog_error *error);

/* The bytes of a row's sets in the section. False if they are damaged. */
bool segment_sets_record(const struct segment_sets *sets, size_t row, struct bytes_view *record);
/* The document of a row; its members are in `loaded`. False if it is damaged. */
bool segment_sets_load(const struct segment_sets *sets, size_t row, struct loaded_sets *loaded,
                       struct document_set *set);

cog_status segment_sets_write(const struct segment_sets *sets, size_t rows,
                              struct container_writer *writer, cog_error *error);
/* Constant time, without copying. A file without sets leaves *sets zero. */
cog_status segment_sets_open(const struct container *container, size_t rows,
                             struct segment_sets *sets, cog_error *error);
/* Verifies the sets, and that the lists are those of the sets. */
cog_status segment_sets_check(const struct segment_sets *sets, const char *path, size_t rows,
                              cog_error *error);
