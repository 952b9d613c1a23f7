#include "text/text_scanner.h"

#include <stdlib.h>
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/ustring.h>
#include <unicode/utf16.h>

#include "base/memory.h"
#include "base/strings.h"
#include "text/hard_runs.h"
#include "text/text_origins.h"

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
    text_origins_free(scanner->origins);
    if (scanner->runs)
        hard_runs_free(scanner->runs);
    free(scanner->runs);
}

cog_status text_scanner_want_places(struct text_scanner *scanner, bool wanted, cog_error *error) {
    if (wanted && !scanner->origins)
        TRY(text_origins_create(&scanner->origins, error));
    scanner->segmenter.origins = wanted ? scanner->origins : NULL;
    return COG_OK;
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
    GROW(scanner->masks, scanner->mask_capacity, blocks, "tokens", error);
    GROW(batch->spans, batch->capacity, blocks * TEXT_BLOCK_BYTES / 2 + 16, "tokens", error);
    memset(folded + size, 0, (blocks + 1) * TEXT_BLOCK_BYTES - size);
    scanner->kernels->token_mask(folded, blocks, scanner->table->kind == FOLD_WORDS,
                                 scanner->masks);
    batch->count = scanner->kernels->token_spans(scanner->masks, blocks, batch->spans);
    return COG_OK;
}

/* Finds where the tokens of a batch stand in the text that was folded. */
static cog_status place_tokens(struct text_scanner *scanner, struct bytes_view text,
                               size_t folded_size, cog_error *error) {
    struct token_batch *batch = &scanner->batch;
    struct text_origins *origins = scanner->segmenter.origins;
    if (!origins)
        return COG_OK;
    TRY(text_origins_by_table(origins, scanner->table, scanner->kernels, text, folded_size, error));
    GROW(batch->places, batch->place_capacity, batch->count, "places of tokens", error);
    for (size_t i = 0; i < batch->count; i++)
        batch->places[i] =
            text_origins_view(origins, text, batch->spans[i].begin, batch->spans[i].end);
    return COG_OK;
}

void text_scanner_start(struct text_scanner *scanner, struct bytes_view text) {
    scanner->rest = text;
    word_segmenter_start(&scanner->segmenter, view_of(text.data, 0));
    if (scanner->runs)
        hard_runs_start(scanner->runs, view_of(text.data, 0));
}

/* The next words of the stretch that needs ICU. NULL after the last. */
static cog_status next_hard(struct text_scanner *scanner, const struct token_batch **batch,
                            cog_error *error) {
    if (scanner->segmenter.origins)
        return word_segmenter_next(&scanner->segmenter, batch, error);
    *batch = NULL;
    while (scanner->runs && scanner->runs->rest.size && !*batch) {
        TRY(hard_runs_next(scanner->runs, &scanner->segmenter, &scanner->batch, error));
        *batch = scanner->batch.count ? &scanner->batch : NULL;
    }
    return COG_OK;
}

static cog_status start_hard(struct text_scanner *scanner, struct bytes_view stretch,
                             cog_error *error) {
    if (scanner->segmenter.origins) {
        word_segmenter_start(&scanner->segmenter, stretch);
        return COG_OK;
    }
    if (!scanner->runs)
        TAKE_ZEROED(scanner->runs, 1, "a text scanner", error);
    hard_runs_start(scanner->runs, stretch);
    return COG_OK;
}

cog_status text_scanner_next(struct text_scanner *scanner, const struct token_batch **batch,
                             cog_error *error) {
    struct bytes_view *rest = &scanner->rest;
    for (;;) {
        TRY(next_hard(scanner, batch, error));
        if (*batch || rest->size == 0)
            return COG_OK;
        struct easy_zone zone;
        buffer_reset(&scanner->batch.bytes);
        TRY(fold_easy(scanner, *rest, &scanner->batch.bytes, &zone, error));
        size_t done = zone.text_size;
        struct bytes_view easy = view_of(rest->data, done);
        if (zone.hard != SIZE_MAX) { /* its words come with the next call */
            size_t end = hard_end(scanner, *rest, zone.hard);
            TRY(start_hard(scanner, view_of(rest->data + done, end - done), error));
            done = end;
        }
        *rest = view_of(rest->data + done, rest->size - done);
        if (zone.folded_size) {
            TRY(find_tokens(scanner, zone.folded_size, error));
            TRY(place_tokens(scanner, easy, zone.folded_size, error));
        }
        if (zone.folded_size && scanner->batch.count) {
            *batch = &scanner->batch;
            return COG_OK;
        }
    }
}

