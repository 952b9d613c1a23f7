/* Arrays of 64- or 128-bit keys, with or without their rows, and sorting.
 *
 * key_sort makes one radix pass on all threads, then recursive radix passes in cache; equal keys
 * keep their order. It temporarily needs the memory of the array a second time. key_partition is
 * one such pass. The caller owns the arrays. */
#pragma once

#include "base/error.h"

/* Parallel arrays, on huge pages if they are large. */
struct key_array {
    uint64_t *keys; /* words * count */
    uint32_t *rows; /* NULL: keys alone */
    size_t count;
    unsigned words; /* per key: 1 or 2; 0 if there are only rows */
};

cog_status key_array_init(struct key_array *array, size_t count, unsigned words, bool with_rows,
                          cog_error *error);
void key_array_free(struct key_array *array);
/* Frees the keys and keeps the rows. */
void key_array_free_keys(struct key_array *array);

enum { KEY_PARTITION_BITS_MAX = 12 };

/* Moves keys to `to` by the digit of `width` bits at `bit` (within one word): keys with digit d go
 * to [starts[d], starts[d + 1]) in their old order. `starts` has room for 2^width + 1. If `from`
 * has no rows and `to` has, a key's row is its position in `from`. */
cog_status key_partition(const struct key_array *to, const struct key_array *from, unsigned bit,
                         unsigned width, uint32_t *starts, unsigned threads, cog_error *error);

cog_status key_sort(struct key_array *array, unsigned threads, cog_error *error);

/* Sorts rows by ascending key, as computed by `key`; rows with equal keys keep their order. */
cog_status rows_sort(uint32_t *rows, size_t count,
                     uint64_t (*key)(const void *context, uint32_t row), const void *context,
                     unsigned threads, cog_error *error);
