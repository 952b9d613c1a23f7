#include "input/documents/warc_record.h"

#include <stdlib.h>
#include <strings.h>

#include "input/documents/http_payload.h"
#include "input/documents/message_header.h"
#include "input/documents/text_bytes.h"

static const char MAGIC[] = "WARC/";
enum { MAGIC_BYTES = sizeof MAGIC - 1, HEADER_MAX_BYTES = 1 << 20 };

static const char truncated[] = "the file stops inside this record (truncated); fetch it again";

/* Finds the end of the content by the header, once that is complete. */
static const char *scan_header(struct warc_scan *scan, const char *data, size_t size, bool ended) {
    size_t known = size < MAGIC_BYTES ? size : MAGIC_BYTES;
    if (memcmp(data, MAGIC, known) != 0)
        return "not a WARC record: it does not start with \"WARC/\"";
    size_t header = message_header_size(data, scan->scanned, size);
    scan->scanned = size;
    if (!header && size > HEADER_MAX_BYTES)
        return "the header of this record does not end within 1 MiB";
    if (!header)
        return ended ? truncated : NULL;
    uint64_t length;
    if (!message_number(message_field(view_of(data, header), "Content-Length"), &length) ||
        length > INT64_MAX)
        return "the header of this record has no valid Content-Length";
    scan->end = header + length;
    scan->scanned = header;
    return NULL;
}

const char *warc_scan_record(struct warc_scan *scan, const char *data, size_t size, bool ended,
                             size_t *record) {
    *record = 0;
    if (size == 0)
        return NULL;
    const char *problem = scan->end ? NULL : scan_header(scan, data, size, ended);
    if (problem || !scan->end)
        return problem;
    if (size < scan->end)
        return ended ? truncated : NULL;
    size_t at = scan->scanned > scan->end ? scan->scanned : (size_t)scan->end;
    while (at < size && (data[at] == '\r' || data[at] == '\n'))
        at++;
    scan->scanned = at;
    if (at == size && !ended)
        return NULL;
    if (count_newlines(data + scan->end, data + at) < 2)
        return at == size ? truncated
                          : "this record does not end where its Content-Length says: no blank line "
                            "stands there";
    *record = at;
    *scan = (struct warc_scan){0};
    return NULL;
}

/* A record taken apart. */
struct warc_record {
    struct bytes_view header, content, type, content_type, identified;
};

static bool split_record(struct bytes_view bytes, struct warc_record *record) {
    uint64_t length;
    size_t size = message_header_size(bytes.data, 0, bytes.size);
    record->header = view_of(bytes.data, size);
    if (!size || !message_number(message_field(record->header, "Content-Length"), &length) ||
        length > bytes.size - size)
        return false;
    record->content = view_of(bytes.data + size, (size_t)length);
    record->type = message_field(record->header, "WARC-Type");
    record->content_type = message_field(record->header, "Content-Type");
    record->identified = message_field(record->header, "WARC-Identified-Payload-Type");
    return true;
}

/* Early versions of the format have the address in angle brackets. */
static struct bytes_view without_brackets(struct bytes_view uri) {
    bool bracketed = uri.size > 1 && uri.data[0] == '<' && uri.data[uri.size - 1] == '>';
    return bracketed ? view_of(uri.data + 1, uri.size - 2) : uri;
}

/* Crawlers also store their logs as resources, under addresses of their own (metadata:). */
static bool is_address(struct bytes_view uri) {
    static const char *const schemes[] = {"http:", "https:", "ftp:", "file:"};
    uri = without_brackets(uri);
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (uri.size > strlen(schemes[i]) &&
            strncasecmp(uri.data, schemes[i], strlen(schemes[i])) == 0)
            return true;
    return false;
}

bool warc_is_document(struct bytes_view bytes) {
    struct warc_record record;
    if (!split_record(bytes, &record))
        return false;
    if (message_value_is(record.type, "conversion"))
        return record.content_type.size == 0 || message_value_is(record.content_type, "text/plain");
    if (message_value_is(record.type, "resource"))
        return is_address(message_field(record.header, "WARC-Target-URI")) &&
               payload_is_text(record.content_type);
    return message_value_is(record.type, "response") &&
           message_value_is(record.content_type, "application/http") &&
           http_response_is_text(record.content, record.identified);
}

/* The first of the languages, which is the one of most of the text. */
static struct bytes_view first_language(struct bytes_view languages) {
    const char *comma = languages.size ? memchr(languages.data, ',', languages.size) : NULL;
    return comma ? view_of(languages.data, (size_t)(comma - languages.data)) : languages;
}

enum parse_result warc_parse(struct payload_decoder *decoder, struct bytes_view bytes,
                             struct bytes_view *id, struct bytes_view *lang,
                             struct bytes_view *text, const char **problem) {
    struct warc_record record;
    *problem = "not a whole record";
    if (!split_record(bytes, &record))
        return PARSE_BAD;
    bool cut_short = message_field(record.header, "WARC-Truncated").size > 0;
    *id = without_brackets(message_field(record.header, "WARC-Target-URI"));
    *lang = first_language(message_field(record.header, "WARC-Identified-Content-Language"));
    if (message_value_is(record.type, "conversion")) {
        *text = record.content;
        return PARSE_OK;
    }
    if (message_value_is(record.type, "resource"))
        return payload_text(decoder, record.content, record.content_type, text, problem);
    return http_response_text(decoder, record.content, record.identified, cut_short, text, problem);
}
