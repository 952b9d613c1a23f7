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
#include "base/output.h"
#include "jobs/index/index_job.h"

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
                                  .method = segment->method,
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
    THEN(status, manifest_write(folder, &manifest, error));
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

/* ---- Claims ---------------------------------------------------------------------------------- */

struct cog_index_claim {
    char *folder;
    struct temporary *made; /* until an index is saved; NULL where the folder was there */
    int lock;
};

static cog_status take_folder(struct cog_index_claim *claim, cog_error *error) {
    const char *folder = claim->folder;
    cog_status status = temporary_folder_claim(folder, &claim->made, error);
    THEN(status, index_lock(folder, &claim->lock, error));
    if (status == COG_ERR_BUSY) { /* another took the folder that was made here */
        temporary_keep(claim->made);
        claim->made = NULL;
    }
    if (status == COG_OK && manifest_exists(folder))
        status = error_set(
            error, COG_ERR_USAGE,
            "%s: holds an index already; name a new folder, or use cognate index add", folder);
    return status == COG_OK ? check_folder(folder, error) : status;
}

void cog_index_claim_release(cog_index_claim *claim) {
    if (!claim)
        return;
    temporary_remove(claim->made);
    index_unlock(claim->lock);
    free(claim->folder);
    free(claim);
}

cog_status cog_index_claim_folder(const char *folder, cog_index_claim **result, cog_error *error) {
    cog_index_claim *made = calloc(1, sizeof *made);
    if (!made || !(made->folder = strdup(folder))) {
        free(made);
        return error_memory(error, sizeof *made, "a claim");
    }
    made->lock = -1;
    cog_status status = take_folder(made, error);
    if (status == COG_OK)
        *result = made;
    else
        cog_index_claim_release(made);
    return status;
}

cog_status cog_index_save_claimed(const cog_index *index, cog_index_claim *claim,
                                  cog_error *error) {
    if (manifest_exists(claim->folder))
        return error_set(error, COG_ERR_USAGE, "%s: an index was saved by this claim already",
                         claim->folder);
    cog_status status = save_parts(index, claim->folder, error);
    if (status == COG_OK) {
        temporary_keep(claim->made);
        claim->made = NULL;
    }
    return status;
}

cog_status cog_index_save(const cog_index *index, const char *folder, cog_error *error) {
    cog_index_claim *claim = NULL;
    cog_status status = cog_index_claim_folder(folder, &claim, error);
    THEN(status, cog_index_save_claimed(index, claim, error));
    cog_index_claim_release(claim);
    return status;
}

static cog_status check_parts(const cog_index *index, cog_error *error) {
    for (size_t i = 0; i < index->parts.manifest.count; i++) {
        const struct segment *segment = &index->parts.segments[i];
        bool fits = segment->id_offsets && segment->signatures.bits == index_bits(index) &&
                    (!index->has_vectors ||
                     (segment->vectors.offsets &&
                      segment->vectors.column_count == term_numbers_count(index->columns)));
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
    THEN(status, index_interpret_settings(index, error));
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
        term_numbers_free(dropped->columns);
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
