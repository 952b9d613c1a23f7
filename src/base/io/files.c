#include "base/io/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum direction { APPEND, WRITE_AT, READ_AT };

static ssize_t move_some(enum direction direction, int descriptor, char *data, size_t size,
                         uint64_t offset) {
    switch (direction) {
    case APPEND:
        return write(descriptor, data, size);
    case WRITE_AT:
        return pwrite(descriptor, data, size, (off_t)offset);
    default:
        return pread(descriptor, data, size, (off_t)offset);
    }
}

/* A scratch file has no name: its folder says which disk is full. */
static cog_status writing_failed(int descriptor, const char *name, cog_error *error) {
    static const char deleted[] = " (deleted)";
    const int number = errno;
    const char *temporary = getenv("TMPDIR");
    char link[32], target[4096], where[4352];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    const ssize_t size = readlink(link, target, sizeof target - 1);
    target[size > 0 ? size : 0] = 0;
    char *end = strstr(target, deleted), *slash = strrchr(target, '/');
    errno = number;
    if (target[0] != '/' || !end || end[sizeof deleted - 1])
        return error_system(error, "write", name);
    slash[slash == target] = 0;
    const bool is_temporary = strcmp(target, temporary && *temporary ? temporary : "/tmp") == 0;
    if (strstr(name, "TMPDIR"))
        snprintf(where, sizeof where, "%s (%s)", name, target);
    else
        snprintf(where, sizeof where, "%s in the folder %s%s", name, target,
                 is_temporary ? " (TMPDIR)" : "");
    errno = number;
    return error_system(error, "write", where);
}

static cog_status move_all(enum direction direction, int descriptor, char *data, size_t size,
                           uint64_t offset, const char *name, cog_error *error) {
    while (size > 0) {
        ssize_t done = move_some(direction, descriptor, data, size, offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done == 0)
            return error_set(error, COG_ERR_IO, "%s: ends too early", name);
        if (done < 0)
            return direction == READ_AT ? error_system(error, "read", name)
                                        : writing_failed(descriptor, name, error);
        data += done;
        offset += (uint64_t)done;
        size -= (size_t)done;
    }
    return COG_OK;
}

cog_status descriptor_write(int descriptor, const void *data, size_t size, const char *name,
                            cog_error *error) {
    return move_all(APPEND, descriptor, (char *)data, size, 0, name, error);
}

cog_status descriptor_write_at(int descriptor, const void *data, size_t size, uint64_t offset,
                               const char *name, cog_error *error) {
    return move_all(WRITE_AT, descriptor, (char *)data, size, offset, name, error);
}

cog_status descriptor_read_at(int descriptor, void *data, size_t size, uint64_t offset,
                              const char *name, cog_error *error) {
    return move_all(READ_AT, descriptor, data, size, offset, name, error);
}

cog_status mapping_of_descriptor(int descriptor, const char *name, struct mapping *mapping,
                                 cog_error *error) {
    struct stat info;
    *mapping = (struct mapping){0};
    if (fstat(descriptor, &info) != 0)
        return error_system(error, "open", name);
    if (!S_ISREG(info.st_mode))
        return error_set(error, COG_ERR_INPUT, "%s: not a regular file; it cannot be mapped", name);
    if (info.st_size == 0)
        return COG_OK;
    void *data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (data == MAP_FAILED)
        return error_system(error, "map", name);
    *mapping = (struct mapping){data, (size_t)info.st_size};
    return COG_OK;
}

cog_status folder_sync(const char *folder, cog_error *error) {
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    cog_status status = COG_OK;
    if (descriptor < 0 || (fsync(descriptor) != 0 && errno != EINVAL))
        status = error_system(error, "sync the folder", folder);
    if (descriptor >= 0)
        close(descriptor);
    return status;
}

cog_status mapping_open(const char *path, struct mapping *mapping, cog_error *error) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    *mapping = (struct mapping){0};
    if (descriptor < 0)
        return error_system(error, "open", path);
    cog_status status = mapping_of_descriptor(descriptor, path, mapping, error);
    close(descriptor);
    return status;
}

void mapping_close(struct mapping *mapping) {
    if (mapping->data)
        munmap((void *)mapping->data, mapping->size);
    *mapping = (struct mapping){0};
}
