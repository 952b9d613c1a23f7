/* Errors: every call that can fail returns a cog_status and fills an optional cog_error whose
 * message names the file, the place and the remedy. The library never prints and never exits. */
#pragma once

#include "cognate.h"

/* Fills error, which may be NULL. */
void error_fill(cog_error *error, cog_status status, uint64_t position, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static inline cog_status error_status(cog_status status) {
    return status;
}

/* Fills error and gives status, so that a failing call is one statement. Macros, so that the
 * compiler and the analyzers see that the result is not COG_OK. */
#define error_set(error, status, ...)                                                              \
    (error_fill(error, status, 0, __VA_ARGS__), error_status(status))
/* With a position (line or byte offset, as the message says). */
#define error_set_at(error, status, position, ...)                                                 \
    (error_fill(error, status, position, __VA_ARGS__), error_status(status))

/* With the option that the message is about, by its name in cognate.h. */
#define error_about(error, status, option, ...)                                                    \
    (error_fill(error, status, 0, __VA_ARGS__), error_name(error, option), error_status(status))
void error_name(cog_error *error, const char *option);

/* COG_ERR_MEMORY with what could not be had. */
static inline cog_status error_memory(cog_error *error, size_t size_bytes, const char *what) {
    return error_set(error, COG_ERR_MEMORY, "out of memory: %zu bytes for %s", size_bytes, what);
}

/* Turns errno after a failed system call on path into the fitting status (a full disk is
 * COG_ERR_DISK). */
cog_status error_system(cog_error *error, const char *doing, const char *path);

/* Returns the status of a failed call from the function that makes it. */
#define TRY(...)                                                                                   \
    do {                                                                                           \
        cog_status try_status = (__VA_ARGS__);                                                     \
        if (try_status != COG_OK)                                                                  \
            return try_status;                                                                     \
    } while (0)

/* The end of a function that makes an object: gives the object to the caller as *result, or frees
 * it if the status is a failure. The value is the status, which must be a variable. */
#define HAND_OUT(status, object, free_object, result)                                              \
    ((status) == COG_OK ? (void)(*(result) = (object)) : free_object(object), (status))

/* Makes the next call of a chain, unless an earlier one failed: what was taken is released behind
 * the chain. */
#define THEN(status, ...)                                                                          \
    do {                                                                                           \
        if ((status) == COG_OK)                                                                    \
            (status) = (__VA_ARGS__);                                                              \
    } while (0)
