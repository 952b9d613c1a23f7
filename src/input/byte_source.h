/* The bytes of one input file after another, decompressed where their first bytes say so. What
 * comes from a pipe can be kept in a scratch file on the way, to be read again. */
#pragma once

#include <stdatomic.h>

#include "base/compression.h"
#include "base/error.h"
#include "base/hash.h"

/* Zero-initialise with descriptor -1; byte_source_free releases. */
struct byte_source {
    int descriptor;
    bool owns_descriptor;
    int spool; /* descriptor of the scratch file that receives what is read, or -1 */
    const char *name;
    struct codec *decompressor;     /* NULL for plain bytes */
    char *buffer;                   /* bytes as they lie in the file */
    struct bytes_view pending;      /* those of them that have not been taken */
    bool ended;                     /* the file has no more */
    XXH64_state_t digest;           /* of the bytes of this file so far, as they lie there */
    atomic_uint_fast64_t raw_bytes; /* read from files so far, over all of them */
};

/* Starts on an open descriptor; name is borrowed until byte_source_stop. Fails when the name's
 * extension promises a compression that the bytes do not have. */
cog_status byte_source_start(struct byte_source *source, int descriptor, bool owns_descriptor,
                             const char *name, int spool, cog_error *error);
/* Up to `size` bytes; *got is 0 at the end of the file only. */
cog_status byte_source_read(struct byte_source *source, char *data, size_t size, size_t *got,
                            cog_error *error);
/* Reads what is left for the sake of the scratch file. */
cog_status byte_source_drain(struct byte_source *source, cog_error *error);
void byte_source_stop(struct byte_source *source);
void byte_source_free(struct byte_source *source);
