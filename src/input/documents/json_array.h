/* Cuts a file that is one JSON array into its elements, while its bytes arrive in pieces; each
 * element is a record. Only strings and brackets are tracked: the parser finds out whether an
 * element is a valid object. */
#pragma once

#include <stdint.h>

#include "base/memory.h"

enum json_array_state {
    JSON_ARRAY_BEFORE,  /* the opening bracket is still to come */
    JSON_ARRAY_FIRST,   /* after it */
    JSON_ARRAY_WANTED,  /* after a comma: an element has to follow */
    JSON_ARRAY_ELEMENT, /* inside an element */
    JSON_ARRAY_BEHIND,  /* after an element */
    JSON_ARRAY_CLOSED,  /* after the closing bracket */
    JSON_ARRAY_DAMAGED, /* something other than white space after the closing bracket */
};

/* Zero-initialise. */
struct json_array_scan {
    enum json_array_state state;
    uint64_t depth; /* brackets open inside the element */
    bool in_string;
};

/* Skips the bytes between elements and returns their number. If the state is JSON_ARRAY_ELEMENT
 * afterwards, an element starts there. */
size_t json_array_skip(struct json_array_scan *scan, const char *data, size_t size);
/* `data` starts with an element, of which `from` bytes have been scanned. False if its end is not
 * among the bytes; otherwise *element is its size without trailing white space (0 if nothing is
 * between two commas). */
bool json_array_element(struct json_array_scan *scan, const char *data, size_t from, size_t size,
                        size_t *element);
