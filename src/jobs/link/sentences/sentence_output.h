/* Sentence pairs as a file: TSV, JSON lines or TMX. Each pair of texts is written once. */
#pragma once

#include "base/io/output.h"
#include "base/memory.h"
#include "base/word_table.h"
#include "cognate.h"

/* A sentence pair to write. */
struct written_sentences {
    struct bytes_view texts[2], ids[2]; /* source, target; ids of their documents */
    float similarity, score;
};

/* Zero-initialise; sentence_output_close releases. */
struct sentence_output {
    struct output *output;
    cog_sentence_format format;
    const char *languages[2];
    struct word_table seen; /* hashes of the pairs written */
    struct buffer text;
    uint64_t written, repeated;
};

/* COG_SENTENCES_AUTO chooses by name: TMX if it ends in .tmx (before the suffix of a compressed
 * file), otherwise TSV. languages: of source and target, borrowed. */
cog_status sentence_output_open(struct sentence_output *output, cog_sentence_format format,
                                const char *path, const char *const languages[2], cog_error *error);
/* Pairs of texts with the same hash are written once. */
uint64_t sentence_pair_hash(const struct bytes_view texts[2]);
cog_status sentence_output_add(struct sentence_output *output, const struct written_sentences *pair,
                               cog_error *error);
/* If the status is COG_OK, completes the file and makes it visible. Returns the first failure. */
cog_status sentence_output_close(struct sentence_output *output, cog_status status,
                                 cog_error *error);
