/* Headers of lines "name: value" that end with an empty line, as HTTP and WARC have them. Names are
 * compared without case; lines end with CR LF or LF. Nothing here keeps anything. */
#pragma once

#include <stdint.h>

#include "base/memory.h"

/* The bytes of the header at the front of data[0 .. size), its empty line included; 0 if it does
 * not end there. The first `from` bytes have been looked at before. */
size_t message_header_size(const char *data, size_t from, size_t size);
/* The value of the first line of this name, without white space around it; empty if there is none.
 */
struct bytes_view message_field(struct bytes_view header, const char *name);
/* A whole number; false if the value is none, or too large. */
bool message_number(struct bytes_view value, uint64_t *number);
/* Whether the value is `word`, or begins with it and goes on behind a semicolon, comma or white
 * space; case does not matter. */
bool message_value_is(struct bytes_view value, const char *word);
/* The value of a parameter behind semicolons (charset=utf-8), without quotes; empty if there is
 * none. */
struct bytes_view message_parameter(struct bytes_view value, const char *name);
