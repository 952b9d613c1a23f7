/* Two collections in different languages in one space: unit vectors over the terms of the target
 * language, into which a lexicon projects the source documents.
 *
 * In: two collections and a lexicon, which is borrowed for the lifetime of the space. Out: corpora
 * with ids and terms, and one matrix per side. Memory: about five bytes per byte of text. If the
 * space is on disk, only the ids, the vocabulary and a part of the documents: their terms are
 * spooled and their vectors are mapped from scratch files in TMPDIR, bit for bit the same as in
 * memory. */
#pragma once

#include "collection/corpus.h"
#include "crosslingual/projection.h"
#include "jobs/lexicon/lexicon_job.h"
#include "jobs/link/blocks/vector_files.h"
#include "run/job.h"

/* Zero-initialise, then link_space_read and link_space_build; link_space_free releases. */
struct link_space {
    bool is_on_disk; /* set by link_space_choose_place and link_space_move_to_disk */
    struct bag_spool *spools[2];
    struct vector_files files[2];
    const struct lexicon *lexicon;
    struct term_options terms[2]; /* of the source language and of the target language */
    struct corpus corpora[2];
    cog_projection_options options; /* of link_space_build; owns its linkers */
    struct unknown_words unknown;
    struct statistics *statistics[2];
    struct projection *projection;
    struct sparse_matrix vectors[2];
    float *lengths[2]; /* by row: logarithm of 1 plus the sum of its frequencies, as weighted */
    size_t short_documents; /* on both sides, with fewer than LINK_SHORT_TERMS weighted terms */
};
enum { LINK_SHORT_TERMS = 5 };

/* Predicted memory of documents and vectors. */
double link_space_predicted_bytes(cog_documents *const documents[2]);
/* Call before reading: documents that exceed the budget, or that come from a pipe, go to disk.
 * COG_ERR_MEMORY if the budget is too small for that too. */
cog_status link_space_choose_place(struct link_space *space, struct job *job,
                                   cog_documents *const documents[2], cog_error *error);
/* Reads both collections. COG_ERR_USAGE if most documents declare the language of the other side.
 */
cog_status link_space_read(struct link_space *space, struct job *job, const struct lexicon *lexicon,
                           cog_documents *const documents[2], cog_error *error);
/* Makes the vectors. Reports how many terms were known, and how many documents are too short. */
cog_status link_space_build(struct link_space *space, struct job *job,
                            const cog_projection_options *options, cog_error *error);
/* Moves the vectors of a space in memory to scratch files, and frees the terms. */
cog_status link_space_move_to_disk(struct link_space *space, struct job *job, cog_error *error);
void link_space_free(struct link_space *space);
/* The current memory of documents and vectors. */
uint64_t link_space_memory_bytes(const struct link_space *space);
