#include "base/arguments.h"

cog_status check_enum(unsigned value, unsigned count, const char *name, cog_error *error) {
    return value < count ? COG_OK
                         : error_set(error, COG_ERR_USAGE, "%s %u: the values are 0 to %u", name,
                                     value, count - 1);
}

cog_status check_given(const void *pointer, const char *name, cog_error *error) {
    return pointer ? COG_OK : error_set(error, COG_ERR_USAGE, "%s must not be NULL", name);
}

cog_status check_share(double value, const char *name, cog_error *error) {
    return value > 0 && value <= 1
               ? COG_OK
               : error_about(error, COG_ERR_USAGE, name, "a %s of %g: choose above 0 and at most 1",
                             name, value);
}
