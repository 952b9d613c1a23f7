#include "collection/row_signer.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/threads.h"

cog_status text_signer_init(struct text_signer *text_signer, const cog_sign_options *options,
                            const struct statistics *statistics, cog_error *error) {
    struct signature_options signature;
    *text_signer = (struct text_signer){.statistics = statistics};
    TRY(options_signature(&options->signature, &signature, error));
    TRY(options_weighting(&options->weights, &text_signer->weighting, error));
    bool weighs = weighting_needs_statistics(&text_signer->weighting);
    if (!statistics && weighs)
        return error_set(error, COG_ERR_USAGE,
                         "BM25 and TF-IDF need statistics of the collection: collect them first, "
                         "or weigh by tf");
    if (weighs)
        TRY(idf_table_fill(&text_signer->idf, statistics, error));
    return signer_create(&signature, &text_signer->signer, error);
}

void text_signer_reset(struct text_signer *text_signer) {
    signer_free(text_signer->signer);
    idf_table_free(&text_signer->idf);
    text_signer->signer = NULL;
}

bool text_signer_wants_bags(const struct text_signer *text_signer) {
    if (signer_options(text_signer->signer)->kind == SIGNATURE_MINHASH)
        return false;
    return text_signer->weighting.scheme != WEIGHTING_TF;
}

cog_status text_signer_scratch_init(struct text_signer_scratch *scratch,
                                    const struct text_signer *text_signer, cog_error *error) {
    *scratch = (struct text_signer_scratch){0};
    return signer_workspace_create(text_signer->signer, &scratch->workspace, error);
}

void text_signer_scratch_reset(struct text_signer_scratch *scratch) {
    signer_workspace_free(scratch->workspace);
    FREE(scratch->hashes, scratch->weights, scratch->repeated.hashes);
    *scratch = (struct text_signer_scratch){0};
}

/* The terms of the bag with a weight above zero, and their weights. */
static cog_status weigh(const struct text_signer *text_signer, struct text_signer_scratch *scratch,
                        const struct bag_view *bag, struct weighted_terms *terms,
                        cog_error *error) {
    GROW(scratch->hashes, scratch->hash_capacity, bag->count, "a document's weights", error);
    GROW(scratch->weights, scratch->weight_capacity, bag->count, "a document's weights", error);
    weighting_apply(&text_signer->weighting, text_signer->statistics, &text_signer->idf, bag,
                    scratch->weights);
    size_t count = 0;
    for (size_t i = 0; i < bag->count; i++) {
        scratch->hashes[count] = bag->hashes[i];
        scratch->weights[count] = scratch->weights[i];
        count += scratch->weights[i] > 0;
    }
    *terms = (struct weighted_terms){scratch->hashes, scratch->weights, count};
    return COG_OK;
}

/* Whether to sign the bag instead of the terms one by one: if weights are computed or given. */
static bool signs_bag(const struct text_signer *text_signer, const struct bag_view *bag) {
    bool given = bag->weights && signer_options(text_signer->signer)->kind != SIGNATURE_MINHASH;
    return given || text_signer_wants_bags(text_signer);
}

cog_status text_signer_sign(const struct text_signer *text_signer,
                            struct text_signer_scratch *scratch, const struct term_list *terms,
                            const struct bag_view *bag, uint8_t *signature, float *margins,
                            size_t *term_count, cog_error *error) {
    struct weighted_terms weighted = {terms->hashes, NULL, terms->count};
    if (signs_bag(text_signer, bag))
        TRY(weigh(text_signer, scratch, bag, &weighted, error));
    signer_sign(text_signer->signer, scratch->workspace, &weighted, signature, margins);
    *term_count = weighted.count;
    return COG_OK;
}

static bool repeat_terms(struct text_signer_scratch *scratch, const struct bag_view *bag) {
    struct term_list *terms = &scratch->repeated;
    size_t needed = 1;
    for (size_t i = 0; i < bag->count; i++)
        needed += bag->frequencies ? bag->frequencies[i] : 1;
    if (!memory_grow((void **)&terms->hashes, &scratch->repeated_capacity, needed,
                     sizeof *terms->hashes))
        return false;
    terms->count = 0;
    for (size_t i = 0; i < bag->count; i++)
        for (uint32_t n = bag->frequencies ? bag->frequencies[i] : 1; n > 0; n--)
            terms->hashes[terms->count++] = bag->hashes[i];
    return true;
}

cog_status text_signer_sign_bag(const struct text_signer *text_signer,
                                struct text_signer_scratch *scratch, const struct bag_view *bag,
                                uint8_t *signature, float *margins, size_t *term_count,
                                cog_error *error) {
    if (!signs_bag(text_signer, bag) && !repeat_terms(scratch, bag))
        return error_memory(error, bag->length * sizeof *bag->hashes, "terms");
    return text_signer_sign(text_signer, scratch, &scratch->repeated, bag, signature, margins,
                            term_count, error);
}

/* ---- Rows of a collection -------------------------------------------------------------------- */

struct row_signing {
    const struct text_signer *text_signer;
    const struct signable_rows *rows;
    struct text_signer_scratch *scratches; /* one per worker */
    float *all_margins;                    /* one row's margins of all bits, per worker */
    uint8_t *signatures;
    float *margins;
    size_t margins_stride;
};

