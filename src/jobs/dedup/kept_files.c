#include "jobs/dedup/kept_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/compression.h"
#include "base/io/files.h"
#include "base/io/output.h"
#include "base/memory.h"
#include "input/documents/text_bytes.h"
#include "input/input_files.h"
#include "input/table_columns.h"

struct kept_files {
    const struct reader *reader;
    const struct record_marks *marks;
    char *folder;                /* the output folder; NULL: one file */
    bool folder_exists;          /* files are moved into it one by one */
    struct temporary *temporary; /* the folder until it is complete */
    struct output *output;       /* the file being written, or NULL */
    struct record_frame frame;   /* the text around the records in it */
    bool is_empty;               /* nothing is written to it yet */
    bool open_line;              /* the last line in it has no line end */
    uint32_t next;               /* folder: the input file whose output is started next */
};

/* ---- Names below a folder -------------------------------------------------------------------- */

static const struct input_file *file_at(const struct reader *reader, uint32_t file) {
    return &reader_inputs(reader)->files[file];
}

static bool are_documents(const struct reader *reader) {
    return reader_file_count(reader) > 0 && reader_file_is_document(reader, 0);
}

static bool is_folder(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Whether `path` denotes a folder: it exists as one, ends with a slash, or the inputs require one.
 */
static bool means_folder(const struct reader *reader, const char *path) {
    size_t length = strlen(path);
    return (length && path[length - 1] == '/') || is_folder(path) || are_documents(reader);
}

static char *without_slashes(const char *path) {
    char *folder = strdup(path);
    for (size_t length = folder ? strlen(folder) : 0; length > 1 && folder[length - 1] == '/';)
        folder[--length] = '\0';
    return folder;
}

/* Appends the parts of a name to `out`, each after a slash. Parts that lead out of the folder (a
 * leading slash, "..") are dropped, as archivers do. */
static void append_parts(char *out, const char *name, size_t size) {
    for (size_t i = 0; i < size;) {
        const char *slash = memchr(name + i, '/', size - i);
        size_t length = slash ? (size_t)(slash - name) - i : size - i;
        bool moves = length == 0 || (length == 1 && name[i] == '.') ||
                     (length == 2 && memcmp(name + i, "..", 2) == 0);
        if (!moves) {
            *out++ = '/';
            out = mempcpy(out, name + i, length);
        }
        i += length + 1;
    }
    *out = '\0';
}

/* The output path of an input file below a folder. A file that is a document is written as text,
 * without the suffix of its compression. */
static cog_status path_below(const struct reader *reader, uint32_t file, const char *folder,
                             char **path, cog_error *error) {
    const char *name = file_at(reader, file)->name;
    size_t size = strlen(name), suffix = 0;
    TAKE(*path, strlen(folder) + size + 2, "a path", error);
    if (reader_file_is_document(reader, file) &&
        compression_of_name(name, &suffix) != COMPRESSION_NONE)
        size -= suffix;
    append_parts(stpcpy(*path, folder), name, size);
    return COG_OK;
}

static cog_status make_folders(char *path, size_t from, cog_error *error) {
    for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        cog_status status = made ? COG_OK : error_system(error, "create the folder", path);
        *slash = '/';
        if (!made)
            return status;
    }
    return COG_OK;
}

/* ---- Checks before the work ------------------------------------------------------------------ */

struct place {
    char *path;
    uint32_t file;
};

static int by_path(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    int order = strcmp(x->path, y->path);
    return order ? order : ORDER(x->file, y->file);
}

static cog_status check_place(const struct reader *reader, const struct place *places, size_t i,
                              const char *folder, cog_error *error) {
    const char *name = file_at(reader, places[i].file)->name;
    if (strcmp(name, "-") == 0)
        return error_about(error, COG_ERR_USAGE, "output",
                           "%s: standard input has no name for a file in this folder; name a file",
                           folder);
    if (i && strcmp(places[i - 1].path, places[i].path) == 0)
        return error_set(
            error, COG_ERR_INPUT,
            "%s: its place below %s is already taken by another document; run where both "
            "names differ",
            name, folder);
    if (access(places[i].path, F_OK) == 0)
        return error_about(error, COG_ERR_USAGE, "output",
                           "%s: already exists; remove it, or name another folder", places[i].path);
    return COG_OK;
}

