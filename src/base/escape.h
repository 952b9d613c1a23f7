/* Texts in lines of output: ids in TSV, where tab, newline, carriage return and backslash are
 * escaped, and JSON strings. False when memory is out. */
#pragma once

#include "base/buffer.h"

bool escape_append(struct buffer *buffer, struct bytes_view text);
/* Undoes that; any other backslash stands for itself. The buffer then holds the one text. */
bool unescape_into(struct buffer *buffer, struct bytes_view escaped);
/* With its quotes. The text is valid UTF-8. */
bool json_append_string(struct buffer *buffer, struct bytes_view text);
