/* One way to make gzip, bzip2, xz and zstd, bytes in and bytes out: the counterpart of
 * input/decompress.h. */
#ifndef COGNATE_BASE_COMPRESSOR_H
#define COGNATE_BASE_COMPRESSOR_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/compression.h"
#include "cognate.h"

struct compressor;

/* NULL when memory is out. compression is not COMPRESSION_NONE. */
struct compressor *compressor_create(enum compression compression);
void compressor_free(struct compressor *compressor);
/* Takes bytes from the front of *input and writes at most `capacity` to `output`. input_ended:
 * nothing follows what is in *input; call until the compressor is complete. */
cog_status compressor_run(struct compressor *compressor, struct bytes_view *input, bool input_ended,
                          char *output, size_t capacity, size_t *produced);
/* True once all that came in, and the end of the stream, has come out. */
bool compressor_is_complete(const struct compressor *compressor);

#endif
