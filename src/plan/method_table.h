/* The table of search methods: one line per method, in the order of cog_method.
 *
 * A program may link further methods in (the tests do): it defines `method_linked_in`, and its
 * methods get the numbers from COG_METHOD_COUNT on. */
#pragma once

#include "search/method.h"

/* NULL for COG_METHOD_AUTO and for a number that is no method. */
const struct search_method *method_of(cog_method method);
/* The method that compares every row: vectors, or signatures. */
cog_method method_exhaustive(bool vectors);
/* The method of a name; COG_METHOD_AUTO if there is none. */
cog_method method_named(const char *name);
/* "auto", a method's name, or "none" for a number that is no method. */
const char *method_name(cog_method method);

/* What knobs mean for a job: AUTO becomes the method whose knobs they are. COG_ERR_USAGE if the
 * method is none, if it has other knobs, or if a knob is of no use there (cog_knob_use). */
cog_status method_take_knobs(cog_method *method, const cog_knobs *knobs, unsigned use,
                             cog_error *error);

/* The number-th method that a program adds, from 0 on; NULL after the last. The library's own
 * function knows none; a program that defines it takes its place. */
const struct search_method *method_linked_in(size_t number);
