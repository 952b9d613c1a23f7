#include "base/arguments.h"

cog_status check_enum(unsigned value, unsigned count, const char *name, cog_error *error) {
    return value < count ? COG_OK
                         : error_set(error, COG_ERR_USAGE, "%s %u: the values are 0 to %u", name,
                                     value, count - 1);
}

cog_status check_given(const void *pointer, const char *name, cog_error *error) {
    return pointer ? COG_OK : error_set(error, COG_ERR_USAGE, "%s must not be NULL", name);
}
