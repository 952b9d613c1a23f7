/* Open files: whole reads and writes on file descriptors (interrupted or partial system calls are
 * continued), and files mapped for reading. */
#pragma once

#include "base/error.h"

/* `name` is used in messages. */
cog_status descriptor_write(int descriptor, const void *data, size_t size, const char *name,
                            cog_error *error);
cog_status descriptor_write_at(int descriptor, const void *data, size_t size, uint64_t offset,
                               const char *name, cog_error *error);
/* A file that ends too early is an error. */
cog_status descriptor_read_at(int descriptor, void *data, size_t size, uint64_t offset,
                              const char *name, cog_error *error);

/* Makes new names in a folder durable, where its file system can. */
cog_status folder_sync(const char *folder, cog_error *error);

/* A file mapped for reading. Its bytes are borrowed until mapping_close. */
struct mapping {
    const uint8_t *data;
    size_t size;
};

cog_status mapping_open(const char *path, struct mapping *mapping, cog_error *error);
/* The same for an open file, which may be closed before the mapping; name is used in messages. */
cog_status mapping_of_descriptor(int descriptor, const char *name, struct mapping *mapping,
                                 cog_error *error);
/* Accepts a zeroed mapping; leaves it zeroed. */
void mapping_close(struct mapping *mapping);
