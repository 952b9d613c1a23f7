/* Compressed streams: whatever comes out does so in pieces of any size, and damage never crashes.
 * Output is limited, because a few bytes can expand to gigabytes. */
#include "input/input_files.h"
#include "read_bytes.h"

enum { MAX_OUTPUT_BYTES = 1 << 22 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t decompress(int file, size_t piece) {
    static char block[1 << 16];
    struct byte_source source = {.descriptor = -1};
    cog_error error = {0};
    uint64_t total = 0, hash = 0;
    demand(lseek(file, 0, SEEK_SET) == 0);
    cog_status status = byte_source_start(&source, file, false, "fuzz", -1, &error);
    while (status == COG_OK && total < MAX_OUTPUT_BYTES) {
        size_t got = 0;
        size_t left = MAX_OUTPUT_BYTES - total;
        status = byte_source_read(&source, block, left < piece ? left : piece, &got, &error);
        if (status != COG_OK || got == 0)
            break;
        for (size_t i = 0; i < got; i++)
            hash = hash * 31 + (unsigned char)block[i];
        total += got;
    }
    demand(status == COG_OK || error.message[0]);
    byte_source_free(&source);
    /* How much comes out before damage is seen depends on the pieces; what comes of a whole stream
     * not. */
    return status == COG_OK ? hash_pair(hash, total) : (uint64_t)status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static int file = -1;
    if (file < 0)
        file = memfd_create("input", 0);
    demand(file >= 0 && ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size);
    uint64_t large = decompress(file, 1 << 16);
    demand(size == 0 || large == decompress(file, 1 + data[size - 1] % 97 * 13));
    return 0;
}
