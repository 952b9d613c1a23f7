/* The text of an HTTP response as stored by crawls (header and body): joins chunks, unpacks gzip
 * and zstd, converts other character sets to UTF-8, and strips HTML to its text.
 *
 * The character set is the one named by the header, else by the page's byte order mark or meta
 * element. A page that names none is UTF-8 if valid, else windows-1252. Bytes that are invalid in
 * the character set become U+FFFD. */
#pragma once

#include "input/documents/text_bytes.h"

/* Buffers that are reused between payloads; NULL if memory ran out. */
struct payload_decoder;
struct payload_decoder *payload_decoder_create(void);
void payload_decoder_free(struct payload_decoder *decoder);

/* Whether a media type is one that is read: HTML, XHTML or plain text. */
bool payload_is_text(struct bytes_view content_type);
/* Whether a response succeeded and has such a type; `identified` is used if the header names no
 * type. */
bool http_response_is_text(struct bytes_view response, struct bytes_view identified);

/* The text of a response. cut_short: the crawl kept only the front of the body, so a missing end is
 * no fault. *text is valid until the next call and as long as the response. On PARSE_BAD,
 * *problem is set to the reason (a constant). */
enum parse_result http_response_text(struct payload_decoder *decoder, struct bytes_view response,
                                     struct bytes_view identified, bool cut_short,
                                     struct bytes_view *text, const char **problem);
/* The same for a body of a known type. */
enum parse_result payload_text(struct payload_decoder *decoder, struct bytes_view body,
                               struct bytes_view content_type, struct bytes_view *text,
                               const char **problem);
