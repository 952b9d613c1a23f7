/* Documents with the same terms: grouped before any join, so that a thousand copies of a page cost
 * a thousand comparisons and not a million. */
#pragma once

#include "collection/corpus.h"

/* Zero-initialise; equal_documents_free releases. */
struct equal_documents {
    uint32_t *leader;  /* of a row: the smallest row with the same terms */
    uint8_t *selected; /* 1 for leaders */
    size_t groups;     /* of two rows or more */
};

/* Terms are the same when their sets are, or where the corpus has frequencies and use_frequencies
 * is set, their bags. Rows without terms equal nothing. */
cog_status equal_documents_find(const struct corpus *corpus, bool use_frequencies,
                                struct equal_documents *equal, cog_error *error);
void equal_documents_free(struct equal_documents *equal);
