/* The fixed numbers of the container format that its writer and its reader share. */
#pragma once

#include "store/container.h"

#define CONTAINER_MAGIC                                                                            \
    "\x89"                                                                                         \
    "COG\r\n\x1a\n"

enum {
    CONTAINER_MAGIC_BYTES = 8,
    CONTAINER_HEADER_BYTES = 64,
    CONTAINER_ENTRY_BYTES = 32,
    CONTAINER_MINIMUM_READER = 1, /* what files written today ask for */
};

static inline size_t container_padding(uint64_t position) {
    return (size_t)(-position % CONTAINER_ALIGNMENT_BYTES);
}
