/* The headers of numpy files, read as either type. */
#include <stdlib.h>

#include "input/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (int type = NPY_UINT8; type <= NPY_FLOAT32; type++) {
        struct npy_array array = {0};
        cog_error error = {0};
        cog_status status = npy_parse("fuzz", data, size, (enum npy_type)type, &array, &error);
        if (status != COG_OK && !error.message[0])
            abort();
        if (status != COG_OK || !array.rows || !array.columns)
            continue;
        size_t bytes = array.rows * array.columns * (type == NPY_FLOAT32 ? 4 : 1);
        if (array.data < data || array.data + bytes != data + size)
            abort();
    }
    return 0;
}