/* Folds text that begins at `offset` of the whole text. */
static cog_status fold_hard(struct text_scanner *scanner, struct bytes_view text, size_t offset,
                            struct buffer *folded, cog_error *error) {
    struct unicode_folder *folder = &scanner->segmenter.folder;
    struct text_origins *origins = scanner->segmenter.origins;
    cog_status status = COG_OK;
    while (text.size && status == COG_OK) {
        size_t size = utf8_cut(text, STRETCH_MAX_BYTES);
        status = unicode_fold(folder, view_of(text.data, size), error);
        THEN(status,
             unicode_append_utf8(folder->folded, (size_t)folder->folded_size, folded, error));
        if (origins) {
            THEN(status, text_origins_by_icu(origins, view_of(text.data, size),
                                             (size_t)folder->folded_size, error));
            THEN(status, text_origins_keep(origins, offset, folder->folded, error));
        }
        text = view_of(text.data + size, text.size - size);
        offset += size;
    }
    return status;
}

static cog_status keep_easy_origins(struct text_scanner *scanner, struct bytes_view text,
                                    size_t offset, size_t folded_size, cog_error *error) {
    struct text_origins *origins = scanner->segmenter.origins;
    if (!origins)
        return COG_OK;
    TRY(text_origins_by_table(origins, scanner->table, scanner->kernels, text, folded_size, error));
    return text_origins_keep(origins, offset, NULL, error);
}

cog_status text_scanner_fold(struct text_scanner *scanner, struct bytes_view text,
                             struct buffer *folded, cog_error *error) {
    const char *begin = text.data;
    if (scanner->origins)
        scanner->origins->place_count = 0;
    while (text.size) {
        struct easy_zone zone;
        TRY(fold_easy(scanner, text, folded, &zone, error));
        folded->size += zone.folded_size;
        size_t done = zone.text_size;
        TRY(keep_easy_origins(scanner, view_of(text.data, done), (size_t)(text.data - begin),
                              zone.folded_size, error));
        if (zone.hard != SIZE_MAX) {
            size_t end = hard_end(scanner, text, zone.hard);
            TRY(fold_hard(scanner, view_of(text.data + done, end - done),
                          (size_t)(text.data + done - begin), folded, error));
            done = end;
        }
        text = view_of(text.data + done, text.size - done);
    }
    return COG_OK;
}

/* ---- Folding --------------------------------------------------------------------------------- */

cog_status unicode_folder_init(struct unicode_folder *folder, cog_error *error) {
    UErrorCode code = U_ZERO_ERROR;
    *folder = (struct unicode_folder){.normalizer = unorm2_getNFKCCasefoldInstance(&code)};
    if (U_FAILURE(code))
        return error_set(error, COG_ERR_IO,
                         "ICU has no NFKC_Casefold data (%s); install its data package",
                         u_errorName(code));
    return COG_OK;
}

void unicode_folder_release(struct unicode_folder *folder) {
    FREE(folder->source, folder->folded);
}

static void replace_marks(UChar *units, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        if (units[i] == 0x2018 || units[i] == 0x2019)
            units[i] = '\'';
        else if (units[i] == 0x200b)
            units[i] = ' ';
    }
}

/* Drops what folding ignores; returns the units that are left. */
static int32_t drop_ignored(UChar *units, int32_t count) {
    int32_t out = 0;
    for (int32_t i = 0; i < count; i++) {
        units[out] = units[i];
        out += !fold_ignores(units[i]);
    }
    return out;
}

/* What may stand in a run that normalisation sorts as a whole: combining marks, what it drops
 * between them, and the halfwidth marks that it makes combining. */
static bool is_mark(UChar32 c) {
    return (U_GET_GC_MASK(c) & U_GC_M_MASK) || c == 0xff9e || c == 0xff9f ||
           u_hasBinaryProperty(c, UCHAR_DEFAULT_IGNORABLE_CODE_POINT);
}

/* Drops the marks of a run after the first MARKS_MAX: sorting a run takes quadratic time, and no
 * letter of any language has as many. Returns the units that are left. */
static int32_t limit_marks(UChar *units, int32_t count) {
    enum { MARKS_MAX = 64 };
    bool any = false;
    for (int32_t i = 0; i < count && !any; i += MARKS_MAX) { /* a long run covers one of these */
        UChar32 c;
        U16_GET(units, 0, i, count, c);
        any = is_mark(c);
    }
    int32_t out = 0, marks = 0;
    for (int32_t i = 0; any && i < count;) {
        int32_t begin = i;
        UChar32 c;
        U16_NEXT(units, i, count, c);
        marks = is_mark(c) ? marks + i - begin : 0;
        for (; begin < i && marks <= MARKS_MAX; begin++)
            units[out++] = units[begin];
    }
    return any ? out : count;
}

bool unicode_folds_apart(const struct unicode_folder *folder, UChar32 c) {
    return c == 0x200b || (!is_mark(c) && unorm2_hasBoundaryBefore(folder->normalizer, c));
}

