/* Opens, verifies and reads arbitrary bytes as a container. The checksums would stop nearly every
 * mutation at the door, so a first byte of 1 asks to put the right ones into header and table. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "store/encoding.h"
#include "store/settings.h"

static void repair_checksums(uint8_t *data, size_t size) {
    if (size < 64)
        return;
    encode_u64(data + 32, size);
    uint64_t table = decode_u64(data + 24);
    if (table <= size)
        encode_u64(data + 40, hash_bytes(data + table, size - table));
    encode_u64(data + 56, hash_bytes(data, 56));
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_size) {
    if (input_size == 0)
        return 0;
    size_t size = input_size - 1;
    uint8_t *data = aligned_alloc(64, (size + 64) / 64 * 64);
    memcpy(data, input + 1, size);
    if (input[0] == 1)
        repair_checksums(data, size);
    struct container container;
    cog_error error;
    if (container_open_memory("fuzz", data, size, 0, &container, &error) == COG_OK) {
        struct settings settings = {0};
        container_verify(&container, &error);
        if (settings_read(&container, &settings, &error) == COG_OK &&
            !settings_equal(&settings, &settings, NULL))
            abort();
        settings_free(&settings);
        uint64_t sum = 0;
        for (unsigned i = 0; i < container.section_count; i++) {
            struct bytes_view view;
            if (!container_find(&container, container.sections[i].kind, &view))
                abort();
            sum += hash_bytes(view.data, view.size);
        }
        volatile uint64_t sink = sum;
        (void)sink;
    }
    container_close(&container);
    free(data);
    return 0;
}
