/* Opens, verifies and reads arbitrary bytes as a container. The checksums would stop nearly every
 * mutation at the door, so a first byte of 1 asks to put the right ones into header and table. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "index/segment.h"
#include "repair_checksums.h"

static volatile uint64_t sink;

/* Reads what a segment that nobody verified offers; fuzz_index searches segments. */
static void use_segment(const uint8_t *data, size_t size) {
    struct segment segment;
    cog_error error;
    if (segment_open_memory("fuzz", data, size, &segment, &error) != COG_OK)
        return;
    segment_verify(&segment, &error);
    for (size_t row = 0; row < segment.rows && row < 100; row++) {
        struct bytes_view id;
        const uint32_t *columns;
        const float *values;
        size_t count;
        if (segment_id(&segment, row, &id))
            sink += hash_bytes(id.data, id.size);
        if (segment_vector(&segment, row, &columns, &values, &count))
            sink += hash_bytes(columns, count * sizeof *columns);
    }
    segment_close(&segment);
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
        for (unsigned i = 0; i < container.section_count; i++) {
            struct bytes_view view;
            if (!container_find(&container, container.sections[i].kind, &view))
                abort();
            sink += hash_bytes(view.data, view.size);
        }
    }
    container_close(&container);
    use_segment(data, size);
    free(data);
    return 0;
}
