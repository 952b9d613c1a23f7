/* Base64 (RFC 4648), for columns that hold whole documents. */
#pragma once

#include "input/documents/text_bytes.h"

/* Appends the decoded bytes to `out`. Padding is optional; any other character outside the alphabet
 * is invalid. */
enum parse_result base64_decode(struct bytes_view encoded, struct buffer *out);
