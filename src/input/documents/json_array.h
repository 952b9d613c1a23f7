/* A file that is one JSON array, cut into its elements while its bytes arrive in pieces: each
 * element is a record. Only strings and brackets are looked at; whether an element is an object,
 * and valid, is found when it is parsed. */
#pragma once

#include <stdint.h>

#include "base/memory.h"

enum json_array_state {
    JSON_ARRAY_BEFORE,  /* the opening bracket is still to come */
    JSON_ARRAY_FIRST,   /* behind it */
    JSON_ARRAY_WANTED,  /* behind a comma: an element has to follow */
    JSON_ARRAY_ELEMENT, /* inside an element */
    JSON_ARRAY_BEHIND,  /* behind an element */
    JSON_ARRAY_CLOSED,  /* behind the closing bracket */
    JSON_ARRAY_DAMAGED, /* something else than white space behind the closing bracket */
};

/* Zero-initialise. */
struct json_array_scan {
    enum json_array_state state;
    uint64_t depth; /* brackets open inside the element */
    bool in_string;
};

/* Goes over what stands between elements and returns its size; an element starts there if the state
 * is JSON_ARRAY_ELEMENT then. */
size_t json_array_skip(struct json_array_scan *scan, const char *data, size_t size);
/* data starts with an element, of which `from` bytes have been looked at. False if its end is not
 * among the bytes, else *element is its size without the white space behind it: 0 if there is none
 * between two commas. */
bool json_array_element(struct json_array_scan *scan, const char *data, size_t from, size_t size,
                        size_t *element);
