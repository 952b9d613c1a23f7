/* An index in a folder: written as a whole, opened by mapping, reopened after a change. Also its
 * rows by number and by id. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arguments.h"
#include "base/hash.h"
#include "base/io/output.h"
#include "base/memory.h"
#include "base/strings.h"
#include "collection/statistics_job.h"
#include "index/merging.h"
#include "jobs/index/index_pending.h"
#include "jobs/index/index_weights.h"

/* ---- Rows ------------------------------------------------------------------------------------ */

bool index_row_id(const cog_index *index, uint32_t row, struct bytes_view *id) {
    uint64_t first_row;
    if (row >= index->parts.rows)
        return false;
    size_t part = index_part_of(index, row, &first_row);
    return segment_id(&index->parts.segments[part], (size_t)(row - first_row), id);
}

/* For rows whose ids are their numbers: the row with this number. */
static uint64_t row_of_number(struct bytes_view id, uint64_t first, uint64_t rows) {
    uint64_t number;
    return number_of_digits(id, &number) && number >= first && number - first < rows
               ? number - first
               : UINT64_MAX;
}

/* Finds ids in a part whose first row is number `first`, and sets their rows. */
static cog_status find_in_part(const cog_index *index, size_t part, uint64_t first,
                               const struct bytes_view *ids, size_t count, uint64_t *rows,
                               cog_error *error) {
    const struct manifest_entry *entry = &index->parts.manifest.entries[part];
    const struct segment *segment = &index->parts.segments[part];
    struct id_buckets built = {0}, buckets = segment->id_buckets;
    cog_status status = COG_OK;
    if (segment->id_offsets && !buckets.starts) {
        status = id_buckets_build(segment, &built, error);
        buckets = built;
    }
    for (size_t i = 0; i < count && status == COG_OK; i++) {
        uint64_t row = UINT64_MAX;
        if (!segment->id_offsets)
            row = row_of_number(ids[i], first, entry->rows);
        else if (rows[i] == UINT64_MAX)
            status = id_buckets_find(&buckets, segment, ids[i], &row, error);
        if (status == COG_OK && row != UINT64_MAX && !manifest_is_removed(entry, (uint32_t)row))
            rows[i] = first + row;
    }
    id_buckets_free(&built);
    return status;
}

cog_status index_find_ids(const cog_index *index, const struct bytes_view *ids, size_t count,
                          uint64_t *rows, cog_error *error) {
    uint64_t first = 0;
    cog_status status = COG_OK;
    for (size_t i = 0; i < count; i++)
        rows[i] = UINT64_MAX;
    if (count == 0)
        return COG_OK;
    for (size_t part = 0; part < index->parts.manifest.count && status == COG_OK; part++) {
        status = find_in_part(index, part, first, ids, count, rows, error);
        first += index->parts.manifest.entries[part].rows;
    }
    return status;
}

bool cog_index_find(const cog_index *index, const char *id, size_t id_size, uint32_t *row) {
    struct bytes_view view = view_of(id, id_size);
    uint64_t found = UINT64_MAX;
    if (index_prepare(index, NULL) != COG_OK ||
        index_find_ids(index, &view, 1, &found, NULL) != COG_OK || found == UINT64_MAX)
        return false;
    *row = (uint32_t)found;
    return true;
}

const char *cog_index_id(const cog_index *index, uint32_t row, size_t *size) {
    struct bytes_view id = {NULL, 0};
    bool known = index_prepare(index, NULL) == COG_OK && index_row_id(index, row, &id);
    *size = id.size;
    return known ? id.data : NULL;
}

/* ---- The folder ------------------------------------------------------------------------------ */

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
                                  .tables = segment->tables,
                                  .table_count = segment->table_count,
                                  .terms = segment->terms.hashes ? &segment->terms : NULL,
                                  .lengths = segment->lengths,
                                  .vectors = segment->vectors.offsets ? &segment->vectors : NULL,
                                  .sets = segment->sets.rows ? &segment->sets : NULL,
                                  .recall = segment->recall};
}

/* Rows with only numbers get these as stored ids, so that later removals do not change them. */
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
    saved->removed = removed_rows_retain(entry->removed);
    saved->removed_count = entry->removed_count;
    return COG_OK;
}

