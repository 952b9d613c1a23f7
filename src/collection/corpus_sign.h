/* Signatures of rows of a corpus. */
#pragma once

#include "collection/corpus.h"
#include "collection/text_signer.h"
#include "hamming/hamming.h"

/* Some rows of a corpus, or (numbers NULL) the first `count`. Borrowed. */
struct corpus_rows {
    const struct corpus *corpus;
    const uint32_t *numbers;
    size_t count;
};

/* free() the data of the view, also after an error. sums, where not NULL, receives the first
 * sums_stride numbers behind the bits of each row. */
cog_status corpus_sign(const struct corpus_rows *rows, const cog_sign_options *options,
                       struct statistics *statistics, unsigned threads,
                       struct signatures_view *view, float *sums, size_t sums_stride,
                       cog_error *error);
