/* The text of a web page: tags and comments go, as do scripts, styles and other elements that no
 * reader sees; character references become characters; white space is one space, or one line end
 * where a block ends. Linear in the input, however broken it is: what is open at the end of the
 * page goes to its end, as in browsers. */
#pragma once

#include "base/memory.h"

/* The page is valid UTF-8. *text is valid until `out` changes; false when memory ran out. */
bool html_text(struct bytes_view page, struct buffer *out, struct bytes_view *text);
