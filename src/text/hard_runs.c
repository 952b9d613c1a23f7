#include "text/hard_runs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/strings.h"

enum {
    CACHE_SLOTS = 1 << 14, /* a power of two */
    RUN_BYTES = 64,        /* longer runs are not kept */
    WORD_BYTES = 72,       /* of the words of a kept run, folded */
    WORDS = 16,
    BATCH_BYTES = 1 << 15,
    DICTIONARY_BYTES = 1 << 16 /* of ideographs, from which on the dictionary is worth making */
};

struct cached_run {
    uint64_t hash;
    uint8_t size, word_bytes, word_count; /* size 0: free */
    char run[RUN_BYTES], words[WORD_BYTES];
    struct {
        uint8_t begin, end;
    } spans[WORDS];
};

void hard_runs_free(struct hard_runs *runs) {
    free(runs->cache);
    runs->cache = NULL;
}

size_t hard_runs_memory_bytes(void) {
    return CACHE_SLOTS * sizeof(struct cached_run);
}

void hard_runs_start(struct hard_runs *runs, struct bytes_view stretch) {
    runs->rest = stretch;
}

/* ---- Where runs end -------------------------------------------------------------------------- */

enum edge {
    EDGE_BREAK = 1,  /* no part of a word, and no rule looks across it */
    EDGE_MIDDLE = 2, /* the same before an ideograph or kana: . , ; and ' */
    EDGE_ANEW = 4,   /* neither joins with what stands before it nor is dropped */
    EDGE_LETTER = 8, /* an ideograph or kana that folds to itself */
    EDGE_ASCII = 16, /* no rule joins it with an ideograph or kana; only _ is */
};

enum { CHARACTERS = 0x10000 };
static uint8_t edges[CHARACTERS]; /* by character; none for those beyond */

/* What a folded byte is. ASCII characters of Word_Break=Other, and @ and :, which the segmenter
 * takes for such, break. */
static uint8_t edge_of_byte(unsigned char c) {
    if (c && (c <= ' ' || strchr("!#$%&()*+-/:<=>?@[\\]^`{|}~", c)))
        return EDGE_BREAK;
    return c && strchr(".,;'", c) ? EDGE_MIDDLE : 0;
}

static uint8_t edge_of(const struct fold_table *table, uint32_t c) {
    const unsigned action = table->action[c];
    if (c < 0x80)
        return (uint8_t)(edge_of_byte((unsigned char)c) | EDGE_ANEW | (c == '_' ? 0 : EDGE_ASCII));
    if (cjk_is_letter(c))
        return EDGE_ANEW | EDGE_LETTER;
    if (c >= 0xac00 && c <= 0xd7a3) /* Hangul syllables */
        return EDGE_ANEW;
    if (action == FOLD_IDENTITY)
        return EDGE_ANEW;
    if (action < FOLD_FIRST_ENTRY)
        return 0;
    const struct fold_entry *entry = &table->entries[action - FOLD_FIRST_ENTRY];
    return (uint8_t)((entry->size ? EDGE_ANEW : 0) |
                     (entry->size == 1 ? edge_of_byte((unsigned char)entry->bytes[0]) : 0));
}

static void make_edges(void) {
    const struct fold_table *table = fold_table_of(FOLD_WORDS);
    for (uint32_t c = 0; c < CHARACTERS; c++)
        edges[c] = edge_of(table, c);
}

static const uint8_t *edges_get(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_edges);
    return edges;
}

/* The edge of the character at a place; the end is as white space is. */
static inline uint8_t edge_at(const uint8_t *edge_of_character, struct bytes_view text, size_t at,
                              size_t *next) {
    uint32_t c = ' ';
    *next = at + (at < text.size ? utf8_decode(text.data + at, text.size - at, &c) : 0);
    return c < CHARACTERS ? edge_of_character[c] : 0;
}

/* A run at the front of a text. */
struct run {
    size_t size, behind; /* where the next run begins: a break is left out */
    bool is_ideographs;  /* and kana, nothing else */
    bool is_alone;       /* nothing that stands before it matters */
};

