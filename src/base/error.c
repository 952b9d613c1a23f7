#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void error_fill(cog_error *error, cog_status status, uint64_t position, const char *format, ...) {
    if (!error)
        return;
    va_list arguments;
    va_start(arguments, format);
    error->status = status;
    error->position = position;
    error->option = NULL;
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
}

void error_name(cog_error *error, const char *option) {
    if (error)
        error->option = option;
}

cog_status error_system(cog_error *error, const char *doing, const char *path) {
    int number = errno;
    cog_status status = COG_ERR_IO;
    if (number == ENOSPC || number == EDQUOT || number == EFBIG)
        status = COG_ERR_DISK;
    else if (number == ENOMEM)
        status = COG_ERR_MEMORY;
    const char *remedy = status != COG_ERR_DISK ? ""
                         : number == EFBIG      ? "; raise the limit on the size of files"
                                                : "; make room on that disk, or use another one";
    return error_set(error, status, "%s: cannot %s: %s%s", path, doing, strerror(number), remedy);
}
