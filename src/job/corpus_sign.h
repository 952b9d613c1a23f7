/* Signatures of all rows of a corpus. */
#ifndef COGNATE_JOB_CORPUS_SIGN_H
#define COGNATE_JOB_CORPUS_SIGN_H

#include "hamming/signatures.h"
#include "job/corpus.h"
#include "job/text_signer.h"

/* free() the data of the view, also after an error. sums, where not NULL, receives the numbers
 * behind the bits, options->signature.bits for each row. */
cog_status corpus_sign(const struct corpus *corpus, const cog_sign_options *options,
                       struct statistics *statistics, unsigned threads,
                       struct signatures_view *view, float *sums, cog_error *error);

/* A bag's terms with their repetitions, for a signer that takes terms as they come; terms->hashes
 * has room for *capacity, grows, and is free()d by the caller. False when memory is out. */
bool corpus_repeat_terms(const struct bag_view *bag, struct term_list *terms, size_t *capacity);

#endif
