#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/output.h"
#include "input/npy.h"

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
    static const char *const descr[] = {"|u1", "<f4"};
    enum { TEXT_BYTES = NPY_HEADER_BYTES - 10 };
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = TEXT_BYTES;
    header[9] = 0;
    int used = snprintf(header + 10, TEXT_BYTES,
                        "{'descr': '%s', 'fortran_order': False, 'shape': (%llu, %zu), }",
                        descr[writer->type], (unsigned long long)writer->rows, writer->columns);
    memset(header + 10 + used, ' ', (size_t)(TEXT_BYTES - used));
    header[NPY_HEADER_BYTES - 1] = '\n';
}

cog_status npy_writer_open(const char *path, enum npy_type type, size_t columns,
                           struct npy_writer **result, cog_error *error) {
    struct npy_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return error_memory(error, sizeof *writer, "a .npy file");
    writer->spool = -1;
    writer->type = type;
    writer->columns = columns;
    writer->row_bytes = columns * (type == NPY_FLOAT32 ? sizeof(float) : 1);
    cog_status status = output_open(path, &writer->output, error);
    char header[NPY_HEADER_BYTES];
    format_header(writer, header);
    if (status == COG_OK && !output_is_file(writer->output)) {
        writer->spool = scratch_file_open(error);
        status = writer->spool < 0 ? COG_ERR_IO : COG_OK;
    } else if (status == COG_OK) {
        status = output_write(writer->output, header, sizeof header, error);
    }
    if (status != COG_OK) {
        npy_writer_close(writer);
        return status;
    }
    *result = writer;
    return COG_OK;
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
