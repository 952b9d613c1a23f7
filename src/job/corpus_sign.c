#include "job/corpus_sign.h"

#include "base/memory.h"
#include "base/threads.h"

enum { SIGN_GRAIN = 256 };

struct row_signing {
    const struct corpus *corpus;
    struct text_signer text_signer;
    uint8_t *signatures;
    float *sums;
    size_t stride_bytes;
    unsigned bits;
};

bool corpus_repeat_terms(const struct bag_view *bag, struct term_list *terms, size_t *capacity) {
    size_t needed = 1;
    for (size_t i = 0; i < bag->count; i++)
        needed += bag->frequencies ? bag->frequencies[i] : 1;
    if (!memory_grow((void **)&terms->hashes, capacity, needed, sizeof *terms->hashes))
        return false;
    terms->count = 0;
    for (size_t i = 0; i < bag->count; i++)
        for (uint32_t n = bag->frequencies ? bag->frequencies[i] : 1; n > 0; n--)
            terms->hashes[terms->count++] = bag->hashes[i];
    return true;
}

static cog_status sign_rows(void *context, unsigned worker, size_t begin, size_t end,
                            cog_error *error) {
    (void)worker;
    const struct row_signing *signing = context;
    struct text_signer_scratch scratch;
    struct term_list terms = {0};
    size_t capacity = 0, term_count;
    cog_status status = text_signer_scratch_init(&scratch, &signing->text_signer, error);
    for (size_t row = begin; row < end && status == COG_OK; row++) {
        struct bag_view bag = corpus_bag(signing->corpus, row);
        if (!text_signer_wants_bags(&signing->text_signer) &&
            !corpus_repeat_terms(&bag, &terms, &capacity)) {
            status = error_memory(error, bag.length * sizeof *terms.hashes, "terms");
            break;
        }
        status = text_signer_sign(&signing->text_signer, &scratch, &terms, &bag,
                                  signing->signatures + row * signing->stride_bytes,
                                  signing->sums ? signing->sums + row * signing->bits : NULL,
                                  &term_count, error);
    }
    free(terms.hashes);
    text_signer_scratch_reset(&scratch);
    return status;
}

cog_status corpus_sign(const struct corpus *corpus, const cog_sign_options *options,
                       struct statistics *statistics, unsigned threads,
                       struct signatures_view *view, float *sums, cog_error *error) {
    struct row_signing signing = {.corpus = corpus, .sums = sums, .bits = options->signature.bits};
    cog_statistics known = {statistics, {0}};
    signing.stride_bytes = signature_stride_bytes(signing.bits);
    cog_status status = options_record_terms(&options->terms, &known.terms, error);
    if (status == COG_OK)
        status = text_signer_init(&signing.text_signer, options, &known, error);
    if (status == COG_OK) {
        signing.signatures = memory_array(corpus->rows, signing.stride_bytes);
        if (!signing.signatures)
            status = error_memory(error, corpus->rows * signing.stride_bytes, "signatures");
    }
    if (status == COG_OK)
        status = parallel_for(threads, corpus->rows, SIGN_GRAIN, sign_rows, &signing, error);
    *view = (struct signatures_view){signing.signatures, corpus->rows, signing.bits,
                                     signing.stride_bytes};
    text_signer_reset(&signing.text_signer);
    settings_free(&known.terms);
    return status;
}
