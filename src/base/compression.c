#include "base/compression.h"

#include <string.h>
#include <strings.h>

const char *compression_name(enum compression compression) {
    static const char *const names[] = {"none", "gzip", "bzip2", "xz", "zstd"};
    return names[compression];
}

enum compression compression_of_name(const char *name, size_t *suffix_size) {
    static const struct {
        const char *suffix;
        enum compression compression;
    } suffixes[] = {{".gz", COMPRESSION_GZIP},   {".gzip", COMPRESSION_GZIP},
                    {".bz2", COMPRESSION_BZIP2}, {".bzip2", COMPRESSION_BZIP2},
                    {".xz", COMPRESSION_XZ},     {".zst", COMPRESSION_ZSTD},
                    {".zstd", COMPRESSION_ZSTD}};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t size = strlen(suffixes[i].suffix);
        if (length > size && strcasecmp(name + length - size, suffixes[i].suffix) == 0) {
            *suffix_size = size;
            return suffixes[i].compression;
        }
    }
    *suffix_size = 0;
    return COMPRESSION_NONE;
}
