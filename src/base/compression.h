/* Kinds of compressed files, and the names that promise them. */
#pragma once

#include <stddef.h>

enum compression {
    COMPRESSION_NONE,
    COMPRESSION_GZIP,
    COMPRESSION_BZIP2,
    COMPRESSION_XZ,
    COMPRESSION_ZSTD
};

const char *compression_name(enum compression compression);
/* By the end of a file's name: its length goes to *suffix_size (0 when there is none). */
enum compression compression_of_name(const char *name, size_t *suffix_size);
