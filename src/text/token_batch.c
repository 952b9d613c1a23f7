#include "text/token_batch.h"

#include <stdlib.h>

#include "base/memory.h"

void token_batch_free(struct token_batch *batch) {
    buffer_free(&batch->bytes);
    free(batch->spans);
}

cog_status token_batch_add(struct token_batch *batch, size_t begin, size_t end, cog_error *error) {
    if (batch->count == batch->capacity && !memory_grow((void **)&batch->spans, &batch->capacity,
                                                        batch->count + 1, sizeof *batch->spans))
        return error_memory(error, batch->count * sizeof *batch->spans, "tokens");
    batch->spans[batch->count++] = (struct token_span){(uint32_t)begin, (uint32_t)end};
    return COG_OK;
}
