#include "index/index_segments.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "index/merging.h"

/* ---- One segment ----------------------------------------------------------------------------- */

void segment_memory_free(struct segment_memory *memory) {
    FREE(memory->id_offsets, memory->id_bytes, memory->signatures, memory->lengths, memory->recall);
    id_buckets_free(&memory->id_buckets);
    segment_terms_free(&memory->terms);
    sparse_matrix_free(&memory->vectors);
    segment_sets_free(&memory->sets);
    *memory = (struct segment_memory){0};
}

cog_status shared_segment_create(struct segment *segment, struct segment_memory *memory,
                                 struct shared_segment **shared, cog_error *error) {
    struct shared_segment *made;
    TAKE_ZEROED(made, 1, "a segment", error);
    made->owners = 1;
    made->segment = *segment;
    *segment = (struct segment){0};
    if (memory) {
        made->is_in_memory = true;
        made->memory = *memory;
        *memory = (struct segment_memory){0};
    }
    *shared = made;
    return COG_OK;
}

struct shared_segment *shared_segment_retain(struct shared_segment *shared) {
    __atomic_add_fetch(&shared->owners, 1, __ATOMIC_RELAXED);
    return shared;
}

cog_status shared_segment_columns(struct shared_segment *shared, const uint64_t **hashes,
                                  cog_error *error) {
    uint64_t *made = __atomic_load_n(&shared->column_hashes, __ATOMIC_ACQUIRE), *before = NULL;
    if (!made) {
        TRY(segment_terms_by_column(&shared->segment.terms, &made, error));
        if (!__atomic_compare_exchange_n(&shared->column_hashes, &before, made, false,
                                         __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            free(made); /* another thread was faster */
            made = before;
        }
    }
    *hashes = made;
    return COG_OK;
}

void shared_segment_release(struct shared_segment *shared) {
    if (!shared || __atomic_sub_fetch(&shared->owners, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    segment_close(&shared->segment);
    if (shared->is_in_memory)
        segment_memory_free(&shared->memory);
    FREE(shared->column_hashes, shared);
}

/* ---- All segments ---------------------------------------------------------------------------- */

static cog_status grow(struct index_segments *index, cog_error *error) {
    size_t count = index->manifest.count, capacity = index->capacity;
    GROW(index->segments, capacity, count + 1, "segments", error);
    capacity = index->capacity;
    GROW(index->owners, capacity, count + 1, "segments", error);
    index->capacity = capacity;
    GROW(index->manifest.entries, index->manifest.capacity, count + 1, "segments", error);
    return COG_OK;
}

cog_status index_segments_append(struct index_segments *index, struct manifest_entry entry,
                                 struct segment *segment, struct segment_memory *memory,
                                 cog_error *error) {
    size_t at = index->manifest.count;
    TRY(grow(index, error));
    TRY(shared_segment_create(segment, memory, &index->owners[at], error));
    index->segments[at] = index->owners[at]->segment;
    index->manifest.entries[at] = entry;
    index->manifest.count++;
    index->rows += entry.rows;
    return COG_OK;
}

void index_segments_put_last(struct index_segments *index, size_t first, size_t count) {
    size_t last = index->manifest.count - 1, behind = last - first - count;
    struct segment segment = index->segments[last];
    struct shared_segment *owner = index->owners[last];
    for (size_t i = first; i < first + count; i++) {
        index->rows -= index->segments[i].rows;
        shared_segment_release(index->owners[i]);
    }
    memmove(index->segments + first + 1, index->segments + first + count, behind * sizeof segment);
    memmove(index->owners + first + 1, index->owners + first + count, behind * sizeof owner);
    index->segments[first] = segment;
    index->owners[first] = owner;
    manifest_put_last(&index->manifest, first, count);
}

static cog_status take_arrays(struct index_segments *index, cog_error *error) {
    index->capacity = index->manifest.count + 1;
    TAKE_ZEROED(index->segments, index->capacity, "segments", error);
    return TAKEN_ZEROED(index->owners, index->capacity, "segments", error);
}

static void share(struct index_segments *index, size_t i, struct shared_segment *owner) {
    index->owners[i] = shared_segment_retain(owner);
    index->segments[i] = owner->segment;
}

cog_status index_segments_share_pending(const struct index_segments *from,
                                        struct index_segments *to, cog_error *error) {
    for (size_t i = 0; i < from->manifest.count; i++) {
        struct manifest_entry entry = from->manifest.entries[i];
        if (!entry.is_pending)
            continue;
        size_t at = to->manifest.count;
        TRY(grow(to, error));
        to->manifest.entries[at] = entry;
        removed_rows_retain(entry.removed);
        share(to, at, from->owners[i]);
        to->manifest.count++;
        to->rows += entry.rows;
    }
    return COG_OK;
}

cog_status index_segments_copy(const struct index_segments *index, struct index_segments *copy,
                               cog_error *error) {
    TRY(manifest_copy(&index->manifest, &copy->manifest, error));
    copy->rows = index->rows;
    cog_status status = take_arrays(copy, error);
    for (size_t i = 0; i < index->manifest.count && status == COG_OK; i++)
        share(copy, i, index->owners[i]);
    if (status != COG_OK)
        index_segments_close(copy);
    return status;
}

/* The owner of the same segment; NULL if `known` does not have it. */
static struct shared_segment *known_owner(const struct index_segments *known,
                                          const struct manifest_entry *entry) {
    for (size_t i = 0; known && i < known->manifest.count; i++) {
        const struct manifest_entry *own = &known->manifest.entries[i];
        if (!own->is_pending && own->number == entry->number &&
            own->header_checksum == entry->header_checksum)
            return known->owners[i];
    }
    return NULL;
}

static cog_status open_segment(const char *folder, const struct index_segments *index,
                               const struct manifest_entry *entry, struct segment *segment,
                               cog_error *error) {
    char difference[SETTINGS_DIFFERENCE_BYTES];
    char *path = manifest_segment_path(folder, entry->number);
    if (!path)
        return error_memory(error, strlen(folder), "a path");
    cog_status status = segment_open(path, segment, error);
    if (status != COG_OK && access(path, F_OK) != 0 && errno == ENOENT)
        status = error_set(error, status,
                           "%s: a file of the index is missing; restore the folder as a whole or "
                           "build the index again",
                           path);
    if (status == COG_OK &&
        (segment->rows != entry->rows || segment->container.size_bytes != entry->size_bytes ||
         segment->container.header_checksum != entry->header_checksum))
        status = error_set(error, COG_ERR_FORMAT,
                           "%s: not the segment named in the manifest; restore the folder as a "
                           "whole or build the index again",
                           path);
    bool are_equal = true;
    THEN(status, manifest_compare_settings(&index->manifest, &segment->settings, &are_equal,
                                           difference, error));
    if (status == COG_OK && !are_equal)
        status = error_set(error, COG_ERR_FORMAT,
                           "%s: made with different settings from its index: %s", path, difference);
    free(path);
    return status;
}

static cog_status open_owner(const char *folder, struct index_segments *index, size_t i,
                             cog_error *error) {
    struct segment segment = {0};
    cog_status status = open_segment(folder, index, &index->manifest.entries[i], &segment, error);
    THEN(status, shared_segment_create(&segment, NULL, &index->owners[i], error));
    if (status == COG_OK)
        index->segments[i] = index->owners[i]->segment;
    segment_close(&segment);
    return status;
}

static cog_status open_once(const char *folder, const struct index_segments *known,
                            struct index_segments *index, cog_error *error) {
    *index = (struct index_segments){0};
    TRY(manifest_read(folder, &index->manifest, error));
    cog_status status = take_arrays(index, error);
    for (size_t i = 0; status == COG_OK && i < index->manifest.count; i++) {
        struct shared_segment *owner = known_owner(known, &index->manifest.entries[i]);
        if (owner)
            share(index, i, owner);
        else
            status = open_owner(folder, index, i, error);
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

/* Whether the folder has other segments by now, because a merge replaced those that could not be
 * opened. */
static bool has_new_segments(const char *folder, const struct index_segments *index) {
    struct manifest now = {0};
    bool other =
        manifest_read(folder, &now, NULL) == COG_OK && !same_segments(&index->manifest, &now);
    manifest_free(&now);
    return other;
}

cog_status index_segments_open(const char *folder, const struct index_segments *known,
                               struct index_segments *index, cog_error *error) {
    for (;;) {
        cog_status status = open_once(folder, known, index, error);
        if (status == COG_OK)
            return COG_OK;
        bool again = has_new_segments(folder, index);
        index_segments_close(index);
        if (!again)
            return status;
    }
}

cog_status index_segments_verify(const struct index_segments *index, cog_error *error) {
    for (size_t i = 0; i < index->manifest.count; i++)
        if (!index->manifest.entries[i].is_pending)
            TRY(segment_verify(&index->segments[i], error));
    return COG_OK;
}

void index_segments_close(struct index_segments *index) {
    for (size_t i = 0; index->owners && i < index->manifest.count; i++)
        shared_segment_release(index->owners[i]);
    FREE(index->segments, index->owners);
    manifest_free(&index->manifest);
    *index = (struct index_segments){0};
}

/* ---- Files that nothing refers to ------------------------------------------------------------ */

/* Whether a file may be left from a writer of this index: segment-N.cog or changes-N.log that is
 * not in the manifest, or a name with .tmp. in it. */
static bool is_leftover(const char *name, const struct manifest *manifest) {
    uint64_t number;
    bool is_log;
    if (strncmp(name, "manifest.tmp.", 13) == 0 || strncmp(name, "statistics.tmp.", 15) == 0)
        return true;
    const char *rest = manifest_part_name(name, &is_log, &number);
    if (!rest || *rest)
        return rest && strncmp(rest, ".tmp.", 5) == 0;
    if (is_log)
        return number != manifest->log_number;
    for (size_t i = 0; i < manifest->count; i++)
        if (manifest->entries[i].number == number)
            return false;
    return true;
}

/* Deletes the files of a merge if none is running. */
static void sweep_merging(const char *folder) {
    int lock;
    if (merging_lock(folder, &lock, NULL) == COG_OK)
        merging_unlock(folder, lock);
}

cog_status index_sweep(const char *folder, const struct manifest *manifest, cog_error *error) {
    DIR *entries = opendir(folder);
    if (!entries)
        return error_system(error, "open the folder", folder);
    cog_status status = COG_OK;
    bool was_merging = false;
    for (struct dirent *entry; status == COG_OK && (entry = readdir(entries));) {
        was_merging = was_merging || merging_owns(entry->d_name);
        if (is_leftover(entry->d_name, manifest) &&
            unlinkat(dirfd(entries), entry->d_name, 0) != 0 && errno != ENOENT)
            status = error_system(error, "delete", entry->d_name);
    }
    closedir(entries);
    if (was_merging)
        sweep_merging(folder);
    return status;
}
