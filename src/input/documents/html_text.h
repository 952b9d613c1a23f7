/* The text of a web page: removes tags, comments, scripts, styles and other invisible elements;
 * decodes character references; collapses white space to one space, or to one line end at the end
 * of a block. Linear in the input, however broken it is: an element that is still open at the end
 * of the page extends to the end, as in browsers. */
#pragma once

#include "base/memory.h"

/* The page must be valid UTF-8. *text is valid until `out` changes. False if memory ran out. */
bool html_text(struct bytes_view page, struct buffer *out, struct bytes_view *text);
