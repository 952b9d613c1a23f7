#include "jobs/dedup/kept_records.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compression.h"
#include "base/memory.h"
#include "base/output.h"
#include "input/documents/json_parser.h"

static bool are_files(const cog_documents *documents) {
    return reader_file_count(documents->reader) > 0 &&
           reader_file_is_document(documents->reader, 0);
}

cog_status kept_records_check(const cog_documents *documents, const char *path, cog_error *error) {
    const struct reader *reader = documents->reader;
    if (!reader)
        return error_set(error, COG_ERR_USAGE, "documents in memory have no records to write");
    for (uint32_t file = 0; file < reader_file_count(reader); file++) {
        if (reader_file_format(reader, file) == INPUT_QUERYLOG)
            return error_about(
                error, COG_ERR_USAGE, "clusters",
                "%s: the rows of a query log are grouped and cannot be written back; ask "
                "for the clusters alone",
                reader_file_name(reader, file));
        if (reader_file_format(reader, file) != reader_file_format(reader, 0) ||
            reader_file_is_document(reader, file) != are_files(documents))
            return error_set(error, COG_ERR_USAGE,
                             "%s: another format than %s; one output holds one format",
                             reader_file_name(reader, file), reader_file_name(reader, 0));
    }
    enum input_format own = reader_file_count(reader) ? reader_file_format(reader, 0) : INPUT_AUTO;
    enum input_format named = input_format_of_name(path);
    if (!are_files(documents) && named != INPUT_AUTO && named != INPUT_TXT && own != INPUT_AUTO &&
        named != own)
        return error_about(error, COG_ERR_USAGE, "output",
                           "%s: kept records stay as they are in %s; name an output of that format",
                           path, reader_file_name(reader, 0));
    size_t suffix;
    if (are_files(documents) &&
        (strcmp(path, "-") == 0 || compression_of_name(path, &suffix) != COMPRESSION_NONE))
        return error_set(error, COG_ERR_USAGE, "each file is a document: name a folder, not %s",
                         path);
    return COG_OK;
}

/* ---- Into one file --------------------------------------------------------------------------- */

struct keeping {
    struct ingest *ingest;
    const cog_documents *documents;
    const uint8_t *is_kept;
    size_t record_count;
    const char *path;
    struct output *output;    /* NULL where the result is a folder */
    struct temporary *folder; /* else NULL */
    bool started, open_line;
    uint32_t header_file;
};

/* The kept records of a batch, one after the other. */
struct kept_batch {
    struct buffer bytes;
    struct piece {
        size_t size, id_size;
        uint32_t file;
    } * pieces;
    size_t count, capacity;
};

static cog_status take_records(void *context, unsigned worker, void *ingest_batch,
                               cog_error *error) {
    const struct keeping *keeping = context;
    struct kept_batch *batch = ((struct ingest_batch *)ingest_batch)->result;
    for (;;) {
        struct ingested item;
        TRY(ingest_next(keeping->ingest, worker, ingest_batch, &item, error));
        const struct document *document = item.document;
        if (!document)
            return COG_OK;
        if (item.record >= keeping->record_count || !keeping->is_kept[item.record])
            continue;
        if (!memory_grow((void **)&batch->pieces, &batch->capacity, batch->count + 1,
                         sizeof *batch->pieces) ||
            !buffer_append(&batch->bytes, document->id.data, document->id.size) ||
            !buffer_append(&batch->bytes, document->raw.data, document->raw.size))
            return error_memory(error, document->raw.size, "a record");
        batch->pieces[batch->count++] =
            (struct piece){document->raw.size, document->id.size, document->file};
    }
}

/* A header row without mark and line end, which files may have or not. */
static struct bytes_view bare_header(const struct reader *reader, uint32_t file) {
    struct bytes_view header = without_mark(reader_file_header(reader, file));
    while (header.size &&
           (header.data[header.size - 1] == '\n' || header.data[header.size - 1] == '\r'))
        header.size--;
    return header;
}

/* The header row of csv and tsv, the opening of a dump: once, and the same for all files. */
static cog_status write_header(struct keeping *keeping, uint32_t file, cog_error *error) {
    const struct reader *reader = keeping->documents->reader;
    struct bytes_view header = reader_file_header(reader, file);
    enum input_format format = reader_file_format(reader, file);
    if (keeping->started && file == keeping->header_file)
        return COG_OK;
    if (keeping->started && (format == INPUT_CSV || format == INPUT_TSV)) {
        struct bytes_view first = bare_header(reader, keeping->header_file);
        struct bytes_view other = bare_header(reader, file);
        if (first.size != other.size || memcmp(first.data, other.data, first.size) != 0)
            return error_set(
                error, COG_ERR_INPUT, "%s: another header row than %s; one output holds one table",
                reader_file_name(reader, file), reader_file_name(reader, keeping->header_file));
    }
    if (keeping->started)
        return COG_OK;
    keeping->started = true;
    keeping->header_file = file;
    return output_write(keeping->output, header.data, header.size, error);
}

static cog_status write_record(struct keeping *keeping, const struct piece *piece, const char *raw,
                               cog_error *error) {
    struct bytes_view record = view_of(raw, piece->size);
    if (keeping->started) /* a mark stands at the beginning of a file alone */
        record = without_mark(record);
    cog_status status = write_header(keeping, piece->file, error);
    if (status == COG_OK && keeping->open_line)
        status = output_write(keeping->output, "\n", 1, error);
    keeping->open_line = record.size > 0 && record.data[record.size - 1] != '\n';
    return status == COG_OK ? output_write(keeping->output, record.data, record.size, error)
                            : status;
}

