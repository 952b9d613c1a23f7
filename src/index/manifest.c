#include "index/manifest.h"

#include <dirent.h>
#include <errno.h>
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

enum { LIST_HEAD_BYTES = 12, ENTRY_BYTES = 40 };

static char *folder_path(const char *folder, const char *name) {
    char *path = NULL;
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

char *manifest_segment_path(const char *folder, uint64_t number) {
    char name[48];
    snprintf(name, sizeof name, "segment-%08llu.cog", (unsigned long long)number);
    return folder_path(folder, name);
}

void manifest_free(struct manifest *manifest) {
    for (size_t i = 0; i < manifest->count; i++)
        free(manifest->entries[i].removed);
    free(manifest->entries);
    settings_free(&manifest->settings);
    *manifest = (struct manifest){0};
}

static cog_status append_entry(struct manifest *manifest, struct manifest_entry entry,
                               cog_error *error) {
    if (!memory_grow((void **)&manifest->entries, &manifest->capacity, manifest->count + 1,
                     sizeof entry))
        return error_memory(error, sizeof entry, "a manifest");
    manifest->entries[manifest->count++] = entry;
    return COG_OK;
}

cog_status manifest_copy(const struct manifest *manifest, struct manifest *copy, cog_error *error) {
    cog_status status = settings_copy(&copy->settings, &manifest->settings, error);
    copy->next_number = manifest->next_number;
    for (size_t i = 0; i < manifest->count && status == COG_OK; i++) {
        struct manifest_entry entry = manifest->entries[i];
        entry.removed = NULL;
        status = append_entry(copy, entry, error);
        if (status != COG_OK || !entry.removed_count)
            continue;
        status = TAKEN(copy->entries[i].removed, entry.removed_count, "removed rows", error);
        if (status == COG_OK)
            memcpy(copy->entries[i].removed, manifest->entries[i].removed,
                   entry.removed_count * sizeof *entry.removed);
    }
    if (status != COG_OK)
        manifest_free(copy);
    return status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static cog_status damaged(const struct container *container, cog_error *error) {
    return error_set(error, COG_ERR_FORMAT, "%s: the list of segments is damaged", container->path);
}

static cog_status read_entries(const struct container *container, struct manifest *manifest,
                               cog_error *error) {
    struct bytes_view list;
    cog_status status = container_require(container, SECTION_SEGMENTS, &list, error);
    if (status != COG_OK)
        return status;
    const uint8_t *bytes = (const uint8_t *)list.data;
    if (list.size < LIST_HEAD_BYTES || (list.size - LIST_HEAD_BYTES) % ENTRY_BYTES != 0 ||
        decode_u32(bytes + 8) != (list.size - LIST_HEAD_BYTES) / ENTRY_BYTES)
        return damaged(container, error);
    manifest->next_number = decode_u64(bytes);
    for (size_t at = LIST_HEAD_BYTES; status == COG_OK && at < list.size; at += ENTRY_BYTES) {
        struct manifest_entry entry = {.number = decode_u64(bytes + at),
                                       .rows = decode_u64(bytes + at + 8),
                                       .size_bytes = decode_u64(bytes + at + 16),
                                       .header_checksum = decode_u64(bytes + at + 24),
                                       .removed_count = (size_t)decode_u64(bytes + at + 32)};
        if (entry.rows > UINT32_MAX || entry.removed_count > entry.rows ||
            entry.number >= manifest->next_number)
            return damaged(container, error);
        status = append_entry(manifest, entry, error);
    }
    return status;
}

static cog_status read_removed(const struct container *container, struct manifest *manifest,
                               cog_error *error) {
    struct bytes_view rows;
    cog_status status = container_require(container, SECTION_REMOVED, &rows, error);
    size_t at = 0;
    for (size_t i = 0; status == COG_OK && i < manifest->count; i++) {
        struct manifest_entry *entry = &manifest->entries[i];
        size_t size = entry->removed_count * sizeof *entry->removed;
        if (size > rows.size - at)
            return damaged(container, error);
        TAKE(entry->removed, entry->removed_count + 1, "removed rows", error);
        memcpy(entry->removed, rows.data + at, size);
        for (size_t r = 0; r < entry->removed_count; r++)
            if (entry->removed[r] >= entry->rows ||
                (r > 0 && entry->removed[r - 1] >= entry->removed[r]))
                return damaged(container, error);
        at += size;
    }
    return status == COG_OK && at != rows.size ? damaged(container, error) : status;
}

bool manifest_exists(const char *folder) {
    char *path = folder_path(folder, "manifest");
    bool exists = path && access(path, F_OK) == 0;
    free(path);
    return exists;
}

cog_status manifest_read(const char *folder, struct manifest *manifest, cog_error *error) {
    struct container container = {0};
    char *path = folder_path(folder, "manifest");
    if (!path)
        return error_memory(error, strlen(folder), "a path");
    bool absent = access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
    cog_status status =
        absent ? error_set(error, COG_ERR_INPUT,
                           "%s: holds no index; make one with cognate index build", folder)
               : container_open(path, CONTAINER_MANIFEST, &container, error);
    if (status == COG_OK) /* small, and everything else hangs on it */
        status = container_verify(&container, error);
    THEN(status, settings_read(&container, &manifest->settings, error));
    THEN(status, read_entries(&container, manifest, error));
    THEN(status, read_removed(&container, manifest, error));
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
    cog_status status = container_writer_begin(writer, SECTION_SEGMENTS, error);
    THEN(status, container_writer_append(writer, head, sizeof head, error));
    for (size_t i = 0; status == COG_OK && i < manifest->count; i++) {
        const struct manifest_entry *entry = &manifest->entries[i];
        encode_u64(bytes, entry->number);
        encode_u64(bytes + 8, entry->rows);
        encode_u64(bytes + 16, entry->size_bytes);
        encode_u64(bytes + 24, entry->header_checksum);
        encode_u64(bytes + 32, entry->removed_count);
        status = container_writer_append(writer, bytes, sizeof bytes, error);
    }
    return status == COG_OK ? container_writer_end(writer, error) : status;
}

static cog_status write_removed(const struct manifest *manifest, struct container_writer *writer,
                                cog_error *error) {
    cog_status status = container_writer_begin(writer, SECTION_REMOVED, error);
    for (size_t i = 0; status == COG_OK && i < manifest->count; i++)
        status =
            container_writer_append(writer, manifest->entries[i].removed,
                                    manifest->entries[i].removed_count * sizeof(uint32_t), error);
    return status == COG_OK ? container_writer_end(writer, error) : status;
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
    THEN(status, container_writer_commit(writer, error));
    container_writer_close(writer);
    free(path);
    return status;
}

static cog_status take_settings(struct manifest *manifest, const struct settings *settings,
                                cog_error *error) {
    static const struct settings none;
    char difference[SETTINGS_DIFFERENCE_BYTES];
    if (!settings)
        settings = &none;
    if (manifest->count == 0) {
        settings_free(&manifest->settings);
        return settings_copy(&manifest->settings, settings, error);
    }
    if (settings_equal(&manifest->settings, settings, difference))
        return COG_OK;
    return error_set(error, COG_ERR_USAGE,
                     "the index was made differently from what is added: %s; use the index's "
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

/* ---- Removed rows ---------------------------------------------------------------------------- */

bool manifest_is_removed(const struct manifest_entry *entry, uint32_t row) {
    size_t low;
    FIND_FIRST_NOT(low, 0, entry->removed_count, entry->removed[low] < row);
    return low < entry->removed_count && entry->removed[low] == row;
}

/* Merges rows (counted from `first`) into those removed before. */
static cog_status merge_removed(struct manifest_entry *entry, uint64_t first, const uint64_t *rows,
                                size_t count, cog_error *error) {
    uint32_t *merged;
    TAKE(merged, entry->removed_count + count + 1, "removed rows", error);
    size_t old = 0, new = 0, size = 0;
    while (old < entry->removed_count || new < count) {
        uint64_t from_old = old < entry->removed_count ? entry->removed[old] : UINT64_MAX;
        uint64_t from_new = new < count ? rows[new] - first : UINT64_MAX;
        merged[size++] = (uint32_t)(from_old < from_new ? from_old : from_new);
        old += from_old <= from_new;
        new += from_new <= from_old;
    }
    free(entry->removed);
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
            return error_set(error, COG_ERR_USAGE, "rows to remove must rise");
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

/* ---- All segments of an index ---------------------------------------------------------------- */

static cog_status open_segment(const char *folder, struct index_segments *index, size_t i,
                               cog_error *error) {
    const struct manifest_entry *entry = &index->manifest.entries[i];
    struct segment *segment = &index->segments[i];
    char difference[SETTINGS_DIFFERENCE_BYTES];
    char *path = manifest_segment_path(folder, entry->number);
    if (!path)
        return error_memory(error, strlen(folder), "a path");
    cog_status status = segment_open(path, segment, error);
    if (status == COG_OK &&
        (segment->rows != entry->rows || segment->container.size_bytes != entry->size_bytes ||
         segment->container.header_checksum != entry->header_checksum))
        status = error_set(error, COG_ERR_FORMAT,
                           "%s: not the segment that the manifest names; restore the folder as a "
                           "whole or build the index again",
                           path);
    if (status == COG_OK &&
        !settings_equal(&index->manifest.settings, &segment->settings, difference))
        status = error_set(error, COG_ERR_FORMAT, "%s: made differently from its index: %s", path,
                           difference);
    free(path);
    return status;
}

static cog_status open_once(const char *folder, struct index_segments *index, cog_error *error) {
    *index = (struct index_segments){0};
    cog_status status = manifest_read(folder, &index->manifest, error);
    if (status != COG_OK)
        return status;
    index->segments = memory_zeroed_array(index->manifest.count + 1, sizeof *index->segments);
    if (!index->segments)
        status = error_memory(error, index->manifest.count * sizeof *index->segments, "segments");
    for (size_t i = 0; status == COG_OK && i < index->manifest.count; i++) {
        status = open_segment(folder, index, i, error);
        index->rows += index->manifest.entries[i].rows;
    }
    return status;
}

static bool same_segments(const struct manifest *a, const struct manifest *b) {
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = a->entries[i].number == b->entries[i].number;
    return same;
}

/* Whether the folder has other segments by now: somebody joined those that could not be opened. */
static bool has_moved_on(const char *folder, const struct index_segments *index) {
    struct manifest now = {0};
    bool other =
        manifest_read(folder, &now, NULL) == COG_OK && !same_segments(&index->manifest, &now);
    manifest_free(&now);
    return other;
}

cog_status index_segments_open(const char *folder, struct index_segments *index, cog_error *error) {
    for (;;) {
        cog_status status = open_once(folder, index, error);
        if (status == COG_OK)
            return COG_OK;
        bool again = has_moved_on(folder, index);
        index_segments_close(index);
        if (!again)
            return status;
    }
}

cog_status index_segments_verify(const struct index_segments *index, cog_error *error) {
    cog_status status = COG_OK;
    for (size_t i = 0; status == COG_OK && i < index->manifest.count; i++)
        status = segment_verify(&index->segments[i], error);
    return status;
}

void index_segments_close(struct index_segments *index) {
    for (size_t i = 0; index->segments && i < index->manifest.count; i++)
        segment_close(&index->segments[i]);
    free(index->segments);
    manifest_free(&index->manifest);
    *index = (struct index_segments){0};
}

/* A file that a writer of this index may have left: segment-N.cog of no manifest, or something with
 * .tmp. behind its name. */
static bool is_leftover(const char *name, const struct manifest *manifest) {
    unsigned long long number = 0;
    int length = 0;
    if (strncmp(name, "manifest.tmp.", 13) == 0 || strncmp(name, "statistics.tmp.", 15) == 0)
        return true;
    if (sscanf(name, "segment-%llu.cog%n", &number, &length) != 1 || length == 0)
        return false;
    if (name[length] != 0)
        return strncmp(name + length, ".tmp.", 5) == 0;
    for (size_t i = 0; i < manifest->count; i++)
        if (manifest->entries[i].number == number)
            return false;
    return true;
}

cog_status index_sweep(const char *folder, const struct manifest *manifest, cog_error *error) {
    DIR *entries = opendir(folder);
    if (!entries)
        return error_system(error, "open the folder", folder);
    cog_status status = COG_OK;
    for (struct dirent *entry; status == COG_OK && (entry = readdir(entries));)
        if (is_leftover(entry->d_name, manifest) &&
            unlinkat(dirfd(entries), entry->d_name, 0) != 0 && errno != ENOENT)
            status = error_system(error, "delete", entry->d_name);
    closedir(entries);
    return status;
}
