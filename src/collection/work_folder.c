#include "collection/work_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/memory.h"

#define CONTAINER_WORK CONTAINER_TAG('w', 'o', 'r', 'k')

static const uint64_t interval_ns = 3000000000;

/* The keys of a progress, in the order of the struct's fields. */
static const char *const progress_keys[] = {"progress: collection",   "progress: records",
                                            "progress: first row",    "progress: rows",
                                            "progress: set bytes",    "progress: bad records",
                                            "progress: reject bytes", "progress: complete"};
enum { PROGRESS_NUMBERS = sizeof progress_keys / sizeof *progress_keys };

char *work_folder_file(const struct work_folder *folder, const char *name) {
    struct buffer path = {0};
    if (!buffer_printf(&path, "%s/%s", folder->path, name) || !buffer_append(&path, "", 1)) {
        buffer_free(&path);
        return NULL;
    }
    return path.data;
}

static cog_status open_file(const struct work_folder *folder, const char *name, int *descriptor,
                            cog_error *error) {
    char *path = work_folder_file(folder, name);
    if (!path)
        return error_memory(error, strlen(folder->path), "a path");
    *descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    cog_status status = *descriptor < 0 ? error_system(error, "open", path) : COG_OK;
    free(path);
    return status;
}

static cog_status lock_folder(struct work_folder *folder, cog_error *error) {
    if (mkdir(folder->path, 0777) != 0 && errno != EEXIST)
        return error_system(error, "make the folder", folder->path);
    folder->lock = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->lock < 0)
        return error_system(error, "open the folder", folder->path);
    if (flock(folder->lock, LOCK_EX | LOCK_NB) == 0)
        return COG_OK;
    return errno == EWOULDBLOCK
               ? error_set(error, COG_ERR_BUSY, "%s: another process is using this folder",
                           folder->path)
               : error_system(error, "lock the folder", folder->path);
}

/* Whether a file is an unfinished version of a file that jobs replace as a whole. */
static bool is_unfinished(const char *name) {
    return strstr(name, ".tmp.") &&
           (strncmp(name, "state.", 6) == 0 || strncmp(name, "join-", 5) == 0);
}

/* A folder without a state is not a work folder, so files in it belong to somebody else. */
static cog_status check_empty(const struct work_folder *folder, cog_error *error) {
    DIR *entries = opendir(folder->path);
    if (!entries)
        return error_system(error, "read the folder", folder->path);
    cog_status status = COG_OK;
    for (const struct dirent *entry; status == COG_OK && (entry = readdir(entries));)
        if (entry->d_name[0] != '.' && !is_unfinished(entry->d_name))
            status = error_about(error, COG_ERR_USAGE, "work",
                                 "%s: holds other files, such as '%.100s'; name a new folder for "
                                 "the work, or an empty one",
                                 folder->path, entry->d_name);
    closedir(entries);
    return status;
}

/* Removes unfinished files left by killed jobs. */
static void remove_unfinished(const struct work_folder *folder) {
    DIR *entries = opendir(folder->path);
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        char *path = is_unfinished(entry->d_name) ? work_folder_file(folder, entry->d_name) : NULL;
        if (path)
            unlink(path);
        free(path);
    }
    if (entries)
        closedir(entries);
}

/* ---- State ----------------------------------------------------------------------------------- */

static void numbers_of(const struct work_progress *progress, uint64_t numbers[PROGRESS_NUMBERS]) {
    const uint64_t all[] = {progress->collection,   progress->records,    progress->first_row,
                            progress->rows,         progress->set_bytes,  progress->bad_records,
                            progress->reject_bytes, progress->is_complete};
    memcpy(numbers, all, sizeof all);
}

static cog_status write_state(const struct settings *state, const char *path, cog_error *error) {
    struct container_writer *writer = NULL;
    cog_status status = container_writer_open(path, CONTAINER_WORK, &writer, error);
    THEN(status, settings_write(state, writer, error));
    THEN(status, container_writer_commit(writer, error));
    container_writer_close(writer);
    return status;
}

/* Replaces the state by one with this progress. */
static cog_status put_state(const struct work_folder *folder, const struct work_progress *progress,
                            const char *path, cog_error *error) {
    struct settings state = {0};
    uint64_t numbers[PROGRESS_NUMBERS];
    numbers_of(progress, numbers);
    cog_status status = settings_copy(&state, &folder->made_by, error);
    for (size_t i = 0; i < PROGRESS_NUMBERS; i++)
        THEN(status, settings_set_u64(&state, progress_keys[i], numbers[i], error));
    THEN(status, write_state(&state, path, error));
    settings_free(&state);
    return status;
}

cog_status work_folder_commit(struct work_folder *folder, const struct work_progress *progress,
                              cog_error *error) {
    char *path = work_folder_file(folder, "state");
    cog_status status = path ? COG_OK : error_memory(error, strlen(folder->path), "a path");
    if (status == COG_OK && (fdatasync(folder->sets) != 0 || fdatasync(folder->rows) != 0 ||
                             fdatasync(folder->rejects) != 0))
        status = error_system(error, "write", folder->path);
    THEN(status, put_state(folder, progress, path, error));
    free(path);
    if (status == COG_OK)
        folder->progress = *progress;
    folder->next_ns = clock_ns() + interval_ns;
    return status;
}

bool work_folder_is_due(const struct work_folder *folder) {
    return clock_ns() >= folder->next_ns;
}

