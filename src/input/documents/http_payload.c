#include "input/documents/http_payload.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>
#include <unicode/ucnv.h>
#include <unicode/ustring.h>

#include "base/io/compression.h"
#include "base/memory.h"
#include "input/documents/html_text.h"
#include "input/documents/message_header.h"
#include "input/documents/text_bytes.h"

enum {
    CHARSET_BYTES = 64,
    META_BYTES = 1024,       /* how far browsers look for the character set in a page */
    BODY_MAX_BYTES = 1 << 28 /* of an unpacked or converted body: a few kilobytes may hold more */
};

struct payload_decoder {
    struct buffer joined, unpacked, converted, text;
    UConverter *converter; /* of `charset` */
    char charset[CHARSET_BYTES];
    UChar *units;
    size_t unit_capacity;
};

struct payload_decoder *payload_decoder_create(void) {
    return calloc(1, sizeof(struct payload_decoder));
}

void payload_decoder_free(struct payload_decoder *decoder) {
    if (!decoder)
        return;
    buffer_free(&decoder->joined);
    buffer_free(&decoder->unpacked);
    buffer_free(&decoder->converted);
    buffer_free(&decoder->text);
    if (decoder->converter)
        ucnv_close(decoder->converter);
    FREE(decoder->units, decoder);
}

static bool is_html(struct bytes_view content_type) {
    return message_value_is(content_type, "text/html") ||
           message_value_is(content_type, "application/xhtml+xml");
}

bool payload_is_text(struct bytes_view content_type) {
    return is_html(content_type) || message_value_is(content_type, "text/plain");
}

/* ---- Responses ------------------------------------------------------------------------------- */

struct response {
    struct bytes_view header, body, content_type;
};

/* False if it is no successful response. */
static bool split_response(struct bytes_view bytes, struct bytes_view identified,
                           struct response *response) {
    size_t size = message_header_size(bytes.data, 0, bytes.size);
    const char *status =
        size > 5 && memcmp(bytes.data, "HTTP/", 5) == 0 ? memchr(bytes.data, ' ', size) : NULL;
    if (!status || status + 1 >= bytes.data + size || status[1] != '2')
        return false;
    response->header = view_of(bytes.data, size);
    response->body = view_of(bytes.data + size, bytes.size - size);
    response->content_type = message_field(response->header, "Content-Type");
    if (response->content_type.size == 0)
        response->content_type = identified;
    return true;
}

bool http_response_is_text(struct bytes_view bytes, struct bytes_view identified) {
    struct response response;
    return split_response(bytes, identified, &response) && payload_is_text(response.content_type);
}

/* The size of the chunk whose line is at `at`, and the end of the line; false if there is none. */
static bool read_chunk_line(const char **at, const char *end, size_t *size) {
    enum { MOST_DIGITS = 15 };
    const char *c = *at;
    *size = 0;
    for (; c < end && c - *at <= MOST_DIGITS; c++) {
        unsigned digit = (unsigned char)*c, letter = digit | 32;
        if (digit >= '0' && digit <= '9')
            digit -= '0';
        else if (letter >= 'a' && letter <= 'f')
            digit = letter - 'a' + 10;
        else
            break;
        *size = *size * 16 + digit;
    }
    bool is_number = c > *at && c < end && is_one_of(*c, "\r\n; \t");
    const char *newline = is_number ? memchr(c, '\n', (size_t)(end - c)) : NULL;
    if (newline)
        *at = newline + 1;
    return newline != NULL;
}

/* Joins the chunks of a body. Many crawlers join them and keep the header: a body that does not
 * start with the size of a chunk is left as it is. */
static enum parse_result join_chunks(struct payload_decoder *decoder, bool cut_short,
                                     struct bytes_view *body, const char **problem) {
    const char *at = body->data, *end = at + body->size;
    size_t size;
    buffer_reset(&decoder->joined);
    if (!read_chunk_line(&at, end, &size))
        return PARSE_OK;
    bool whole = true;
    while (whole && size) {
        whole = size <= (size_t)(end - at);
        if (!buffer_append(&decoder->joined, at, whole ? size : (size_t)(end - at)))
            return PARSE_OUT_OF_MEMORY;
        at += whole ? size : (size_t)(end - at);
        while (at < end && is_one_of(*at, "\r\n"))
            at++;
        whole = whole && read_chunk_line(&at, end, &size);
    }
    *problem = "its chunks stop early";
    *body = decoder->joined.size ? buffer_view(&decoder->joined) : view_of("", 0);
    return whole || cut_short ? PARSE_OK : PARSE_BAD;
}

