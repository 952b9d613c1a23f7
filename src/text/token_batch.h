/* Tokens on their way from a tokeniser to the terms: folded bytes, and where in them the tokens
 * are. */
#pragma once

#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

/* Readable bytes behind the last token, so that keys are loaded without looking at sizes. */
enum { TOKEN_SLACK_BYTES = 32 };

struct token_span {
    uint32_t begin, end;
};

/* Spans may overlap (bigrams). bytes has TOKEN_SLACK_BYTES of capacity behind the last token. */
struct token_batch {
    struct buffer bytes;
    struct token_span *spans;
    size_t count, capacity;
};
void token_batch_free(struct token_batch *batch);
cog_status token_batch_add(struct token_batch *batch, size_t begin, size_t end, cog_error *error);

/* Takes batches as they come; the batch is the tokeniser's again afterwards. */
struct token_sink {
    cog_status (*take)(void *context, const struct token_batch *batch, cog_error *error);
    void *context;
};
