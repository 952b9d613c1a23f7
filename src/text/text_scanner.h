/* The fast way from text to tokens: text is folded by table and cut by bit masks; only the
 * stretches between white space that hold a character whose folding or word boundaries depend on
 * its neighbours go through ICU. The tokens are those that ICU gives for the whole text. */
#pragma once

#include "text/fold_table.h"
#include "text/text_kernels.h"
#include "text/word_segmenter.h"

struct text_scanner {
    const struct fold_table *table;
    const struct text_kernels *kernels;
    struct word_segmenter segmenter;
    struct token_batch batch;
    uint64_t *masks;
    size_t mask_capacity;
    struct bytes_view rest; /* of the text, behind what has been folded */
};

/* FOLD_WORDS or FOLD_REGEX for tokens, FOLD_CHARS for folded text. */
cog_status text_scanner_init(struct text_scanner *scanner, enum fold_kind kind,
                             const struct text_kernels *kernels, cog_error *error);
void text_scanner_release(struct text_scanner *scanner);
/* Begins valid UTF-8, borrowed until its last batch. */
void text_scanner_start(struct text_scanner *scanner, struct bytes_view text);
/* The next tokens, valid until the next call; NULL behind the last. */
cog_status text_scanner_next(struct text_scanner *scanner, const struct token_batch **batch,
                             cog_error *error);
/* Appends the folded text (FOLD_CHARS): white space of other than ASCII may be FOLD_WHITE. */
cog_status text_scanner_fold(struct text_scanner *scanner, struct bytes_view text,
                             struct buffer *folded, cog_error *error);
