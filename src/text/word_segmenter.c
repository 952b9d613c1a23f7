#include "text/word_segmenter.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/utf16.h>

#include "base/strings.h"

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

/* Adds the pairs of neighbouring characters of bytes[begin .. end). */
static cog_status add_bigrams(struct token_batch *batch, size_t begin, size_t end,
                              cog_error *error) {
    size_t before = begin, here = begin;
    uint32_t c;
    here += utf8_decode(batch->bytes.data + here, end - here, &c);
    while (here < end) {
        size_t next = here + utf8_decode(batch->bytes.data + here, end - here, &c);
        TRY(token_batch_add(batch, before, next, error));
        before = here;
        here = next;
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
        return add_bigrams(batch, first, batch->bytes.size, error);
    return token_batch_add(batch, first, batch->bytes.size, error);
}

static cog_status deliver(struct word_segmenter *segmenter, const struct token_sink *sink,
                          cog_error *error) {
    struct token_batch *batch = &segmenter->batch;
    if (!buffer_reserve(&batch->bytes, TOKEN_SLACK_BYTES))
        return error_memory(error, TOKEN_SLACK_BYTES, "tokens");
    cog_status status = sink->take(sink->context, batch, error);
    buffer_reset(&batch->bytes);
    batch->count = 0;
    return status;
}

/* ICU's releases differ in whether words go on over @ and : (72 joins at @); here they end, as in
 * UAX 29 for the one and in its tailoring by CLDR for the other. */
static void separate(UChar *units, int32_t count) {
    for (int32_t i = 0; i < count; i++)
        if (units[i] == '@' || units[i] == ':')
            units[i] = '|';
}

static cog_status segment_piece(struct word_segmenter *segmenter, struct bytes_view piece,
                                const struct token_sink *sink, cog_error *error) {
    enum { BATCH_BYTES = 1 << 15 };
    cog_status status = unicode_fold(&segmenter->folder, piece, error);
    if (status != COG_OK)
        return status;
    separate(segmenter->folder.folded, segmenter->folder.folded_size);
    UErrorCode code = U_ZERO_ERROR;
    ubrk_setText(segmenter->iterator, segmenter->folder.folded, segmenter->folder.folded_size,
                 &code);
    if (U_FAILURE(code))
        return error_set(error, COG_ERR_INPUT, "words cannot be found (%s)", u_errorName(code));
    buffer_reset(&segmenter->batch.bytes);
    segmenter->batch.count = 0;
    int32_t begin = ubrk_first(segmenter->iterator), end;
    while (status == COG_OK && (end = ubrk_next(segmenter->iterator)) != UBRK_DONE) {
        if (ubrk_getRuleStatus(segmenter->iterator) >= UBRK_WORD_NONE_LIMIT)
            status = add_segment(segmenter, begin, end, error);
        if (status == COG_OK && segmenter->batch.bytes.size >= BATCH_BYTES)
            status = deliver(segmenter, sink, error);
        begin = end;
    }
    return status == COG_OK ? deliver(segmenter, sink, error) : status;
}

cog_status word_segmenter_run(struct word_segmenter *segmenter, struct bytes_view text,
                              const struct token_sink *sink, cog_error *error) {
    cog_status status = COG_OK;
    for (size_t at = 0; at < text.size && status == COG_OK;) {
        size_t end = text.size - at > STRETCH_MAX_BYTES ? at + STRETCH_MAX_BYTES : text.size;
        while (end < text.size && end > at + 1 && !utf8_is_start(text.data[end]))
            end--;
        status = segment_piece(segmenter, view_of(text.data + at, end - at), sink, error);
        at = end;
    }
    return status;
}
