/* Documents in a different language from that of a job's terms: a collection with a lexicon.
 *
 * A reader of such a collection (ingest.h) gets bags over terms of the lexicon's target language. A
 * document that declares the target language is not projected, so collections may mix the two. The
 * lexicon is borrowed for the lifetime of the collection. */
#pragma once

#include "crosslingual/document_projector.h"
#include "input/reader.h"

struct foreign_documents {
    const struct lexicon *lexicon;
    struct projection_options options; /* owns its linkers */
    struct term_options from_terms, to_terms;
    char from[LANGUAGE_CODE_BYTES], to[LANGUAGE_CODE_BYTES]; /* canonical codes */
    /* Identifies how documents are projected: target language, checksum of the lexicon, options;
     * for example "en 03fd9c1e5a7b2468 to-given-from keep s,es,n,en,e". */
    char *fingerprint;
};
/* Ignores k1 and b of the options; they belong to the code that weighs the documents. */
cog_status foreign_documents_create(const struct lexicon *lexicon,
                                    const cog_projection_options *options,
                                    struct foreign_documents **foreign, cog_error *error);
/* Accepts NULL. */
void foreign_documents_free(struct foreign_documents *foreign);

/* A projector to documents with these terms. COG_ERR_USAGE if the lexicon's words cannot match
 * them. */
cog_status foreign_projector_init(const struct foreign_documents *foreign,
                                  const struct term_options *terms,
                                  struct document_projector *projector, cog_error *error);
/* Whether a document is projected, depending on the language that it declares; COG_ERR_USAGE if
 * that is not one of the lexicon's. `id` is for the message. */
cog_status foreign_is_projected(const struct foreign_documents *foreign, struct bytes_view language,
                                struct bytes_view id, bool *is_projected, cog_error *error);
/* COG_ERR_USAGE if signatures of this kind cannot distinguish projected documents. `foreign` may be
 * NULL. */
cog_status foreign_check_signature(const struct foreign_documents *foreign, cog_signature_kind kind,
                                   cog_error *error);

/* The term options of documents of one side, matching those of the lexicon's words. */
cog_status lexicon_terms(const struct lexicon *lexicon, bool of_from, struct term_options *terms,
                         cog_error *error);
/* A checksum of words, translations and probabilities. */
uint64_t lexicon_checksum(const struct lexicon *lexicon);
