/* The changes in a frame of an index's log: documents that are added, and ids that are removed, in
 * their order. A document that takes the place of another is a removal and an addition.
 * docs/format.md has the bytes. */
#pragma once

#include "base/error.h"
#include "base/memory.h"
#include "vector/bag.h"

/* Append to a payload; false when memory is out. */
bool changes_add_document(struct buffer *payload, struct bytes_view id, const struct bag_view *bag);
bool changes_remove_id(struct buffer *payload, struct bytes_view id);

/* Reads the changes of a payload one after the other. Zero-initialise and set `payload`;
 * changes_free releases. */
struct changes {
    struct bytes_view payload;
    size_t at;
    /* Of the change that was read; valid until the next one. */
    bool is_removal;
    struct bytes_view id;
    struct bag_view bag; /* of an addition */
    uint64_t *hashes;
    uint32_t *frequencies;
    float *weights;
    size_t hash_capacity, frequency_capacity, weight_capacity;
};
/* *end behind the last. `name` is the file's, for messages. */
cog_status changes_next(struct changes *changes, const char *name, bool *end, cog_error *error);
void changes_free(struct changes *changes);