/* A difference in words, as numbers that stand for files mean nothing to a reader. */
static const char *name_difference(const char *difference) {
    static const struct {
        const char *key, *words;
    } names[] = {{"input files", "its input files differ or have changed"},
                 {"reference files", "its reference files differ or have changed"},
                 {"reference index", "its reference index differs or has changed"},
                 {"short texts", "its terms are made differently"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(difference, names[i].key, strlen(names[i].key)) == 0)
            return names[i].words;
    return difference;
}

/* Compares the settings in the state with those of the job. */
static cog_status check_made_by(const struct work_folder *folder, const struct settings *state,
                                cog_error *error) {
    char difference[SETTINGS_DIFFERENCE_BYTES];
    struct settings expected = {0};
    cog_status status = settings_copy(&expected, &folder->made_by, error);
    for (size_t i = 0; i < PROGRESS_NUMBERS; i++) {
        uint64_t number = 0;
        settings_get_u64(state, progress_keys[i], &number);
        THEN(status, settings_set_u64(&expected, progress_keys[i], number, error));
    }
    if (status == COG_OK && !settings_equal(&expected, state, difference))
        status = error_about(error, COG_ERR_USAGE, "work",
                             "%s: contains the work of another job (%s); name another folder, or "
                             "remove this one",
                             folder->path, name_difference(difference));
    settings_free(&expected);
    return status;
}

static void read_progress(const struct settings *state, struct work_progress *progress) {
    uint64_t numbers[PROGRESS_NUMBERS] = {0};
    for (size_t i = 0; i < PROGRESS_NUMBERS; i++)
        settings_get_u64(state, progress_keys[i], &numbers[i]);
    *progress = (struct work_progress){numbers[0], numbers[1], numbers[2], numbers[3],
                                       numbers[4], numbers[5], numbers[6], numbers[7] != 0};
}

static cog_status read_state(struct work_folder *folder, const char *path, cog_error *error) {
    struct container container = {0};
    struct settings state = {0};
    cog_status status = container_open(path, CONTAINER_WORK, &container, error);
    THEN(status, container_verify(&container, error));
    THEN(status, settings_read(&container, &state, error));
    if (status == COG_OK)
        read_progress(&state, &folder->progress);
    const struct work_progress *progress = &folder->progress;
    bool has_work =
        progress->rows || progress->records || progress->collection || progress->is_complete;
    THEN(status, has_work ? check_made_by(folder, &state, error)
                          : put_state(folder, &folder->progress, path, error));
    settings_free(&state);
    container_close(&container);
    return status;
}

/* The state is written before the other files; it marks the folder as ours. */
static cog_status begin_state(const struct work_folder *folder, const char *path,
                              cog_error *error) {
    TRY(check_empty(folder, error));
    return put_state(folder, &folder->progress, path, error);
}

static cog_status load_state(struct work_folder *folder, bool resume, cog_error *error) {
    char *path = work_folder_file(folder, "state");
    if (!path)
        return error_memory(error, strlen(folder->path), "a path");
    cog_status status = access(path, F_OK) == 0 ? read_state(folder, path, error)
                                                : begin_state(folder, path, error);
    free(path);
    if (status == COG_OK && folder->progress.rows && !folder->progress.is_complete && !resume)
        status = error_about(error, COG_ERR_USAGE, "resume",
                             "%s: contains the work of an unfinished job; resume it, or remove "
                             "the folder",
                             folder->path);
    return status;
}

/* Discards what a stopped job wrote after its last commit. */
static cog_status cut_files(const struct work_folder *folder, size_t row_bytes, cog_error *error) {
    const struct {
        int descriptor;
        uint64_t end;
    } files[] = {{folder->sets, folder->progress.set_bytes},
                 {folder->rows, folder->progress.rows * row_bytes},
                 {folder->rejects, folder->progress.reject_bytes}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct stat info;
        if (fstat(files[i].descriptor, &info) != 0)
            return error_system(error, "read", folder->path);
        if ((uint64_t)info.st_size < files[i].end)
            return error_set(
                error, COG_ERR_FORMAT,
                "%s: files are shorter than they were; remove the folder and start again",
                folder->path);
        if (ftruncate(files[i].descriptor, (off_t)files[i].end) != 0)
            return error_system(error, "write", folder->path);
    }
    return COG_OK;
}

cog_status work_folder_open(const char *path, const struct settings *made_by, size_t row_bytes,
                            bool resume, struct work_folder **result, cog_error *error) {
    struct work_folder *folder;
    TAKE_ZEROED(folder, 1, "a work folder", error);
    folder->lock = folder->sets = folder->rows = folder->rejects = -1;
    folder->path = strdup(path);
    folder->next_ns = clock_ns() + interval_ns;
    cog_status status = folder->path ? COG_OK : error_memory(error, strlen(path), "a path");
    THEN(status, settings_copy(&folder->made_by, made_by, error));
    THEN(status, lock_folder(folder, error));
    THEN(status, load_state(folder, resume, error));
    if (status == COG_OK)
        remove_unfinished(folder);
    THEN(status, open_file(folder, "sets", &folder->sets, error));
    THEN(status, open_file(folder, "rows", &folder->rows, error));
    THEN(status, open_file(folder, "rejects", &folder->rejects, error));
    THEN(status, cut_files(folder, row_bytes, error));
    return HAND_OUT(status, folder, work_folder_close, result);
}

void work_folder_close(struct work_folder *folder) {
    if (!folder)
        return;
    const int descriptors[] = {folder->lock, folder->sets, folder->rows, folder->rejects};
    for (size_t i = 0; i < sizeof descriptors / sizeof *descriptors; i++)
        if (descriptors[i] >= 0)
            close(descriptors[i]);
    settings_free(&folder->made_by);
    FREE(folder->path, folder);
}
