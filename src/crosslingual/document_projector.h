/* Projects one document at a time into another language. In: a text in the lexicon's source
 * language. Out: a bag over terms of the target language with expected frequencies,
 *
 *     tf*(e) = sum over f of w(e, f) tf(f),
 *
 * with w as in word_projection.h. The bag depends only on the text, the lexicon and the options,
 * not on a collection: a document that is added to an index later, or used as a query, is projected
 * exactly as in a build. Weights come from the statistics of the bag's user.
 *
 * If the target side drops stop words and the lexicon has them, their translations are dropped too.
 */
#pragma once

#include "base/hash_table.h"
#include "crosslingual/word_projection.h"
#include "text/analyzer.h"
#include "vector/bag.h"

/* Immutable, shared by threads. Zero-initialise; document_projector_free releases. */
struct document_projector {
    const struct lexicon *lexicon;            /* borrowed */
    const struct projection_options *options; /* borrowed */
    struct term_options from_terms, to_terms; /* of texts in either language */
    struct hash_set stops;                    /* target terms that are dropped */
};
/* from_terms: the term options that the lexicon was made with. to_terms: those of the documents
 * that projected ones are compared with; like the lexicon's, but possibly without stop words. Their
 * language is the lexicon's. */
cog_status document_projector_init(struct document_projector *projector,
                                   const struct lexicon *lexicon,
                                   const struct projection_options *options,
                                   const struct term_options *from_terms,
                                   const struct term_options *to_terms, cog_error *error);
void document_projector_free(struct document_projector *projector);

/* For one thread; borrows the projector. Free accepts NULL. */
struct projector_worker;
cog_status projector_worker_create(const struct document_projector *projector,
                                   struct projector_worker **worker, cog_error *error);
void projector_worker_free(struct projector_worker *worker);
/* Approximate memory of a worker. */
size_t projector_worker_memory_bytes(void);
/* The bag of a text in the source language; owned by the worker, valid until its next call. */
cog_status projector_worker_run(struct projector_worker *worker, struct bytes_view text,
                                struct bag_view *bag, cog_error *error);
