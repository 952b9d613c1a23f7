#include "collection/text_signer.h"

#include <stdlib.h>

#include "base/memory.h"

cog_status text_signer_init(struct text_signer *text_signer, const cog_sign_options *options,
                            const cog_statistics *statistics, cog_error *error) {
    struct signature_options signature;
    *text_signer = (struct text_signer){.statistics = statistics ? statistics->counts : NULL};
    cog_status status = options_signature(&options->signature, &signature, error);
    THEN(status, options_weighting(&options->weights, &text_signer->weighting, error));
    if (status == COG_OK && statistics)
        status = options_check_statistics(&options->terms, statistics, error);
    if (status == COG_OK && !statistics && weighting_needs_statistics(&text_signer->weighting))
        status = error_set(error, COG_ERR_USAGE,
                           "BM25 and TF-IDF need statistics of the collection: collect them first, "
                           "or weigh by tf");
    if (status == COG_OK && weighting_needs_statistics(&text_signer->weighting))
        status = idf_table_fill(&text_signer->idf, text_signer->statistics, error);
    return status == COG_OK ? signer_create(&signature, &text_signer->signer, error) : status;
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
    free(scratch->hashes);
    free(scratch->weights);
    free(scratch->repeated.hashes);
    *scratch = (struct text_signer_scratch){0};
}

/* The terms of the bag that weigh more than nothing, with their weights. */
static cog_status weigh(const struct text_signer *text_signer, struct text_signer_scratch *scratch,
                        const struct bag_view *bag, struct weighted_terms *terms,
                        cog_error *error) {
    if (!memory_grow((void **)&scratch->hashes, &scratch->hash_capacity, bag->count,
                     sizeof *scratch->hashes) ||
        !memory_grow((void **)&scratch->weights, &scratch->weight_capacity, bag->count,
                     sizeof *scratch->weights))
        return error_memory(error, bag->count * 12, "a document's weights");
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

/* Whether the bag decides, and not the terms one by one: by weights that are computed, or given. */
static bool signs_bag(const struct text_signer *text_signer, const struct bag_view *bag) {
    bool given = bag->weights && signer_options(text_signer->signer)->kind != SIGNATURE_MINHASH;
    return given || text_signer_wants_bags(text_signer);
}

cog_status text_signer_sign(const struct text_signer *text_signer,
                            struct text_signer_scratch *scratch, const struct term_list *terms,
                            const struct bag_view *bag, uint8_t *signature, float *sums,
                            size_t *term_count, cog_error *error) {
    struct weighted_terms weighted = {terms->hashes, NULL, terms->count};
    if (signs_bag(text_signer, bag)) {
        TRY(weigh(text_signer, scratch, bag, &weighted, error));
    }
    signer_sign(text_signer->signer, scratch->workspace, &weighted, signature, sums);
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
                                uint8_t *signature, float *sums, size_t *term_count,
                                cog_error *error) {
    if (!signs_bag(text_signer, bag) && !repeat_terms(scratch, bag))
        return error_memory(error, bag->length * sizeof *bag->hashes, "terms");
    return text_signer_sign(text_signer, scratch, &scratch->repeated, bag, signature, sums,
                            term_count, error);
}
