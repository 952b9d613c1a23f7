#include "base/mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

cog_status mapping_open(const char *path, struct mapping *mapping, cog_error *error) {
    *mapping = (struct mapping){0};
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (descriptor < 0 || fstat(descriptor, &info) != 0) {
        cog_status status = error_system(error, "open", path);
        if (descriptor >= 0)
            close(descriptor);
        return status;
    }
    cog_status status = COG_OK;
    if (!S_ISREG(info.st_mode)) {
        status =
            error_set(error, COG_ERR_INPUT, "%s: not a regular file; it cannot be mapped", path);
    } else if (info.st_size > 0) {
        void *data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, descriptor, 0);
        if (data == MAP_FAILED)
            status = error_system(error, "map", path);
        else
            *mapping = (struct mapping){data, (size_t)info.st_size};
    }
    close(descriptor);
    return status;
}

void mapping_close(struct mapping *mapping) {
    if (mapping->data)
        munmap((void *)mapping->data, mapping->size);
    *mapping = (struct mapping){0};
}
