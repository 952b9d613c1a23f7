/* The table of search methods: one line per method, in the order of cog_method.
 *
 * A program (such as the tests) may link further methods: it defines `method_linked_in`; its
 * methods get the numbers from COG_METHOD_COUNT on. */
#pragma once

#include "search/method.h"

/* NULL for COG_METHOD_AUTO and for invalid numbers. */
const struct search_method *method_of(cog_method method);
/* The method that compares every row: vectors, or signatures. */
cog_method method_exhaustive(bool vectors);
/* The method with this name, or COG_METHOD_AUTO. */
cog_method method_named(const char *name);
/* "auto", a method's name, or "none" for an invalid number. */
const char *method_name(cog_method method);

/* Resolves knobs for a job: AUTO becomes the method that the knobs belong to. COG_ERR_USAGE if the
 * method does not exist or has other knobs, or if a knob has no effect in this job (cog_knob_use).
 */
cog_status method_take_knobs(cog_method *method, const cog_knobs *knobs, unsigned use,
                             cog_error *error);

/* The methods added by a program, numbered from 0; NULL after the last. The library's own
 * definition is weak and returns NULL; a program's definition replaces it. */
const struct search_method *method_linked_in(size_t number);
