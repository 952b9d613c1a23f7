/* Compression: gzip, bzip2, xz and zstd, both ways, bytes in and bytes out. A codec either
 * compresses or decompresses one stream; its owner frees it with codec_free. Concatenated members
 * decompress as one stream, and a damaged or truncated stream is told apart from one that ends. */
#pragma once

#include "base/memory.h"
#include "cognate.h"

enum compression {
    COMPRESSION_NONE,
    COMPRESSION_GZIP,
    COMPRESSION_BZIP2,
    COMPRESSION_XZ,
    COMPRESSION_ZSTD
};

const char *compression_name(enum compression compression);
/* By the suffix of a file's name: its length goes to *suffix_size (0 if there is none). */
enum compression compression_of_name(const char *name, size_t *suffix_size);
/* By the first bytes (give 10 or more, fewer only if there are no more). */
enum compression compression_of_bytes(const char *data, size_t size);

struct codec;

/* NULL if the library cannot start, usually because memory ran out. compression is not
 * COMPRESSION_NONE. */
struct codec *compressor_create(enum compression compression);
struct codec *decompressor_create(enum compression compression);
void codec_free(struct codec *codec);
/* Takes bytes from the front of *input and writes at most `capacity` to `output`. input_ended:
 * nothing follows *input; a compressor is then called until it is complete. COG_ERR_INPUT for
 * damaged bytes, COG_ERR_MEMORY if the library fails for want of memory. */
cog_status codec_run(struct codec *codec, struct bytes_view *input, bool input_ended, char *output,
                     size_t capacity, size_t *produced);
/* Compressing: everything that came in, and the end of the stream, has come out. Decompressing: the
 * bytes so far end with a whole member, the only place where a file may end. */
bool codec_is_complete(const struct codec *codec);
