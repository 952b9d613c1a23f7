#include "input/npy.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/files.h"
#include "base/io/output.h"
#include "base/memory.h"
#include "base/strings.h"
#include "input/input_files.h"

static const struct {
    const char *descr, *name;
    size_t bytes;
} npy_types[] = {{"|u1", "uint8", 1}, {"<f4", "float32", 4}};

enum { NPY_MAX_HEADER_BYTES = 65536, UNPACK_BLOCK_BYTES = 1 << 18 };

static cog_status refuse(const char *name, cog_error *error, const char *what) {
    return error_set(error, COG_ERR_INPUT, "%s: %s", name, what);
}

/* The dictionary of a header: a Python literal of which only this form is ever written. */
struct dictionary {
    struct bytes_view descr;
    bool fortran_order, has_descr, has_order, has_shape;
    uint64_t shape[2];
    size_t dimensions;
};

struct scan {
    const char *at, *end;
};

static void skip_spaces(struct scan *scan) {
    while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\t'))
        scan->at++;
}

static bool take(struct scan *scan, char c) {
    skip_spaces(scan);
    if (scan->at == scan->end || *scan->at != c)
        return false;
    scan->at++;
    return true;
}

static bool take_word(struct scan *scan, const char *word) {
    size_t size = strlen(word);
    skip_spaces(scan);
    if ((size_t)(scan->end - scan->at) < size || memcmp(scan->at, word, size) != 0)
        return false;
    scan->at += size;
    return true;
}

static bool take_string(struct scan *scan, struct bytes_view *text) {
    char quote = take(scan, '\'') ? '\'' : take(scan, '"') ? '"' : 0;
    if (!quote)
        return false;
    const char *close = memchr(scan->at, quote, (size_t)(scan->end - scan->at));
    if (!close)
        return false;
    *text = view_of(scan->at, (size_t)(close - scan->at));
    scan->at = close + 1;
    return true;
}

static bool take_number(struct scan *scan, uint64_t *number) {
    skip_spaces(scan);
    const char *start = scan->at;
    *number = 0;
    while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9') {
        if (__builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, (uint64_t)(*scan->at - '0'), number))
            return false;
        scan->at++;
    }
    take(scan, 'L'); /* as Python 2 wrote long numbers */
    return scan->at > start;
}

static bool take_shape(struct scan *scan, struct dictionary *dictionary) {
    if (!take(scan, '('))
        return false;
    dictionary->dimensions = 0;
    while (!take(scan, ')')) {
        uint64_t length;
        if (!take_number(scan, &length) || dictionary->dimensions == 32)
            return false;
        if (dictionary->dimensions < 2)
            dictionary->shape[dictionary->dimensions] = length;
        dictionary->dimensions++;
        if (!take(scan, ',') && (scan->at == scan->end || *scan->at != ')'))
            return false;
    }
    return true;
}

static bool take_entry(struct scan *scan, struct dictionary *dictionary) {
    struct bytes_view key;
    if (!take_string(scan, &key) || !take(scan, ':'))
        return false;
    if (view_is(key, "descr"))
        return dictionary->has_descr = take_string(scan, &dictionary->descr);
    if (view_is(key, "fortran_order")) {
        dictionary->fortran_order = take_word(scan, "True");
        return dictionary->has_order = dictionary->fortran_order || take_word(scan, "False");
    }
    if (view_is(key, "shape"))
        return dictionary->has_shape = take_shape(scan, dictionary);
    return false;
}

static bool take_dictionary(struct scan *scan, struct dictionary *dictionary) {
    if (!take(scan, '{'))
        return false;
    while (!take(scan, '}')) {
        if (!take_entry(scan, dictionary))
            return false;
        if (!take(scan, ',') && (scan->at == scan->end || *scan->at != '}'))
            return false;
    }
    return dictionary->has_descr && dictionary->has_order && dictionary->has_shape;
}

static cog_status parse_header(const char *name, const char *header, size_t size,
                               struct npy_array *array, cog_error *error) {
    struct scan scan = {header, header + size};
    struct dictionary dictionary = {.dimensions = 0};
    if (!take_dictionary(&scan, &dictionary))
        return refuse(name, error, "a .npy header without descr, fortran_order and shape");
    struct bytes_view descr = dictionary.descr;
    if (!view_is(descr, npy_types[array->type].descr))
        return error_set(error, COG_ERR_INPUT,
                         "%s: an array of '%.*s', not of %s; convert it with numpy's astype", name,
                         (int)(descr.size < 40 ? descr.size : 40), descr.data,
                         npy_types[array->type].name);
    if (dictionary.fortran_order)
        return refuse(name, error, "an array in Fortran order; save numpy.ascontiguousarray of it");
    if (dictionary.dimensions != 2)
        return refuse(name, error, "not an array of two dimensions (rows, columns)");
    array->rows = dictionary.shape[0];
    array->columns = dictionary.shape[1];
    return COG_OK;
}

