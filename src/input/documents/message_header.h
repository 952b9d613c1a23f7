/* Headers of "name: value" lines that end with an empty line, as in HTTP and WARC. Names are
 * case-insensitive; lines end with CR LF or LF. Stateless. */
#pragma once

#include <stdint.h>

#include "base/memory.h"

/* The size of the header at the front of data[0 .. size), including its empty line; 0 if it does
 * not end there. The first `from` bytes have been scanned before. */
size_t message_header_size(const char *data, size_t from, size_t size);
/* The value of the first line with this name, trimmed; empty if there is none. */
struct bytes_view message_field(struct bytes_view header, const char *name);
/* A whole number; false if the value is not a number or is too large. */
bool message_number(struct bytes_view value, uint64_t *number);
/* Whether the value is `word`, or begins with it followed by a semicolon, comma or white space.
 * Case does not matter. */
bool message_value_is(struct bytes_view value, const char *word);
/* The value of a parameter after a semicolon (charset=utf-8), without quotes; empty if there is
 * none. */
struct bytes_view message_parameter(struct bytes_view value, const char *name);