static cog_status sign_vector(const struct text_signer *text_signer,
                              struct text_signer_scratch *scratch,
                              const struct sparse_matrix *matrix, size_t row, uint8_t *signature,
                              float *margins, cog_error *error) {
    uint64_t first = matrix->offsets[row];
    size_t count = (size_t)(matrix->offsets[row + 1] - first);
    GROW(scratch->hashes, scratch->hash_capacity, count, "a vector's terms", error);
    for (size_t t = 0; t < count; t++)
        scratch->hashes[t] = hash_mix((uint64_t)matrix->columns[first + t] + 1);
    struct weighted_terms terms = {scratch->hashes, matrix->values + first, count};
    signer_sign(text_signer->signer, scratch->workspace, &terms, signature, margins);
    return COG_OK;
}

static cog_status sign_range(void *context, unsigned worker, size_t begin, size_t end,
                             cog_error *error) {
    const struct row_signing *signing = context;
    const struct signable_rows *rows = signing->rows;
    unsigned bits = signer_options(signing->text_signer->signer)->bits;
    size_t stride = signature_stride_bytes(bits), term_count;
    struct text_signer_scratch *scratch = &signing->scratches[worker];
    float *margins = signing->margins ? signing->all_margins + (size_t)worker * bits : NULL;
    for (size_t i = begin; i < end; i++) {
        size_t row = rows->numbers ? rows->numbers[i] : i;
        uint8_t *signature = signing->signatures + i * stride;
        if (rows->weights) {
            const struct corpus_row *item = &rows->corpus->items[row];
            struct weighted_terms terms = {rows->corpus->hashes + item->first_term,
                                           rows->weights + item->first_term, item->term_count};
            signer_sign(signing->text_signer->signer, scratch->workspace, &terms, signature,
                        margins);
        } else if (rows->matrix) {
            TRY(sign_vector(signing->text_signer, scratch, rows->matrix, row, signature, margins,
                            error));
        } else {
            struct bag_view bag = rows->bags ? rows->bags[row] : corpus_bag(rows->corpus, row);
            TRY(text_signer_sign_bag(signing->text_signer, scratch, &bag, signature, margins,
                                     &term_count, error));
        }
        if (margins)
            memcpy(signing->margins + i * signing->margins_stride, margins,
                   signing->margins_stride * sizeof *margins);
    }
    return COG_OK;
}

cog_status rows_sign(const struct text_signer *text_signer, const struct signable_rows *rows,
                     unsigned threads, uint8_t *signatures, float *margins, size_t margins_stride,
                     cog_error *error) {
    enum { SIGN_GRAIN = 64 };
    unsigned bits = signer_options(text_signer->signer)->bits;
    struct row_signing signing = {text_signer, rows,    NULL,          NULL,
                                  signatures,  margins, margins_stride};
    signing.scratches = memory_zeroed_array(threads, sizeof *signing.scratches);
    signing.all_margins = margins ? memory_array(threads * (size_t)bits, sizeof *margins) : NULL;
    cog_status status = COG_OK;
    if (!signing.scratches || (margins && !signing.all_margins))
        status = error_memory(error, threads * (size_t)bits * sizeof *margins, "signatures");
    for (unsigned i = 0; i < threads && status == COG_OK; i++)
        status = text_signer_scratch_init(&signing.scratches[i], text_signer, error);
    THEN(status, parallel_for(threads, rows->count, SIGN_GRAIN, sign_range, &signing, error));
    for (unsigned i = 0; signing.scratches && i < threads; i++)
        text_signer_scratch_reset(&signing.scratches[i]);
    FREE(signing.scratches, signing.all_margins);
    return status;
}

/* Takes ownership of the signer, whose initialisation may have failed. */
static cog_status sign_to_view(struct text_signer *text_signer, cog_status status, unsigned bits,
                               const struct signable_rows *rows, unsigned threads,
                               struct signatures_view *view, float *margins, size_t margins_stride,
                               cog_error *error) {
    size_t stride = signature_stride_bytes(bits);
    uint8_t *signatures = status == COG_OK ? memory_zeroed_array(rows->count, stride) : NULL;
    *view = (struct signatures_view){signatures, rows->count, bits, stride};
    if (status == COG_OK && !signatures)
        status = error_memory(error, rows->count * stride, "signatures");
    THEN(status, rows_sign(text_signer, rows, threads, signatures, margins, margins_stride, error));
    text_signer_reset(text_signer);
    return status;
}

cog_status corpus_sign(const struct signable_rows *rows, const cog_sign_options *options,
                       const struct statistics *statistics, unsigned threads,
                       struct signatures_view *view, float *margins, size_t margins_stride,
                       cog_error *error) {
    struct text_signer text_signer;
    cog_status status = text_signer_init(&text_signer, options, statistics, error);
    return sign_to_view(&text_signer, status, options->signature.bits, rows, threads, view, margins,
                        margins_stride, error);
}

cog_status vector_sign(const struct signable_rows *rows, const struct signature_options *options,
                       unsigned threads, struct signatures_view *view, float *margins,
                       size_t margins_stride, cog_error *error) {
    struct text_signer text_signer = {0};
    cog_status status = signer_create(options, &text_signer.signer, error);
    return sign_to_view(&text_signer, status, options->bits, rows, threads, view, margins,
                        margins_stride, error);
}
