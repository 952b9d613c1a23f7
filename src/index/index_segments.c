#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "index/manifest.h"

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
        status = error_set(error, COG_ERR_FORMAT, "%s: made otherwise than its index: %s", path,
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
