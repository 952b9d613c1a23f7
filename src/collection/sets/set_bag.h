/* Documents of an index by Jaccard or containment as bags (vector/bag.h): the form in which an
 * index keeps them in its log and in memory until they become a segment.
 *
 * A hash of such a bag is a member of one of the document's sets: 48 bits of a term's hash,
 * followed by bits that identify the set. A text without terms has a fingerprint of its bytes
 * instead. So every document has a non-empty bag, and bags of equal sets are equal. */
#pragma once

#include "index/segment_sets.h"
#include "text/analyzer.h"
#include "vector/bag.h"

/* Converts the terms of a text, made with options for sets (options_set_terms), into the hashes of
 * its bag; hashes may repeat. */
cog_status set_bag_mark(struct term_list *terms, struct bytes_view text, cog_error *error);

/* The sets of a bag. Zero-initialise; set_bag_free releases. `set` is valid until the next call. */
struct set_bag {
    struct document_set set;
    uint64_t *members, *scratch;
    size_t member_capacity, scratch_capacity;
};
cog_status set_bag_read(struct set_bag *sets, const struct bag_view *bag, cog_error *error);
void set_bag_free(struct set_bag *sets);
