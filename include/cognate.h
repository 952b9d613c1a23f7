/* Cognate: finds documents that say the same thing.
 *
 * This header is the whole public C API, in the order a user meets it. Calls that can fail return a
 * cog_status and fill an optional cog_error; handles are opaque and their free accepts NULL; inputs
 * are borrowed for the call unless a comment says otherwise.
 */
#ifndef COGNATE_H
#define COGNATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COG_API __attribute__((visibility("default")))

enum { COG_MAX_THREADS = 256 };

/* ---- Errors
 * -------------------------------------------------------------------------------------- */

typedef enum cog_status {
    COG_OK = 0,
    COG_ERR_USAGE,     /* an argument or a combination of options is wrong */
    COG_ERR_INPUT,     /* a file or a document is not what it should be */
    COG_ERR_IO,        /* a system call on a file failed */
    COG_ERR_FORMAT,    /* a Cognate file is damaged, foreign, or of a later version */
    COG_ERR_MEMORY,    /* memory, or the memory budget, is out */
    COG_ERR_DISK,      /* the disk is full */
    COG_ERR_CANCELLED, /* the progress callback said stop */
} cog_status;

typedef struct cog_error {
    cog_status status;
    uint64_t position; /* line or byte offset, as the message says; 0 where there is none */
    char message[1024];
} cog_error;

#ifdef __cplusplus
}
#endif

#endif
