/* Sorts short keys, with or without the rows they belong to: one radix pass of all threads, then
 * recursive radix passes in cache. Equal keys keep their order. */
#pragma once

#include "base/error.h"

/* Parallel arrays on large pages. rows may be NULL, and is then nowhere looked at. */
struct key_array {
    uint64_t *keys; /* words * count */
    uint32_t *rows;
    size_t count;
    unsigned words; /* of a key: 1 or 2; 0 where there are rows alone */
};

cog_status key_array_init(struct key_array *array, size_t count, unsigned words, bool with_rows,
                          cog_error *error);
void key_array_free(struct key_array *array);
/* Keeps the rows. */
void key_array_free_keys(struct key_array *array);

enum { KEY_PARTITION_BITS_MAX = 12 };

/* Moves keys to `to` by `width` bits from `bit` on (within one word): those with digit d come to
 * [starts[d], starts[d + 1]), in their old order; starts has room for 2^width + 1. Where `from` has
 * no rows and `to` has, a key's row is its position in `from`. */
cog_status key_partition(const struct key_array *to, const struct key_array *from, unsigned bit,
                         unsigned width, uint32_t *starts, unsigned threads, cog_error *error);

/* Needs as much memory again while it runs. */
cog_status key_sort(struct key_array *array, unsigned threads, cog_error *error);
