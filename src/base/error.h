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

/* Fills `error` and evaluates to `status`, so that a failing call is one statement. These are
 * macros so that the compiler and the analyzers see that the result is not COG_OK. */
#define error_set(error, status, ...)                                                              \
    (error_fill(error, status, 0, __VA_ARGS__), error_status(status))
/* Also records a position: a line or a byte offset, as the message states. */
#define error_set_at(error, status, position, ...)                                                 \
    (error_fill(error, status, position, __VA_ARGS__), error_status(status))

/* Also records the option that the message is about, by its name in cognate.h. */
#define error_about(error, status, option, ...)                                                    \
    (error_fill(error, status, 0, __VA_ARGS__), error_name(error, option), error_status(status))
void error_name(cog_error *error, const char *option);

/* COG_ERR_MEMORY; the message names what the memory was for. */
static inline cog_status error_memory(cog_error *error, size_t size_bytes, const char *what) {
    return error_set(error, COG_ERR_MEMORY, "out of memory: %zu bytes for %s", size_bytes, what);
}

/* Converts errno after a failed system call on `path` to a status (a full disk is COG_ERR_DISK). */
cog_status error_system(cog_error *error, const char *doing, const char *path);

/* Returns from the calling function if the call fails. */
#define TRY(...)                                                                                   \
    do {                                                                                           \
        cog_status try_status = (__VA_ARGS__);                                                     \
        if (try_status != COG_OK)                                                                  \
            return try_status;                                                                     \
    } while (0)

/* Ends a function that creates an object: sets *result to the object, or frees the object if
 * `status` is a failure. Evaluates to `status`, which must be a variable. */
#define HAND_OUT(status, object, free_object, result)                                              \
    ((status) == COG_OK ? (void)(*(result) = (object)) : free_object(object), (status))

/* Makes the next call of a chain unless an earlier call failed. Resources are released after the
 * chain. */
#define THEN(status, ...)                                                                          \
    do {                                                                                           \
        if ((status) == COG_OK)                                                                    \
            (status) = (__VA_ARGS__);                                                              \
    } while (0)
