/* Argument checks for the public functions: enum values and pointers.
 *
 * A public function checks its arguments here and then calls a job, which trusts them. Each check
 * returns COG_ERR_USAGE with a message that names the argument. */
#pragma once

#include "base/error.h"

/* The value must be below `count`, the number of values of the enum. */
cog_status check_enum(unsigned value, unsigned count, const char *name, cog_error *error);
/* The value must be above 0 and at most 1. `name` is that of the option in cognate.h. */
cog_status check_share(double value, const char *name, cog_error *error);
/* The pointer must not be NULL. */
cog_status check_given(const void *pointer, const char *name, cog_error *error);
