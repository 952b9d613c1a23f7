/* Checks of what callers hand to the public functions: values of enums, pointers, positions.
 *
 * A public function checks its arguments here and then calls a job, which trusts them. Each check
 * returns COG_ERR_USAGE with a message that names the argument. */
#pragma once

#include "base/error.h"

/* A value of an enum whose values are 0 to count - 1. */
cog_status check_enum(unsigned value, unsigned count, const char *name, cog_error *error);
/* A pointer that must not be NULL. */
cog_status check_given(const void *pointer, const char *name, cog_error *error);
