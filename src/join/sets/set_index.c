#include "join/sets/set_index.h"

#include <string.h>

#include "base/memory.h"

enum { LEAST_HEADS = 1 << 10 };

static size_t head_count(size_t capacity) {
    size_t heads = LEAST_HEADS;
    while (heads < capacity)
        heads *= 2;
    return heads;
}

uint64_t set_index_bytes(size_t capacity) {
    return memory_large_bytes(head_count(capacity) * sizeof(uint32_t)) +
           memory_large_bytes(capacity * sizeof(struct posting));
}

size_t set_index_capacity(uint64_t bytes) {
    size_t low = 0, high = POSTING_NONE - 1;
    while (low < high) {
        size_t middle = low + (high - low + 1) / 2;
        if (set_index_bytes(middle) <= bytes)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

cog_status set_index_init(struct set_index *index, size_t capacity, cog_error *error) {
    const size_t heads = head_count(capacity);
    *index = (struct set_index){.capacity = capacity, .mask = heads - 1};
    index->heads = memory_large(heads * sizeof *index->heads);
    index->postings = memory_large(capacity * sizeof *index->postings + 1);
    if (!index->heads || !index->postings) {
        set_index_free(index);
        return error_memory(error, (size_t)set_index_bytes(capacity), "posting lists");
    }
    set_index_clear(index);
    return COG_OK;
}

void set_index_free(struct set_index *index) {
    if (index->heads)
        memory_large_free(index->heads, ((size_t)index->mask + 1) * sizeof *index->heads);
    if (index->postings)
        memory_large_free(index->postings, index->capacity * sizeof *index->postings + 1);
    *index = (struct set_index){0};
}

void set_index_clear(struct set_index *index) {
    memset(index->heads, 0xff, ((size_t)index->mask + 1) * sizeof *index->heads);
    index->count = 0;
}
