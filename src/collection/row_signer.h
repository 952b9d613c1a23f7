/* Makes signatures from terms or vectors; all signing happens here.
 *
 * In: terms of texts, bags, rows of a corpus, or rows of a matrix. Out: signatures and, on request,
 * margins (the sums whose signs are the bits). Rows are signed in parallel; the bits do not depend
 * on the number of threads. Costs a few additions per bit and term. */
#pragma once

#include "collection/corpus.h"
#include "collection/options.h"
#include "hamming/hamming.h"

/* Weights and signature of terms. Immutable and shared by threads; statistics are borrowed. */
struct text_signer {
    struct signer *signer;
    struct weighting weighting;
    const struct statistics *statistics;
    struct idf_table idf;
};
/* Statistics may be NULL if the weighting does not need them. Reset also after an error. */
cog_status text_signer_init(struct text_signer *text_signer, const cog_sign_options *options,
                            const struct statistics *statistics, cog_error *error);
void text_signer_reset(struct text_signer *text_signer);
/* False if terms are signed one by one in order: frequencies are then repetitions, and sets need no
 * counts. */
bool text_signer_wants_bags(const struct text_signer *text_signer);

/* One per thread. */
struct text_signer_scratch {
    struct signer_workspace *workspace;
    uint64_t *hashes; /* terms with a weight above zero */
    float *weights;
    size_t hash_capacity, weight_capacity;
    struct term_list repeated; /* the terms of a bag, with repetitions */
    size_t repeated_capacity;
};
cog_status text_signer_scratch_init(struct text_signer_scratch *scratch,
                                    const struct text_signer *text_signer, cog_error *error);
void text_signer_scratch_reset(struct text_signer_scratch *scratch);

/* Signs one text: its terms, or its bag if bags are wanted. *term_count is the number of terms with
 * a weight above zero. */
cog_status text_signer_sign(const struct text_signer *text_signer,
                            struct text_signer_scratch *scratch, const struct term_list *terms,
                            const struct bag_view *bag, uint8_t *signature, float *margins,
                            size_t *term_count, cog_error *error);
/* The same from a bag in any case. */
cog_status text_signer_sign_bag(const struct text_signer *text_signer,
                                struct text_signer_scratch *scratch, const struct bag_view *bag,
                                uint8_t *signature, float *margins, size_t *term_count,
                                cog_error *error);

/* Rows of one kind, borrowed: of a corpus, of an array of bags, or of a matrix, whose columns are
 * then the terms (documents projected from another language have no terms of their own). If
 * `numbers` is NULL, the first `count` rows. */
struct signable_rows {
    const struct corpus *corpus;
    const uint32_t *numbers;
    size_t count;
    const struct bag_view *bags;
    const struct sparse_matrix *matrix;
    const float
        *weights; /* weights of the corpus's terms, instead of those from statistics; or NULL */
};
/* Writes to memory of the caller, signature_stride_bytes per row. `margins`, if not NULL, receives
 * the first margins_stride margins of each row. */
cog_status rows_sign(const struct text_signer *text_signer, const struct signable_rows *rows,
                     unsigned threads, uint8_t *signatures, float *margins, size_t margins_stride,
                     cog_error *error);
/* Signs rows of a corpus, or bags, into a new view. free() the data of the view, also after an
 * error. */
cog_status corpus_sign(const struct signable_rows *rows, const cog_sign_options *options,
                       const struct statistics *statistics, unsigned threads,
                       struct signatures_view *view, float *margins, size_t margins_stride,
                       cog_error *error);
/* The same for rows of a matrix, or of a corpus with given weights. */
cog_status vector_sign(const struct signable_rows *rows, const struct signature_options *options,
                       unsigned threads, struct signatures_view *view, float *margins,
                       size_t margins_stride, cog_error *error);