/* ---- Into a folder --------------------------------------------------------------------------- */

static cog_status make_folders(char *path, cog_error *error) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        cog_status status = made ? COG_OK : error_system(error, "create the folder", path);
        *slash = '/';
        if (!made)
            return status;
    }
    return COG_OK;
}

/* Ids of files are their paths as they were named; whatever leads out of the folder (a first slash,
 * "..") is left out, as archivers do, and so is the ending of a compressed file, whose document is
 * written as text. NULL when memory is out. */
static char *path_below(const char *folder, const char *id, size_t size) {
    char *path = memory_array(strlen(folder) + size + 2, 1);
    size_t suffix = 0;
    if (!path)
        return NULL;
    memcpy(path, id, size);
    path[size] = '\0';
    if (compression_of_name(path, &suffix) != COMPRESSION_NONE)
        size -= suffix;
    char *out = stpcpy(path, folder);
    for (size_t i = 0; i < size;) {
        const char *slash = memchr(id + i, '/', size - i);
        size_t length = slash ? (size_t)(slash - id) - i : size - i;
        bool moves = length == 0 || (length == 1 && id[i] == '.') ||
                     (length == 2 && memcmp(id + i, "..", 2) == 0);
        if (!moves) {
            *out++ = '/';
            out = mempcpy(out, id + i, length);
        }
        i += length + 1;
    }
    *out = '\0';
    return path;
}

static cog_status write_document(struct keeping *keeping, const struct piece *piece, const char *id,
                                 const char *raw, cog_error *error) {
    char *path = path_below(temporary_path(keeping->folder), id, piece->id_size);
    if (!path)
        return error_memory(error, piece->id_size, "a path");
    cog_status status = make_folders(path, error);
    FILE *file = status == COG_OK ? fopen(path, "wbx") : NULL;
    if (status == COG_OK && !file)
        status = errno == EEXIST ? error_set(error, COG_ERR_INPUT,
                                             "%.*s: its place below %s is taken by another "
                                             "document; run where both names differ",
                                             (int)piece->id_size, id, keeping->path)
                                 : error_system(error, "create", path);
    if (file) {
        bool written = fwrite(raw, 1, piece->size, file) == piece->size;
        if ((fclose(file) != 0 || !written) && status == COG_OK)
            status = error_system(error, "write", path);
    }
    free(path);
    return status;
}

static cog_status write_batch(void *context, void *ingest_batch, cog_error *error) {
    struct keeping *keeping = context;
    struct kept_batch *batch = ((struct ingest_batch *)ingest_batch)->result;
    const char *at = batch->bytes.data;
    cog_status status = ingest_settle(keeping->ingest, ingest_batch, error);
    for (size_t i = 0; i < batch->count && status == COG_OK; i++) {
        const struct piece *piece = &batch->pieces[i];
        const char *raw = at + piece->id_size;
        status = keeping->output ? write_record(keeping, piece, raw, error)
                                 : write_document(keeping, piece, at, raw, error);
        at = raw + piece->size;
    }
    batch->count = 0;
    buffer_reset(&batch->bytes);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static cog_status open_target(struct keeping *keeping, cog_error *error) {
    if (!are_files(keeping->documents))
        return output_open(keeping->path, &keeping->output, error);
    if (access(keeping->path, F_OK) == 0)
        return error_set(error, COG_ERR_USAGE, "%s: exists already; name a new folder",
                         keeping->path);
    return temporary_folder_create(keeping->path, &keeping->folder, error);
}

static cog_status commit_folder(struct keeping *keeping, cog_error *error) {
    if (rename(temporary_path(keeping->folder), keeping->path) != 0)
        return error_system(error, "create the folder", keeping->path);
    temporary_keep(keeping->folder);
    keeping->folder = NULL;
    return COG_OK;
}

static cog_status commit_target(struct keeping *keeping, cog_error *error) {
    if (!keeping->output)
        return commit_folder(keeping, error);
    const struct reader *reader = keeping->documents->reader;
    bool has_files = reader_file_count(reader) > 0;
    cog_status status = COG_OK;
    if (!keeping->started && has_files)
        status = write_header(keeping, 0, error);
    if (status == COG_OK && has_files && reader_file_format(reader, 0) == INPUT_WIKIXML)
        status = output_write(keeping->output, "</mediawiki>\n", 13, error);
    return status == COG_OK ? output_commit(keeping->output, error) : status;
}

cog_status kept_records_write(cog_documents *documents, const uint8_t *is_kept, size_t record_count,
                              const char *path, const cog_run_options *run, cog_report *report,
                              cog_error *error) {
    struct keeping keeping = {
        .documents = documents, .is_kept = is_kept, .record_count = record_count, .path = path};
    cog_status status = open_target(&keeping, error);
    THEN(status, ingest_open(documents, NULL, sizeof(struct kept_batch), "writing", run, report,
                             true, &keeping.ingest, error));
    THEN(status, ingest_run(keeping.ingest, &keeping, take_records, write_batch, error));
    for (size_t i = 0; keeping.ingest && i < keeping.ingest->batch_count; i++) {
        struct kept_batch *batch = keeping.ingest->batches[i].result;
        buffer_free(&batch->bytes);
        free(batch->pieces);
    }
    ingest_close(keeping.ingest);
    THEN(status, commit_target(&keeping, error));
    temporary_remove(keeping.folder);
    output_close(keeping.output);
    return status;
}
