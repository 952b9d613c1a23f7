/* Why two documents match: which word matched which, and how much each match adds to the cosine.
 *
 * Out: an array of matches in descending order of their shares; the caller frees it with free().
 * Costs as much as reading the documents; those of a link have already been read. */
#pragma once

#include "jobs/link/link_space.h"

/* For two documents of different languages. The words belong to the space and its lexicon. */
cog_status explain_link(const struct link_space *space, uint32_t from_row, uint32_t to_row,
                        cog_word_match **matches, size_t *count, cog_error *error);
/* For two documents of one language: both ids in documents[0], or the second in documents[1] if
 * that is not NULL. `ids` NULL: the first document of each collection. The words are in the block
 * of the matches. */
cog_status explain_pair(struct job *job, cog_documents *const documents[2],
                        const char *const ids[2], const cog_sign_options *options,
                        cog_word_match **matches, size_t *count, double *cosine, cog_error *error);
/* Says that the first document of this side (0, 1) was compared, and that it has others. */
void explain_note_others(int side, cog_report *report);
