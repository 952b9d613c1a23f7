/* One way to undo gzip, bzip2, xz and zstd, bytes in and bytes out. Concatenated members are one
 * stream; what is damaged or stops early is told apart from what ends. */
#pragma once

#include "base/buffer.h"
#include "base/compression.h"
#include "cognate.h"

/* By the first bytes (give 10 or more, fewer only when there are no more). */
enum compression compression_of_bytes(const char *data, size_t size);

struct decompressor;

/* NULL when memory is out. compression is not COMPRESSION_NONE. */
struct decompressor *decompressor_create(enum compression compression);
void decompressor_free(struct decompressor *decompressor);
/* Takes bytes from the front of *input and writes at most `capacity` to `output`. input_ended:
 * nothing follows what is in *input. COG_ERR_INPUT for damaged bytes, COG_ERR_MEMORY when the
 * stream's window does not fit. */
cog_status decompressor_run(struct decompressor *decompressor, struct bytes_view *input,
                            bool input_ended, char *output, size_t capacity, size_t *produced);
/* True where the bytes so far end with a whole member: the only place where a file may end. */
bool decompressor_is_complete(const struct decompressor *decompressor);
