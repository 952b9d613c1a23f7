/* An index in a folder: written whole, opened as maps, opened anew after a change. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/temporaries.h"
#include "job/index_job.h"

cog_status index_lock(const char *folder, int *lock, cog_error *error) {
    *lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0)
        return error_system(error, "open the folder", folder);
    if (flock(*lock, LOCK_EX | LOCK_NB) == 0)
        return COG_OK;
    cog_status status =
        errno == EWOULDBLOCK
            ? error_set(error, COG_ERR_BUSY,
                        "%s: another process is changing the index; try again later", folder)
            : error_system(error, "lock the folder", folder);
    close(*lock);
    *lock = -1;
    return status;
}

void index_unlock(int lock) {
    if (lock >= 0)
        close(lock);
}

struct segment_parts index_parts_of(const struct segment *segment) {
    return (struct segment_parts){.rows = segment->rows,
                                  .settings = &segment->settings,
                                  .id_offsets = segment->id_offsets,
                                  .id_bytes = segment->id_bytes.data,
                                  .id_buckets =
                                      segment->id_buckets.starts ? &segment->id_buckets : NULL,
                                  .signatures = segment->signatures,
                                  .slices = segment->slices.offsets ? &segment->slices : NULL,
                                  .columns = segment->columns.words ? &segment->columns : NULL,
                                  .tables = segment->tables,
                                  .vectors = segment->vectors.offsets ? &segment->vectors : NULL};
}

/* Rows that have only numbers get these as their ids: later removals must not change them. */
static cog_status save_segment(const cog_index *index, size_t part, uint64_t first_row,
                               const char *folder, struct manifest *manifest, cog_error *error) {
    const struct segment *segment = &index->parts.segments[part];
    const struct manifest_entry *entry = &index->parts.manifest.entries[part];
    struct segment_parts parts = index_parts_of(segment);
    parts.is_numbered = !segment->id_offsets;
    parts.first_number = first_row;
    cog_status status = manifest_add_segment(folder, manifest, &parts, error);
    if (status != COG_OK || entry->removed_count == 0)
        return status;
    struct manifest_entry *saved = &manifest->entries[manifest->count - 1];
    saved->removed = memory_array(entry->removed_count, sizeof *saved->removed);
    if (!saved->removed)
        return error_memory(error, entry->removed_count * sizeof *saved->removed, "removed rows");
    memcpy(saved->removed, entry->removed, entry->removed_count * sizeof *saved->removed);
    saved->removed_count = entry->removed_count;
    return COG_OK;
}

static cog_status save_parts(const cog_index *index, const char *folder, cog_error *error) {
    struct manifest manifest = {0};
    uint64_t first_row = 0;
    cog_status status = settings_copy(&manifest.settings, &index->parts.manifest.settings, error);
    if (status == COG_OK && index->has_documents)
        status = index_save_statistics(index, folder, error);
    for (size_t i = 0; i < index->parts.manifest.count && status == COG_OK; i++) {
        status = save_segment(index, i, first_row, folder, &manifest, error);
        first_row += index->parts.manifest.entries[i].rows;
    }
    if (status == COG_OK)
        status = manifest_write(folder, &manifest, error);
    manifest_free(&manifest);
    return status;
}

/* Files of a build that did not come to its end may be there; others are somebody's. */
static cog_status check_folder(const char *folder, cog_error *error) {
    DIR *files = opendir(folder);
    if (!files)
        return error_system(error, "read the folder", folder);
    cog_status status = COG_OK;
    for (const struct dirent *file; status == COG_OK && (file = readdir(files));) {
        const char *name = file->d_name;
        bool own = name[0] == '.' || strncmp(name, "segment-", 8) == 0 ||
                   strncmp(name, "statistics", 10) == 0 || strncmp(name, "manifest", 8) == 0;
        if (!own)
            status = error_set(error, COG_ERR_USAGE,
                               "%s: holds other files, such as '%.100s'; name a new folder for the "
                               "index, or an empty one",
                               folder, name);
    }
    closedir(files);
    return status;
}

/* Makes the folder where there is none, which is then not finished, locks it, and sees that an
 * index may be written there. */
