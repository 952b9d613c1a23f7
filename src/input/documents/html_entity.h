/* Character references of HTML, such as &auml; and &#228;, for wiki markup and web pages. */
#pragma once

#include <stdint.h>

#include "base/memory.h"

/* The reference at the front of `text`, which starts with '&': returns its bytes, its semicolon
 * included, and its code point, which takes no more bytes of UTF-8; 0 if there is none. */
size_t html_entity_decode(struct bytes_view text, unsigned *code);
