#include "base/temporaries.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct temporary {
    struct temporary *next, **link; /* link: what points here */
    bool is_folder;
    char path[];
};

/* The list. Names come into being and go under its lock, so that none is missed. */
static struct temporary *first;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct temporary *allocate(const char *target, bool is_folder, size_t *size,
                                  cog_error *error) {
    *size = strlen(target) + 48; /* of the numbers behind it */
    struct temporary *temporary = malloc(sizeof *temporary + *size);
    if (!temporary)
        error_memory(error, *size, "a file name");
    else
        temporary->is_folder = is_folder;
    return temporary;
}

static void list(struct temporary *temporary) {
    temporary->next = first;
    temporary->link = &first;
    if (first)
        first->link = &temporary->next;
    first = temporary;
}

static void forget(struct temporary *temporary) {
    *temporary->link = temporary->next;
    if (temporary->next)
        temporary->next->link = temporary->link;
    free(temporary);
}

/* ---- Creating -------------------------------------------------------------------------------- */

/* False with errno. */
static bool make_file(const char *path, int *descriptor) {
    *descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return *descriptor >= 0;
}

static bool make(struct temporary *temporary, int *descriptor) {
    pthread_mutex_lock(&lock);
    bool made = temporary->is_folder ? mkdir(temporary->path, 0777) == 0
                                     : make_file(temporary->path, descriptor);
    if (made)
        list(temporary);
    pthread_mutex_unlock(&lock);
    return made;
}

/* Other outputs, threads and processes may be writing theirs beside the same target. */
static cog_status create_beside(const char *target, bool is_folder, struct temporary **result,
                                int *descriptor, cog_error *error) {
    size_t size;
    struct temporary *temporary = allocate(target, is_folder, &size, error);
    if (!temporary)
        return COG_ERR_MEMORY;
    for (unsigned attempt = 0;; attempt++) {
        snprintf(temporary->path, size, "%s.tmp.%ld.%u", target, (long)getpid(), attempt);
        if (make(temporary, descriptor)) {
            *result = temporary;
            return COG_OK;
        }
        if (errno == EEXIST)
            continue;
        cog_status status =
            error_system(error, is_folder ? "create the folder" : "create", temporary->path);
        free(temporary);
        return status;
    }
}

cog_status temporary_file_create(const char *target, struct temporary **temporary, int *descriptor,
                                 cog_error *error) {
    return create_beside(target, false, temporary, descriptor, error);
}

cog_status temporary_folder_create(const char *target, struct temporary **temporary,
                                   cog_error *error) {
    return create_beside(target, true, temporary, NULL, error);
}

cog_status temporary_folder_claim(const char *path, struct temporary **result, cog_error *error) {
    size_t size;
    struct temporary *temporary = allocate(path, true, &size, error);
    *result = NULL;
    if (!temporary)
        return COG_ERR_MEMORY;
    strcpy(temporary->path, path);
    if (make(temporary, NULL)) {
        *result = temporary;
        return COG_OK;
    }
    cog_status status =
        errno == EEXIST ? COG_OK : error_system(error, "create the folder", temporary->path);
    free(temporary);
    return status;
}

const char *temporary_path(const struct temporary *temporary) {
    return temporary->path;
}

/* ---- Ending ---------------------------------------------------------------------------------- */

static void remove_tree(const char *path) {
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char *inner = NULL;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            asprintf(&inner, "%s/%s", path, entry->d_name) < 0)
            continue;
        if (unlink(inner) != 0 && errno == EISDIR)
            remove_tree(inner);
        free(inner);
    }
    if (folder)
        closedir(folder);
    rmdir(path);
}

static void erase(const struct temporary *temporary) {
    if (temporary->is_folder)
        remove_tree(temporary->path);
    else
        unlink(temporary->path);
}

void temporary_keep(struct temporary *temporary) {
    if (!temporary)
        return;
    pthread_mutex_lock(&lock);
    forget(temporary);
    pthread_mutex_unlock(&lock);
}

void temporary_remove(struct temporary *temporary) {
    if (!temporary)
        return;
    pthread_mutex_lock(&lock);
    erase(temporary);
    forget(temporary);
    pthread_mutex_unlock(&lock);
}

void cog_abandon_outputs(void) {
    pthread_mutex_lock(&lock);
    for (const struct temporary *each = first; each; each = each->next)
        erase(each);
}