static struct run next_run(const uint8_t *edge_of_character, struct bytes_view text) {
    struct run run = {text.size, text.size, text.size > 0, false};
    size_t at = 0, next, beyond;
    uint8_t edge = edge_at(edge_of_character, text, 0, &next);
    run.is_alone = edge & EDGE_ANEW;
    while (at < text.size) {
        const uint8_t following = edge_at(edge_of_character, text, next, &beyond);
        const bool breaks = (edge & EDGE_BREAK && following & EDGE_ANEW) ||
                            (edge & EDGE_MIDDLE && following & EDGE_LETTER);
        if (breaks) {
            run.size = at;
            run.behind = next;
            return run;
        }
        run.is_ideographs &= (edge & EDGE_LETTER) != 0;
        const bool changes = (edge & EDGE_LETTER && following & EDGE_ASCII) ||
                             (edge & EDGE_ASCII && following & EDGE_LETTER);
        if (changes) {
            run.size = run.behind = next;
            return run;
        }
        at = next;
        next = beyond;
        edge = following;
    }
    return run;
}

/* ---- Words ----------------------------------------------------------------------------------- */

static cog_status add_words(struct token_batch *batch, const char *bytes, size_t size,
                            const struct token_span *spans, size_t count, cog_error *error) {
    const uint32_t offset = (uint32_t)batch->bytes.size;
    if (!buffer_append(&batch->bytes, bytes, size))
        return error_memory(error, batch->bytes.size, "tokens");
    GROW(batch->spans, batch->capacity, batch->count + count, "tokens", error);
    for (size_t i = 0; i < count; i++)
        batch->spans[batch->count++] =
            (struct token_span){spans[i].begin + offset, spans[i].end + offset};
    return COG_OK;
}

static cog_status segment_by_icu(struct word_segmenter *segmenter, struct bytes_view run,
                                 struct token_batch *batch, cog_error *error) {
    const struct token_batch *words;
    word_segmenter_start(segmenter, run);
    for (;;) {
        TRY(word_segmenter_next(segmenter, &words, error));
        if (!words)
            return COG_OK;
        TRY(add_words(batch, words->bytes.data, words->bytes.size, words->spans, words->count,
                      error));
    }
}

/* The dictionary, once there has been enough text for it. */
static const struct cjk_dictionary *dictionary_for(struct hard_runs *runs, size_t bytes) {
    runs->ideograph_bytes += bytes;
    if (!runs->dictionary && runs->ideograph_bytes > DICTIONARY_BYTES) {
        runs->dictionary = cjk_dictionary_get();
        runs->ideograph_bytes = runs->dictionary ? runs->ideograph_bytes : 0; /* asks again later */
    }
    return runs->dictionary;
}

/* Ideographs and kana, three bytes each. *is_done: false if ICU has to do it: the run is too long,
 * or the dictionary has a word in it that the segmenter takes apart. */
static cog_status cut_ideographs(struct hard_runs *runs, struct bytes_view run,
                                 struct token_batch *batch, bool *is_done, cog_error *error) {
    const struct cjk_dictionary *dictionary = dictionary_for(runs, run.size);
    uint16_t letters[CJK_RUN_LETTERS], ends[CJK_RUN_LETTERS];
    const size_t count = run.size / 3;
    *is_done = dictionary && count <= CJK_RUN_LETTERS;
    if (!*is_done)
        return COG_OK;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *bytes = (const unsigned char *)run.data + 3 * i;
        letters[i] =
            (uint16_t)((bytes[0] & 0xf) << 12 | (bytes[1] & 0x3f) << 6 | (bytes[2] & 0x3f));
    }
    const size_t words = cjk_dictionary_cut(dictionary, letters, count, ends);
    struct token_span spans[CJK_RUN_LETTERS];
    for (size_t i = 0, begin = 0; i < words; begin = ends[i++]) {
        spans[i] = (struct token_span){(uint32_t)(3 * begin), (uint32_t)(3 * ends[i])};
        *is_done &= ends[i] - begin <= IDEOGRAPHS_MAX;
    }
    return *is_done ? add_words(batch, run.data, run.size, spans, words, error) : COG_OK;
}

