/* Terms to signature with weights and statistics in between: what signing a stream, signing one
 * text, and signing the rows of a collection have in common. */
#pragma once

#include "collection/options.h"

/* Immutable, shared by threads. statistics is borrowed. */
struct text_signer {
    struct signer *signer;
    struct weighting weighting;
    const struct statistics *statistics;
    struct idf_table idf;
};
cog_status text_signer_init(struct text_signer *text_signer, const cog_sign_options *options,
                            const cog_statistics *statistics, cog_error *error);
void text_signer_reset(struct text_signer *text_signer);
/* Frequencies are repetitions and sets need no counts: then the terms are signed as they come. */
bool text_signer_wants_bags(const struct text_signer *text_signer);

/* One a thread. */
struct text_signer_scratch {
    struct signer_workspace *workspace;
    uint64_t *hashes; /* terms that weigh more than nothing */
    float *weights;
    size_t hash_capacity, weight_capacity;
    struct term_list repeated; /* a bag's terms as they come */
    size_t repeated_capacity;
};
cog_status text_signer_scratch_init(struct text_signer_scratch *scratch,
                                    const struct text_signer *text_signer, cog_error *error);
void text_signer_scratch_reset(struct text_signer_scratch *scratch);

/* terms where bags are not wanted, bag where they are. *term_count: how many terms weigh anything.
 */
cog_status text_signer_sign(const struct text_signer *text_signer,
                            struct text_signer_scratch *scratch, const struct term_list *terms,
                            const struct bag_view *bag, uint8_t *signature, float *sums,
                            size_t *term_count, cog_error *error);
/* The same from a bag alone, whatever is wanted. */
cog_status text_signer_sign_bag(const struct text_signer *text_signer,
                                struct text_signer_scratch *scratch, const struct bag_view *bag,
                                uint8_t *signature, float *sums, size_t *term_count,
                                cog_error *error);
