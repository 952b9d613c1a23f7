#include "text/text_scanner.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/strings.h"

enum {
    CHUNK_BYTES =
        1 << 14,     /* folded text, masks and spans of a chunk stay in the first-level cache */
    NEAR_BYTES = 64, /* hard stretches this close to each other are one */
    HARD_ZONE_BYTES = 1 << 16 /* but no longer than about this */
};

cog_status text_scanner_init(struct text_scanner *scanner, enum fold_kind kind,
                             const struct text_kernels *kernels, cog_error *error) {
    *scanner = (struct text_scanner){.table = fold_table_of(kind), .kernels = kernels};
    return word_segmenter_init(&scanner->segmenter, error);
}

void text_scanner_release(struct text_scanner *scanner) {
    word_segmenter_release(&scanner->segmenter);
    token_batch_free(&scanner->batch);
    free(scanner->masks);
}

static bool is_white(char byte) {
    return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

/* The last white space of data[0 .. size), or size_t's maximum. */
static size_t last_white(const char *data, size_t size) {
    while (size > 0 && !is_white(data[size - 1]))
        size--;
    return size - 1;
}

/* A stretch of text from white space (or its beginning) to before white space (or its end), folded
 * at the end of the buffer. It ends early before the stretch of a hard character: then *hard is
 * where that is. */
struct easy_zone {
    size_t text_size, folded_size, hard;
};

static cog_status fold_easy(struct text_scanner *scanner, struct bytes_view text,
                            struct buffer *out, struct easy_zone *zone, cog_error *error) {
    size_t chunk = CHUNK_BYTES;
    for (;; chunk *= 2) {
        size_t size = utf8_cut(text, chunk);
        size_t room = FOLD_GROWTH * size + 3 * TEXT_BLOCK_BYTES;
        if (!buffer_reserve(out, room))
            return error_memory(error, room, "folded text");
        char *folded = out->data + out->size;
        size_t read = fold_text(scanner->table, scanner->kernels, text.data, size, folded,
                                &zone->folded_size);
        zone->text_size = read;
        zone->hard = read < size ? read : SIZE_MAX;
        if (read == text.size)
            return COG_OK;
        size_t white = last_white(text.data, read);
        bool found = white != SIZE_MAX && (white > 0 || read < size);
        if (found) {
            zone->text_size = white;
            zone->folded_size = last_white(folded, zone->folded_size);
            return COG_OK;
        }
        if (read < size) {
            zone->text_size = zone->folded_size = 0;
            return COG_OK;
        }
        if (chunk >= STRETCH_MAX_BYTES)
            return COG_OK;
    }
}

/* The end of the stretch around the hard character at `hard`, with those stretches behind it that
 * are hard as well and near. */
static size_t hard_end(const struct text_scanner *scanner, struct bytes_view text, size_t hard) {
    for (;;) {
        size_t end = hard;
        while (end < text.size && !is_white(text.data[end]))
            end++;
        if (end == text.size || end >= HARD_ZONE_BYTES)
            return end;
        char folded[FOLD_GROWTH * NEAR_BYTES + 2 * TEXT_BLOCK_BYTES];
        size_t size = utf8_cut(view_of(text.data + end, text.size - end), NEAR_BYTES), ignored;
        size_t read =
            fold_text(scanner->table, scanner->kernels, text.data + end, size, folded, &ignored);
        if (read == size)
            return end;
        hard = end + read;
    }
}

static cog_status find_tokens(struct text_scanner *scanner, size_t size, cog_error *error) {
    struct token_batch *batch = &scanner->batch;
    char *folded = batch->bytes.data;
    size_t blocks = size / TEXT_BLOCK_BYTES + 1;
    if (!memory_grow((void **)&scanner->masks, &scanner->mask_capacity, blocks,
                     sizeof *scanner->masks) ||
        !memory_grow((void **)&batch->spans, &batch->capacity, size / 2 + 2, sizeof *batch->spans))
        return error_memory(error, size, "tokens");
    memset(folded + size, 0, (blocks + 1) * TEXT_BLOCK_BYTES - size);
    scanner->kernels->token_mask(folded, blocks, scanner->table->kind == FOLD_WORDS,
                                 scanner->masks);
    uint32_t *edges_begin = (uint32_t *)batch->spans, *edge = edges_begin;
    uint64_t carry = 0;
    for (size_t b = 0; b < blocks; b++) {
        uint64_t mask = scanner->masks[b];
        uint64_t edges = mask ^ (mask << 1 | carry);
        carry = mask >> 63;
        for (; edges; edges &= edges - 1)
            *edge++ = (uint32_t)(b * TEXT_BLOCK_BYTES + (unsigned)__builtin_ctzll(edges));
    }
    batch->count = (size_t)(edge - edges_begin) / 2;
    return COG_OK;
}

void text_scanner_start(struct text_scanner *scanner, struct bytes_view text) {
    scanner->rest = text;
    word_segmenter_start(&scanner->segmenter, view_of(text.data, 0));
}

cog_status text_scanner_next(struct text_scanner *scanner, const struct token_batch **batch,
                             cog_error *error) {
    struct bytes_view *rest = &scanner->rest;
    for (;;) {
        TRY(word_segmenter_next(&scanner->segmenter, batch, error));
        if (*batch || rest->size == 0)
            return COG_OK;
        struct easy_zone zone;
        buffer_reset(&scanner->batch.bytes);
        TRY(fold_easy(scanner, *rest, &scanner->batch.bytes, &zone, error));
        size_t done = zone.text_size;
        if (zone.hard != SIZE_MAX) { /* its words come with the next call */
            size_t end = hard_end(scanner, *rest, zone.hard);
            word_segmenter_start(&scanner->segmenter, view_of(rest->data + done, end - done));
            done = end;
        }
        *rest = view_of(rest->data + done, rest->size - done);
        if (zone.folded_size)
            TRY(find_tokens(scanner, zone.folded_size, error));
        if (zone.folded_size && scanner->batch.count) {
            *batch = &scanner->batch;
            return COG_OK;
        }
    }
}

static cog_status fold_hard(struct text_scanner *scanner, struct bytes_view text,
                            struct buffer *folded, cog_error *error) {
    struct unicode_folder *folder = &scanner->segmenter.folder;
    cog_status status = COG_OK;
    while (text.size && status == COG_OK) {
        size_t size = utf8_cut(text, STRETCH_MAX_BYTES);
        status = unicode_fold(folder, view_of(text.data, size), error);
        THEN(status,
             unicode_append_utf8(folder->folded, (size_t)folder->folded_size, folded, error));
        text = view_of(text.data + size, text.size - size);
    }
    return status;
}

cog_status text_scanner_fold(struct text_scanner *scanner, struct bytes_view text,
                             struct buffer *folded, cog_error *error) {
    while (text.size) {
        struct easy_zone zone;
        cog_status status = fold_easy(scanner, text, folded, &zone, error);
        if (status != COG_OK)
            return status;
        folded->size += zone.folded_size;
        size_t done = zone.text_size;
        if (zone.hard != SIZE_MAX) {
            size_t end = hard_end(scanner, text, zone.hard);
            status = fold_hard(scanner, view_of(text.data + done, end - done), folded, error);
            done = end;
        }
        if (status != COG_OK)
            return status;
        text = view_of(text.data + done, text.size - done);
    }
    return COG_OK;
}