static enum parse_result run_codec(struct codec *codec, struct bytes_view packed,
                                   struct buffer *out, bool cut_short, const char **problem) {
    enum { STEP_BYTES = 1 << 16 };
    buffer_reset(out);
    for (;;) {
        size_t produced = 0, before = packed.size;
        if (out->size > BODY_MAX_BYTES) {
            *problem = "its body unpacks to more than 256 MiB";
            return PARSE_BAD;
        }
        if (!buffer_reserve(out, STEP_BYTES))
            return PARSE_OUT_OF_MEMORY;
        cog_status status =
            codec_run(codec, &packed, true, out->data + out->size, STEP_BYTES, &produced);
        if (status == COG_ERR_MEMORY)
            return PARSE_OUT_OF_MEMORY;
        out->size += produced;
        bool stuck = produced == 0 && packed.size == before;
        if (status == COG_OK && codec_is_complete(codec) && packed.size == 0)
            return PARSE_OK;
        if (status != COG_OK || stuck) {
            *problem = "its body is not whole, or not compressed as its header says";
            return cut_short ? PARSE_OK : PARSE_BAD;
        }
    }
}

/* Unpacks a body. Many crawlers unpack it and keep the header: a body that does not start like the
 * compression is left as it is. */
static enum parse_result unpack(struct payload_decoder *decoder, struct bytes_view encoding,
                                bool cut_short, struct bytes_view *body, const char **problem) {
    enum compression found = compression_of_bytes(body->data, body->size);
    bool gzip = message_value_is(encoding, "gzip") || message_value_is(encoding, "x-gzip");
    bool zstd = message_value_is(encoding, "zstd");
    if (encoding.size == 0 || message_value_is(encoding, "identity") || body->size == 0)
        return PARSE_OK;
    if (!gzip && !zstd) {
        *problem = "its content encoding is neither gzip nor zstd; let the crawler unpack bodies";
        return PARSE_BAD;
    }
    if (found != (gzip ? COMPRESSION_GZIP : COMPRESSION_ZSTD))
        return PARSE_OK;
    struct codec *codec = decompressor_create(found);
    if (!codec)
        return PARSE_OUT_OF_MEMORY;
    enum parse_result result = run_codec(codec, *body, &decoder->unpacked, cut_short, problem);
    codec_free(codec);
    *body = buffer_view(&decoder->unpacked);
    return result;
}

enum parse_result http_response_text(struct payload_decoder *decoder, struct bytes_view bytes,
                                     struct bytes_view identified, bool cut_short,
                                     struct bytes_view *text, const char **problem) {
    struct response response;
    *problem = "not a successful HTTP response";
    if (!split_response(bytes, identified, &response))
        return PARSE_BAD;
    struct bytes_view body = response.body;
    enum parse_result result = PARSE_OK;
    if (message_value_is(message_field(response.header, "Transfer-Encoding"), "chunked"))
        result = join_chunks(decoder, cut_short, &body, problem);
    if (result == PARSE_OK)
        result = unpack(decoder, message_field(response.header, "Content-Encoding"), cut_short,
                        &body, problem);
    return result == PARSE_OK ? payload_text(decoder, body, response.content_type, text, problem)
                              : result;
}

/* ---- Character sets -------------------------------------------------------------------------- */

/* The front of `bytes` that looks like a name. */
static struct bytes_view charset_at(const char *at, const char *end) {
    while (at < end && is_one_of(*at, " \t\r\n\"'"))
        at++;
    const char *stop = at;
    while (stop < end && !is_one_of(*stop, " \t\r\n\"';/>"))
        stop++;
    return view_of(at, (size_t)(stop - at));
}

/* What a meta element names: charset="..." or content="text/html; charset=...". */
static struct bytes_view charset_in_page(struct bytes_view page) {
    static const char key[] = "charset=";
    size_t size = page.size < META_BYTES ? page.size : META_BYTES;
    const char *end = page.data + size;
    for (const char *at = page.data; at < end && (at = memchr(at, '<', (size_t)(end - at))); at++) {
        const char *stop = memchr(at, '>', (size_t)(end - at));
        if (!stop)
            break;
        if (stop - at < 5 || strncasecmp(at, "<meta", 5) != 0)
            continue;
        for (; (size_t)(stop - at) >= sizeof key - 1; at++)
            if (strncasecmp(at, key, sizeof key - 1) == 0)
                return charset_at(at + sizeof key - 1, stop);
    }
    return view_of("", 0);
}

