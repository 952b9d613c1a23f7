#include "jobs/sign/signature_handle.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "input/reader.h"
#include "signature/signer.h"

bool cog_is_signature_file(cog_format format, const char *path) {
    return format == COG_FORMAT_NPY ||
           (format == COG_FORMAT_AUTO && input_format_of_name(path) == INPUT_NPY);
}

cog_status cog_signatures_open(const char *path, cog_signatures **result, cog_error *error) {
    cog_signatures *signatures = calloc(1, sizeof *signatures);
    if (!signatures)
        return error_memory(error, sizeof *signatures, "signatures");
    cog_status status = npy_signatures_open(path, &signatures->file, error);
    if (status != COG_OK) {
        free(signatures);
        return status;
    }
    *result = signatures;
    return COG_OK;
}

cog_status cog_signatures_from_memory(const uint8_t *data, size_t rows, unsigned bits,
                                      cog_signatures **result, cog_error *error) {
    if (bits == 0 || bits % 8 || bits > SIGNATURE_MAX_BITS)
        return error_set(error, COG_ERR_USAGE,
                         "signatures of %u bits: choose a multiple of 8 up to %d", bits,
                         SIGNATURE_MAX_BITS);
    cog_signatures *signatures = calloc(1, sizeof *signatures);
    if (!signatures)
        return error_memory(error, sizeof *signatures, "signatures");
    size_t stride = signature_stride_bytes(bits), packed = bits / 8;
    struct npy_signatures *file = &signatures->file;
    file->view = (struct signatures_view){data, rows, bits, stride};
    if (stride != packed || (uintptr_t)data % 8) {
        file->copy = memory_zeroed_array(rows, stride);
        if (!file->copy) {
            cog_signatures_free(signatures);
            return error_memory(error, rows * stride, "signatures");
        }
        for (size_t row = 0; row < rows; row++)
            memcpy(file->copy + row * stride, data + row * packed, packed);
        file->view.data = file->copy;
    }
    *result = signatures;
    return COG_OK;
}

void cog_signatures_free(cog_signatures *signatures) {
    if (!signatures)
        return;
    npy_signatures_close(&signatures->file);
    free(signatures);
}

size_t cog_signatures_rows(const cog_signatures *signatures) {
    return signatures->file.view.rows;
}

unsigned cog_signatures_bits(const cog_signatures *signatures) {
    return signatures->file.view.bits;
}

const struct signatures_view *signatures_view_of(const cog_signatures *signatures) {
    return &signatures->file.view;
}
