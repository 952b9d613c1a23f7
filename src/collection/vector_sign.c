#include "collection/vector_sign.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/threads.h"

enum { ROWS_A_PIECE = 64 };

/* What a worker needs beside the rows. */
struct sign_bench {
    struct signer_workspace *workspace;
    uint64_t *hashes; /* of a row's columns */
    float *sums;      /* of all bits */
};

struct vector_signing {
    const struct vector_rows *rows;
    const struct signer *signer;
    struct sign_bench *benches; /* one a worker */
    uint8_t *signatures;
    size_t stride_bytes;
    float *sums;
    size_t sums_stride;
};

static cog_status sign_rows(void *context, unsigned worker, size_t begin, size_t end,
                            cog_error *error) {
    (void)error;
    const struct vector_signing *signing = context;
    const struct sparse_matrix *matrix = signing->rows->matrix;
    const struct sign_bench *bench = &signing->benches[worker];
    for (size_t i = begin; i < end; i++) {
        size_t row = signing->rows->numbers ? signing->rows->numbers[i] : i;
        uint64_t first = matrix->offsets[row];
        size_t count = (size_t)(matrix->offsets[row + 1] - first);
        for (size_t t = 0; t < count; t++)
            bench->hashes[t] = hash_mix((uint64_t)matrix->columns[first + t] + 1);
        struct weighted_terms terms = {bench->hashes, matrix->values + first, count};
        signer_sign(signing->signer, bench->workspace, &terms,
                    signing->signatures + i * signing->stride_bytes, bench->sums);
        if (signing->sums)
            memcpy(signing->sums + i * signing->sums_stride, bench->sums,
                   signing->sums_stride * sizeof *bench->sums);
    }
    return COG_OK;
}

static size_t longest_row(const struct sparse_matrix *matrix) {
    uint64_t longest = 0;
    for (size_t row = 0; row < matrix->rows; row++) {
        uint64_t count = matrix->offsets[row + 1] - matrix->offsets[row];
        longest = count > longest ? count : longest;
    }
    return (size_t)longest;
}

static cog_status benches_init(struct vector_signing *signing, unsigned threads, cog_error *error) {
    size_t longest = longest_row(signing->rows->matrix);
    size_t bits = signer_options(signing->signer)->bits;
    signing->benches = memory_zeroed_array(threads, sizeof *signing->benches);
    cog_status status = COG_OK;
    for (unsigned i = 0; signing->benches && i < threads && status == COG_OK; i++) {
        struct sign_bench *bench = &signing->benches[i];
        bench->hashes = memory_array(longest, sizeof *bench->hashes);
        bench->sums = signing->sums ? memory_array(bits, sizeof *bench->sums) : NULL;
        if (!bench->hashes || (signing->sums && !bench->sums))
            return error_memory(error, longest * sizeof *bench->hashes, "signatures");
        status = signer_workspace_create(signing->signer, &bench->workspace, error);
    }
    return signing->benches ? status : error_memory(error, threads, "workers");
}

static void benches_free(struct vector_signing *signing, unsigned threads) {
    for (unsigned i = 0; signing->benches && i < threads; i++) {
        signer_workspace_free(signing->benches[i].workspace);
        free(signing->benches[i].hashes);
        free(signing->benches[i].sums);
    }
    free(signing->benches);
}

cog_status vector_sign(const struct vector_rows *rows, const struct signature_options *options,
                       unsigned threads, struct signatures_view *view, float *sums,
                       size_t sums_stride, cog_error *error) {
    struct signer *signer = NULL;
    struct vector_signing signing = {.rows = rows,
                                     .stride_bytes = signature_stride_bytes(options->bits),
                                     .sums = sums,
                                     .sums_stride = sums_stride};
    signing.signatures = memory_zeroed_array(rows->count, signing.stride_bytes);
    *view = (struct signatures_view){signing.signatures, rows->count, options->bits,
                                     signing.stride_bytes};
    if (!signing.signatures)
        return error_memory(error, rows->count * signing.stride_bytes, "signatures");
    cog_status status = signer_create(options, &signer, error);
    signing.signer = signer;
    THEN(status, benches_init(&signing, threads, error));
    THEN(status, parallel_for(threads, rows->count, ROWS_A_PIECE, sign_rows, &signing, error));
    benches_free(&signing, threads);
    signer_free(signer);
    return status;
}
