/* Whole pieces to and from file descriptors: what the system does in part, or interrupts, is gone
 * on with. */
#pragma once

#include "base/error.h"

/* name stands in messages. */
cog_status descriptor_write(int descriptor, const void *data, size_t size, const char *name,
                            cog_error *error);
cog_status descriptor_write_at(int descriptor, const void *data, size_t size, uint64_t offset,
                               const char *name, cog_error *error);
/* A file that ends before is an error. */
cog_status descriptor_read_at(int descriptor, void *data, size_t size, uint64_t offset,
                              const char *name, cog_error *error);
