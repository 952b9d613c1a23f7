#include "base/io/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/compression.h"
#include "base/io/files.h"
#include "base/memory.h"

/* ---- Unfinished files and folders ------------------------------------------------------------ */

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

/* A new file or folder next to `target`, named after it; *descriptor of a file can be read and
 * written. Others may be writing theirs next to the same target: the first free name is taken. */
static cog_status create_next_to(const char *target, bool is_folder, struct temporary **result,
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

cog_status temporary_folder_create(const char *target, struct temporary **temporary,
                                   cog_error *error) {
    return create_next_to(target, true, temporary, NULL, error);
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

/* ---- Output files ---------------------------------------------------------------------------- */

enum { OUTPUT_BUFFER_BYTES = 1 << 18, PACKED_BYTES = 1 << 16, SENT_BYTES = 8 << 20 };

struct output {
    char *path;
    struct temporary *temporary; /* NULL for standard output and for devices */
    int descriptor;
    bool borrowed; /* the descriptor is standard output */
    bool broken;
    enum compression compression;
    struct codec *compressor; /* NULL: the bytes are written as they are */
    uint64_t written, sent;   /* bytes; `sent` are on their way to the disk */
    size_t buffered;
    char buffer[OUTPUT_BUFFER_BYTES];
};

/* A target that is a pipe or a device cannot be replaced by rename: it is written in place. */
static bool is_special_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

static cog_status create_temporary(struct output *output, cog_error *error) {
    struct stat replaced;
    cog_status status =
        create_next_to(output->path, false, &output->temporary, &output->descriptor, error);
    if (status == COG_OK && stat(output->path, &replaced) == 0 &&
        fchmod(output->descriptor, replaced.st_mode & 07777) != 0)
        status = error_system(error, "set the mode of", temporary_path(output->temporary));
    return status;
}

static cog_status open_descriptor(struct output *output, cog_error *error) {
    if (strcmp(output->path, "-") == 0) {
        output->descriptor = STDOUT_FILENO;
        output->borrowed = true;
        return COG_OK;
    }
    if (is_special_file(output->path)) {
        output->descriptor = open(output->path, O_WRONLY | O_CLOEXEC);
        return output->descriptor < 0 ? error_system(error, "open for writing", output->path)
                                      : COG_OK;
    }
    return create_temporary(output, error);
}

/* A link stays, and the file behind it is replaced. */
static char *target_of(const char *path) {
    struct stat info;
    char *target = NULL;
    if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode))
        target = realpath(path, NULL);
    return target ? target : strdup(path);
}

/* Memory is what a library that only compresses can be short of. */
static cog_status cannot_compress(const struct output *output, cog_error *error) {
    return error_set(error, COG_ERR_MEMORY, "%s: cannot compress with %s, perhaps out of memory",
                     output->path, compression_name(output->compression));
}

static cog_status open_as(const char *path, enum compression compression, struct output **result,
                          cog_error *error) {
    struct output *output;
    TAKE_ZEROED(output, 1, "an output file", error);
    output->descriptor = -1;
    output->compression = compression;
    output->path = target_of(path);
    cog_status status =
        output->path ? open_descriptor(output, error) : error_memory(error, strlen(path), "a path");
    if (status == COG_OK && compression != COMPRESSION_NONE) {
        output->compressor = compressor_create(compression);
        if (!output->compressor)
            status = cannot_compress(output, error);
    }
    return HAND_OUT(status, output, output_close, result);
}

cog_status output_open(const char *path, struct output **output, cog_error *error) {
    size_t suffix;
    return open_as(path, compression_of_name(path, &suffix), output, error);
}

cog_status output_open_plain(const char *path, struct output **output, cog_error *error) {
    return open_as(path, COMPRESSION_NONE, output, error);
}

static const char *name_of(const struct output *output) {
    return output->borrowed ? "standard output" : output->path;
}

/* Bytes go to the disk while others are made, so that the last sync waits for few. A file system
 * that cannot do it sends them at the end. */
static void send_early(struct output *output, size_t size) {
    output->written += size;
    if (!output->temporary || output->written - output->sent < SENT_BYTES)
        return;
    (void)sync_file_range(output->descriptor, (off_t)output->sent,
                          (off_t)(output->written - output->sent), SYNC_FILE_RANGE_WRITE);
    output->sent = output->written;
}

static cog_status write_bytes(struct output *output, const char *data, size_t size,
                              cog_error *error) {
    if (output->broken)
        return COG_OK;
    cog_status status = descriptor_write(output->descriptor, data, size, name_of(output), error);
    if (status == COG_OK)
        send_early(output, size);
    output->broken = status != COG_OK && errno == EPIPE;
    return output->broken ? COG_OK : status;
}

static cog_status write_packed(struct output *output, struct bytes_view bytes, bool is_last,
                               cog_error *error) {
    char packed[PACKED_BYTES];
    cog_status status = COG_OK;
    while (status == COG_OK &&
           (bytes.size || (is_last && !codec_is_complete(output->compressor)))) {
        size_t size = 0;
        if (codec_run(output->compressor, &bytes, is_last, packed, sizeof packed, &size) != COG_OK)
            return cannot_compress(output, error);
        status = write_bytes(output, packed, size, error);
    }
    return status;
}

static cog_status write_all(struct output *output, const char *data, size_t size,
                            cog_error *error) {
    return output->compressor ? write_packed(output, view_of(data, size), false, error)
                              : write_bytes(output, data, size, error);
}

cog_status output_flush(struct output *output, cog_error *error) {
    size_t size = output->buffered;
    output->buffered = 0;
    return write_all(output, output->buffer, size, error);
}

