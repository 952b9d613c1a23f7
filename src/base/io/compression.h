/* Compression and decompression of byte streams: gzip, bzip2, xz and zstd. A codec handles one
 * stream in one direction; free it with codec_free. Concatenated members decompress as one stream.
 * A damaged or truncated stream is an error, unlike one that ends. */
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
/* By the suffix of a file name; *suffix_size receives its length (0 if there is none). */
enum compression compression_of_name(const char *name, size_t *suffix_size);
/* Whether the name has this ending, before the suffix of a compressed file. */
bool name_ends_in(const char *name, const char *ending);
/* By the first bytes. Pass at least 10, fewer only if the file is shorter. */
enum compression compression_of_bytes(const char *data, size_t size);

struct codec;

/* NULL if the library cannot start, usually because memory ran out. compression is not
 * COMPRESSION_NONE. */
struct codec *compressor_create(enum compression compression);
struct codec *decompressor_create(enum compression compression);
void codec_free(struct codec *codec);
/* Consumes bytes from the front of *input and writes at most `capacity` bytes to `output`. Set
 * input_ended if nothing follows *input; call a compressor until it is complete. COG_ERR_INPUT for
 * damaged bytes, COG_ERR_MEMORY if the library ran out of memory. */
cog_status codec_run(struct codec *codec, struct bytes_view *input, bool input_ended, char *output,
                     size_t capacity, size_t *produced);
/* Compressing: all input and the end of the stream have been written. Decompressing: the bytes so
 * far end with a whole member, the only place where a file may end. */
bool codec_is_complete(const struct codec *codec);
