#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "input/npy.h"

static const struct {
    const char *descr, *name;
    size_t bytes;
} npy_types[] = {{"|u1", "uint8", 1}, {"<f4", "float32", 4}};

enum { NPY_MAX_HEADER_BYTES = 65536 };

static cog_status refuse(const char *name, cog_error *error, const char *what) {
    return error_set(error, COG_ERR_INPUT, "%s: %s", name, what);
}

/* Where the value of 'key' starts in the header's dictionary, or NULL. */
static const char *find_value(const char *header, const char *key) {
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s'", key);
    const char *at = strstr(header, quoted);
    if (!at)
        return NULL;
    at += strlen(quoted);
    at += strspn(at, " ");
    return *at == ':' ? at + 1 + strspn(at + 1, " ") : NULL;
}

static bool parse_shape(const char *text, size_t *rows, size_t *columns) {
    uint64_t shape[2];
    int used = 0;
    if (sscanf(text, "(%" SCNu64 ", %" SCNu64 " )%n", &shape[0], &shape[1], &used) != 2 || !used)
        return false;
    *rows = shape[0];
    *columns = shape[1];
    return true;
}

static cog_status parse_header(const char *name, const char *header, struct npy_array *array,
                               cog_error *error) {
    const char *descr = find_value(header, "descr"), *order = find_value(header, "fortran_order");
    const char *shape = find_value(header, "shape");
    if (!descr || !order || !shape)
        return refuse(name, error, "a .npy header without descr, fortran_order and shape");
    size_t length = strlen(npy_types[array->type].descr);
    if (descr[0] != '\'' || strncmp(descr + 1, npy_types[array->type].descr, length) != 0)
        return error_set(error, COG_ERR_INPUT,
                         "%s: an array of %.*s, not of %s; convert it with numpy's astype", name,
                         (int)strcspn(descr, ","), descr, npy_types[array->type].name);
    if (strncmp(order, "False", 5) != 0)
        return refuse(name, error, "an array in Fortran order; save numpy.ascontiguousarray of it");
    if (!parse_shape(shape, &array->rows, &array->columns))
        return refuse(name, error, "not an array of two dimensions (rows, columns)");
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
    char *header = malloc(length + 1);
    if (!header)
        return error_memory(error, length, "a .npy header");
    memcpy(header, data + start, length);
    header[length] = '\0';
    array->type = type;
    cog_status status = parse_header(name, header, array, error);
    free(header);
    if (status != COG_OK)
        return status;
    size_t row_bytes, total;
    if (!size_multiply(array->columns, npy_types[type].bytes, &row_bytes) ||
        !size_multiply(array->rows, row_bytes, &total) || total > size - start - length)
        return error_set(error, COG_ERR_INPUT,
                         "%s: truncated: its header speaks of %zu rows of %zu columns", name,
                         array->rows, array->columns);
    array->data = data + start + length;
    return COG_OK;
}

cog_status npy_open(const char *path, enum npy_type type, struct npy_array *array,
                    cog_error *error) {
    struct mapping mapping;
    cog_status status = mapping_open(path, &mapping, error);
    if (status != COG_OK)
        return status;
    *array = (struct npy_array){0};
    status = npy_parse(path, mapping.data, mapping.size, type, array, error);
    array->mapping = mapping;
    if (status != COG_OK)
        npy_close(array);
    return status;
}

void npy_close(struct npy_array *array) {
    mapping_close(&array->mapping);
    *array = (struct npy_array){0};
}

cog_status npy_signatures_open(const char *path, struct npy_signatures *signatures,
                               cog_error *error) {
    *signatures = (struct npy_signatures){0};
    struct npy_array *array = &signatures->array;
    cog_status status = npy_open(path, NPY_UINT8, array, error);
    if (status != COG_OK)
        return status;
    if (array->columns < 1 || array->columns > 512) {
        status =
            error_set(error, COG_ERR_INPUT, "%s: signatures of %zu bytes; from 1 to 512 are read",
                      path, array->columns);
        npy_signatures_close(signatures);
        return status;
    }
    unsigned bits = (unsigned)array->columns * 8;
    size_t stride = signature_stride_bytes(bits);
    signatures->view = (struct signatures_view){array->data, array->rows, bits, stride};
    if (stride == array->columns && (uintptr_t)array->data % 8 == 0)
        return COG_OK;
    signatures->copy = memory_zeroed_array(array->rows, stride);
    if (!signatures->copy) {
        npy_signatures_close(signatures);
        return error_memory(error, array->rows * stride, path);
    }
    for (size_t row = 0; row < array->rows; row++)
        memcpy(signatures->copy + row * stride, array->data + row * array->columns, array->columns);
    signatures->view.data = signatures->copy;
    return COG_OK;
}

void npy_signatures_close(struct npy_signatures *signatures) {
    free(signatures->copy);
    npy_close(&signatures->array);
    *signatures = (struct npy_signatures){0};
}
