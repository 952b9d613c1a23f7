/* Rows of csv, tsv and lines of text: the first byte chooses. */
#include "read_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    static const enum input_format formats[] = {INPUT_CSV, INPUT_TSV, INPUT_TXT, INPUT_TXT};
    read_bytes(formats[data[0] % 4], data[0] % 4 == 2, data + 1, size - 1);
    return 0;
}
