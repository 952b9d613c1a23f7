#include "jobs/link/blocks/vector_files.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/io/output.h"
#include "base/memory.h"

static const char *const file_name = "scratch file in TMPDIR";

cog_status vector_files_open(struct vector_files *vectors, cog_error *error) {
    *vectors = (struct vector_files){.are_open = true, .files = {-1, -1}};
    TRY(scratch_file_open(&vectors->files[0], error));
    return scratch_file_open(&vectors->files[1], error);
}

cog_status vector_files_add(struct vector_files *vectors, const uint32_t *columns,
                            const float *values, size_t count, cog_error *error) {
    TRY(descriptor_write(vectors->files[0], columns, count * sizeof *columns, file_name, error));
    return descriptor_write(vectors->files[1], values, count * sizeof *values, file_name, error);
}

cog_status vector_files_lend(struct vector_files *vectors, struct sparse_matrix *matrix,
                             cog_error *error) {
    if (matrix->offsets[matrix->rows] == 0)
        return COG_OK;
    for (int i = 0; i < 2; i++)
        TRY(mapping_of_descriptor(vectors->files[i], file_name, &vectors->mappings[i], error));
    matrix->columns = (uint32_t *)(void *)vectors->mappings[0].data;
    matrix->values = (float *)(void *)vectors->mappings[1].data;
    return COG_OK;
}

cog_status vector_files_read(const struct vector_files *vectors, uint64_t first, size_t count,
                             uint32_t *columns, float *values, cog_error *error) {
    if (!count)
        return COG_OK;
    TRY(descriptor_read_at(vectors->files[0], columns, count * sizeof *columns,
                           first * sizeof *columns, file_name, error));
    return descriptor_read_at(vectors->files[1], values, count * sizeof *values,
                              first * sizeof *values, file_name, error);
}

void vector_files_close(struct vector_files *vectors, struct sparse_matrix *matrix) {
    if (!vectors->are_open)
        return;
    matrix->columns = NULL;
    matrix->values = NULL;
    for (int i = 0; i < 2; i++) {
        mapping_close(&vectors->mappings[i]);
        if (vectors->files[i] >= 0)
            close(vectors->files[i]);
    }
    *vectors = (struct vector_files){0};
}

/* ---- Resident memory ------------------------------------------------------------------------- */

static void drop_pages(const struct vector_files *sides) {
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < 2; i++) {
            const struct mapping *mapping = &sides[side].mappings[i];
            if (mapping->data)
                (void)madvise((void *)mapping->data, mapping->size, MADV_DONTNEED);
        }
}

/* Between two checks, a thread maps at most a few megabytes. */
static bool guard_stops(void *context, uint64_t done, uint64_t total) {
    const uint64_t interval_ns = 2000000;
    struct vector_guard *guard = context;
    const struct threads_watch *outer = guard->watch.outer;
    uint64_t now = clock_ns(), next = __atomic_load_n(&guard->next_ns, __ATOMIC_RELAXED);
    if (now >= next &&
        __atomic_compare_exchange_n(&guard->next_ns, &next, now + interval_ns, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED) &&
        memory_resident_bytes() > guard->most_bytes)
        drop_pages(guard->sides);
    return outer && outer->stops(outer->context, done, total);
}

void vector_guard_start(struct vector_guard *guard, const struct vector_files sides[2],
                        uint64_t memory_bytes) {
    *guard = (struct vector_guard){
        .watch = {.stops = guard_stops, .context = guard, .outer = threads_watch_current()},
        .sides = sides,
        .most_bytes = memory_bytes - memory_bytes / 8};
    if (memory_bytes && (sides[0].mappings[0].data || sides[1].mappings[0].data))
        threads_watch_set(&guard->watch);
}

void vector_guard_end(struct vector_guard *guard) {
    threads_watch_set(guard->watch.outer);
    drop_pages(guard->sides);
}
