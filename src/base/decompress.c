#include "base/decompress.h"

#include <bzlib.h>
#include <limits.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

/* Dumps packed with zstd --long=31 are common, so its windows may be as large as the format has
 * them. */
enum { ZSTD_WINDOW_LOG_LIMIT = 31 };
static const uint64_t XZ_MEMORY_LIMIT_BYTES = (uint64_t)2 << 30;

/* The size that a frame's header states. The library compares it with what came out, but not where
 * it writes to small pieces and the last block is empty. */
struct zstd_frame {
    bool begun, is_sized;
    uint64_t left_bytes;
};

struct decompressor {
    enum compression compression;
    bool complete; /* the last member has ended, and nothing of another has been taken */
    struct zstd_frame frame;
    bool padding; /* gzip: only zeros may follow */
    union {
        z_stream gzip;
        bz_stream bzip2;
        lzma_stream xz;
        ZSTD_DCtx *zstd;
    } state;
};

static bool starts_with(const char *data, size_t size, const char *magic, size_t length,
                        size_t at_least) {
    return size >= at_least && memcmp(data, magic, size < length ? size : length) == 0;
}

enum compression compression_of_bytes(const char *data, size_t size) {
    if (starts_with(data, size, "\x1f\x8b\x08", 3, 2))
        return COMPRESSION_GZIP;
    if (starts_with(data, size,
                    "\xfd"
                    "7zXZ",
                    6, 3))
        return COMPRESSION_XZ;
    if (starts_with(data, size, "\x28\xb5\x2f\xfd", 4, 3))
        return COMPRESSION_ZSTD;
    if (size >= 4 && (data[0] & 0xf0) == 0x50 && memcmp(data + 1, "\x2a\x4d\x18", 3) == 0)
        return COMPRESSION_ZSTD; /* a skippable frame comes first */
    /* "BZh9" could begin a text: the block's or the end's magic number has to follow. */
    if (size >= 5 && memcmp(data, "BZh", 3) == 0 && data[3] >= '1' && data[3] <= '9' &&
        (starts_with(data + 4, size - 4, "1AY&SY", 6, 1) ||
         starts_with(data + 4, size - 4, "\x17\x72\x45\x38\x50\x90", 6, 1)))
        return COMPRESSION_BZIP2;
    return COMPRESSION_NONE;
}

static bool start_state(struct decompressor *decompressor) {
    switch (decompressor->compression) {
    case COMPRESSION_GZIP:
        return inflateInit2(&decompressor->state.gzip, 15 + 16) == Z_OK;
    case COMPRESSION_BZIP2:
        return BZ2_bzDecompressInit(&decompressor->state.bzip2, 0, 0) == BZ_OK;
    case COMPRESSION_XZ:
        return lzma_stream_decoder(&decompressor->state.xz, XZ_MEMORY_LIMIT_BYTES,
                                   LZMA_CONCATENATED) == LZMA_OK;
    case COMPRESSION_ZSTD:
        decompressor->state.zstd = ZSTD_createDCtx();
        return decompressor->state.zstd &&
               !ZSTD_isError(ZSTD_DCtx_setParameter(decompressor->state.zstd, ZSTD_d_windowLogMax,
                                                    ZSTD_WINDOW_LOG_LIMIT));
    case COMPRESSION_NONE:
        break;
    }
    return false;
}

struct decompressor *decompressor_create(enum compression compression) {
    struct decompressor *decompressor = calloc(1, sizeof *decompressor);
    if (!decompressor)
        return NULL;
    decompressor->compression = compression;
    if (!start_state(decompressor)) {
        decompressor_free(decompressor);
        return NULL;
    }
    return decompressor;
}

void decompressor_free(struct decompressor *decompressor) {
    if (!decompressor)
        return;
    if (decompressor->compression == COMPRESSION_GZIP)
        inflateEnd(&decompressor->state.gzip);
    else if (decompressor->compression == COMPRESSION_BZIP2)
        BZ2_bzDecompressEnd(&decompressor->state.bzip2);
    else if (decompressor->compression == COMPRESSION_XZ)
        lzma_end(&decompressor->state.xz);
    else if (decompressor->compression == COMPRESSION_ZSTD)
        ZSTD_freeDCtx(decompressor->state.zstd);
    free(decompressor);
}

bool decompressor_is_complete(const struct decompressor *decompressor) {
    return decompressor->complete;
}

static unsigned clipped(size_t size) {
    return size > UINT_MAX / 2 ? UINT_MAX / 2 : (unsigned)size;
}

static void advance(struct bytes_view *input, size_t used) {
    input->data += used;
    input->size -= used;
}

/* Tapes pad gzip files with zeros; anything else behind a member has to be another member. */
static cog_status skip_padding(struct bytes_view *input) {
    size_t zeros = 0;
    while (zeros < input->size && input->data[zeros] == 0)
        zeros++;
    advance(input, zeros);
    return input->size ? COG_ERR_INPUT : COG_OK;
}

