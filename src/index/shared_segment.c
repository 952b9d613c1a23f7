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

void shared_segment_release(struct shared_segment *shared) {
    if (!shared || __atomic_sub_fetch(&shared->owners, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    segment_close(&shared->segment);
    segment_memory_free(&shared->memory);
    free(shared);
}
