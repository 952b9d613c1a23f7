/* Errors: every call that can fail returns a cog_status and fills an optional cog_error whose
 * message names the file, the place and the remedy. The library never prints and never exits. */
#ifndef COGNATE_BASE_ERROR_H
#define COGNATE_BASE_ERROR_H

#include "cognate.h"

/* Fills error (which may be NULL) and returns status, so that a failing call is one statement. */
cog_status error_set(cog_error *error, cog_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As error_set, with a position (line or byte offset, as the message says). */
cog_status error_set_at(cog_error *error, cog_status status, uint64_t position, const char *format,
                        ...) __attribute__((format(printf, 4, 5)));

/* COG_ERR_MEMORY with what could not be had. */
cog_status error_memory(cog_error *error, size_t size_bytes, const char *what);

/* Turns errno after a failed system call on path into the fitting status (a full disk is
 * COG_ERR_DISK). */
cog_status error_system(cog_error *error, const char *doing, const char *path);

#endif
