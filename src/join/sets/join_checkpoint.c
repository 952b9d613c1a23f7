#include "join/sets/join_checkpoint.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cpu.h"

#define CONTAINER_JOIN CONTAINER_TAG('j', 'o', 'i', 'n')
#define SECTION_NUMBERS CONTAINER_TAG('n', 'u', 'm', 'b')

enum {
    NUMBERS_MOST = 32,
    COST_TIMES = 20 /* multiple of a checkpoint's duration that must pass before the next */
};

struct join_folder join_folder_in(const char *folder, const char *name) {
    return (struct join_folder){folder, name, 250000000, 16 << 20};
}

void join_checkpoints_begin(struct join_checkpoints *checkpoints, const struct join_folder *work,
                            uint64_t key) {
    *checkpoints = (struct join_checkpoints){.work = work, .key = key};
    if (work)
        checkpoints->next_ns = clock_ns() + work->interval_ns;
}

bool join_checkpoints_are_due(const struct join_checkpoints *checkpoints) {
    return checkpoints->work && clock_ns() >= checkpoints->next_ns;
}

size_t join_checkpoints_part_end(const struct join_checkpoints *checkpoints,
                                 const struct set_file *file, size_t begin) {
    size_t end;
    if (!checkpoints->work || begin >= file->row_count)
        return file->row_count;
    const uint64_t end_offset = file->rows[begin].offset + checkpoints->work->part_bytes;
    FIND_FIRST_NOT(end, begin + 1, file->row_count, file->rows[end].offset < end_offset);
    return end;
}

static cog_status path_of(const struct join_checkpoints *checkpoints, const char *part, char **path,
                          cog_error *error) {
    const struct join_folder *work = checkpoints->work;
    const size_t size = strlen(work->folder) + strlen(work->name) + strlen(part) + 3;
    TAKE(*path, size, "a path", error);
    snprintf(*path, size, "%s/%s-%s", work->folder, work->name, part);
    return COG_OK;
}

static uint32_t section_of(size_t array) {
    return CONTAINER_TAG('a', 'r', 'r', 'a' + array);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static cog_status write_sections(const struct join_checkpoints *checkpoints,
                                 struct container_writer *writer, const uint64_t *numbers,
                                 size_t number_count, const struct checkpoint_array *arrays,
                                 size_t array_count, cog_error *error) {
    uint64_t all[NUMBERS_MOST + 1] = {checkpoints->key};
    memcpy(all + 1, numbers, number_count * sizeof *numbers);
    TRY(container_writer_section(writer, SECTION_NUMBERS, all, (number_count + 1) * sizeof *all,
                                 error));
    for (size_t i = 0; i < array_count; i++)
        TRY(container_writer_section(writer, section_of(i), arrays[i].data, arrays[i].size_bytes,
                                     error));
    return container_writer_commit(writer, error);
}

cog_status join_checkpoint_save(struct join_checkpoints *checkpoints, const char *part,
                                const uint64_t *numbers, size_t number_count,
                                const struct checkpoint_array *arrays, size_t array_count,
                                cog_error *error) {
    const uint64_t start = clock_ns();
    struct container_writer *writer = NULL;
    char *path;
    TRY(path_of(checkpoints, part, &path, error));
    cog_status status = container_writer_open(path, CONTAINER_JOIN, &writer, error);
    THEN(status,
         write_sections(checkpoints, writer, numbers, number_count, arrays, array_count, error));
    container_writer_close(writer);
    free(path);
    const uint64_t end = clock_ns(), pause = COST_TIMES * (end - start);
    const uint64_t least = checkpoints->work->interval_ns;
    checkpoints->next_ns = end + (least == 0 ? 0 : pause > least ? pause : least);
    return status;
}

void join_checkpoint_remove(const struct join_checkpoints *checkpoints, const char *part) {
    char *path = NULL;
    if (checkpoints->work && path_of(checkpoints, part, &path, NULL) == COG_OK)
        unlink(path);
    free(path);
}

cog_status join_checkpoint_file(const struct join_checkpoints *checkpoints, const char *part,
                                int *descriptor, char **path, cog_error *error) {
    TRY(path_of(checkpoints, part, path, error));
    *descriptor = open(*path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    return *descriptor < 0 ? error_system(error, "open", *path) : COG_OK;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static bool read_numbers(const struct join_checkpoints *checkpoints, const struct container *saved,
                         uint64_t *numbers, size_t number_count) {
    struct bytes_view view;
    uint64_t key;
    if (!container_find(saved, SECTION_NUMBERS, &view) ||
        view.size != (number_count + 1) * sizeof *numbers)
        return false;
    memcpy(&key, view.data, sizeof key);
    memcpy(numbers, view.data + sizeof key, number_count * sizeof *numbers);
    return key == checkpoints->key;
}

bool join_checkpoint_open(const struct join_checkpoints *checkpoints, const char *part,
                          uint64_t *numbers, size_t number_count, struct container *saved) {
    char *path = NULL;
    *saved = (struct container){0};
    if (!checkpoints->work || path_of(checkpoints, part, &path, NULL) != COG_OK)
        return false;
    const bool counts = access(path, F_OK) == 0 &&
                        container_open(path, CONTAINER_JOIN, saved, NULL) == COG_OK &&
                        read_numbers(checkpoints, saved, numbers, number_count) &&
                        container_verify(saved, NULL) == COG_OK;
    if (!counts)
        container_close(saved);
    free(path);
    return counts;
}

size_t join_checkpoint_size(const struct container *saved, size_t array) {
    struct bytes_view view;
    return container_find(saved, section_of(array), &view) ? view.size : 0;
}

bool join_checkpoint_copy(const struct container *saved, size_t array, void *to,
                          size_t size_bytes) {
    struct bytes_view view = {NULL, 0};
    if (!container_find(saved, section_of(array), &view) || view.size != size_bytes)
        return false;
    if (size_bytes)
        memcpy(to, view.data, size_bytes);
    return true;
}
