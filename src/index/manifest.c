#include "index/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/strings.h"

#define SECTION_SEGMENTS CONTAINER_TAG('s', 'e', 'g', 's')
#define SECTION_REMOVED CONTAINER_TAG('d', 'e', 'a', 'd')
#define SECTION_LOG CONTAINER_TAG('c', 'l', 'o', 'g')

enum { LIST_HEAD_BYTES = 12, ENTRY_BYTES = 40, LOG_BYTES = 8, LOG_READER = 3, ROW_LOG_READER = 5 };

static char *folder_path(const char *folder, const char *name) {
    char *path = NULL;
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

char *manifest_segment_path(const char *folder, uint64_t number) {
    char name[48];
    snprintf(name, sizeof name, "segment-%08llu.cog", (unsigned long long)number);
    return folder_path(folder, name);
}

/* ---- Lists of removed rows ------------------------------------------------------------------- */

struct removed_rows {
    unsigned owners;
    uint32_t rows[];
};

static struct removed_rows *list_of(uint32_t *rows) {
    return (struct removed_rows *)((char *)rows - offsetof(struct removed_rows, rows));
}

cog_status removed_rows_take(size_t count, uint32_t **rows, cog_error *error) {
    size_t size = sizeof(struct removed_rows) + count * sizeof(uint32_t);
    struct removed_rows *list = malloc(size);
    if (!list)
        return error_memory(error, size, "removed rows");
    list->owners = 1;
    *rows = list->rows;
    return COG_OK;
}

uint32_t *removed_rows_retain(uint32_t *rows) {
    if (rows)
        __atomic_add_fetch(&list_of(rows)->owners, 1, __ATOMIC_RELAXED);
    return rows;
}

void removed_rows_release(uint32_t *rows) {
    if (rows && __atomic_sub_fetch(&list_of(rows)->owners, 1, __ATOMIC_ACQ_REL) == 0)
        free(list_of(rows));
}

/* ---- Manifests in memory --------------------------------------------------------------------- */

void manifest_free(struct manifest *manifest) {
    for (size_t i = 0; i < manifest->count; i++)
        removed_rows_release(manifest->entries[i].removed);
    free(manifest->entries);
    settings_free(&manifest->settings);
    *manifest = (struct manifest){0};
}

static cog_status append_entry(struct manifest *manifest, struct manifest_entry entry,
                               cog_error *error) {
    GROW(manifest->entries, manifest->capacity, manifest->count + 1, "a manifest", error);
    manifest->entries[manifest->count++] = entry;
    return COG_OK;
}

cog_status manifest_copy(const struct manifest *manifest, struct manifest *copy, cog_error *error) {
    cog_status status = settings_copy(&copy->settings, &manifest->settings, error);
    copy->next_number = manifest->next_number;
    copy->log_number = manifest->log_number;
    for (size_t i = 0; i < manifest->count && status == COG_OK; i++) {
        struct manifest_entry entry = manifest->entries[i];
        status = append_entry(copy, entry, error);
        if (status == COG_OK)
            removed_rows_retain(entry.removed);
    }
    if (status != COG_OK)
        manifest_free(copy);
    return status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static cog_status damaged(const struct container *container, cog_error *error) {
    return error_set(error, COG_ERR_FORMAT,
                     "%s: the list of segments is damaged; restore the folder from a copy",
                     container->path);
}

static cog_status read_entries(const struct container *container, struct manifest *manifest,
                               cog_error *error) {
    struct bytes_view list;
    TRY(container_require(container, SECTION_SEGMENTS, &list, error));
    const uint8_t *bytes = (const uint8_t *)list.data;
    if (list.size < LIST_HEAD_BYTES || (list.size - LIST_HEAD_BYTES) % ENTRY_BYTES != 0 ||
        decode_u32(bytes + 8) != (list.size - LIST_HEAD_BYTES) / ENTRY_BYTES)
        return damaged(container, error);
    manifest->next_number = decode_u64(bytes);
    for (size_t at = LIST_HEAD_BYTES; at < list.size; at += ENTRY_BYTES) {
        struct manifest_entry entry = {.number = decode_u64(bytes + at),
                                       .rows = decode_u64(bytes + at + 8),
                                       .size_bytes = decode_u64(bytes + at + 16),
                                       .header_checksum = decode_u64(bytes + at + 24),
                                       .removed_count = (size_t)decode_u64(bytes + at + 32)};
        if (entry.rows > UINT32_MAX || entry.removed_count > entry.rows ||
            entry.number >= manifest->next_number)
            return damaged(container, error);
        TRY(append_entry(manifest, entry, error));
    }
    return COG_OK;
}

static cog_status read_removed(const struct container *container, struct manifest *manifest,
                               cog_error *error) {
    struct bytes_view rows;
    TRY(container_require(container, SECTION_REMOVED, &rows, error));
    size_t at = 0;
    for (size_t i = 0; i < manifest->count; i++) {
        struct manifest_entry *entry = &manifest->entries[i];
        size_t size = entry->removed_count * sizeof *entry->removed;
        if (size > rows.size - at)
            return damaged(container, error);
        TRY(removed_rows_take(entry->removed_count, &entry->removed, error));
        memcpy(entry->removed, rows.data + at, size);
        for (size_t r = 0; r < entry->removed_count; r++)
            if (entry->removed[r] >= entry->rows ||
                (r > 0 && entry->removed[r - 1] >= entry->removed[r]))
                return damaged(container, error);
        at += size;
    }
    return at == rows.size ? COG_OK : damaged(container, error);
}

static cog_status read_log(const struct container *container, struct manifest *manifest,
                           cog_error *error) {
    struct bytes_view log;
    if (!container_find(container, SECTION_LOG, &log))
        return COG_OK;
    if (log.size != LOG_BYTES)
        return damaged(container, error);
    manifest->log_number = decode_u64((const uint8_t *)log.data);
    return manifest->log_number && manifest->log_number < manifest->next_number
               ? COG_OK
               : damaged(container, error);
}

bool manifest_exists(const char *folder) {
    char *path = folder_path(folder, "manifest");
    bool exists = path && access(path, F_OK) == 0;
    free(path);
    return exists;
}

const char *manifest_part_name(const char *name, bool *is_log, uint64_t *number) {
    unsigned long long parsed = 0;
    int length = 0;
    *is_log = sscanf(name, "changes-%llu.log%n", &parsed, &length) == 1 && length;
    if (!*is_log && (sscanf(name, "segment-%llu.cog%n", &parsed, &length) != 1 || length == 0))
        return NULL;
    *number = parsed;
    return name + length;
}

static bool names_part(const char *name) {
    bool is_log;
    uint64_t number;
    const char *rest = manifest_part_name(name, &is_log, &number);
    return rest && !*rest;
}

bool manifest_is_missing(const char *folder) {
    if (manifest_exists(folder))
        return false;
    DIR *files = opendir(folder);
    bool has_parts = false;
    for (const struct dirent *file; files && !has_parts && (file = readdir(files));)
        has_parts = names_part(file->d_name);
    if (files)
        closedir(files);
    return has_parts;
}

static cog_status refuse_absent(const char *folder, cog_error *error) {
    return manifest_is_missing(folder)
               ? error_set(error, COG_ERR_FORMAT,
                           "%s: its manifest is missing, after an interrupted build or an "
                           "incomplete copy; copy the folder again, or build the index again",
                           folder)
               : error_set(error, COG_ERR_INPUT,
                           "%s: holds no index; make one with cognate index build", folder);
}

cog_status manifest_read(const char *folder, struct manifest *manifest, cog_error *error) {
    struct container container = {0};
    char *path = folder_path(folder, "manifest");
    if (!path)
        return error_memory(error, strlen(folder), "a path");
    bool absent = access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
    cog_status status = absent ? refuse_absent(folder, error)
                               : container_open(path, CONTAINER_MANIFEST, &container, error);
    if (status == COG_OK) /* small, and everything depends on it */
        status = container_verify(&container, error);
    THEN(status, settings_read(&container, &manifest->settings, error));
    THEN(status, read_entries(&container, manifest, error));
    THEN(status, read_removed(&container, manifest, error));
    THEN(status, read_log(&container, manifest, error));
    if (status != COG_OK)
        manifest_free(manifest);
    container_close(&container);
    free(path);
    return status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static cog_status write_entries(const struct manifest *manifest, struct container_writer *writer,
                                cog_error *error) {
    uint8_t head[LIST_HEAD_BYTES], bytes[ENTRY_BYTES];
    encode_u64(head, manifest->next_number);
    encode_u32(head + 8, (uint32_t)manifest->count);
    TRY(container_writer_begin(writer, SECTION_SEGMENTS, error));
    TRY(container_writer_append(writer, head, sizeof head, error));
    for (size_t i = 0; i < manifest->count; i++) {
        const struct manifest_entry *entry = &manifest->entries[i];
        encode_u64(bytes, entry->number);
        encode_u64(bytes + 8, entry->rows);
        encode_u64(bytes + 16, entry->size_bytes);
        encode_u64(bytes + 24, entry->header_checksum);
        encode_u64(bytes + 32, entry->removed_count);
        TRY(container_writer_append(writer, bytes, sizeof bytes, error));
    }
    return container_writer_end(writer, error);
}

static cog_status write_removed(const struct manifest *manifest, struct container_writer *writer,
                                cog_error *error) {
    TRY(container_writer_begin(writer, SECTION_REMOVED, error));
    for (size_t i = 0; i < manifest->count; i++)
        TRY(container_writer_append(writer, manifest->entries[i].removed,
                                    manifest->entries[i].removed_count * sizeof(uint32_t), error));
    return container_writer_end(writer, error);
}

/* Whether the index holds signatures that were given, without documents. */
static bool is_of_given_rows(const struct manifest *manifest) {
    const char *kind = "";
    return settings_get_text(&manifest->settings, "signature", &kind) && strcmp(kind, "given") == 0;
}

/* A reader that does not support the log would miss documents. */
static cog_status write_log(const struct manifest *manifest, struct container_writer *writer,
                            cog_error *error) {
    uint8_t number[LOG_BYTES];
    if (manifest->log_number == 0)
        return COG_OK;
    encode_u64(number, manifest->log_number);
    container_writer_for(writer, is_of_given_rows(manifest) ? ROW_LOG_READER : LOG_READER);
    return container_writer_section(writer, SECTION_LOG, number, sizeof number, error);
}

static cog_status make_folder(const char *folder, cog_error *error) {
    if (mkdir(folder, 0777) == 0 || errno == EEXIST)
        return COG_OK;
    return error_system(error, "create the folder", folder);
}

cog_status manifest_write(const char *folder, const struct manifest *manifest, cog_error *error) {
    struct container_writer *writer = NULL;
    char *path = folder_path(folder, "manifest");
    cog_status status =
        path ? make_folder(folder, error) : error_memory(error, strlen(folder), "a path");
    THEN(status, container_writer_open(path, CONTAINER_MANIFEST, &writer, error));
    THEN(status, settings_write(&manifest->settings, writer, error));
    THEN(status, write_entries(manifest, writer, error));
    THEN(status, write_removed(manifest, writer, error));
    THEN(status, write_log(manifest, writer, error));
    THEN(status, container_writer_commit(writer, error));
    container_writer_close(writer);
    free(path);
    return status;
}

cog_status manifest_compare_settings(const struct manifest *manifest,
                                     const struct settings *segment, bool *are_equal,
                                     char difference[SETTINGS_DIFFERENCE_BYTES], cog_error *error) {
    struct settings shared = {0};
    cog_status status =
        settings_copy_some(&shared, &manifest->settings, MANIFEST_LEXICON, false, error);
    *are_equal = status == COG_OK && settings_equal(&shared, segment, difference);
    settings_free(&shared);
    return status;
}

/* The segment's settings, plus those that only the manifest has. */
static cog_status replace_settings(struct manifest *manifest, const struct settings *settings,
                                   cog_error *error) {
    struct settings fresh = {0};
    cog_status status = settings_copy(&fresh, settings, error);
    THEN(status, settings_copy_some(&fresh, &manifest->settings, MANIFEST_LEXICON, true, error));
    settings_free(status == COG_OK ? &manifest->settings : &fresh);
    if (status == COG_OK)
        manifest->settings = fresh;
    return status;
}

static cog_status take_settings(struct manifest *manifest, const struct settings *settings,
                                cog_error *error) {
    static const struct settings none;
    char difference[SETTINGS_DIFFERENCE_BYTES];
    bool are_equal;
    if (!settings)
        settings = &none;
    if (manifest->count == 0)
        return replace_settings(manifest, settings, error);
    TRY(manifest_compare_settings(manifest, settings, &are_equal, difference, error));
    if (are_equal)
        return COG_OK;
    return error_set(
        error, COG_ERR_USAGE,
        "the index was made with different settings from the addition: %s; use the index's "
        "settings or build a new index",
        difference);
}

cog_status manifest_add_segment(const char *folder, struct manifest *manifest,
                                const struct segment_parts *parts, cog_error *error) {
    struct manifest_entry entry = {.number = manifest->next_number, .rows = parts->rows};
    struct container container = {0};
    char *path = manifest_segment_path(folder, entry.number);
    cog_status status = path ? take_settings(manifest, parts->settings, error)
                             : error_memory(error, strlen(folder), "a path");
    THEN(status, make_folder(folder, error));
    THEN(status, segment_write(path, parts, error));
    THEN(status, container_open(path, CONTAINER_SEGMENT, &container, error));
    entry.size_bytes = container.size_bytes;
    entry.header_checksum = container.header_checksum;
    THEN(status, append_entry(manifest, entry, error));
    if (status == COG_OK)
        manifest->next_number++;
    container_close(&container);
    free(path);
    return status;
}

cog_status manifest_adopt_segment(const char *folder, struct manifest *manifest, const char *path,
                                  cog_error *error) {
    struct manifest_entry entry = {.number = manifest->next_number};
    struct segment segment = {0};
    char *name = manifest_segment_path(folder, entry.number);
    cog_status status =
        name ? segment_open(path, &segment, error) : error_memory(error, strlen(folder), "a path");
    THEN(status, take_settings(manifest, &segment.settings, error));
    entry.rows = segment.rows;
    entry.size_bytes = segment.container.size_bytes;
    entry.header_checksum = segment.container.header_checksum;
    segment_close(&segment);
    if (status == COG_OK && rename(path, name) != 0)
        status = error_system(error, "rename", path);
    THEN(status, folder_sync(folder, error));
    THEN(status, append_entry(manifest, entry, error));
    if (status == COG_OK)
        manifest->next_number++;
    free(name);
    return status;
}

void manifest_drop_pending(struct manifest *manifest) {
    size_t kept = 0;
    for (size_t i = 0; i < manifest->count; i++)
        if (manifest->entries[i].is_pending)
            removed_rows_release(manifest->entries[i].removed);
        else
            manifest->entries[kept++] = manifest->entries[i];
    manifest->count = kept;
}

/* ---- Removed rows ---------------------------------------------------------------------------- */

bool manifest_is_removed(const struct manifest_entry *entry, uint32_t row) {
    size_t low;
    FIND_FIRST_NOT(low, 0, entry->removed_count, entry->removed[low] < row);
    return low < entry->removed_count && entry->removed[low] == row;
}

/* Merges rows (counted from `first`) into the rows removed before. */
static cog_status merge_removed(struct manifest_entry *entry, uint64_t first, const uint64_t *rows,
                                size_t count, cog_error *error) {
    uint32_t *merged;
    TRY(removed_rows_take(entry->removed_count + count, &merged, error));
    size_t old = 0, new = 0, size = 0;
    while (old < entry->removed_count || new < count) {
        uint64_t from_old = old < entry->removed_count ? entry->removed[old] : UINT64_MAX;
        uint64_t from_new = new < count ? rows[new] - first : UINT64_MAX;
        merged[size++] = (uint32_t)(from_old < from_new ? from_old : from_new);
        old += from_old <= from_new;
        new += from_new <= from_old;
    }
    removed_rows_release(entry->removed);
    entry->removed = merged;
    entry->removed_count = size;
    return COG_OK;
}

cog_status manifest_remove_rows(struct manifest *manifest, const uint64_t *rows, size_t count,
                                cog_error *error) {
    uint64_t first = 0;
    size_t begin = 0;
    for (size_t i = 1; i < count; i++)
        if (rows[i - 1] >= rows[i])
            return error_set(error, COG_ERR_USAGE, "rows to remove must be in ascending order");
    for (size_t i = 0; i < manifest->count; i++) {
        struct manifest_entry *entry = &manifest->entries[i];
        size_t end = begin;
        while (end < count && rows[end] - first < entry->rows)
            end++;
        TRY(end > begin ? merge_removed(entry, first, rows + begin, end - begin, error) : COG_OK);
        begin = end;
        first += entry->rows;
    }
    if (begin < count)
        return error_set(error, COG_ERR_USAGE, "row %llu is beyond the %llu row%s of the index",
                         (unsigned long long)rows[begin], (unsigned long long)first,
                         plural(first, "", "s"));
    return COG_OK;
}

void manifest_put_last(struct manifest *manifest, size_t first, size_t count) {
    struct manifest_entry last = manifest->entries[manifest->count - 1];
    size_t behind = manifest->count - 1 - first - count;
    for (size_t i = first; i < first + count; i++)
        removed_rows_release(manifest->entries[i].removed);
    memmove(manifest->entries + first + 1, manifest->entries + first + count, behind * sizeof last);
    manifest->entries[first] = last;
    manifest->count -= count;
}