cog_status unicode_fold(struct unicode_folder *folder, struct bytes_view text, cog_error *error) {
    /* UTF-16 has never more units than UTF-8 has bytes. */
    GROW(folder->source, folder->source_capacity, text.size + 1, "text to fold", error);
    UErrorCode code = U_ZERO_ERROR;
    int32_t count = 0;
    u_strFromUTF8WithSub(folder->source, (int32_t)text.size + 1, &count, text.data,
                         (int32_t)text.size, 0xfffd, NULL, &code);
    if (U_FAILURE(code))
        return error_set(error, COG_ERR_INPUT, "text is not UTF-8 (%s)", u_errorName(code));
    replace_marks(folder->source, count);
    count = drop_ignored(folder->source, count);
    count = limit_marks(folder->source, count);
    size_t room = (size_t)count + (size_t)count / 8 + 32;
    for (;;) {
        GROW(folder->folded, folder->folded_capacity, room, "folded text", error);
        code = U_ZERO_ERROR;
        int32_t limit =
            folder->folded_capacity < INT32_MAX ? (int32_t)folder->folded_capacity : INT32_MAX;
        folder->folded_size = unorm2_normalize(folder->normalizer, folder->source, count,
                                               folder->folded, limit, &code);
        if (code != U_BUFFER_OVERFLOW_ERROR)
            break;
        room = (size_t)folder->folded_size + 1;
    }
    if (U_FAILURE(code))
        return error_set(error, COG_ERR_INPUT, "text cannot be folded (%s)", u_errorName(code));
    /* Ligatures and presentation forms fold to letters with marks. */
    folder->folded_size = drop_ignored(folder->folded, folder->folded_size);
    return COG_OK;
}

cog_status unicode_append_utf8(const UChar *units, size_t count, struct buffer *buffer,
                               cog_error *error) {
    if (!buffer_reserve(buffer, 3 * count + 1))
        return error_memory(error, 3 * count + 1, "folded text");
    UErrorCode code = U_ZERO_ERROR;
    int32_t size = 0;
    u_strToUTF8WithSub(buffer->data + buffer->size, (int32_t)(3 * count + 1), &size, units,
                       (int32_t)count, 0xfffd, NULL, &code);
    if (U_FAILURE(code))
        return error_set(error, COG_ERR_INPUT, "text cannot be folded (%s)", u_errorName(code));
    buffer->size += (size_t)size;
    return COG_OK;
}

/* ---- Words ----------------------------------------------------------------------------------- */

void token_batch_free(struct token_batch *batch) {
    buffer_free(&batch->bytes);
    FREE(batch->spans, batch->places);
}

static cog_status token_batch_add(struct token_batch *batch, size_t begin, size_t end,
                                  cog_error *error) {
    GROW(batch->spans, batch->capacity, batch->count + 1, "tokens", error);
    batch->spans[batch->count++] = (struct token_span){(uint32_t)begin, (uint32_t)end};
    return COG_OK;
}

cog_status word_segmenter_init(struct word_segmenter *segmenter, cog_error *error) {
    *segmenter = (struct word_segmenter){0};
    TRY(unicode_folder_init(&segmenter->folder, error));
    UErrorCode code = U_ZERO_ERROR;
    segmenter->iterator = ubrk_open(UBRK_WORD, "", NULL, 0, &code);
    if (U_FAILURE(code))
        return error_set(error, COG_ERR_IO,
                         "ICU has no word-boundary data (%s); install its data package",
                         u_errorName(code));
    return COG_OK;
}

void word_segmenter_release(struct word_segmenter *segmenter) {
    if (segmenter->iterator)
        ubrk_close(segmenter->iterator);
    unicode_folder_release(&segmenter->folder);
    token_batch_free(&segmenter->batch);
}

/* Whether the piece is too long to be a word of its script. */
static bool is_unsegmented(const UChar *units, int32_t count) {
    int ideographs = 0, complex_letters = 0;
    if (count <= IDEOGRAPHS_MAX)
        return false;
    for (int32_t i = 0; i < count;) {
        UChar32 c;
        U16_NEXT(units, i, count, c);
        if (c < 0xe00)
            continue;
        int script = u_getIntPropertyValue(c, UCHAR_SCRIPT);
        if (script == USCRIPT_HAN || script == USCRIPT_HIRAGANA)
            ideographs++;
        else if (u_getIntPropertyValue(c, UCHAR_LINE_BREAK) == U_LB_COMPLEX_CONTEXT &&
                 !(U_GET_GC_MASK(c) & U_GC_M_MASK))
            complex_letters++;
    }
    return ideographs > IDEOGRAPHS_MAX || complex_letters > COMPLEX_LETTERS_MAX;
}

