/* Base64 (RFC 4648), for columns that hold whole documents. */
#pragma once

#include "base/memory.h"

enum base64_result { BASE64_OK, BASE64_INVALID, BASE64_OUT_OF_MEMORY };

/* Appends the decoded bytes to `out`. Padding is optional; any other character outside the alphabet
 * is invalid. */
enum base64_result base64_decode(struct bytes_view encoded, struct buffer *out);
