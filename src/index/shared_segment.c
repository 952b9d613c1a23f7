#include "index/shared_segment.h"

#include <stdlib.h>

#include "base/memory.h"

void segment_memory_free(struct segment_memory *memory) {
    free(memory->id_offsets);
    free(memory->id_bytes);
    id_buckets_free(&memory->id_buckets);
    free(memory->signatures);
    free(memory->lengths);
    free(memory->recall);
    segment_terms_free(&memory->terms);
    sparse_matrix_free(&memory->vectors);
    segment_sets_free(&memory->sets);
    *memory = (struct segment_memory){0};
}

cog_status shared_segment_create(struct segment *segment, struct segment_memory *memory,
                                 struct shared_segment **shared, cog_error *error) {
    struct shared_segment *made;
    TAKE_ZEROED(made, 1, "a segment", error);
    made->owners = 1;
    made->segment = *segment;
    *segment = (struct segment){0};
    if (memory) {
        made->is_in_memory = true;
        made->memory = *memory;
        *memory = (struct segment_memory){0};
    }
    *shared = made;
    return COG_OK;
}

struct shared_segment *shared_segment_retain(struct shared_segment *shared) {
    __atomic_add_fetch(&shared->owners, 1, __ATOMIC_RELAXED);
    return shared;
}

cog_status shared_segment_columns(struct shared_segment *shared, const uint64_t **hashes,
                                  cog_error *error) {
    uint64_t *made = __atomic_load_n(&shared->column_hashes, __ATOMIC_ACQUIRE), *before = NULL;
    if (!made) {
        TRY(segment_terms_by_column(&shared->segment.terms, &made, error));
        if (!__atomic_compare_exchange_n(&shared->column_hashes, &before, made, false,
                                         __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            free(made); /* another thread was faster */
            made = before;
        }
    }
    *hashes = made;
    return COG_OK;
}

void shared_segment_release(struct shared_segment *shared) {
    if (!shared || __atomic_sub_fetch(&shared->owners, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    segment_close(&shared->segment);
    if (shared->is_in_memory)
        segment_memory_free(&shared->memory);
    FREE(shared->column_hashes, shared);
}
