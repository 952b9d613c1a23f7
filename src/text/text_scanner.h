/* From text to tokens. In: valid UTF-8. Out: batches of tokens.
 *
 * Two implementations give the same tokens; a change of the rules has to be made in both. The word
 * segmenter uses ICU alone: folding, then the word boundaries of UAX 29 with ICU's dictionaries. It
 * is the reference, and slow (about 20 MB/s). The text scanner is the fast path: it folds text by
 * table and cuts it by bit masks. Only stretches between white space that contain a character whose
 * folding or word boundaries depend on its neighbours go through ICU, run by run (hard_runs.h). The
 * tables are built from the reference.
 *
 * Folded text is NFKC_Casefold of the text after three replacements: the typographic single
 * quotation marks U+2018 and U+2019 by the apostrophe that they stand for inside words, and the
 * zero-width space by a space (NFKC_Casefold would drop it and join two words). Optional marks
 * (fold_ignores) are dropped, and only the first 64 of a run of other combining marks are kept. */
#pragma once

#include "base/error.h"
#include "base/memory.h"
#include "text/fold_table.h"
#include "text/text_kernels.h"

#include <unicode/ubrk.h>
#include <unicode/umachine.h>
#include <unicode/unorm2.h>

/* The range of a token or term in the text: bytes begin .. end. */
struct text_place {
    size_t begin, end;
};
struct text_origins;

/* Tokens before they become terms: folded bytes, and the positions of the tokens in them. Spans may
 * overlap (bigrams). `bytes` has TOKEN_SLACK_BYTES of capacity after the last token, so that keys
 * can be loaded without checking sizes. */
struct token_batch {
    struct buffer bytes;
    struct token_span *spans;
    size_t count, capacity;
    struct bytes_view *places; /* if wanted: each token as it stands in the text */
    size_t place_capacity;
};
void token_batch_free(struct token_batch *batch);

/* ---- By ICU alone ---------------------------------------------------------------------------- */

/* The longest stretch that is folded in one piece, because ICU counts in 32 bits. Longer ones are
 * cut. */
enum { STRETCH_MAX_BYTES = 1 << 28 };

struct unicode_folder {
    const UNormalizer2 *normalizer;
    UChar *source, *folded; /* UTF-16; folded has folded_size units after unicode_fold */
    size_t source_capacity, folded_capacity;
    int32_t folded_size;
};
cog_status unicode_folder_init(struct unicode_folder *folder, cog_error *error);
void unicode_folder_release(struct unicode_folder *folder);
/* Folds valid UTF-8 of at most STRETCH_MAX_BYTES. */
cog_status unicode_fold(struct unicode_folder *folder, struct bytes_view text, cog_error *error);
/* Whether this character and the text after it fold independently of what comes before. */
bool unicode_folds_apart(const struct unicode_folder *folder, UChar32 c);
/* Appends UTF-16 as UTF-8. */
cog_status unicode_append_utf8(const UChar *units, size_t count, struct buffer *buffer,
                               cog_error *error);

/* If the dictionary leaves a longer piece of ideographs and kana, or of letters of a script written
 * without spaces (Thai and the like), the piece becomes overlapping pairs of characters. */
enum { IDEOGRAPHS_MAX = 8, COMPLEX_LETTERS_MAX = 16 };

struct word_segmenter {
    struct unicode_folder folder;
    UBreakIterator *iterator;
    struct token_batch batch;
    struct bytes_view rest; /* of the text, after the iterator's piece */
    struct bytes_view piece;
    bool in_piece;
    int32_t begin;                /* of the next segment */
    struct text_origins *origins; /* of the piece; borrowed; NULL: places are not wanted */
};
cog_status word_segmenter_init(struct word_segmenter *segmenter, cog_error *error);
void word_segmenter_release(struct word_segmenter *segmenter);
/* Starts on valid UTF-8 of any size, borrowed until its last batch. */
void word_segmenter_start(struct word_segmenter *segmenter, struct bytes_view text);
/* The next words, valid until the next call; NULL after the last. */
cog_status word_segmenter_next(struct word_segmenter *segmenter, const struct token_batch **batch,
                               cog_error *error);

/* ---- The fast path --------------------------------------------------------------------------- */

struct hard_runs;
struct text_scanner {
    const struct fold_table *table;
    const struct text_kernels *kernels;
    struct word_segmenter segmenter;
    struct hard_runs
        *runs; /* stretches for ICU, unless places are wanted; NULL before the first one */
    struct token_batch batch;
    uint64_t *masks;
    size_t mask_capacity;
    struct bytes_view rest;       /* of the text, after what has been folded */
    struct text_origins *origins; /* NULL: places were never wanted */
};

/* FOLD_WORDS or FOLD_REGEX for tokens, FOLD_CHARS for folded text. Call text_scanner_release also
 * after a failure. */
cog_status text_scanner_init(struct text_scanner *scanner, enum fold_kind kind,
                             const struct text_kernels *kernels, cog_error *error);
void text_scanner_release(struct text_scanner *scanner);
/* Whether texts started from now on have the places of their tokens, or of their folded bytes
 * (origins->places, after text_scanner_fold). Initially false. */
cog_status text_scanner_want_places(struct text_scanner *scanner, bool wanted, cog_error *error);
/* Starts on valid UTF-8, borrowed until its last batch. */
void text_scanner_start(struct text_scanner *scanner, struct bytes_view text);
/* The next tokens, valid until the next call; NULL after the last. */
cog_status text_scanner_next(struct text_scanner *scanner, const struct token_batch **batch,
                             cog_error *error);
/* Appends the folded text (FOLD_CHARS). White space outside ASCII may become FOLD_WHITE. */
cog_status text_scanner_fold(struct text_scanner *scanner, struct bytes_view text,
                             struct buffer *folded, cog_error *error);
