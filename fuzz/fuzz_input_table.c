/* Rows of csv, tsv and lines of text: the first byte chooses, and for tables also the delimiter and
 * whether there is a header row. */
#include "read_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    static const enum input_format formats[] = {INPUT_CSV, INPUT_TSV, INPUT_TXT, INPUT_TXT};
    struct reader_options options;
    reader_options_init(&options);
    options.format = formats[data[0] % 4];
    options.lines = data[0] % 4 == 2;
    if (options.format != INPUT_TXT) {
        options.delimiter = data[0] & 0x40 ? ';' : 0;
        options.no_header = data[0] & 0x80;
        options.text_field = options.no_header ? "2" : "text";
    }
    read_with(&options, data + 1, size - 1);
    return 0;
}
