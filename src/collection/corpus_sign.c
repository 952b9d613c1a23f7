#include "collection/corpus_sign.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"

enum { SIGN_GRAIN = 256 };

struct row_signing {
    const struct corpus_rows *rows;
    struct text_signer text_signer;
    uint8_t *signatures;
    size_t stride_bytes;
    float *sums;
    size_t sums_stride;
    unsigned bits;
};

static cog_status sign_rows(void *context, unsigned worker, size_t begin, size_t end,
                            cog_error *error) {
    (void)worker;
    const struct row_signing *signing = context;
    const struct corpus_rows *rows = signing->rows;
    struct text_signer_scratch scratch;
    size_t term_count;
    float *sums = signing->sums ? memory_array(signing->bits, sizeof *sums) : NULL;
    cog_status status = text_signer_scratch_init(&scratch, &signing->text_signer, error);
    if (status == COG_OK && signing->sums && !sums)
        status = error_memory(error, signing->bits * sizeof *sums, "sums");
    for (size_t i = begin; i < end && status == COG_OK; i++) {
        struct bag_view bag = corpus_bag(rows->corpus, rows->numbers ? rows->numbers[i] : i);
        status = text_signer_sign_bag(&signing->text_signer, &scratch, &bag,
                                      signing->signatures + i * signing->stride_bytes, sums,
                                      &term_count, error);
        if (sums)
            memcpy(signing->sums + i * signing->sums_stride, sums,
                   signing->sums_stride * sizeof *sums);
    }
    free(sums);
    text_signer_scratch_reset(&scratch);
    return status;
}

cog_status corpus_sign(const struct corpus_rows *rows, const cog_sign_options *options,
                       struct statistics *statistics, unsigned threads,
                       struct signatures_view *view, float *sums, size_t sums_stride,
                       cog_error *error) {
    struct row_signing signing = {
        .rows = rows, .sums = sums, .sums_stride = sums_stride, .bits = options->signature.bits};
    cog_statistics known = {statistics, {0}};
    signing.stride_bytes = signature_stride_bytes(signing.bits);
    cog_status status = options_record_terms(&options->terms, &known.terms, error);
    THEN(status, text_signer_init(&signing.text_signer, options, &known, error));
    if (status == COG_OK) {
        signing.signatures = memory_array(rows->count, signing.stride_bytes);
        if (!signing.signatures)
            status = error_memory(error, rows->count * signing.stride_bytes, "signatures");
    }
    THEN(status, parallel_for(threads, rows->count, SIGN_GRAIN, sign_rows, &signing, error));
    *view = (struct signatures_view){signing.signatures, rows->count, signing.bits,
                                     signing.stride_bytes};
    text_signer_reset(&signing.text_signer);
    settings_free(&known.terms);
    return status;
}