/* Adds a token: bytes[first .. last) of the batch, made of units begin .. end of the piece. */
static cog_status add_word(struct word_segmenter *segmenter, size_t first, size_t last,
                           size_t begin, size_t end, cog_error *error) {
    struct token_batch *batch = &segmenter->batch;
    TRY(token_batch_add(batch, first, last, error));
    if (!segmenter->origins)
        return COG_OK;
    GROW(batch->places, batch->place_capacity, batch->count, "places of tokens", error);
    batch->places[batch->count - 1] =
        text_origins_view(segmenter->origins, segmenter->piece, begin, end);
    return COG_OK;
}

/* Adds the pairs of neighbouring characters of bytes[begin .. end), made of units from `unit` on.
 */
static cog_status add_bigrams(struct word_segmenter *segmenter, size_t begin, size_t end,
                              size_t unit, cog_error *error) {
    const char *bytes = segmenter->batch.bytes.data;
    size_t before = begin, here = begin;
    uint32_t c, last;
    here += utf8_decode(bytes + here, end - here, &last);
    while (here < end) {
        size_t next = here + utf8_decode(bytes + here, end - here, &c);
        size_t second = unit + (size_t)U16_LENGTH(last);
        TRY(add_word(segmenter, before, next, unit, second + (size_t)U16_LENGTH(c), error));
        before = here;
        here = next;
        unit = second;
        last = c;
    }
    return COG_OK;
}

static cog_status add_segment(struct word_segmenter *segmenter, int32_t begin, int32_t end,
                              cog_error *error) {
    struct token_batch *batch = &segmenter->batch;
    const UChar *units = segmenter->folder.folded + begin;
    size_t first = batch->bytes.size;
    TRY(unicode_append_utf8(units, (size_t)(end - begin), &batch->bytes, error));
    if (is_unsegmented(units, end - begin))
        return add_bigrams(segmenter, first, batch->bytes.size, (size_t)begin, error);
    return add_word(segmenter, first, batch->bytes.size, (size_t)begin, (size_t)end, error);
}

/* ICU's releases differ in whether words go on over @ and : (72 joins at @); here they end, as in
 * UAX 29 for the one and in its tailoring by CLDR for the other. */
static void separate(UChar *units, int32_t count) {
    for (int32_t i = 0; i < count; i++)
        if (units[i] == '@' || units[i] == ':')
            units[i] = '|';
}

static cog_status begin_piece(struct word_segmenter *segmenter, cog_error *error) {
    struct bytes_view *rest = &segmenter->rest;
    size_t end = utf8_cut(*rest, STRETCH_MAX_BYTES);
    segmenter->piece = view_of(rest->data, end);
    TRY(unicode_fold(&segmenter->folder, segmenter->piece, error));
    if (segmenter->origins)
        TRY(text_origins_by_icu(segmenter->origins, segmenter->piece,
                                (size_t)segmenter->folder.folded_size, error));
    separate(segmenter->folder.folded, segmenter->folder.folded_size);
    UErrorCode code = U_ZERO_ERROR;
    ubrk_setText(segmenter->iterator, segmenter->folder.folded, segmenter->folder.folded_size,
                 &code);
    if (U_FAILURE(code))
        return error_set(error, COG_ERR_INPUT, "words cannot be found (%s)", u_errorName(code));
    segmenter->begin = ubrk_first(segmenter->iterator);
    segmenter->in_piece = true;
    *rest = view_of(rest->data + end, rest->size - end);
    return COG_OK;
}

void word_segmenter_start(struct word_segmenter *segmenter, struct bytes_view text) {
    segmenter->rest = text;
    segmenter->in_piece = false;
}

cog_status word_segmenter_next(struct word_segmenter *segmenter, const struct token_batch **result,
                               cog_error *error) {
    enum { BATCH_BYTES = 1 << 15 };
    struct token_batch *batch = &segmenter->batch;
    buffer_reset(&batch->bytes);
    batch->count = 0;
    *result = NULL;
    while (batch->bytes.size < BATCH_BYTES && (segmenter->in_piece || segmenter->rest.size)) {
        if (!segmenter->in_piece)
            TRY(begin_piece(segmenter, error));
        int32_t end = ubrk_next(segmenter->iterator);
        segmenter->in_piece = end != UBRK_DONE;
        if (end != UBRK_DONE && ubrk_getRuleStatus(segmenter->iterator) >= UBRK_WORD_NONE_LIMIT)
            TRY(add_segment(segmenter, segmenter->begin, end, error));
        segmenter->begin = end;
    }
    if (!buffer_reserve(&batch->bytes, TOKEN_SLACK_BYTES))
        return error_memory(error, TOKEN_SLACK_BYTES, "tokens");
    *result = batch->count ? batch : NULL;
    return COG_OK;
}
