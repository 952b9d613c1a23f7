#include "text/code_scanner.h"

#include <unicode/uchar.h>

#include "base/strings.h"

enum { CHUNK_BYTES = 1 << 14, TOKEN_MAX_BYTES = 1 << 28 };

enum byte_class { SIGN, LETTER, DIGIT, WHITE, WIDE };

static const uint8_t classes[256] = {
    [0 ... ' '] = WHITE,    ['0' ... '9'] = DIGIT, ['A' ... 'Z'] = LETTER, ['_'] = LETTER,
    ['a' ... 'z'] = LETTER, [0x7f] = WHITE,        [0x80 ... 0xff] = WIDE};

static enum byte_class class_of(char byte) {
    return (enum byte_class)classes[(unsigned char)byte];
}

/* The class of a character of other than ASCII, and its bytes. */
static enum byte_class wide_class(const char *at, const char *end, size_t *size) {
    uint32_t c;
    *size = utf8_decode(at, (size_t)(end - at), &c);
    if (u_isUWhiteSpace((UChar32)c) || c == 0xfeff || c == 0x200b)
        return WHITE;
    return U_GET_GC_MASK((UChar32)c) & (U_GC_L_MASK | U_GC_M_MASK | U_GC_N_MASK) ? LETTER : SIGN;
}

/* The end of the identifier or number that goes on at `at`. */
static const char *word_end(const char *at, const char *end, bool number) {
    for (;;) {
        size_t size;
        while (at < end && (class_of(*at) == LETTER || class_of(*at) == DIGIT))
            at++;
        if (at == end)
            return at;
        if (class_of(*at) == WIDE && wide_class(at, end, &size) == LETTER)
            at += size;
        else if (number && *at == '.' && class_of(at[-1]) == DIGIT && at + 1 < end &&
                 class_of(at[1]) == DIGIT)
            at++;
        else
            return at;
    }
}

/* The end of the token at `at`, or of the white space there. */
static const char *token_end(const char *at, const char *end, bool *is_token) {
    enum byte_class class = class_of(*at);
    size_t size = 1;
    if (class == WIDE)
        class = wide_class(at, end, &size);
    *is_token = class != WHITE;
    return class == LETTER || class == DIGIT ? word_end(at + size, end, class == DIGIT) : at + size;
}

void code_scanner_start(struct code_scanner *scanner, struct bytes_view text, bool want_places) {
    scanner->rest = text;
    scanner->want_places = want_places;
}

/* Finds the tokens of the next chunk of the text, and some more if the last one is longer. */
static const char *find_tokens(struct token_batch *batch, struct bytes_view text) {
    const char *at = text.data, *end = at + text.size;
    const char *stop = text.size < CHUNK_BYTES ? end : at + CHUNK_BYTES;
    struct token_span *span = batch->spans;
    while (at < stop) {
        bool is_token;
        const char *most = at + utf8_cut(view_of(at, (size_t)(end - at)), TOKEN_MAX_BYTES);
        const char *next = token_end(at, most, &is_token);
        *span = (struct token_span){(uint32_t)(at - text.data), (uint32_t)(next - text.data)};
        span += is_token;
        at = next;
    }
    batch->count = (size_t)(span - batch->spans);
    return at;
}

static cog_status note_places(struct token_batch *batch, const char *text, cog_error *error) {
    GROW(batch->places, batch->place_capacity, batch->count, "places of tokens", error);
    for (size_t i = 0; i < batch->count; i++)
        batch->places[i] =
            view_of(text + batch->spans[i].begin, batch->spans[i].end - batch->spans[i].begin);
    return COG_OK;
}

cog_status code_scanner_next(struct code_scanner *scanner, const struct token_batch **result,
                             cog_error *error) {
    struct token_batch *batch = &scanner->batch;
    *result = NULL;
    while (!*result && scanner->rest.size) {
        GROW(batch->spans, batch->capacity, CHUNK_BYTES + 1, "tokens", error);
        const char *stop = find_tokens(batch, scanner->rest);
        size_t size = (size_t)(stop - scanner->rest.data);
        buffer_reset(&batch->bytes);
        if (!buffer_append(&batch->bytes, scanner->rest.data, size) ||
            !buffer_reserve(&batch->bytes, TOKEN_SLACK_BYTES))
            return error_memory(error, size, "tokens");
        if (scanner->want_places)
            TRY(note_places(batch, scanner->rest.data, error));
        scanner->rest = view_of(stop, scanner->rest.size - size);
        *result = batch->count ? batch : NULL;
    }
    return COG_OK;
}
