#include "base/descriptor.h"

#include <errno.h>
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

static cog_status move_all(enum direction direction, int descriptor, char *data, size_t size,
                           uint64_t offset, const char *name, cog_error *error) {
    while (size > 0) {
        ssize_t done = move_some(direction, descriptor, data, size, offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done == 0)
            return error_set(error, COG_ERR_IO, "%s: ends too early", name);
        if (done < 0)
            return error_system(error, direction == READ_AT ? "read" : "write", name);
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
