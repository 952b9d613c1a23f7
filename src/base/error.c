#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static cog_status fill(cog_error *error, cog_status status, uint64_t position, const char *format,
                       va_list arguments) {
    if (error) {
        error->status = status;
        error->position = position;
        vsnprintf(error->message, sizeof error->message, format, arguments);
    }
    return status;
}

cog_status error_set(cog_error *error, cog_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, 0, format, arguments);
    va_end(arguments);
    return status;
}

cog_status error_set_at(cog_error *error, cog_status status, uint64_t position, const char *format,
                        ...) {
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, position, format, arguments);
    va_end(arguments);
    return status;
}

cog_status error_memory(cog_error *error, size_t size_bytes, const char *what) {
    return error_set(error, COG_ERR_MEMORY, "out of memory: %zu bytes for %s", size_bytes, what);
}

cog_status error_system(cog_error *error, const char *doing, const char *path) {
    int number = errno;
    cog_status status = COG_ERR_IO;
    if (number == ENOSPC || number == EDQUOT || number == EFBIG)
        status = COG_ERR_DISK;
    else if (number == ENOMEM)
        status = COG_ERR_MEMORY;
    return error_set(error, status, "%s: cannot %s: %s", path, doing, strerror(number));
}