static bool is_charset(struct bytes_view name) {
    for (size_t i = 0; i < name.size; i++)
        if (!isalnum((unsigned char)name.data[i]) && !is_one_of(name.data[i], "._:-"))
            return false;
    return name.size < CHARSET_BYTES;
}

/* The name of the character set; empty if none is named. */
static void choose_charset(struct bytes_view body, struct bytes_view content_type,
                           char name[CHARSET_BYTES]) {
    struct bytes_view named = message_parameter(content_type, "charset");
    bool wide = body.size > 1 &&
                (memcmp(body.data, "\xff\xfe", 2) == 0 || memcmp(body.data, "\xfe\xff", 2) == 0);
    if (wide)
        named = view_of("UTF-16", 6);
    else if (mark_size(body))
        named = view_of("UTF-8", 5);
    else if (named.size == 0 && is_html(content_type))
        named = charset_in_page(body);
    if (!is_charset(named))
        named.size = 0;
    memcpy(name, named.data, named.size);
    name[named.size] = 0;
    /* Browsers take these for windows-1252, which has letters where they have control codes. */
    static const char *const latin[] = {"iso-8859-1", "iso8859-1", "latin1",
                                        "latin-1",    "us-ascii",  "ascii"};
    for (size_t i = 0; i < sizeof latin / sizeof *latin; i++)
        if (strcasecmp(name, latin[i]) == 0)
            strcpy(name, "windows-1252");
}

/* The converter of a character set; windows-1252 for names that nobody knows. */
static bool open_converter(struct payload_decoder *decoder, const char *name) {
    UErrorCode code = U_ZERO_ERROR;
    if (decoder->converter && strcmp(decoder->charset, name) == 0) {
        ucnv_reset(decoder->converter);
        return true;
    }
    if (decoder->converter)
        ucnv_close(decoder->converter);
    decoder->converter = ucnv_open(name, &code);
    if (U_FAILURE(code)) {
        code = U_ZERO_ERROR;
        decoder->converter = ucnv_open("windows-1252", &code);
    }
    strcpy(decoder->charset, name);
    return decoder->converter != NULL;
}

static enum parse_result convert(struct payload_decoder *decoder, const char *charset,
                                 struct bytes_view *body, const char **problem) {
    struct buffer *out = &decoder->converted;
    *problem = "its body is longer than 256 MiB, in another character set than UTF-8";
    if (body->size > BODY_MAX_BYTES)
        return PARSE_BAD;
    /* No character set has fewer bytes than half of its UTF-16 units. */
    size_t room = 2 * body->size + 8;
    if (!open_converter(decoder, charset) ||
        !memory_grow((void **)&decoder->units, &decoder->unit_capacity, room, sizeof(UChar)))
        return PARSE_OUT_OF_MEMORY;
    UErrorCode code = U_ZERO_ERROR;
    int32_t units = ucnv_toUChars(decoder->converter, decoder->units, (int32_t)room, body->data,
                                  (int32_t)body->size, &code),
            size = 0;
    *problem = "its body cannot be converted to UTF-8";
    if (U_FAILURE(code))
        return PARSE_BAD;
    buffer_reset(out);
    if (!buffer_reserve(out, 3 * (size_t)units + 1))
        return PARSE_OUT_OF_MEMORY;
    u_strToUTF8WithSub(out->data, (int32_t)(3 * (size_t)units + 1), &size, decoder->units, units,
                       0xfffd, NULL, &code);
    if (U_FAILURE(code))
        return PARSE_BAD;
    out->size = (size_t)size;
    *body = buffer_view(out);
    return PARSE_OK;
}

enum parse_result payload_text(struct payload_decoder *decoder, struct bytes_view body,
                               struct bytes_view content_type, struct bytes_view *text,
                               const char **problem) {
    char charset[CHARSET_BYTES];
    bool html = is_html(content_type);
    choose_charset(body, content_type, charset);
    bool may_be_utf8 = !charset[0] || strcasecmp(charset, "utf-8") == 0;
    if (!charset[0])
        strcpy(charset, "windows-1252");
    if (!may_be_utf8 || !utf8_is_valid(body.data, body.size)) {
        enum parse_result result = convert(decoder, charset, &body, problem);
        if (result != PARSE_OK)
            return result;
    }
    *text = without_mark(body);
    return !html || html_text(*text, &decoder->text, text) ? PARSE_OK : PARSE_OUT_OF_MEMORY;
}
