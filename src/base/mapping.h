/* A file mapped for reading. Its bytes are borrowed until mapping_close. */
#pragma once

#include "base/error.h"

struct mapping {
    const uint8_t *data;
    size_t size;
};

cog_status mapping_open(const char *path, struct mapping *mapping, cog_error *error);
/* The same of an open file, which the map outlives; name stands in messages. */
cog_status mapping_of_descriptor(int descriptor, const char *name, struct mapping *mapping,
                                 cog_error *error);
/* Accepts a zeroed mapping; leaves it zeroed. */
void mapping_close(struct mapping *mapping);