static cog_status check_folder(const struct reader *reader, const char *folder, cog_error *error) {
    uint32_t count = reader_file_count(reader);
    struct place *places;
    TAKE_ZEROED(places, count, "the names of files", error);
    cog_status status = COG_OK;
    if (access(folder, F_OK) == 0 && !is_folder(folder))
        status = error_about(error, COG_ERR_USAGE, "output",
                             "%s: a file of this name exists; name a folder", folder);
    for (uint32_t file = 0; file < count && status == COG_OK; file++) {
        places[file].file = file;
        status = path_below(reader, file, folder, &places[file].path, error);
    }
    if (status == COG_OK)
        qsort(places, count, sizeof *places, by_path);
    for (size_t i = 0; i < count && status == COG_OK; i++)
        status = check_place(reader, places, i, folder, error);
    for (size_t i = 0; i < count; i++)
        free(places[i].path);
    free(places);
    return status;
}

/* Whether the name implies a format or compression that is never written. */
static bool implies_other_format(const char *path) {
    static const char *const endings[] = {".parquet", ".pq", ".arrow", ".feather",
                                          ".lz4",     ".br", ".zip",   ".7z"};
    const char *ending = strrchr(path, '.');
    for (size_t i = 0; ending && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(ending, endings[i]) == 0)
            return true;
    return false;
}

/* The first input file whose format is known before it is read; UINT32_MAX if there is none. */
static uint32_t first_of_known_format(const struct reader *reader) {
    for (uint32_t file = 0; file < reader_file_count(reader); file++)
        if (reader_file_format(reader, file) != INPUT_AUTO)
            return file;
    return UINT32_MAX;
}

static cog_status check_name(const struct reader *reader, const char *path, cog_error *error) {
    const uint32_t first = first_of_known_format(reader);
    const enum input_format named = input_format_of_name(path);
    enum input_format own = first == UINT32_MAX ? INPUT_AUTO : reader_file_format(reader, first);
    if (own == INPUT_QUERYLOG)
        own = INPUT_TSV; /* its rows are tab-separated */
    bool differs = named != INPUT_AUTO && named != INPUT_TXT && own != INPUT_AUTO && named != own;
    if (!differs && !implies_other_format(path))
        return COG_OK;
    return error_about(
        error, COG_ERR_USAGE, "output",
        "%s: kept records are copied unchanged from %s; name an output of that format", path,
        first == UINT32_MAX ? "the input" : reader_file_name(reader, first));
}

static cog_status check_file(struct reader *reader, const char *path, cog_error *error) {
    const uint32_t first = first_of_known_format(reader);
    for (uint32_t file = 0; file < reader_file_count(reader); file++) {
        const enum input_format format = reader_file_format(reader, file);
        if (format != INPUT_AUTO &&
            (format != reader_file_format(reader, first) || reader_file_is_document(reader, file)))
            return error_set(error, COG_ERR_USAGE,
                             "%s: a different format from %s; one output has one format: name a "
                             "folder",
                             reader_file_name(reader, file), reader_file_name(reader, first));
    }
    TRY(check_name(reader, path, error));
    return reader_want_one_form(reader, error);
}

/* A folder that the inputs require, but not the path: it is refused if the path looks like that of
 * a file. */
static cog_status check_folder_name(const struct reader *reader, const char *path,
                                    cog_error *error) {
    const size_t length = strlen(path);
    size_t suffix;
    if (is_folder(path) || (length && path[length - 1] == '/'))
        return COG_OK;
    const bool is_file_name = compression_of_name(path, &suffix) != COMPRESSION_NONE ||
                              input_format_of_name(path) != INPUT_AUTO || strcmp(path, "-") == 0;
    if (!is_file_name)
        return COG_OK;
    return error_about(
        error, COG_ERR_USAGE, "lines",
        "%s: the whole file is one document, so the output is a folder, but %s is the "
        "name of a file; end it in /, or have each line read as a document",
        reader_file_name(reader, 0), path);
}

