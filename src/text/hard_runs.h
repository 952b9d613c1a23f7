/* Cuts text that needs ICU into runs that can be processed alone, and caches their words.
 *
 * In: a stretch of text between white space that contains characters whose folding or word
 * boundaries depend on their neighbours (text_scanner.h). Out: its words, the same as the word
 * segmenter finds in the whole stretch. A run ends at white space, at punctuation across which no
 * rule looks, and between ideographs and ASCII. Runs of ideographs and kana are cut by
 * cjk_dictionary.h, others by ICU. Languages that write spaces repeat their words, so most Korean
 * or Hindi runs come from the cache; Thai runs are clauses, and only some do.
 *
 * Memory: 3 MB once there is such text. One per thread. */
#pragma once

#include "text/cjk_dictionary.h"
#include "text/text_scanner.h"

/* Zero-initialise; hard_runs_free releases. */
struct hard_runs {
    struct bytes_view rest; /* of the stretch */
    struct cached_run *cache;
    const struct cjk_dictionary *dictionary;
    size_t ideograph_bytes; /* so far: the dictionary is loaded after enough of them */
};
void hard_runs_free(struct hard_runs *runs);

/* Bytes of the cache. */
size_t hard_runs_memory_bytes(void);

/* Starts on a stretch of text. The caller keeps its bytes until hard_runs_next has returned the
 * last words. */
void hard_runs_start(struct hard_runs *runs, struct bytes_view stretch);
/* Puts the next words into the batch; an empty batch means there are no more. */
cog_status hard_runs_next(struct hard_runs *runs, struct word_segmenter *segmenter,
                          struct token_batch *batch, cog_error *error);
