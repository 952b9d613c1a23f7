/* HTML character references, such as &auml; and &#228;, for wiki markup and web pages. */
#pragma once

#include <stdint.h>

#include "base/memory.h"

/* Decodes the reference at the front of `text`, which starts with '&'. Returns its size including
 * the semicolon, or 0 if there is none. The code point never takes more bytes in UTF-8 than the
 * reference. */
size_t html_entity_decode(struct bytes_view text, unsigned *code);
