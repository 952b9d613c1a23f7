/* Why two documents are near-duplicates by Jaccard or containment: reads both, compares their
 * terms, and keeps both texts with the spans that they share.
 *
 * Costs a pass over the collections of the documents, which are parsed but not analysed, and time
 * linear in the two texts. Memory: 8 to 25 times the size of the two texts, up to 75 times for
 * character n-grams. */
#pragma once

#include "collection/ingest.h"
#include "jobs/explain/shared_spans.h"

struct cog_overlap {
    cog_measure measure;
    struct overlap_document {
        struct buffer id, lang, text;
    } documents[2];
    struct shared_spans shared;
};

/* Documents as for explain_pair. */
cog_status overlap_find(struct job *job, cog_documents *const documents[2],
                        const char *const ids[2], cog_measure measure,
                        const struct term_options *terms, struct cog_overlap **overlap,
                        cog_error *error);
/* Accepts NULL. */
void overlap_free(struct cog_overlap *overlap);
cog_overlap_summary overlap_summarize(const struct cog_overlap *overlap);
cog_status overlap_write(const struct cog_overlap *overlap, cog_output_format format,
                         const char *path, cog_error *error);
