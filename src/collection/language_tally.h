/* The languages that documents of one side name for themselves, beside those of the lexicon: sides
 * that were exchanged are found out before they are linked wrongly. */
#pragma once

#include "run/job.h"
#include "text/analyzer.h"

struct language_tally {
    char own[LANGUAGE_CODE_BYTES], other[LANGUAGE_CODE_BYTES]; /* of this side and the other */
    uint64_t own_count, other_count, foreign_count;            /* atomic */
};

void language_tally_init(struct language_tally *tally, const char *own, const char *other);
/* From any thread. A document that names no language does not count. */
void language_tally_count(struct language_tally *tally, struct bytes_view language);
/* COG_ERR_USAGE where most documents are of the other side's language; a notice where some are of
 * another than their side's. side is "first" or "second". */
cog_status language_tally_judge(const struct language_tally *tally, const char *side,
                                cog_report *report, cog_error *error);
