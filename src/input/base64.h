/* Base64 as RFC 4648 has it, for columns that carry whole documents. */
#pragma once

#include "base/memory.h"

enum base64_result { BASE64_OK, BASE64_INVALID, BASE64_OUT_OF_MEMORY };

/* Appends the decoded bytes to `out`. Padding may be left out; anything else that is not in the
 * alphabet is invalid. */
enum base64_result base64_decode(struct bytes_view encoded, struct buffer *out);
