/* One way to make gzip, bzip2, xz and zstd, bytes in and bytes out: the counterpart of
 * input/decompress.h. */
#pragma once

#include <stdbool.h>

#include "base/buffer.h"
#include "base/compression.h"

struct compressor;

/* NULL when the library cannot start, as a rule because memory is out. compression is not
 * COMPRESSION_NONE. */
struct compressor *compressor_create(enum compression compression);
void compressor_free(struct compressor *compressor);
/* Takes bytes from the front of *input and writes at most `capacity` to `output`. input_ended:
 * nothing follows what is in *input; call until the compressor is complete. False when
 * the library fails, which does not say why. */
bool compressor_run(struct compressor *compressor, struct bytes_view *input, bool input_ended,
                    char *output, size_t capacity, size_t *produced);
enum compression compressor_kind(const struct compressor *compressor);
/* True once all that came in, and the end of the stream, has come out. */
bool compressor_is_complete(const struct compressor *compressor);