static cog_status segment(struct hard_runs *runs, struct bytes_view bytes, bool is_ideographs,
                          struct word_segmenter *segmenter, struct token_batch *batch,
                          cog_error *error) {
    bool is_done = false;
    if (is_ideographs)
        TRY(cut_ideographs(runs, bytes, batch, &is_done, error));
    return is_done ? COG_OK : segment_by_icu(segmenter, bytes, batch, error);
}

/* ---- The cache ------------------------------------------------------------------------------- */

/* Keeps what the batch has from a mark on as the words of a run, if it fits. */
static void keep_run(struct cached_run *slot, struct bytes_view run, uint64_t hash,
                     const struct token_batch *batch, size_t first_byte, size_t first_word) {
    const size_t bytes = batch->bytes.size - first_byte, words = batch->count - first_word;
    if (bytes > WORD_BYTES || words > WORDS)
        return;
    slot->hash = hash;
    slot->size = (uint8_t)run.size;
    slot->word_bytes = (uint8_t)bytes;
    slot->word_count = (uint8_t)words;
    memcpy(slot->run, run.data, run.size);
    if (bytes)
        memcpy(slot->words, batch->bytes.data + first_byte, bytes);
    for (size_t i = 0; i < words; i++) {
        slot->spans[i].begin = (uint8_t)(batch->spans[first_word + i].begin - first_byte);
        slot->spans[i].end = (uint8_t)(batch->spans[first_word + i].end - first_byte);
    }
}

static cog_status add_cached(struct hard_runs *runs, struct bytes_view run,
                             struct word_segmenter *segmenter, struct token_batch *batch,
                             cog_error *error) {
    const size_t first_byte = batch->bytes.size, first_word = batch->count;
    const uint64_t hash = hash_bytes(run.data, run.size);
    struct cached_run *slot = &runs->cache[hash & (CACHE_SLOTS - 1)];
    if (slot->hash != hash || slot->size != run.size ||
        memcmp(slot->run, run.data, run.size) != 0) {
        TRY(segment_by_icu(segmenter, run, batch, error));
        keep_run(slot, run, hash, batch, first_byte, first_word);
        return COG_OK;
    }
    struct token_span spans[WORDS];
    for (size_t i = 0; i < slot->word_count; i++)
        spans[i] = (struct token_span){slot->spans[i].begin, slot->spans[i].end};
    return add_words(batch, slot->words, slot->word_bytes, spans, slot->word_count, error);
}

cog_status hard_runs_next(struct hard_runs *runs, struct word_segmenter *segmenter,
                          struct token_batch *batch, cog_error *error) {
    struct bytes_view *rest = &runs->rest;
    if (!runs->cache)
        TAKE_ZEROED(runs->cache, CACHE_SLOTS, "words of runs", error);
    const uint8_t *edge_of_character = edges_get();
    buffer_reset(&batch->bytes);
    batch->count = 0;
    while (rest->size && batch->bytes.size < BATCH_BYTES) {
        const struct run run = next_run(edge_of_character, *rest);
        const struct bytes_view bytes = view_of(rest->data, run.size);
        *rest = view_of(rest->data + run.behind, rest->size - run.behind);
        const bool is_kept = run.size <= RUN_BYTES && run.is_alone && !run.is_ideographs;
        if (run.size && is_kept)
            TRY(add_cached(runs, bytes, segmenter, batch, error));
        else if (run.size)
            TRY(segment(runs, bytes, run.is_ideographs, segmenter, batch, error));
    }
    return buffer_reserve(&batch->bytes, TOKEN_SLACK_BYTES)
               ? COG_OK
               : error_memory(error, TOKEN_SLACK_BYTES, "tokens");
}
