/* Counts the languages that documents declare and compares them with those of the lexicon. If the
 * two sides of a link were swapped, the job stops instead of linking wrongly. */
#pragma once

#include "run/job.h"
#include "text/analyzer.h"

struct language_tally {
    char own[LANGUAGE_CODE_BYTES], other[LANGUAGE_CODE_BYTES]; /* of this side and of the other */
    uint64_t own_count, other_count, foreign_count;            /* atomic */
};

void language_tally_init(struct language_tally *tally, const char *own, const char *other);
/* Thread-safe. Ignores documents that declare no language. */
void language_tally_count(struct language_tally *tally, struct bytes_view language);
/* COG_ERR_USAGE if most documents are in the other side's language; a notice if some are not in
 * their side's. `side` is "first" or "second". */
cog_status language_tally_judge(const struct language_tally *tally, const char *side,
                                cog_report *report, cog_error *error);