static cog_status save_parts(const cog_index *index, const char *folder, cog_error *error) {
    struct manifest manifest = {0};
    uint64_t first_row = 0;
    cog_status status = settings_copy(&manifest.settings, &index->parts.manifest.settings, error);
    for (size_t i = 0; i < index->parts.manifest.count && status == COG_OK; i++) {
        status = save_segment(index, i, first_row, folder, &manifest, error);
        first_row += index->parts.manifest.entries[i].rows;
    }
    THEN(status, manifest_write(folder, &manifest, error));
    manifest_free(&manifest);
    return status;
}

/* Files of an unfinished build may be there; any other file belongs to someone else. */
static cog_status check_folder(const char *folder, cog_error *error) {
    DIR *files = opendir(folder);
    if (!files)
        return error_system(error, "read the folder", folder);
    cog_status status = COG_OK;
    for (const struct dirent *file; status == COG_OK && (file = readdir(files));) {
        const char *name = file->d_name;
        bool own = name[0] == '.' || strncmp(name, "segment-", 8) == 0 ||
                   strncmp(name, "statistics", 10) == 0 || strncmp(name, "manifest", 8) == 0 ||
                   strncmp(name, "changes-", 8) == 0 || merging_owns(name);
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
    struct temporary *made; /* until an index is saved; NULL if the folder existed */
    int lock;
};

static cog_status take_folder(struct cog_index_claim *claim, cog_error *error) {
    const char *folder = claim->folder;
    cog_status status = temporary_folder_claim(folder, &claim->made, error);
    THEN(status, index_lock(folder, &claim->lock, error));
    if (status == COG_ERR_BUSY) { /* another process took the folder created here */
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
    TRY(check_given(folder, "folder", error));
    TRY(check_given(result, "claim", error));
    cog_index_claim *made;
    TAKE_ZEROED(made, 1, "a claim", error);
    made->lock = -1;
    made->folder = strdup(folder);
    cog_status status =
        made->folder ? take_folder(made, error) : error_memory(error, strlen(folder), "a claim");
    return HAND_OUT(status, made, cog_index_claim_release, result);
}

cog_status cog_index_save_claimed(const cog_index *index, cog_index_claim *claim,
                                  cog_error *error) {
    TRY(check_given(index, "index", error));
    TRY(check_given(claim, "claim", error));
    TRY(index_prepare(index, error));
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
    TRY(check_given(index, "index", error));
    TRY(check_given(folder, "folder", error));
    cog_index_claim *claim = NULL;
    cog_status status = cog_index_claim_folder(folder, &claim, error);
    THEN(status, cog_index_save_claimed(index, claim, error));
    cog_index_claim_release(claim);
    return status;
}

/* Older indexes of documents had a single vocabulary, from the build. */
static cog_status check_version(const cog_index *index, cog_error *error) {
    uint64_t fingerprint;
    return settings_get_u64(&index->parts.manifest.settings, "statistics: fingerprint",
                            &fingerprint)
               ? error_set(error, COG_ERR_FORMAT,
                           "%s: made by an earlier version of Cognate, whose indexes knew only the "
                           "words of their first documents; build the index again",
                           index->folder)
               : COG_OK;
}

static cog_status check_parts(const cog_index *index, cog_error *error) {
    for (size_t i = 0; i < index->parts.manifest.count; i++) {
        const struct segment *segment = &index->parts.segments[i];
        bool of_sets = index_is_of_sets(index);
        bool fits = segment->id_offsets && segment->signatures.bits == index_bits(index) &&
                    of_sets == (segment->sets.rows != NULL) &&
                    (!index->has_documents || of_sets || index_is_of_minhash(index) ||
                     segment->terms.hashes) &&
                    (!index->has_vectors || of_sets || segment->vectors.offsets);
        if (!fits)
            return error_set(
                error, COG_ERR_FORMAT,
                "%s: ids, signatures, terms, vectors or sets are missing or do not fit "
                "the index",
                segment->container.path);
    }
    if (index->parts.rows >= UINT32_MAX)
        return error_set(error, COG_ERR_FORMAT, "%s: more than 4 billion rows", index->folder);
    return COG_OK;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static cog_status open_manifest_file(cog_index *index, cog_error *error) {
    char *path = NULL;
    if (asprintf(&path, "%s/manifest", index->folder) < 0)
        return error_memory(error, strlen(index->folder), "a path");
    index->manifest_file = open(path, O_RDONLY | O_CLOEXEC);
    free(path);
    return COG_OK; /* manifest_read reports what is wrong with it */
}

/* Whether the file read still has its name. Its inode is not reused while it is open. */
static bool manifest_is_current(const cog_index *index) {
    struct stat own, named;
    char *path = NULL;
    if (index->manifest_file < 0 || asprintf(&path, "%s/manifest", index->folder) < 0)
        return false;
    bool same = fstat(index->manifest_file, &own) == 0 && stat(path, &named) == 0 &&
                own.st_ino == named.st_ino && own.st_dev == named.st_dev;
    free(path);
    return same;
}

static cog_status open_files(cog_index *index, const struct index_segments *known,
                             cog_error *error) {
    cog_status status = open_manifest_file(index, error);
    THEN(status, index_segments_open(index->folder, known, &index->parts, error));
    if (status == COG_OK && index->parts.manifest.log_number)
        status =
            change_log_open(index->folder, index->parts.manifest.log_number, &index->log, error);
    return status;
}

/* Opens the folder's state without the statistics. */
static cog_status open_state(cog_index *index, const struct index_segments *known,
                             cog_error *error) {
    cog_status status = open_files(index, known, error);
    while (index->manifest_file >= 0 && !manifest_is_current(index) &&
           manifest_exists(index->folder)) {
        index_forget_parts(index); /* replaced while it was being read */
        status = open_files(index, known, error);
    }
    THEN(status, check_version(index, error));
    THEN(status, index_interpret_settings(index, error));
    THEN(status, check_parts(index, error));
    THEN(status, index_read_log(index, error));
    return status;
}

static void forget_statistics(cog_index *index) {
    statistics_release(index->statistics);
    statistics_release(index->exact);
    index->statistics = index->exact = NULL;
}

/* Updates known statistics to the change; if that fails, they are counted again when needed. */
static void follow_statistics(cog_index *fresh, cog_index *known) {
    if (!fresh->has_documents || !known->statistics)
        return;
    if (!known->exact && statistics_are_shared(known->statistics)) {
        cog_statistics *own = NULL;
        if (statistics_copy(known->statistics, &own, NULL) != COG_OK)
            return;
        statistics_release(known->statistics);
        known->statistics = own;
    }
    if (index_follow_statistics(fresh, known, NULL) != COG_OK) {
        forget_statistics(known);
        return;
    }
    fresh->statistics = known->statistics;
    fresh->exact = known->exact;
    known->statistics = known->exact = NULL;
}

/* Opens the state of a manifest that the handle has not read. */
static cog_status reopen(cog_index *index, cog_error *error) {
    cog_index fresh = {.folder = index->folder,
                       .manifest_file = -1,
                       .log = {.descriptor = -1},
                       .guard = index->guard,
                       .extra_owners = index->extra_owners,
                       .is_live = index->is_live,
                       .uncounted = index->uncounted,
                       .generation = index->generation + 1};
    cog_status status = open_state(&fresh, &index->parts, error);
    if (status != COG_OK) {
        index_forget_parts(&fresh);
        return status;
    }
    follow_statistics(&fresh, index);
    if (fresh.is_live && index->weights && fresh.statistics)
        index_share_weights(index, &fresh, NULL);
    index_forget_parts(index);
    forget_statistics(index);
    *index = fresh;
    return COG_OK;
}

cog_status index_reload(cog_index *index, cog_error *error) {
    if (!manifest_is_current(index))
        return reopen(index, error);
    cog_status status = index_read_log(index, error);
    if (status != COG_OK || index->log.is_replaced)
        return reopen(index, error);
    return COG_OK;
}

/* Opens the manifest file, and all segments that it names, followed by pending ones. */
static cog_status open_merged(const cog_index *index, struct cog_index *fresh, cog_error *error) {
    cog_status status = open_manifest_file(fresh, error);
    THEN(status, index_segments_open(fresh->folder, &index->parts, &fresh->parts, error));
    THEN(status, index_segments_share_pending(&index->parts, &fresh->parts, error));
    return status;
}

cog_status index_follow_merge(cog_index *index, cog_error *error) {
    cog_index fresh = {.folder = index->folder, .manifest_file = -1, .log = {.descriptor = -1}};
    cog_status status = open_merged(index, &fresh, error);
    if (status != COG_OK) {
        index_forget_parts(&fresh);
        return status;
    }
    index_segments_close(&index->parts);
    close(index->manifest_file);
    index->parts = fresh.parts;
    index->manifest_file = fresh.manifest_file;
    settings_get_text(&index->parts.manifest.settings, "language", &index->sign.terms.lang);
    if (!index->has_documents)
        return COG_OK;
    if (!index->has_vectors) { /* words that only removed documents had are gone */
        forget_statistics(index);
        __atomic_store_n(&index->is_prepared, false, __ATOMIC_RELEASE);
        return COG_OK;
    }
    if (index->weights && index_reset_weights(index, NULL) != COG_OK)
        __atomic_store_n(&index->is_prepared, false,
                         __ATOMIC_RELEASE); /* retried by the next preparation */
    return COG_OK;
}

bool cog_index_exists(const char *folder) {
    return manifest_exists(folder) || manifest_is_missing(folder);
}

cog_status cog_index_open(const char *folder, cog_index **result, cog_error *error) {
    TRY(check_given(folder, "folder", error));
    TRY(check_given(result, "index", error));
    cog_index *index;
    TRY(index_create(&index, error));
    index->folder = strdup(folder);
    cog_status status =
        index->folder ? index_reload(index, error) : error_memory(error, strlen(folder), "a path");
    return HAND_OUT(status, index, cog_index_close, result);
}

/* ---- Checking -------------------------------------------------------------------------------- */

/* Reads the log from its first frame on. */
static cog_status check_log(const cog_index *index, cog_error *error) {
    struct change_log log = {.descriptor = -1};
    struct buffer buffer = {0};
    struct bytes_view payload;
    bool found = true;
    uint64_t torn_bytes;
    if (index->log.descriptor < 0)
        return COG_OK;
    cog_status status = change_log_open(index->folder, index->log.number, &log, error);
    while (status == COG_OK && found && log.end_bytes < index->log.end_bytes) {
        struct changes changes = {0};
        bool end = false;
        status = change_log_next(&log, &buffer, &payload, &found, error);
        changes.payload = payload;
        while (status == COG_OK && found && !end)
            status = changes_next(&changes, log.path, &end, error);
        changes_free(&changes);
    }
    THEN(status, change_log_check_end(&log, &torn_bytes, error));
    change_log_close(&log);
    buffer_free(&buffer);
    return status;
}

/* Checks that each row that is not removed is found by its id. */
static cog_status check_ids(const cog_index *index, cog_error *error) {
    cog_status status = COG_OK;
    uint64_t first = 0;
    for (size_t part = 0; part < index->parts.manifest.count && status == COG_OK; part++) {
        const struct manifest_entry *entry = &index->parts.manifest.entries[part];
        for (uint32_t row = 0; row < entry->rows && status == COG_OK; row++) {
            struct bytes_view id;
            uint64_t found;
            if (manifest_is_removed(entry, row))
                continue;
            if (!segment_id(&index->parts.segments[part], row, &id))
                return error_set(error, COG_ERR_FORMAT, "%s: a row without an id", index->folder);
            status = index_find_ids(index, &id, 1, &found, error);
            if (status == COG_OK && found != first + row)
                status = error_set(error, COG_ERR_FORMAT,
                                   "%s: the id '%.*s' is there twice, or is not found by its table",
                                   index->folder, (int)(id.size < 200 ? id.size : 200), id.data);
        }
        first += entry->rows;
    }
    return status;
}

/* Opening has already read the whole manifest. */
cog_status cog_index_check(const cog_index *index, cog_error *error) {
    TRY(check_given(index, "index", error));
    TRY(index_prepare(index, error));
    if (!index->folder)
        return COG_OK;
    TRY(index_segments_verify(&index->parts, error));
    TRY(check_log(index, error));
    return check_ids(index, error);
}
