#include "input/input_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/compression.h"
#include "base/io/files.h"
#include "base/memory.h"
#include "input/documents/text_bytes.h"
#include "store/container.h"

enum { TEXT_BYTES_PER_PACKED_BYTE = 4 };

struct walk {
    const struct reader_options *options;
    struct input_files *files;
    size_t root_length; /* bytes of a path that ids leave out */
    bool has_pipe;
};

uint64_t input_text_bytes(const char *path, uint64_t file_bytes) {
    size_t suffix;
    bool packed = compression_of_name(path, &suffix) != COMPRESSION_NONE;
    return file_bytes * (packed ? TEXT_BYTES_PER_PACKED_BYTE : 1);
}

static bool has_extension(const char *name, size_t length, const char *extension) {
    size_t size = strlen(extension);
    return length > size && strncasecmp(name + length - size, extension, size) == 0;
}

enum input_format input_format_of_name(const char *path) {
    static const struct {
        const char *extension;
        enum input_format format;
    } known[] = {{".txt", INPUT_TXT},      {".text", INPUT_TXT},    {".jsonl", INPUT_JSONL},
                 {".ndjson", INPUT_JSONL}, {".json", INPUT_JSONL},  {".csv", INPUT_CSV},
                 {".tsv", INPUT_TSV},      {".xml", INPUT_WIKIXML}, {".lett", INPUT_LETT},
                 {".warc", INPUT_WARC},    {".wet", INPUT_WET},     {".npy", INPUT_NPY}};
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t suffix;
    compression_of_name(name, &suffix);
    size_t length = strlen(name) - suffix;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (has_extension(name, length, known[i].extension))
            return known[i].format;
    /* Parts of dumps are called pages-articles1.xml-p1p41242.bz2. */
    return strstr(name, ".xml-p") ? INPUT_WIKIXML : INPUT_AUTO;
}

/* A file name may hold any bytes, an id may not: what is not UTF-8 becomes \xHH. */
static char *name_for_ids(const char *name) {
    size_t size = strlen(name);
    if (utf8_is_valid(name, size))
        return strdup(name);
    char *result = memory_array(size + 1, 4);
    char *out = result;
    for (size_t i = 0; result && i < size; i++) {
        if ((unsigned char)name[i] < 0x80)
            *out++ = name[i];
        else
            out += snprintf(out, 5, "\\x%02X", (unsigned char)name[i]);
    }
    if (result)
        *out = 0;
    return result;
}

/* Names of open files, which say nothing about the content. */
static bool names_descriptor(const char *path) {
    return strncmp(path, "/dev/fd/", 8) == 0 || strncmp(path, "/proc/self/fd/", 14) == 0;
}

