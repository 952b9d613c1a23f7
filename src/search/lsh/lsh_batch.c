#include "search/lsh/lsh_batch.h"

#include "base/memory.h"
#include "base/threads.h"

enum { ROWS_PER_PIECE = 1024 };

struct keying {
    const struct method_rows *rows;
    const uint32_t *term_counts;
    const struct lsh_options *options;
    bool flipped;
    size_t most;          /* keys of a row */
    struct row_key *keys; /* `most` for each row */
    uint32_t *counts;     /* of each row */
};

static cog_status key_piece(void *context, unsigned worker, size_t begin, size_t end,
                            cog_error *error) {
    const struct keying *keying = context;
    const struct signatures_view *signatures = keying->rows->signatures;
    struct lsh_keyer keyer = {0};
    struct lsh_key *own = NULL;
    (void)worker;
    cog_status status = lsh_keyer_create(&keyer, keying->options, error);
    THEN(status, TAKEN(own, keying->most, "keys", error));
    for (size_t row = begin; row < end && status == COG_OK; row++) {
        keying->counts[row] = 0;
        if (keying->term_counts && keying->term_counts[row] == 0)
            continue;
        size_t count = lsh_keys_of(&keyer, signature_row(signatures, row), signatures->stride_bytes,
                                   lsh_margins(keying->rows, row), keying->flipped, own);
        for (size_t i = 0; i < count; i++)
            keying->keys[row * keying->most + i] =
                (struct row_key){(uint32_t)row, own[i].table, own[i].key};
        keying->counts[row] = (uint32_t)count;
    }
    free(own);
    lsh_keyer_free(&keyer);
    return status;
}

cog_status lsh_keys_of_rows(const struct method_rows *rows, const uint32_t *term_counts,
                            const struct lsh_options *options, bool flipped, unsigned threads,
                            struct row_key **keys, size_t *count, cog_error *error) {
    const size_t row_count = rows->signatures->rows;
    struct keying keying = {.rows = rows,
                            .term_counts = term_counts,
                            .options = options,
                            .flipped = flipped,
                            .most = lsh_keys_max(options, flipped)};
    size_t room;
    *keys = NULL;
    *count = 0;
    if (!size_multiply(row_count, keying.most, &room))
        return error_memory(error, SIZE_MAX, "keys");
    TAKE(keying.counts, row_count, "keys", error);
    cog_status status = TAKEN(*keys, room, "keys", error);
    keying.keys = *keys;
    THEN(status, parallel_for(threads, row_count, ROWS_PER_PIECE, key_piece, &keying, error));
    for (size_t row = 0; row < row_count && status == COG_OK; row++)
        for (uint32_t i = 0; i < keying.counts[row]; i++)
            (*keys)[(*count)++] = (*keys)[row * keying.most + i];
    free(keying.counts);
    return status;
}