cog_status kept_files_check(struct reader *reader, const char *path, cog_error *error) {
    if (!means_folder(reader, path))
        return check_file(reader, path, error);
    TRY(check_folder_name(reader, path, error));
    char *folder = without_slashes(path);
    cog_status status =
        folder ? check_folder(reader, folder, error) : error_memory(error, strlen(path), "a path");
    free(folder);
    return status;
}

/* ---- One output ------------------------------------------------------------------------------ */

/* Whether the header is a line of its own. */
static bool has_header_row(enum input_format format) {
    return format_is_table(format) || format == INPUT_QUERYLOG;
}

static cog_status write_header(struct kept_files *files, uint32_t file, cog_error *error) {
    files->frame = reader_file_frame(files->reader, file);
    struct bytes_view header = files->frame.header;
    files->is_empty = header.size == 0;
    files->open_line = has_header_row(reader_file_format(files->reader, file)) && header.size &&
                       header.data[header.size - 1] != '\n';
    if (!files->marks)
        return output_write(files->output, header.data, header.size, error);
    struct buffer marked = {0};
    cog_status status = record_marks_header(files->marks, file, header, &marked, error);
    THEN(status, output_write(files->output, marked.data, marked.size, error));
    buffer_free(&marked);
    return status;
}

static cog_status write_records(struct kept_files *files, struct bytes_view records,
                                bool at_beginning, cog_error *error) {
    if (records.size == 0)
        return COG_OK;
    if (at_beginning && !files->is_empty)
        records = without_mark(records);
    if (files->open_line)
        TRY(output_write(files->output, files->frame.separator.data, files->frame.separator.size,
                         error));
    files->open_line = records.size > 0 && records.data[records.size - 1] != '\n';
    files->is_empty = files->is_empty && records.size == 0;
    return output_write(files->output, records.data, records.size, error);
}

static cog_status end_output(struct kept_files *files, cog_error *error) {
    struct bytes_view footer = files->frame.footer;
    cog_status status = output_write(files->output, footer.data, footer.size, error);
    THEN(status, output_commit(files->output, error));
    output_close(files->output);
    files->output = NULL;
    return status;
}

/* ---- One output per input file --------------------------------------------------------------- */

static cog_status end_current(struct kept_files *files, cog_error *error) {
    return files->output ? end_output(files, error) : COG_OK;
}

/* Ends the current output and starts those up to `file`. A file without kept records gets an empty
 * output with its header. Documents are created only when written. */
static cog_status start_outputs_to(struct kept_files *files, uint32_t file, cog_error *error) {
    for (; files->next <= file; files->next++) {
        char *path = NULL;
        TRY(end_current(files, error));
        if (file_at(files->reader, files->next)->skipped ||
            reader_file_is_document(files->reader, files->next))
            continue;
        const char *folder = temporary_path(files->temporary);
        cog_status status = path_below(files->reader, files->next, folder, &path, error);
        THEN(status, make_folders(path, strlen(folder) + 1, error));
        THEN(status, output_open(path, &files->output, error));
        THEN(status, write_header(files, files->next, error));
        free(path);
        TRY(status);
    }
    return COG_OK;
}

static cog_status write_document(const struct kept_files *files, uint32_t file,
                                 struct bytes_view text, cog_error *error) {
    const char *folder = temporary_path(files->temporary);
    char *path = NULL;
    cog_status status = path_below(files->reader, file, folder, &path, error);
    THEN(status, make_folders(path, strlen(folder) + 1, error));
    int descriptor =
        status == COG_OK ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
    if (status == COG_OK && descriptor < 0)
        status = error_system(error, "create", path);
    THEN(status, descriptor_write(descriptor, text.data, text.size, path, error));
    if (descriptor >= 0 && close(descriptor) != 0 && status == COG_OK)
        status = error_system(error, "write", path);
    free(path);
    return status;
}

/* Syncs all files at once, because a call per file would take milliseconds for each of many small
 * files. */
static cog_status sync_files(const char *folder, cog_error *error) {
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    cog_status status = COG_OK;
    if (descriptor < 0 || syncfs(descriptor) != 0)
        status = error_system(error, "write", folder);
    if (descriptor >= 0)
        close(descriptor);
    return status;
}

