/* The descriptors of the methods that compare vectors and sets and need no signatures: exact, and
 * lists, which bounds the ends of rows by what the wanted recall allows. */
#pragma once

#include "search/method.h"

extern const struct search_method exact_method, lists_method;
