/* The text of an HTTP response as crawls store it: header and body. Chunks are joined, gzip and
 * zstd unpacked, other character sets converted to UTF-8, and HTML stripped to its text.
 *
 * The character set is the one that the header names, else the page's own byte order mark or meta
 * element; a page that names none is UTF-8 if it is valid, else windows-1252. Bytes that are wrong
 * in the character set become U+FFFD. */
#pragma once

#include "base/memory.h"

/* Buffers that are kept from payload to payload; NULL when memory ran out. */
struct payload_decoder;
struct payload_decoder *payload_decoder_create(void);
void payload_decoder_free(struct payload_decoder *decoder);

/* Whether a media type is text that is read: HTML, XHTML or plain text. */
bool payload_is_text(struct bytes_view content_type);
/* Whether a response succeeded and has such a type; `identified` stands for a type that the header
 * does not name. */
bool http_response_is_text(struct bytes_view response, struct bytes_view identified);

enum payload_result { PAYLOAD_OK, PAYLOAD_BAD, PAYLOAD_OUT_OF_MEMORY };

/* The text of a response. cut_short: the crawl kept only the front of the body, which is then no
 * fault. *text is valid until the next call and as long as the response; on PAYLOAD_BAD *problem
 * says what is wrong (a constant). */
enum payload_result http_response_text(struct payload_decoder *decoder, struct bytes_view response,
                                       struct bytes_view identified, bool cut_short,
                                       struct bytes_view *text, const char **problem);
/* The same for a body of a known type. */
enum payload_result payload_text(struct payload_decoder *decoder, struct bytes_view body,
                                 struct bytes_view content_type, struct bytes_view *text,
                                 const char **problem);
