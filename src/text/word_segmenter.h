/* Words by ICU alone: folding, then the word boundaries of UAX 29 with ICU's dictionaries. Slow; it
 * serves the stretches that word_scanner.h cannot take, and is the oracle of its tests. */
#pragma once

#include <unicode/ubrk.h>

#include "text/token_batch.h"
#include "text/unicode_fold.h"

/* Where the dictionary leaves more ideographs and kana, or more letters of a script written without
 * spaces (Thai and its like), in one piece, the piece becomes overlapping pairs of characters. */
enum { IDEOGRAPHS_MAX = 8, COMPLEX_LETTERS_MAX = 16 };

struct word_segmenter {
    struct unicode_folder folder;
    UBreakIterator *iterator;
    struct token_batch batch;
};

cog_status word_segmenter_init(struct word_segmenter *segmenter, cog_error *error);
void word_segmenter_release(struct word_segmenter *segmenter);
/* The words of valid UTF-8, of any size (cut every STRETCH_MAX_BYTES). */
cog_status word_segmenter_run(struct word_segmenter *segmenter, struct bytes_view text,
                              const struct token_sink *sink, cog_error *error);