static cog_status claim_folder(const char *folder, struct temporary **made, int *lock,
                               cog_error *error) {
    *lock = -1;
    cog_status status = temporary_folder_claim(folder, made, error);
    if (status == COG_OK)
        status = index_lock(folder, lock, error);
    if (status == COG_ERR_BUSY) { /* another process found the folder before it was locked */
        temporary_keep(*made);
        *made = NULL;
    }
    if (status == COG_OK && manifest_exists(folder))
        status = error_set(
            error, COG_ERR_USAGE,
            "%s: holds an index already; name a new folder, or use cognate index add", folder);
    return status == COG_OK ? check_folder(folder, error) : status;
}

cog_status cog_index_check_folder(const char *folder, cog_error *error) {
    int lock;
    struct temporary *made;
    cog_status status = claim_folder(folder, &made, &lock, error);
    temporary_remove(made);
    index_unlock(lock);
    return status;
}

cog_status cog_index_save(const cog_index *index, const char *folder, cog_error *error) {
    int lock;
    struct temporary *made;
    cog_status status = claim_folder(folder, &made, &lock, error);
    if (status == COG_OK)
        status = save_parts(index, folder, error);
    if (status == COG_OK)
        temporary_keep(made);
    else
        temporary_remove(made);
    index_unlock(lock);
    return status;
}

static cog_status check_parts(const cog_index *index, cog_error *error) {
    for (size_t i = 0; i < index->parts.manifest.count; i++) {
        const struct segment *segment = &index->parts.segments[i];
        bool fits = segment->id_offsets && segment->signatures.bits == index_bits(index) &&
                    (!index->has_vectors ||
                     (segment->vectors.offsets &&
                      segment->vectors.column_count == columns_count(index->columns)));
        if (!fits)
            return error_set(error, COG_ERR_FORMAT,
                             "%s: ids, signatures or vectors are missing or do not fit the index",
                             segment->container.path);
    }
    if (index->parts.rows >= UINT32_MAX)
        return error_set(error, COG_ERR_FORMAT, "%s: more than 4 billion rows", index->folder);
    return COG_OK;
}

/* Opens the folder's state, with the statistics that are known where they are still the same: only
 * those of an empty index change, when it is filled. */
static cog_status open_state(cog_index *index, const cog_index *known, cog_error *error) {
    cog_status status = index_segments_open(index->folder, &index->parts, error);
    if (status == COG_OK)
        index->has_whole_vectors = memory_zeroed_array(index->parts.manifest.count + 1, 1);
    if (status == COG_OK && !index->has_whole_vectors)
        status = error_memory(error, index->parts.manifest.count, "segments");
    if (status == COG_OK)
        status = index_interpret_settings(index, error);
    if (status == COG_OK && index->has_documents) {
        index->statistics = known->statistics;
        index->columns = known->columns;
        if (!known->statistics || !index_statistics_fit(index)) {
            index->statistics = NULL;
            index->columns = NULL;
            status = index_load_statistics(index, error);
        }
    }
    return status == COG_OK ? check_parts(index, error) : status;
}

cog_status index_reload(cog_index *index, cog_error *error) {
    cog_index fresh = {.folder = index->folder};
    cog_status status = open_state(&fresh, index, error);
    cog_index *kept = status == COG_OK ? &fresh : index;
    cog_index *dropped = status == COG_OK ? index : &fresh;
    if (dropped->statistics != kept->statistics) {
        cog_statistics_free(dropped->statistics);
        columns_free(dropped->columns);
    }
    index_forget_parts(dropped);
    *index = *kept;
    return status;
}

bool cog_index_exists(const char *folder) {
    return manifest_exists(folder);
}

cog_status cog_index_open(const char *folder, cog_index **result, cog_error *error) {
    cog_index *index = calloc(1, sizeof *index);
    if (!index || !(index->folder = strdup(folder))) {
        free(index);
        return error_memory(error, sizeof *index, "an index");
    }
    cog_status status = index_reload(index, error);
    if (status != COG_OK) {
        cog_index_close(index);
        return status;
    }
    *result = index;
    return COG_OK;
}

/* Opening read the manifest and the statistics whole already. */
cog_status cog_index_check(const cog_index *index, cog_error *error) {
    return index->folder ? index_segments_verify(&index->parts, error) : COG_OK;
}
