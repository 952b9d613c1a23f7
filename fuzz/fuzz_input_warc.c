/* Records of crawls: cutting, chunks, compression, character sets and HTML. */
#include "read_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_bytes(INPUT_WARC, false, data, size);
    return 0;
}
