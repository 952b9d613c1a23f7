#include "index/changes.h"

#include <string.h>

#include "base/numbers.h"

enum {
    CHANGE_ADD = 1,
    CHANGE_REMOVE = 2,
    CHANGE_ADD_SIGNATURE = 3,
    HAS_WEIGHTS = 1,
    HEAD_BYTES = 32,
    WORD_BYTES = 8, /* of a signature */
};

/* The bytes after the head: hashes, frequencies, weights, id. */
static uint64_t body_bytes(uint64_t terms, bool has_weights, uint64_t id_size) {
    return terms * (8 + 4 + (has_weights ? 4 : 0)) + id_size;
}

static uint64_t signature_body_bytes(uint64_t words, uint64_t id_size) {
    return words * WORD_BYTES + id_size;
}

static bool append_head(struct buffer *payload, uint32_t kind, uint32_t flags, uint64_t length,
                        size_t terms, size_t id_size) {
    uint8_t head[HEAD_BYTES] = {0};
    encode_u32(head, kind);
    encode_u32(head + 4, flags);
    encode_u64(head + 8, length);
    encode_u32(head + 16, (uint32_t)terms);
    encode_u32(head + 20, (uint32_t)id_size);
    return terms <= UINT32_MAX && id_size <= UINT32_MAX &&
           buffer_reserve(payload, sizeof head + (size_t)body_bytes(terms, true, id_size)) &&
           buffer_append(payload, head, sizeof head);
}

bool changes_add_document(struct buffer *payload, struct bytes_view id,
                          const struct bag_view *bag) {
    if (!append_head(payload, CHANGE_ADD, bag->weights ? HAS_WEIGHTS : 0, bag->length, bag->count,
                     id.size))
        return false;
    uint8_t *at = (uint8_t *)payload->data + payload->size; /* reserved together with the head */
    for (size_t i = 0; i < bag->count; i++, at += 8)
        encode_u64(at, bag->hashes[i]);
    for (size_t i = 0; i < bag->count; i++, at += 4)
        encode_u32(at, bag->frequencies[i]);
    for (size_t i = 0; bag->weights && i < bag->count; i++, at += 4) {
        uint32_t bits;
        memcpy(&bits, &bag->weights[i], sizeof bits);
        encode_u32(at, bits);
    }
    payload->size = (size_t)(at - (uint8_t *)payload->data);
    return buffer_append(payload, id.data, id.size);
}

bool changes_add_signature(struct buffer *payload, struct bytes_view id, struct bytes_view bytes) {
    return append_head(payload, CHANGE_ADD_SIGNATURE, 0, 0, bytes.size / WORD_BYTES, id.size) &&
           buffer_append(payload, bytes.data, bytes.size) &&
           buffer_append(payload, id.data, id.size);
}

bool changes_remove_id(struct buffer *payload, struct bytes_view id) {
    return append_head(payload, CHANGE_REMOVE, 0, 0, 0, id.size) &&
           buffer_append(payload, id.data, id.size);
}

static cog_status damaged(const char *name, cog_error *error) {
    return error_set(error, COG_ERR_FORMAT,
                     "%s: a change that this version of Cognate does not know; use a newer one, or "
                     "restore the folder from a copy",
                     name);
}

static cog_status read_terms(struct changes *changes, const uint8_t *at, size_t terms,
                             bool has_weights, cog_error *error) {
    GROW(changes->hashes, changes->hash_capacity, terms + 1, "a document's terms", error);
    GROW(changes->frequencies, changes->frequency_capacity, terms + 1, "a document's terms", error);
    GROW(changes->weights, changes->weight_capacity, terms + 1, "a document's terms", error);
    for (size_t i = 0; i < terms; i++, at += 8)
        changes->hashes[i] = decode_u64(at);
    for (size_t i = 0; i < terms; i++, at += 4)
        changes->frequencies[i] = decode_u32(at);
    for (size_t i = 0; has_weights && i < terms; i++, at += 4) {
        uint32_t bits = decode_u32(at);
        memcpy(&changes->weights[i], &bits, sizeof bits);
    }
    changes->bag.hashes = changes->hashes;
    changes->bag.frequencies = changes->frequencies;
    changes->bag.weights = has_weights ? changes->weights : NULL;
    changes->bag.count = terms;
    return COG_OK;
}

static cog_status read_words(struct changes *changes, const uint8_t *at, size_t words,
                             cog_error *error) {
    GROW(changes->hashes, changes->hash_capacity, words + 1, "a signature", error);
    memcpy(changes->hashes, at, words * WORD_BYTES);
    changes->bag.hashes = changes->hashes;
    changes->bag.count = words;
    return COG_OK;
}

cog_status changes_next(struct changes *changes, const char *name, bool *end, cog_error *error) {
    size_t left = changes->payload.size - changes->at;
    *end = left == 0;
    if (*end)
        return COG_OK;
    const uint8_t *head = (const uint8_t *)changes->payload.data + changes->at;
    if (left < HEAD_BYTES)
        return damaged(name, error);
    uint32_t kind = decode_u32(head), flags = decode_u32(head + 4);
    size_t terms = decode_u32(head + 16), id_size = decode_u32(head + 20);
    bool has_weights = flags & HAS_WEIGHTS;
    changes->is_removal = kind == CHANGE_REMOVE;
    changes->is_signature = kind == CHANGE_ADD_SIGNATURE;
    uint64_t size = changes->is_signature ? signature_body_bytes(terms, id_size)
                                          : body_bytes(terms, has_weights, id_size);
    if (kind < CHANGE_ADD || kind > CHANGE_ADD_SIGNATURE || flags > HAS_WEIGHTS ||
        size > left - HEAD_BYTES)
        return damaged(name, error);
    changes->bag = (struct bag_view){.length = decode_u64(head + 8)};
    TRY(changes->is_signature ? read_words(changes, head + HEAD_BYTES, terms, error)
                              : read_terms(changes, head + HEAD_BYTES, terms, has_weights, error));
    changes->at += HEAD_BYTES + (size_t)size;
    changes->id = view_of(changes->payload.data + changes->at - id_size, id_size);
    return COG_OK;
}

void changes_free(struct changes *changes) {
    FREE(changes->hashes, changes->frequencies, changes->weights);
    *changes = (struct changes){0};
}
