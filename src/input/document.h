/* A document as the readers hand it over: borrowed views into the batch it was read from. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"

/* A term that the input names itself (a clicked URL with its clicks), in place of text. */
struct given_term {
    uint64_t hash; /* hash_bytes of the term's bytes */
    float weight;
};

struct document {
    struct bytes_view id;   /* never empty: a field of the record, or path:line */
    struct bytes_view lang; /* empty where the record does not say */
    struct bytes_view text; /* valid UTF-8 */
    struct bytes_view raw; /* the record's bytes as they stand in the input, its newline included */
    const struct given_term *terms; /* query logs: the terms, sorted by hash; else NULL */
    size_t term_count;
    uint32_t file; /* index of the input file, in the order of reading */
    uint64_t line; /* first line of the record in that file, from 1 */
};
