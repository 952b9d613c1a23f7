#include "base/mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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
