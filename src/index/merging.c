#include "index/merging.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

unsigned merging_tier(uint64_t rows, unsigned factor) {
    unsigned tier = 0;
    for (; rows >= factor; rows /= factor)
        tier++;
    return tier;
}

static const char lock_name[] = "merging";

static char *path_in(const char *folder, const char *suffix) {
    char *path = NULL;
    return asprintf(&path, "%s/%s%s", folder, lock_name, suffix) < 0 ? NULL : path;
}

char *merging_path(const char *folder) {
    return path_in(folder, ".cog");
}

bool merging_owns(const char *name) {
    return strcmp(name, lock_name) == 0 || strncmp(name, "merging.cog", 11) == 0;
}

/* Whether the locked file still has its name: the previous holder may have deleted it. */
static bool has_its_name(const char *path, int descriptor) {
    struct stat own, named;
    return fstat(descriptor, &own) == 0 && stat(path, &named) == 0 && own.st_ino == named.st_ino &&
           own.st_dev == named.st_dev;
}

static cog_status try_lock(const char *path, const char *folder, int *lock, cog_error *error) {
    do {
        if (*lock >= 0)
            close(*lock);
        *lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (*lock < 0)
            return error_system(error, "create", path);
        if (flock(*lock, LOCK_EX | LOCK_NB) != 0)
            return errno == EWOULDBLOCK
                       ? error_set(error, COG_ERR_BUSY,
                                   "%s: segments of the index are already being merged; try again "
                                   "later",
                                   folder)
                       : error_system(error, "lock", path);
    } while (!has_its_name(path, *lock));
    return COG_OK;
}

cog_status merging_lock(const char *folder, int *lock, cog_error *error) {
    char *path = path_in(folder, "");
    *lock = -1;
    if (!path)
        return error_memory(error, strlen(folder), "a path");
    cog_status status = try_lock(path, folder, lock, error);
    if (status != COG_OK && *lock >= 0) {
        close(*lock);
        *lock = -1;
    }
    free(path);
    return status;
}

void merging_unlock(const char *folder, int lock) {
    if (lock < 0)
        return;
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        if (merging_owns(entry->d_name))
            unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries)
        closedir(entries);
    close(lock);
}
