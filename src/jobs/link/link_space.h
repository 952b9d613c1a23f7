/* Two collections of different languages in one space: the documents' terms, and from there unit
 * vectors over the target language's terms, the source documents projected by a lexicon. */
#pragma once

#include "collection/corpus.h"
#include "crosslingual/projection.h"
#include "jobs/lexicon/lexicon_job.h"

/* Zero-initialise, then link_space_read and link_space_build; link_space_free releases. */
struct link_space {
    const struct lexicon *lexicon;
    struct term_options terms[2]; /* of the source language, of the target language */
    struct corpus corpora[2];
    cog_projection_options options; /* of link_space_build; owns its linkers */
    struct unknown_words unknown;
    struct statistics *statistics[2];
    struct projection *projection;
    struct sparse_matrix vectors[2];
    size_t short_documents; /* of both sides: with fewer than LINK_SHORT_TERMS weighted terms */
    const cog_run_options *run;
    unsigned threads;
    cog_report *report;
};
enum { LINK_SHORT_TERMS = 5 };

cog_status link_space_read(struct link_space *space, const struct lexicon *lexicon,
                           cog_documents *from, cog_documents *to, const cog_run_options *run,
                           cog_report *report, cog_error *error);
/* Reports how many terms were known, and documents that are too short. */
cog_status link_space_build(struct link_space *space, const cog_projection_options *options,
                            cog_error *error);
void link_space_free(struct link_space *space);
/* What documents and vectors take. */
uint64_t link_space_memory_bytes(const struct link_space *space);
