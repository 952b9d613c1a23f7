#include "crosslingual/sentence_splitter.h"

#include <string.h>
#include <unicode/ubrk.h>
#include <unicode/utext.h>

#include "base/memory.h"
#include "input/documents/text_bytes.h"

struct sentence_splitter {
    UBreakIterator *iterator;
    UText text;
    struct bytes_view bytes;
    int32_t begin;             /* where the sentence at hand begins */
    struct bytes_view pending; /* what is left of a sentence that has line ends inside */
};

cog_status sentence_splitter_create(const char *language, struct sentence_splitter **result,
                                    cog_error *error) {
    UErrorCode code = U_ZERO_ERROR;
    struct sentence_splitter *splitter;
    TAKE_ZEROED(splitter, 1, "splitting sentences", error);
    UText empty = UTEXT_INITIALIZER;
    splitter->text = empty;
    splitter->iterator = ubrk_open(UBRK_SENTENCE, language, NULL, 0, &code);
    cog_status status = COG_OK;
    if (U_FAILURE(code))
        status = error_set(error, COG_ERR_USAGE, "no rules for the sentences of language '%s' (%s)",
                           language, u_errorName(code));
    return HAND_OUT(status, splitter, sentence_splitter_free, result);
}

void sentence_splitter_free(struct sentence_splitter *splitter) {
    if (!splitter)
        return;
    ubrk_close(splitter->iterator);
    utext_close(&splitter->text);
    free(splitter);
}

cog_status sentence_splitter_start(struct sentence_splitter *splitter, struct bytes_view text,
                                   cog_error *error) {
    UErrorCode code = U_ZERO_ERROR;
    if (text.size > INT32_MAX)
        return error_set(error, COG_ERR_INPUT, "a document of more than 2 GB");
    utext_openUTF8(&splitter->text, text.data, (int64_t)text.size, &code);
    ubrk_setUText(splitter->iterator, &splitter->text, &code);
    if (U_FAILURE(code))
        return error_set(error, COG_ERR_MEMORY, "splitting sentences: %s", u_errorName(code));
    splitter->bytes = text;
    splitter->begin = ubrk_first(splitter->iterator);
    splitter->pending = view_of(text.data, 0);
    return COG_OK;
}

static struct bytes_view trimmed(struct bytes_view text) {
    while (text.size && is_one_of(text.data[0], " \t\r\n"))
        text = view_of(text.data + 1, text.size - 1);
    while (text.size && is_one_of(text.data[text.size - 1], " \t\r\n"))
        text.size--;
    return text;
}

bool sentence_splitter_next(struct sentence_splitter *splitter, struct bytes_view *sentence) {
    for (;;) {
        while (splitter->pending.size) {
            struct bytes_view line = splitter->pending;
            const char *newline = memchr(line.data, '\n', line.size);
            size_t size = newline ? (size_t)(newline - line.data) + 1 : line.size;
            splitter->pending = view_of(line.data + size, line.size - size);
            *sentence = trimmed(view_of(line.data, size));
            if (sentence->size)
                return true;
        }
        int32_t end = ubrk_next(splitter->iterator);
        if (end == UBRK_DONE)
            return false;
        splitter->pending =
            view_of(splitter->bytes.data + splitter->begin, (size_t)(end - splitter->begin));
        splitter->begin = end;
    }
}