/* Moves the output of an input file, if any, to its final path; `back` undoes it. */
static cog_status move_file(const struct kept_files *files, uint32_t file, bool back,
                            cog_error *error) {
    char *from = NULL, *to = NULL;
    cog_status status =
        path_below(files->reader, file, temporary_path(files->temporary), &from, error);
    THEN(status, path_below(files->reader, file, files->folder, &to, error));
    if (status == COG_OK && back) {
        rename(to, from);
    } else if (status == COG_OK && access(from, F_OK) == 0) {
        status = make_folders(to, strlen(files->folder) + 1, error);
        if (status == COG_OK && rename(from, to) != 0)
            status = error_system(error, "create", to);
    }
    free(from);
    free(to);
    return status;
}

static cog_status move_files(const struct kept_files *files, cog_error *error) {
    cog_status status = COG_OK;
    uint32_t moved = 0;
    while (moved < files->next && (status = move_file(files, moved, false, error)) == COG_OK)
        moved++;
    while (status != COG_OK && moved)
        move_file(files, --moved, true, NULL);
    return status;
}

static cog_status commit_folder(struct kept_files *files, cog_error *error) {
    uint32_t count = reader_file_count(files->reader);
    cog_status status = count ? start_outputs_to(files, count - 1, error) : COG_OK;
    THEN(status, end_current(files, error));
    THEN(status, sync_files(temporary_path(files->temporary), error));
    if (status == COG_OK && files->folder_exists) {
        status = move_files(files, error);
    } else if (status == COG_OK) {
        if (rename(temporary_path(files->temporary), files->folder) != 0)
            return error_system(error, "create the folder", files->folder);
        temporary_keep(files->temporary);
        files->temporary = NULL;
    }
    THEN(status, sync_files(files->folder, error));
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* Creates the temporary folder: next to a new folder, but inside an existing one, which may be its
 * own file system. */
static cog_status create_folder(struct kept_files *files, cog_error *error) {
    char *inside = NULL;
    files->folder_exists = is_folder(files->folder);
    if (!files->folder_exists)
        return temporary_folder_create(files->folder, &files->temporary, error);
    if (asprintf(&inside, "%s/.cognate", files->folder) < 0)
        return error_memory(error, strlen(files->folder), "a path");
    cog_status status = temporary_folder_create(inside, &files->temporary, error);
    free(inside);
    return status;
}

cog_status kept_files_open(const struct reader *reader, const char *path,
                           const struct record_marks *marks, struct kept_files **result,
                           cog_error *error) {
    struct kept_files *files;
    TAKE_ZEROED(files, 1, "kept records", error);
    files->reader = reader;
    files->marks = marks;
    files->is_empty = true;
    cog_status status = COG_OK;
    if (!means_folder(reader, path))
        status = output_open(path, &files->output, error);
    else if ((files->folder = without_slashes(path)))
        status = create_folder(files, error);
    else
        status = error_memory(error, strlen(path), "a path");
    return HAND_OUT(status, files, kept_files_close, result);
}

cog_status kept_files_write(struct kept_files *files, uint32_t file, struct bytes_view records,
                            bool at_beginning, cog_error *error) {
    if (files->folder) {
        TRY(start_outputs_to(files, file, error));
        return reader_file_is_document(files->reader, file)
                   ? write_document(files, file, records, error)
                   : write_records(files, records, at_beginning, error);
    }
    if (files->next == 0) {
        files->next = 1; /* the header is that of the first file with kept records */
        TRY(write_header(files, file, error));
    }
    return write_records(files, records, at_beginning, error);
}

cog_status kept_files_commit(struct kept_files *files, cog_error *error) {
    if (files->folder)
        return commit_folder(files, error);
    if (reader_file_count(files->reader) == 0)
        return output_commit(files->output, error);
    cog_status status = files->next ? COG_OK : write_header(files, 0, error);
    THEN(status, end_output(files, error));
    return status;
}

void kept_files_close(struct kept_files *files) {
    if (!files)
        return;
    output_close(files->output);
    temporary_remove(files->temporary);
    free(files->folder);
    free(files);
}
