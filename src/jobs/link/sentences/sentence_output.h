/* Sentence pairs as a file: TSV, JSON lines or TMX. Each pair of texts is written once. */
#pragma once

#include "base/io/output.h"
#include "base/memory.h"
#include "base/word_table.h"
#include "cognate.h"

/* A pair as it is written. */
struct written_sentences {
    struct bytes_view texts[2], ids[2]; /* source, target; ids of their documents */
    float similarity, score;
};

/* Zero-initialise; sentence_output_close releases. */
struct sentence_output {
    struct output *output;
    cog_sentence_format format;
    const char *languages[2];
    struct word_table seen; /* the pairs written, by hash alone */
    struct buffer text;
    uint64_t written, repeated;
};

/* COG_SENTENCES_AUTO: by the name, TMX if it ends in .tmx (before the suffix of a compressed file),
 * else TSV. languages: of source and target, borrowed. */
cog_status sentence_output_open(struct sentence_output *output, cog_sentence_format format,
                                const char *path, const char *const languages[2], cog_error *error);
cog_status sentence_output_add(struct sentence_output *output, const struct written_sentences *pair,
                               cog_error *error);
/* Ends the file, which then appears, if the status is COG_OK. Returns the first failure. */
cog_status sentence_output_close(struct sentence_output *output, cog_status status,
                                 cog_error *error);