static cog_status run_gzip(struct decompressor *decompressor, struct bytes_view *input,
                           char *output, size_t capacity, size_t *produced) {
    z_stream *stream = &decompressor->state.gzip;
    if (decompressor->complete && input->size && input->data[0] == 0)
        decompressor->padding = true;
    if (decompressor->padding)
        return skip_padding(input);
    if (decompressor->complete && inflateReset(stream) != Z_OK)
        return COG_ERR_MEMORY;
    stream->next_in = (unsigned char *)(uintptr_t)input->data;
    stream->avail_in = clipped(input->size);
    stream->next_out = (unsigned char *)output;
    stream->avail_out = clipped(capacity);
    int code = inflate(stream, Z_NO_FLUSH);
    advance(input, (size_t)((const char *)stream->next_in - input->data));
    *produced = (size_t)((char *)stream->next_out - output);
    decompressor->complete = code == Z_STREAM_END;
    if (code == Z_MEM_ERROR)
        return COG_ERR_MEMORY;
    return code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR ? COG_OK : COG_ERR_INPUT;
}

static cog_status run_bzip2(struct decompressor *decompressor, struct bytes_view *input,
                            char *output, size_t capacity, size_t *produced) {
    bz_stream *stream = &decompressor->state.bzip2;
    if (decompressor->complete) {
        BZ2_bzDecompressEnd(stream);
        *stream = (bz_stream){0};
        if (BZ2_bzDecompressInit(stream, 0, 0) != BZ_OK)
            return COG_ERR_MEMORY;
    }
    stream->next_in = (char *)(uintptr_t)input->data;
    stream->avail_in = clipped(input->size);
    stream->next_out = output;
    stream->avail_out = clipped(capacity);
    int code = BZ2_bzDecompress(stream);
    advance(input, (size_t)(stream->next_in - input->data));
    *produced = (size_t)(stream->next_out - output);
    decompressor->complete = code == BZ_STREAM_END;
    if (code == BZ_MEM_ERROR)
        return COG_ERR_MEMORY;
    return code == BZ_OK || code == BZ_STREAM_END ? COG_OK : COG_ERR_INPUT;
}

static cog_status run_xz(struct decompressor *decompressor, struct bytes_view *input,
                         bool input_ended, char *output, size_t capacity, size_t *produced) {
    lzma_stream *stream = &decompressor->state.xz;
    stream->next_in = (const uint8_t *)input->data;
    stream->avail_in = input->size;
    stream->next_out = (uint8_t *)output;
    stream->avail_out = capacity;
    lzma_ret code = lzma_code(stream, input_ended ? LZMA_FINISH : LZMA_RUN);
    advance(input, input->size - stream->avail_in);
    *produced = capacity - stream->avail_out;
    decompressor->complete = code == LZMA_STREAM_END;
    if (code == LZMA_MEM_ERROR || code == LZMA_MEMLIMIT_ERROR)
        return COG_ERR_MEMORY;
    return code == LZMA_OK || code == LZMA_STREAM_END || code == LZMA_BUF_ERROR ? COG_OK
                                                                                : COG_ERR_INPUT;
}

static cog_status run_zstd(struct decompressor *decompressor, struct bytes_view *input,
                           char *output, size_t capacity, size_t *produced) {
    ZSTD_inBuffer in = {input->data, input->size, 0};
    ZSTD_outBuffer out = {output, capacity, 0};
    struct zstd_frame *frame = &decompressor->frame;
    if (!frame->begun && in.size) {
        unsigned long long size = ZSTD_getFrameContentSize(in.src, in.size);
        frame->is_sized = size != ZSTD_CONTENTSIZE_UNKNOWN && size != ZSTD_CONTENTSIZE_ERROR;
        frame->left_bytes = size;
        frame->begun = true;
    }
    size_t code = ZSTD_decompressStream(decompressor->state.zstd, &out, &in);
    advance(input, in.pos);
    *produced = out.pos;
    decompressor->complete = code == 0;
    frame->left_bytes -= out.pos;
    if (code == 0) {
        frame->begun = false;
        return frame->is_sized && frame->left_bytes ? COG_ERR_INPUT : COG_OK;
    }
    if (!ZSTD_isError(code))
        return COG_OK;
    return ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation ? COG_ERR_MEMORY : COG_ERR_INPUT;
}

cog_status decompressor_run(struct decompressor *decompressor, struct bytes_view *input,
                            bool input_ended, char *output, size_t capacity, size_t *produced) {
    *produced = 0;
    if (decompressor->complete && input->size == 0)
        return COG_OK;
    switch (decompressor->compression) {
    case COMPRESSION_GZIP:
        return run_gzip(decompressor, input, output, capacity, produced);
    case COMPRESSION_BZIP2:
        return run_bzip2(decompressor, input, output, capacity, produced);
    case COMPRESSION_XZ:
        return run_xz(decompressor, input, input_ended, output, capacity, produced);
    case COMPRESSION_ZSTD:
        return run_zstd(decompressor, input, output, capacity, produced);
    case COMPRESSION_NONE:
        break;
    }
    return COG_ERR_USAGE;
}