/* Standard input, under the names that the system has for it. */
static bool names_standard_input(const char *path) {
    static const char *const names[] = {"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(path, names[i]) == 0)
            return true;
    return false;
}

/* By the options, else by the name. The content of a stream decides where neither does. */
static void choose_format(const struct reader_options *options, struct input_file *file) {
    file->lines = options->lines;
    file->format = options->format;
    if (file->format == INPUT_AUTO && strcmp(file->path, "-") != 0) {
        file->format = input_format_of_name(file->path);
        if (file->format == INPUT_AUTO && !file->is_pipe && !names_descriptor(file->path))
            file->format = INPUT_TXT;
    }
    bool is_csv = file->format == INPUT_CSV;
    char usual = is_csv ? ',' : '\t';
    file->form = (struct csv_form){options->delimiter ? options->delimiter : usual, is_csv};
}

static cog_status add_file(struct walk *walk, const char *path, bool optional,
                           const struct stat *info, cog_error *error) {
    struct input_files *files = walk->files;
    if (files->count == UINT32_MAX)
        return error_memory(error, sizeof *files->files, "the list of input files");
    GROW(files->files, files->capacity, files->count + 1, "the list of input files", error);
    struct input_file *file = &files->files[files->count++];
    *file = (struct input_file){.path = strdup(path),
                                .name = name_for_ids(path + walk->root_length),
                                .optional = optional,
                                .is_pipe = !S_ISREG(info->st_mode),
                                .spool = -1};
    if (!file->path || !file->name)
        return error_memory(error, strlen(path), "a file name");
    choose_format(walk->options, file);
    if (file->format == INPUT_NPY)
        return error_set(error, COG_ERR_INPUT,
                         "%s: an array of numbers, not documents; signatures are read by pairs, "
                         "search and index",
                         path);
    if (file->is_pipe) {
        walk->has_pipe = true;
    } else {
        files->total_bytes += (uint64_t)info->st_size;
        files->text_bytes += input_text_bytes(path, (uint64_t)info->st_size);
    }
    return COG_OK;
}

cog_status input_files_skip(struct input_files *files, const char *path, const char *why,
                            cog_error *error) {
    char *message = NULL;
    if (!memory_grow((void **)&files->skipped, &files->skipped_capacity, files->skipped_count + 1,
                     sizeof *files->skipped) ||
        asprintf(&message, "%s: %s", path, why) < 0)
        return error_memory(error, strlen(path), "a message");
    files->skipped[files->skipped_count++] = message;
    return COG_OK;
}

static int not_hidden(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static int by_bytes(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static cog_status walk_folder(struct walk *walk, const char *path, cog_error *error);

static cog_status walk_entry(struct walk *walk, const char *path, cog_error *error) {
    struct stat info, link;
    if (lstat(path, &link) != 0 || stat(path, &info) != 0)
        return input_files_skip(walk->files, path, strerror(errno), error);
    if (S_ISDIR(info.st_mode)) {
        if (S_ISLNK(link.st_mode))
            return input_files_skip(walk->files, path, "a link to a folder is not followed", error);
        return walk_folder(walk, path, error);
    }
    if (!S_ISREG(info.st_mode))
        return input_files_skip(walk->files, path, "not a regular file", error);
    if (walk->options->format == INPUT_AUTO && input_format_of_name(path) == INPUT_NPY)
        return input_files_skip(walk->files, path, "an array of numbers, not documents", error);
    return add_file(walk, path, true, &info, error);
}

static cog_status walk_entries(struct walk *walk, const char *folder, struct dirent **entries,
                               int count, cog_error *error) {
    const char *separator = folder[strlen(folder) - 1] == '/' ? "" : "/";
    cog_status status = COG_OK;
    for (int i = 0; i < count && status == COG_OK; i++) {
        char *path = NULL;
        if (asprintf(&path, "%s%s%s", folder, separator, entries[i]->d_name) < 0)
            return error_memory(error, strlen(folder), "a path");
        status = walk_entry(walk, path, error);
        free(path);
    }
    return status;
}

static cog_status walk_folder(struct walk *walk, const char *path, cog_error *error) {
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, not_hidden, by_bytes);
    if (count < 0)
        return input_files_skip(walk->files, path, strerror(errno), error);
    cog_status status = walk_entries(walk, path, entries, count, error);
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    return status;
}

static cog_status add_standard_input(struct walk *walk, cog_error *error) {
    struct stat info;
    if (fstat(STDIN_FILENO, &info) != 0)
        return error_system(error, "read", "standard input");
    if (S_ISDIR(info.st_mode))
        return error_set(error, COG_ERR_INPUT,
                         "standard input is a folder; name it as an argument");
    walk->root_length = 0;
    cog_status status = add_file(walk, "-", false, &info, error);
    if (status == COG_OK && S_ISREG(info.st_mode)) {
        struct input_file *file = &walk->files->files[walk->files->count - 1];
        off_t offset = lseek(STDIN_FILENO, 0, SEEK_CUR);
        file->start_offset = offset < 0 ? 0 : offset;
    }
    return status;
}

/* Whether the folder holds an index: its files carry the magic of Cognate's containers. */
static bool is_index(const char *folder) {
    char *path = NULL, magic[8] = "";
    if (asprintf(&path, "%s/manifest", folder) < 0)
        return false;
    FILE *file = fopen(path, "rb");
    free(path);
    bool read = file && fread(magic, 1, sizeof magic, file) == sizeof magic;
    if (file)
        fclose(file);
    return read && memcmp(magic, CONTAINER_MAGIC, sizeof magic) == 0;
}

static cog_status add_argument(struct walk *walk, const char *path, bool alone, cog_error *error) {
    struct stat info;
    walk->root_length = 0;
    if (names_standard_input(path))
        return add_standard_input(walk, error);
    if (stat(path, &info) != 0 || access(path, R_OK) != 0)
        return error_system(error, "read", path);
    if (!S_ISDIR(info.st_mode))
        return add_file(walk, path, false, &info, error);
    if (access(path, X_OK) != 0)
        return error_system(error, "read", path);
    if (is_index(path))
        return error_set(error, COG_ERR_INPUT,
                         "%s: an index, not documents; name the documents that it was built from",
                         path);
    char *folder = strdup(path);
    if (!folder)
        return error_memory(error, strlen(path), "a path");
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        folder[--length] = 0;
    if (alone)
        walk->root_length = length + (folder[length - 1] != '/');
    cog_status status = walk_folder(walk, folder, error);
    free(folder);
    return status;
}

cog_status input_files_list(const struct reader_options *options, const char *const *paths,
                            size_t count, struct input_files *files, cog_error *error) {
    struct walk walk = {.options = options, .files = files};
    files->options = options;
    size_t standard_inputs = 0;
    for (size_t i = 0; i < count; i++)
        standard_inputs += names_standard_input(paths[i]);
    if (standard_inputs > 1)
        return error_set(error, COG_ERR_USAGE, "standard input (-) is named twice");
    for (size_t i = 0; i < count; i++)
        TRY(add_argument(&walk, paths[i], count == 1, error));
    if (walk.has_pipe)
        files->total_bytes = 0;
    return COG_OK;
}

cog_status input_files_of_log(uint64_t bytes, struct input_files *files, cog_error *error) {
    TAKE_ZEROED(files->files, 1, "a query log", error);
    files->count = files->capacity = 1;
    files->text_bytes = bytes;
    struct input_file *file = &files->files[0];
    *file = (struct input_file){.path = strdup("row"),
                                .name = strdup("row"),
                                .format = INPUT_QUERYLOG,
                                .is_memory = true,
                                .spool = -1};
    return file->path && file->name ? COG_OK : error_memory(error, 8, "a query log");
}

void input_files_free(struct input_files *files) {
    for (size_t i = 0; i < files->count; i++) {
        struct input_file *file = &files->files[i];
        if (file->spool >= 0)
            close(file->spool);
        buffer_free(&file->header);
        buffer_free(&file->separator);
        buffer_free(&file->namespaces);
        FREE(file->path, file->name);
    }
    for (size_t i = 0; i < files->skipped_count; i++)
        free(files->skipped[i]);
    FREE(files->files, files->skipped);
    *files = (struct input_files){0};
}

enum { SOURCE_BUFFER_BYTES = 1 << 18, MAGIC_BYTES = 10 };

/* Bytes as they lie in the file. */
static cog_status read_raw(struct byte_source *source, char *data, size_t size, size_t *got,
                           cog_error *error) {
    ssize_t done;
    do
        done = read(source->descriptor, data, size);
    while (done < 0 && errno == EINTR);
    if (done < 0)
        return error_system(error, "read", source->name);
    *got = (size_t)done;
    if (source->has_digest)
        XXH64_update(&source->digest, data, *got);
    source->ended = done == 0;
    atomic_fetch_add_explicit(&source->raw_bytes, (uint64_t)done, memory_order_relaxed);
    return source->spool >= 0
               ? descriptor_write(source->spool, data, *got, "a scratch file in TMPDIR", error)
               : COG_OK;
}

static cog_status refill(struct byte_source *source, cog_error *error) {
    size_t got = 0;
    cog_status status = read_raw(source, source->buffer, SOURCE_BUFFER_BYTES, &got, error);
    source->pending = view_of(source->buffer, got);
    return status;
}

/* A short line of text begins as no compressed file does ("BZh" and zstd's "(" are printable). */
static bool is_line(const char *data, size_t size) {
    return memchr(data, '\n', size) && data[0] >= ' ' && data[0] != 'B' && data[0] != '(';
}

/* Pipes deliver in pieces: as many bytes as a magic number needs, unless the file is shorter, or a
 * line that somebody wants to see answered. */
static cog_status peek(struct byte_source *source, cog_error *error) {
    size_t size = 0;
    while (size < MAGIC_BYTES && !source->ended && !is_line(source->buffer, size)) {
        size_t got = 0;
        TRY(read_raw(source, source->buffer + size, SOURCE_BUFFER_BYTES - size, &got, error));
        size += got;
    }
    source->pending = view_of(source->buffer, size);
    return COG_OK;
}

static cog_status start_decompressor(struct byte_source *source, cog_error *error) {
    size_t suffix;
    enum compression promised = compression_of_name(source->name, &suffix);
    enum compression found = compression_of_bytes(source->pending.data, source->pending.size);
    if (promised != COMPRESSION_NONE && found == COMPRESSION_NONE)
        return error_set(
            error, COG_ERR_INPUT,
            "%s: named as %s, but %s; fetch it again, or rename it if it is plain text",
            source->name, compression_name(promised),
            source->pending.size ? "its first bytes are not" : "empty");
    if (found == COMPRESSION_NONE)
        return COG_OK;
    source->decompressor = decompressor_create(found);
    return source->decompressor ? COG_OK : error_memory(error, 0, "decompression");
}

cog_status byte_source_start(struct byte_source *source, int descriptor, bool owns_descriptor,
                             const char *name, int spool, cog_error *error) {
    if (!source->buffer && !(source->buffer = malloc(SOURCE_BUFFER_BYTES))) {
        if (owns_descriptor)
            close(descriptor);
        return error_memory(error, SOURCE_BUFFER_BYTES, "reading");
    }
    source->descriptor = descriptor;
    source->owns_descriptor = owns_descriptor;
    source->name = name;
    source->spool = spool;
    source->ended = false;
    XXH64_reset(&source->digest, 0);
    cog_status status = peek(source, error);
    THEN(status, start_decompressor(source, error));
    if (status != COG_OK)
        byte_source_stop(source);
    return status;
}

static cog_status read_plain(struct byte_source *source, char *data, size_t size, size_t *got,
                             cog_error *error) {
    if (source->pending.size == 0)
        return source->ended ? COG_OK : read_raw(source, data, size, got, error);
    *got = size < source->pending.size ? size : source->pending.size;
    memcpy(data, source->pending.data, *got);
    source->pending.data += *got;
    source->pending.size -= *got;
    return COG_OK;
}

static cog_status damaged(const struct byte_source *source, cog_status status, const char *how,
                          cog_error *error) {
    uint64_t read_bytes = atomic_load_explicit(&source->raw_bytes, memory_order_relaxed);
    if (status == COG_ERR_MEMORY)
        return error_set(error, status, "%s: out of memory for decompression", source->name);
    return error_set_at(error, COG_ERR_INPUT, read_bytes,
                        "%s: the compressed stream %s; fetch the file again", source->name, how);
}

static cog_status read_compressed(struct byte_source *source, char *data, size_t size, size_t *got,
                                  cog_error *error) {
    while (*got == 0) {
        if (source->pending.size == 0 && !source->ended)
            TRY(refill(source, error));
        size_t before = source->pending.size;
        cog_status status =
            codec_run(source->decompressor, &source->pending, source->ended, data, size, got);
        if (status != COG_OK)
            return damaged(source, status, "is damaged", error);
        if (*got)
            return COG_OK;
        if (source->pending.size == 0 && source->ended)
            return codec_is_complete(source->decompressor)
                       ? COG_OK
                       : damaged(source, COG_ERR_INPUT, "stops early (truncated)", error);
        if (before && source->pending.size == before)
            return damaged(source, COG_ERR_INPUT, "is damaged", error);
    }
    return COG_OK;
}

cog_status byte_source_read(struct byte_source *source, char *data, size_t size, size_t *got,
                            cog_error *error) {
    *got = 0;
    return source->decompressor ? read_compressed(source, data, size, got, error)
                                : read_plain(source, data, size, got, error);
}

cog_status byte_source_drain(struct byte_source *source, cog_error *error) {
    cog_status status = COG_OK;
    while (status == COG_OK && !source->ended)
        status = refill(source, error);
    return status;
}

void byte_source_stop(struct byte_source *source) {
    if (source->descriptor >= 0 && source->owns_descriptor)
        close(source->descriptor);
    source->descriptor = -1;
    codec_free(source->decompressor);
    source->decompressor = NULL;
    source->pending = view_of(NULL, 0);
}

void byte_source_free(struct byte_source *source) {
    byte_source_stop(source);
    free(source->buffer);
    source->buffer = NULL;
}
