/* Two made-up languages for tests of links: word w is "Fq<w>x" in one and "Tz<w>y" in the other. */
#pragma once

#include <cognate.h>
#include <stddef.h>

/* A lexicon of the words below `vocabulary`, trained from a file that it writes. It calls the
 * languages "de" and "en", which have rules for sentences. */
cog_status two_languages_train(int vocabulary, cog_lexicon **lexicon, cog_error *error);
/* Texts of `stride` bytes each as documents. `items`: room for them, as long as they are read. */
cog_status two_languages_read(const char *texts, size_t stride, size_t count, cog_document *items,
                              cog_documents **documents, cog_error *error);