cog_status npy_parse(const char *name, const uint8_t *data, size_t size, enum npy_type type,
                     struct npy_array *array, cog_error *error) {
    if (size < 12 || memcmp(data, "\x93NUMPY", 6) != 0)
        return refuse(name, error, "not a .npy file; write it with numpy.save");
    if (data[6] != 1 && data[6] != 2)
        return refuse(name, error, "a .npy file of a later version than 2");
    size_t start = data[6] == 1 ? 10 : 12;
    size_t length = data[8] | (size_t)data[9] << 8;
    if (data[6] == 2)
        length |= (size_t)data[10] << 16 | (size_t)data[11] << 24;
    if (length > NPY_MAX_HEADER_BYTES || length > size - start)
        return refuse(name, error, "truncated inside its header");
    array->type = type;
    array->data = data + start + length;
    TRY(parse_header(name, (const char *)data + start, length, array, error));
    size_t row_bytes, total, held = size - start - length;
    if (!size_multiply(array->columns, npy_types[type].bytes, &row_bytes) ||
        !size_multiply(array->rows, row_bytes, &total) || total > held)
        return error_set(error, COG_ERR_INPUT,
                         "%s: truncated: its header speaks of %zu row%s of %zu column%s", name,
                         array->rows, plural(array->rows, "", "s"), array->columns,
                         plural(array->columns, "", "s"));
    if (total < held)
        return error_set(error, COG_ERR_INPUT, "%s: %zu byte%s its %zu row%s", name, held - total,
                         plural(held - total, " follows", "s follow"), array->rows,
                         plural(array->rows, "", "s"));
    return COG_OK;
}

/* What cannot be mapped as it lies, compressed or from a pipe, unpacked into a scratch file. */
static cog_status unpack(int descriptor, const char *name, int scratch, cog_error *error) {
    struct byte_source source = {.descriptor = -1};
    size_t got = 1;
    cog_status status = byte_source_start(&source, descriptor, false, name, -1, error);
    char *block = malloc(UNPACK_BLOCK_BYTES);
    if (status == COG_OK && !block)
        status = error_memory(error, UNPACK_BLOCK_BYTES, "unpacking");
    while (status == COG_OK && got) {
        status = byte_source_read(&source, block, UNPACK_BLOCK_BYTES, &got, error);
        THEN(status, descriptor_write(scratch, block, got, "a scratch file in TMPDIR", error));
    }
    free(block);
    byte_source_free(&source);
    return status;
}

static bool is_mappable(int descriptor) {
    struct stat info;
    char magic[16];
    if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    ssize_t got = pread(descriptor, magic, sizeof magic, 0);
    return got >= 0 && compression_of_bytes(magic, (size_t)got) == COMPRESSION_NONE;
}

static cog_status map_array(const char *path, struct mapping *mapping, cog_error *error) {
    bool standard = strcmp(path, "-") == 0;
    const char *name = standard ? "standard input" : path;
    int descriptor = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    int scratch = -1;
    if (descriptor < 0)
        return error_system(error, "open", path);
    cog_status status = COG_OK;
    if (!is_mappable(descriptor)) {
        status = scratch_file_open(&scratch, error);
        THEN(status, unpack(descriptor, name, scratch, error));
    }
    THEN(status, mapping_of_descriptor(scratch < 0 ? descriptor : scratch, name, mapping, error));
    if (scratch >= 0)
        close(scratch);
    if (!standard)
        close(descriptor);
    return status;
}

cog_status npy_open(const char *path, enum npy_type type, struct npy_array *array,
                    cog_error *error) {
    *array = (struct npy_array){0};
    TRY(map_array(path, &array->mapping, error));
    cog_status status =
        npy_parse(path, array->mapping.data, array->mapping.size, type, array, error);
    if (status != COG_OK)
        npy_close(array);
    return status;
}

void npy_close(struct npy_array *array) {
    mapping_close(&array->mapping);
    *array = (struct npy_array){0};
}

