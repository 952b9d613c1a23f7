/* From tokens to terms: stop words dropped, stems taken, hashes written. Frequent words are looked
 * up in a cache of what became of them. */
#pragma once

#include "text/language.h"
#include "text/word_segmenter.h"

enum { CACHED_WORD_BYTES = 24, TERM_CACHE_SLOTS = 1 << 17 };

/* word is padded with zeros; language 0 marks a free slot. */
struct cached_term {
    uint64_t word[CACHED_WORD_BYTES / 8];
    uint64_t hash;
    uint8_t size, language, dropped;
};

struct term_writer {
    bool stem, drop_stop_words;
    uint32_t *order; /* of a batch's tokens, scratch */
    size_t order_capacity;
    struct cached_term *cache;
    const struct language *language; /* of the document; NULL: none */
    struct term_list *list;
};

cog_status term_writer_init(struct term_writer *writer, const struct term_options *options,
                            cog_error *error);
void term_writer_release(struct term_writer *writer);
/* Adds the terms of a batch to writer->list. */
cog_status term_writer_take(struct term_writer *writer, const struct token_batch *batch,
                            cog_error *error);

/* Makes room for `extra` more hashes, and ends where strings are wanted. */
cog_status term_list_reserve(struct term_list *list, size_t extra, cog_error *error);
cog_status term_list_add(struct term_list *list, uint64_t hash, struct bytes_view string,
                         cog_error *error);
/* Turns the list's tokens into n-grams in place; fewer than n tokens make one term. */
cog_status term_list_join(struct term_list *list, unsigned n, cog_error *error);
