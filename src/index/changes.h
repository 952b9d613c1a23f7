/* The changes in a frame of an index's log: documents or signatures added and ids removed, in
 * order. Replacing a document is a removal and an addition. docs/format.md defines the bytes. */
#pragma once

#include "base/error.h"
#include "base/memory.h"
#include "vector/bag.h"

/* Append to a payload; false if out of memory. */
bool changes_add_document(struct buffer *payload, struct bytes_view id, const struct bag_view *bag);
/* `bytes` is the signature padded to a multiple of 8. */
bool changes_add_signature(struct buffer *payload, struct bytes_view id, struct bytes_view bytes);
bool changes_remove_id(struct buffer *payload, struct bytes_view id);

/* Reads the changes of a payload one by one. Zero-initialise and set `payload`; changes_free
 * releases. */
struct changes {
    struct bytes_view payload;
    size_t at;
    /* Of the current change; valid until the next call. */
    bool is_removal;
    bool is_signature;
    struct bytes_view id;
    struct bag_view bag; /* of an addition; the words of a signature are its hashes, without
                          * frequencies */
    uint64_t *hashes;
    uint32_t *frequencies;
    float *weights;
    size_t hash_capacity, frequency_capacity, weight_capacity;
};
/* Sets *end after the last change. `name` is the file's name, for messages. */
cog_status changes_next(struct changes *changes, const char *name, bool *end, cog_error *error);
void changes_free(struct changes *changes);
