#include "base/compressor.h"

#include <bzlib.h>
#include <limits.h>
#include <lzma.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

enum { GZIP_LEVEL = 6, GZIP_MEMORY_LEVEL = 8, BZIP2_BLOCK = 9, XZ_PRESET = 6, ZSTD_LEVEL = 3 };

struct compressor {
    enum compression compression;
    bool complete;
    union {
        z_stream gzip;
        bz_stream bzip2;
        lzma_stream xz;
        ZSTD_CCtx *zstd;
    } state;
};

static bool start_zstd(struct compressor *compressor) {
    ZSTD_CCtx *context = compressor->state.zstd = ZSTD_createCCtx();
    return context &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, ZSTD_LEVEL)) &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1));
}

static bool start_state(struct compressor *compressor) {
    switch (compressor->compression) {
    case COMPRESSION_GZIP:
        return deflateInit2(&compressor->state.gzip, GZIP_LEVEL, Z_DEFLATED, 15 + 16,
                            GZIP_MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK;
    case COMPRESSION_BZIP2:
        return BZ2_bzCompressInit(&compressor->state.bzip2, BZIP2_BLOCK, 0, 0) == BZ_OK;
    case COMPRESSION_XZ:
        return lzma_easy_encoder(&compressor->state.xz, XZ_PRESET, LZMA_CHECK_CRC64) == LZMA_OK;
    case COMPRESSION_ZSTD:
        return start_zstd(compressor);
    case COMPRESSION_NONE:
        break;
    }
    return false;
}

struct compressor *compressor_create(enum compression compression) {
    struct compressor *compressor = calloc(1, sizeof *compressor);
    if (!compressor)
        return NULL;
    compressor->compression = compression;
    if (!start_state(compressor)) {
        compressor_free(compressor);
        return NULL;
    }
    return compressor;
}

void compressor_free(struct compressor *compressor) {
    if (!compressor)
        return;
    if (compressor->compression == COMPRESSION_GZIP)
        deflateEnd(&compressor->state.gzip);
    else if (compressor->compression == COMPRESSION_BZIP2)
        BZ2_bzCompressEnd(&compressor->state.bzip2);
    else if (compressor->compression == COMPRESSION_XZ)
        lzma_end(&compressor->state.xz);
    else if (compressor->compression == COMPRESSION_ZSTD)
        ZSTD_freeCCtx(compressor->state.zstd);
    free(compressor);
}

enum compression compressor_kind(const struct compressor *compressor) {
    return compressor->compression;
}

bool compressor_is_complete(const struct compressor *compressor) {
    return compressor->complete;
}

/* What a call of a library takes and gives; `ok` says that it did not fail. */
struct step {
    size_t taken, given;
    bool ok, ended;
};

static unsigned clipped(size_t size) {
    return size > UINT_MAX / 2 ? UINT_MAX / 2 : (unsigned)size;
}

static struct step run_gzip(z_stream *stream, struct bytes_view input, bool last, char *output,
                            size_t capacity) {
    stream->next_in = (unsigned char *)(uintptr_t)input.data;
    stream->avail_in = clipped(input.size);
    stream->next_out = (unsigned char *)output;
    stream->avail_out = clipped(capacity);
    int code = deflate(stream, last ? Z_FINISH : Z_NO_FLUSH);
    return (struct step){(size_t)((const char *)stream->next_in - input.data),
                         (size_t)((char *)stream->next_out - output),
                         code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR,
                         code == Z_STREAM_END};
}

static struct step run_bzip2(bz_stream *stream, struct bytes_view input, bool last, char *output,
                             size_t capacity) {
    stream->next_in = (char *)(uintptr_t)input.data;
    stream->avail_in = clipped(input.size);
    stream->next_out = output;
    stream->avail_out = clipped(capacity);
    int code = BZ2_bzCompress(stream, last ? BZ_FINISH : BZ_RUN);
    return (struct step){(size_t)(stream->next_in - input.data),
                         (size_t)(stream->next_out - output), code >= BZ_OK, code == BZ_STREAM_END};
}

static struct step run_xz(lzma_stream *stream, struct bytes_view input, bool last, char *output,
                          size_t capacity) {
    stream->next_in = (const uint8_t *)input.data;
    stream->avail_in = input.size;
    stream->next_out = (uint8_t *)output;
    stream->avail_out = capacity;
    lzma_ret code = lzma_code(stream, last ? LZMA_FINISH : LZMA_RUN);
    return (struct step){input.size - stream->avail_in, capacity - stream->avail_out,
                         code == LZMA_OK || code == LZMA_STREAM_END || code == LZMA_BUF_ERROR,
                         code == LZMA_STREAM_END};
}

static struct step run_zstd(ZSTD_CCtx *context, struct bytes_view input, bool last, char *output,
                            size_t capacity) {
    ZSTD_inBuffer in = {input.data, input.size, 0};
    ZSTD_outBuffer out = {output, capacity, 0};
    size_t left = ZSTD_compressStream2(context, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
    return (struct step){in.pos, out.pos, !ZSTD_isError(left), last && left == 0};
}

bool compressor_run(struct compressor *compressor, struct bytes_view *input, bool input_ended,
                    char *output, size_t capacity, size_t *produced) {
    /* More than a call can take is not the end yet. */
    bool last = input_ended && clipped(input->size) == input->size;
    struct step step = {0};
    switch (compressor->compression) {
    case COMPRESSION_GZIP:
        step = run_gzip(&compressor->state.gzip, *input, last, output, capacity);
        break;
    case COMPRESSION_BZIP2:
        step = run_bzip2(&compressor->state.bzip2, *input, last, output, capacity);
        break;
    case COMPRESSION_XZ:
        step = run_xz(&compressor->state.xz, *input, last, output, capacity);
        break;
    case COMPRESSION_ZSTD:
        step = run_zstd(compressor->state.zstd, *input, last, output, capacity);
        break;
    case COMPRESSION_NONE:
        break;
    }
    input->data += step.taken;
    input->size -= step.taken;
    *produced = step.given;
    compressor->complete = step.ended;
    return step.ok;
}
