/* Rows of query logs. */
#include "read_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_bytes(INPUT_QUERYLOG, false, data, size);
    return 0;
}