/* Fills the view: of the mapping if its rows are whole words there, else of a padded copy. */
static cog_status view_signatures(const char *path, struct npy_signatures *signatures,
                                  cog_error *error) {
    const struct npy_array *array = &signatures->array;
    if (array->columns < 1 || array->columns > 512)
        return error_set(error, COG_ERR_INPUT,
                         "%s: signatures of %zu bytes; from 1 to 512 are read", path,
                         array->columns);
    unsigned bits = (unsigned)array->columns * 8;
    size_t stride = signature_stride_bytes(bits);
    signatures->view = (struct signatures_view){array->data, array->rows, bits, stride};
    if (stride == array->columns && (uintptr_t)array->data % 8 == 0)
        return COG_OK;
    TRY(memory_take(&signatures->copy, array->rows, stride, true, path, error));
    for (size_t row = 0; row < array->rows; row++)
        memcpy(signatures->copy + row * stride, array->data + row * array->columns, array->columns);
    signatures->view.data = signatures->copy;
    return COG_OK;
}

cog_status npy_signatures_open(const char *path, struct npy_signatures *signatures,
                               cog_error *error) {
    *signatures = (struct npy_signatures){0};
    cog_status status = npy_open(path, NPY_UINT8, &signatures->array, error);
    THEN(status, view_signatures(path, signatures, error));
    if (status != COG_OK)
        npy_signatures_close(signatures);
    return status;
}

void npy_signatures_close(struct npy_signatures *signatures) {
    free(signatures->copy);
    npy_close(&signatures->array);
    *signatures = (struct npy_signatures){0};
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* The header has the same length whatever the number of rows, so it can be written first. */
enum { NPY_HEADER_BYTES = 128, COPY_BYTES = 1 << 16 };

struct npy_writer {
    struct output *output;
    int spool; /* scratch file for standard output, else -1 */
    enum npy_type type;
    size_t columns, row_bytes;
    uint64_t rows;
};

static void format_header(const struct npy_writer *writer, char header[NPY_HEADER_BYTES]) {
    enum { TEXT_BYTES = NPY_HEADER_BYTES - 10 };
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = TEXT_BYTES;
    header[9] = 0;
    int used = snprintf(
        header + 10, TEXT_BYTES, "{'descr': '%s', 'fortran_order': False, 'shape': (%llu, %zu), }",
        npy_types[writer->type].descr, (unsigned long long)writer->rows, writer->columns);
    memset(header + 10 + used, ' ', (size_t)(TEXT_BYTES - used));
    header[NPY_HEADER_BYTES - 1] = '\n';
}

cog_status npy_writer_open(const char *path, enum npy_type type, size_t columns,
                           struct npy_writer **result, cog_error *error) {
    struct npy_writer *writer;
    TAKE_ZEROED(writer, 1, "a .npy file", error);
    writer->spool = -1;
    writer->type = type;
    writer->columns = columns;
    writer->row_bytes = columns * npy_types[type].bytes;
    cog_status status = output_open(path, &writer->output, error);
    char header[NPY_HEADER_BYTES];
    format_header(writer, header);
    THEN(status, output_is_file(writer->output)
                     ? output_write(writer->output, header, sizeof header, error)
                     : scratch_file_open(&writer->spool, error));
    return HAND_OUT(status, writer, npy_writer_close, result);
}

cog_status npy_writer_append(struct npy_writer *writer, const void *rows, size_t row_count,
                             cog_error *error) {
    size_t size = row_count * writer->row_bytes;
    writer->rows += row_count;
    return writer->spool < 0 ? output_write(writer->output, rows, size, error)
                             : descriptor_write(writer->spool, rows, size, "scratch file", error);
}

static cog_status copy_spool(struct npy_writer *writer, cog_error *error) {
    char block[COPY_BYTES];
    off_t at = 0;
    for (;;) {
        ssize_t done = pread(writer->spool, block, sizeof block, at);
        if (done < 0)
            return error_system(error, "read", "scratch file");
        if (done == 0)
            return COG_OK;
        TRY(output_write(writer->output, block, (size_t)done, error));
        at += done;
    }
}

cog_status npy_writer_commit(struct npy_writer *writer, cog_error *error) {
    char header[NPY_HEADER_BYTES];
    format_header(writer, header);
    cog_status status;
    if (writer->spool < 0) {
        status = output_rewrite(writer->output, 0, header, sizeof header, error);
    } else {
        status = output_write(writer->output, header, sizeof header, error);
        THEN(status, copy_spool(writer, error));
    }
    return status == COG_OK ? output_commit(writer->output, error) : status;
}

void npy_writer_close(struct npy_writer *writer) {
    if (!writer)
        return;
    output_close(writer->output);
    if (writer->spool >= 0)
        close(writer->spool);
    free(writer);
}
