/* The size of a collection's sets on disk, estimated before the collection is read: the sets of its
 * first documents, in proportion to the size of its text.
 *
 * The ratio depends on the text: 0.4 (Hindi) to 1.0 (Chinese, short lines of English). Costs at
 * most a few hundredths of a second. */
#pragma once

#include "collection/ingest.h"

/* Sets *bytes. Pipes and query logs are not read ahead; they count with the ratio of English. */
cog_status set_sample_bytes(cog_documents *documents, const struct term_options *terms,
                            double *bytes, cog_error *error);