cog_status output_write(struct output *output, const void *data, size_t size, cog_error *error) {
    if (size == 0)
        return COG_OK;
    if (size > OUTPUT_BUFFER_BYTES - output->buffered)
        TRY(output_flush(output, error));
    if (size >= OUTPUT_BUFFER_BYTES)
        return write_all(output, data, size, error);
    memcpy(output->buffer + output->buffered, data, size);
    output->buffered += size;
    return COG_OK;
}

cog_status output_write_line(struct output *output, const char *data, size_t size,
                             cog_error *error) {
    TRY(output_write(output, data, size, error));
    return size && data[size - 1] != '\n' ? output_write(output, "\n", 1, error) : COG_OK;
}

cog_status output_rewrite(struct output *output, uint64_t offset, const void *data, size_t size,
                          cog_error *error) {
    TRY(output_flush(output, error));
    return descriptor_write_at(output->descriptor, data, size, offset, output->path, error);
}

static cog_status sync_folder_of(const char *path, cog_error *error) {
    char *copy = strdup(path);
    if (!copy)
        return error_memory(error, strlen(path), "a path");
    cog_status status = folder_sync(dirname(copy), error);
    free(copy);
    return status;
}

cog_status output_commit(struct output *output, cog_error *error) {
    cog_status status = output_flush(output, error);
    if (status == COG_OK && output->compressor)
        status = write_packed(output, view_of("", 0), true, error);
    if (status != COG_OK || !output->temporary)
        return status;
    if (fsync(output->descriptor) != 0)
        return error_system(error, "write", output->path);
    if (rename(temporary_path(output->temporary), output->path) != 0)
        return error_system(error, "replace", output->path);
    temporary_keep(output->temporary);
    output->temporary = NULL;
    return sync_folder_of(output->path, error);
}

bool output_is_file(const struct output *output) {
    return output->temporary && !output->compressor;
}

bool output_is_broken(const struct output *output) {
    return output->broken;
}

void output_close(struct output *output) {
    if (!output)
        return;
    if (output->descriptor >= 0 && !output->borrowed)
        close(output->descriptor);
    temporary_remove(output->temporary);
    codec_free(output->compressor);
    FREE(output->path, output);
}

cog_status output_write_file(const char *path, const void *data, size_t size, cog_error *error) {
    struct output *output;
    TRY(output_open(path, &output, error));
    cog_status status = output_write(output, data, size, error);
    THEN(status, output_commit(output, error));
    output_close(output);
    return status;
}

static cog_status open_scratch_in(const char *folder, const char *action, int *descriptor,
                                  cog_error *error) {
    *descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (*descriptor >= 0)
        return COG_OK;
    char path[4096];
    snprintf(path, sizeof path, "%s/cognate.XXXXXX", folder);
    *descriptor = mkostemp(path, O_CLOEXEC);
    if (*descriptor < 0)
        return error_system(error, action, folder);
    unlink(path);
    return COG_OK;
}

cog_status scratch_file_open(int *descriptor, cog_error *error) {
    const char *folder = getenv("TMPDIR");
    return open_scratch_in(folder && *folder ? folder : "/tmp",
                           "create a scratch file in this folder (TMPDIR)", descriptor, error);
}

cog_status scratch_file_open_near(const char *near_path, int *descriptor, cog_error *error) {
    if (!near_path) {
        *descriptor = memfd_create("cognate", MFD_CLOEXEC);
        return *descriptor < 0 ? error_memory(error, 0, "a file in memory") : COG_OK;
    }
    if (strcmp(near_path, "-") == 0 || is_special_file(near_path))
        return scratch_file_open(descriptor, error);
    *descriptor = -1;
    char *copy = strdup(near_path);
    if (!copy)
        return error_memory(error, strlen(near_path), "a path");
    cog_status status =
        open_scratch_in(dirname(copy), "create a scratch file in this folder", descriptor, error);
    free(copy);
    return status;
}

cog_status scratch_memory_take(const char *near_path, size_t size, void **memory,
                               cog_error *error) {
    int descriptor;
    TRY(scratch_file_open_near(near_path, &descriptor, error));
    errno = posix_fallocate(descriptor, 0, (off_t)size);
    cog_status status = COG_OK;
    if (errno == ENOSPC || errno == EFBIG || errno == EDQUOT)
        status =
            error_set(error, COG_ERR_DISK,
                      "no room for %zu bytes next to %s: free some of the disk", size, near_path);
    else if (errno)
        status = error_system(error, "make a scratch file next to", near_path);
    void *data = MAP_FAILED;
    if (status == COG_OK)
        data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (status == COG_OK && data == MAP_FAILED)
        status = error_system(error, "map a scratch file next to", near_path);
    close(descriptor);
    if (status == COG_OK)
        *memory = data;
    return status;
}

void scratch_memory_free(void *memory, size_t size) {
    if (memory)
        munmap(memory, size);
}

enum { ROOM_ON_HEAP_BYTES = 1 << 20 };

cog_status room_take(struct room *room, const char *near_path, size_t count, size_t item_bytes,
                     const char *what, cog_error *error) {
    *room = (struct room){0};
    if (!size_multiply(count, item_bytes, &room->size_bytes))
        return error_memory(error, SIZE_MAX, what);
    room->is_in_file = near_path && room->size_bytes > ROOM_ON_HEAP_BYTES;
    return room->is_in_file ? scratch_memory_take(near_path, room->size_bytes, &room->data, error)
                            : memory_take(&room->data, room->size_bytes + 1, 1, true, what, error);
}

void room_free(struct room *room) {
    if (room->is_in_file)
        scratch_memory_free(room->data, room->size_bytes);
    else
        free(room->data);
    *room = (struct room){0};
}
