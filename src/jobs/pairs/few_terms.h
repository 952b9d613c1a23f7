/* Pairs of documents with few terms, found exactly for the methods that compare signatures.
 *
 * The sum of a few random signs takes few values, and one heavy term may decide it alone. The bits
 * of such a document differ from those of a similar one far more often, or less often, than their
 * cosine says: of two sentences with one rare word each in common half of the bits may differ. No
 * radius and no number of hash tables finds such pairs; a join by terms does, and costs little
 * because the terms are few. */
#pragma once

#include "jobs/pairs/pair_task.h"

/* Whether the rows of a join by signatures are documents whose cosines are computed, and the method
 * is planned for a recall. */
bool few_terms_matter(const struct pair_task *task);
/* Whether a row has so few terms that all its pairs are found exactly. */
bool few_terms_has(const struct pair_task *task, size_t side, uint32_t row);
/* All pairs of rows of side 0 with few terms, by row number, without a distance. `matches` must be
 * empty; its limit holds. */
cog_status few_terms_join(const struct pair_task *task, struct match_list *matches,
                          cog_error *error);
