#include "base/io/compression.h"

#include <bzlib.h>
#include <limits.h>
#include <lzma.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

/* Dumps packed with zstd --long=31 are common, so the largest window of the format is allowed. */
enum { GZIP_LEVEL = 6, GZIP_MEMORY_LEVEL = 8, BZIP2_BLOCK = 9, XZ_PRESET = 6 };
enum { ZSTD_LEVEL = 3, ZSTD_WINDOW_LOG_LIMIT = 31, GZIP_WINDOW = 15 + 16 };
static const uint64_t XZ_MEMORY_LIMIT_BYTES = (uint64_t)2 << 30;

/* The size that a frame's header states. The library compares it with what came out, but not if it
 * writes small pieces and the last block is empty. */
struct zstd_frame {
    bool begun, is_sized;
    uint64_t left_bytes;
};

struct codec {
    enum compression compression;
    bool compresses, complete;
    bool padding;            /* decompressing gzip: only zeros may follow */
    struct zstd_frame frame; /* decompressing zstd */
    union {
        z_stream gzip;
        bz_stream bzip2;
        lzma_stream xz;
        struct {
            ZSTD_CCtx *compress;
            ZSTD_DCtx *decompress;
        } zstd;
    } state;
};

/* ---- Names and first bytes ------------------------------------------------------------------- */

const char *compression_name(enum compression compression) {
    static const char *const names[] = {"none", "gzip", "bzip2", "xz", "zstd"};
    return names[compression];
}

enum compression compression_of_name(const char *name, size_t *suffix_size) {
    static const struct {
        const char *suffix;
        enum compression compression;
    } suffixes[] = {{".gz", COMPRESSION_GZIP},   {".gzip", COMPRESSION_GZIP},
                    {".bz2", COMPRESSION_BZIP2}, {".bzip2", COMPRESSION_BZIP2},
                    {".xz", COMPRESSION_XZ},     {".zst", COMPRESSION_ZSTD},
                    {".zstd", COMPRESSION_ZSTD}};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t size = strlen(suffixes[i].suffix);
        if (length > size && strcasecmp(name + length - size, suffixes[i].suffix) == 0) {
            *suffix_size = size;
            return suffixes[i].compression;
        }
    }
    *suffix_size = 0;
    return COMPRESSION_NONE;
}

bool name_ends_in(const char *name, const char *ending) {
    size_t compressed, size = strlen(name), own = strlen(ending);
    compression_of_name(name, &compressed);
    size -= compressed;
    return size >= own && memcmp(name + size - own, ending, own) == 0;
}

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
    /* "BZh9" could begin a text: the magic number of a block or of the end has to follow. */
    if (size >= 5 && memcmp(data, "BZh", 3) == 0 && data[3] >= '1' && data[3] <= '9' &&
        (starts_with(data + 4, size - 4, "1AY&SY", 6, 1) ||
         starts_with(data + 4, size - 4, "\x17\x72\x45\x38\x50\x90", 6, 1)))
        return COMPRESSION_BZIP2;
    return COMPRESSION_NONE;
}

/* ---- Starting and ending --------------------------------------------------------------------- */

static bool start_compressing(struct codec *codec) {
    ZSTD_CCtx *context;
    switch (codec->compression) {
    case COMPRESSION_GZIP:
        return deflateInit2(&codec->state.gzip, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW,
                            GZIP_MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK;
    case COMPRESSION_BZIP2:
        return BZ2_bzCompressInit(&codec->state.bzip2, BZIP2_BLOCK, 0, 0) == BZ_OK;
    case COMPRESSION_XZ:
        return lzma_easy_encoder(&codec->state.xz, XZ_PRESET, LZMA_CHECK_CRC64) == LZMA_OK;
    default:
        context = codec->state.zstd.compress = ZSTD_createCCtx();
        return context &&
               !ZSTD_isError(
                   ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, ZSTD_LEVEL)) &&
               !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1));
    }
}

static bool start_decompressing(struct codec *codec) {
    ZSTD_DCtx *context;
    switch (codec->compression) {
    case COMPRESSION_GZIP:
        return inflateInit2(&codec->state.gzip, GZIP_WINDOW) == Z_OK;
    case COMPRESSION_BZIP2:
        return BZ2_bzDecompressInit(&codec->state.bzip2, 0, 0) == BZ_OK;
    case COMPRESSION_XZ:
        return lzma_stream_decoder(&codec->state.xz, XZ_MEMORY_LIMIT_BYTES, LZMA_CONCATENATED) ==
               LZMA_OK;
    default:
        context = codec->state.zstd.decompress = ZSTD_createDCtx();
        return context && !ZSTD_isError(ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax,
                                                               ZSTD_WINDOW_LOG_LIMIT));
    }
}

static struct codec *create(enum compression compression, bool compresses) {
    struct codec *codec = calloc(1, sizeof *codec);
    if (!codec)
        return NULL;
    codec->compression = compression;
    codec->compresses = compresses;
    if (compresses ? start_compressing(codec) : start_decompressing(codec))
        return codec;
    codec_free(codec);
    return NULL;
}

struct codec *compressor_create(enum compression compression) {
    return create(compression, true);
}

struct codec *decompressor_create(enum compression compression) {
    return create(compression, false);
}

void codec_free(struct codec *codec) {
    if (!codec)
        return;
    if (codec->compression == COMPRESSION_GZIP) {
        (codec->compresses ? deflateEnd : inflateEnd)(&codec->state.gzip);
    } else if (codec->compression == COMPRESSION_BZIP2) {
        (codec->compresses ? BZ2_bzCompressEnd : BZ2_bzDecompressEnd)(&codec->state.bzip2);
    } else if (codec->compression == COMPRESSION_XZ) {
        lzma_end(&codec->state.xz);
    } else {
        ZSTD_freeCCtx(codec->state.zstd.compress);
        ZSTD_freeDCtx(codec->state.zstd.decompress);
    }
    free(codec);
}

bool codec_is_complete(const struct codec *codec) {
    return codec->complete;
}

/* ---- Running --------------------------------------------------------------------------------- */

/* The bytes of one call of a library; taken and given are counted as it reports them. */
struct piece {
    struct bytes_view input;
    bool last; /* nothing follows the input */
    char *output;
    size_t capacity, taken, given;
};

static unsigned clipped(size_t size) {
    return size > UINT_MAX / 2 ? UINT_MAX / 2 : (unsigned)size;
}

/* Tapes pad gzip files with zeros; anything else after a member has to be another member. */
static cog_status skip_padding(struct piece *piece) {
    while (piece->taken < piece->input.size && piece->input.data[piece->taken] == 0)
        piece->taken++;
    return piece->taken < piece->input.size ? COG_ERR_INPUT : COG_OK;
}

static cog_status run_gzip(struct codec *codec, struct piece *piece) {
    z_stream *stream = &codec->state.gzip;
    if (!codec->compresses && codec->complete) {
        codec->padding |= piece->input.data[0] == 0;
        if (!codec->padding && inflateReset(stream) != Z_OK)
            return COG_ERR_MEMORY;
    }
    if (codec->padding)
        return skip_padding(piece);
    stream->next_in = (unsigned char *)(uintptr_t)piece->input.data;
    stream->avail_in = clipped(piece->input.size);
    stream->next_out = (unsigned char *)piece->output;
    stream->avail_out = clipped(piece->capacity);
    int code = codec->compresses ? deflate(stream, piece->last ? Z_FINISH : Z_NO_FLUSH)
                                 : inflate(stream, Z_NO_FLUSH);
    piece->taken = (size_t)((const char *)stream->next_in - piece->input.data);
    piece->given = (size_t)((char *)stream->next_out - piece->output);
    codec->complete = code == Z_STREAM_END;
    if (code == Z_MEM_ERROR)
        return COG_ERR_MEMORY;
    return code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR ? COG_OK : COG_ERR_INPUT;
}

static cog_status run_bzip2(struct codec *codec, struct piece *piece) {
    bz_stream *stream = &codec->state.bzip2;
    if (!codec->compresses && codec->complete) {
        BZ2_bzDecompressEnd(stream);
        *stream = (bz_stream){0};
        if (BZ2_bzDecompressInit(stream, 0, 0) != BZ_OK)
            return COG_ERR_MEMORY;
    }
    stream->next_in = (char *)(uintptr_t)piece->input.data;
    stream->avail_in = clipped(piece->input.size);
    stream->next_out = piece->output;
    stream->avail_out = clipped(piece->capacity);
    int code = codec->compresses ? BZ2_bzCompress(stream, piece->last ? BZ_FINISH : BZ_RUN)
                                 : BZ2_bzDecompress(stream);
    piece->taken = (size_t)(stream->next_in - piece->input.data);
    piece->given = (size_t)(stream->next_out - piece->output);
    codec->complete = code == BZ_STREAM_END;
    if (code == BZ_MEM_ERROR)
        return COG_ERR_MEMORY;
    return code >= BZ_OK ? COG_OK : COG_ERR_INPUT;
}

static cog_status run_xz(struct codec *codec, struct piece *piece) {
    lzma_stream *stream = &codec->state.xz;
    stream->next_in = (const uint8_t *)piece->input.data;
    stream->avail_in = piece->input.size;
    stream->next_out = (uint8_t *)piece->output;
    stream->avail_out = piece->capacity;
    lzma_ret code = lzma_code(stream, piece->last ? LZMA_FINISH : LZMA_RUN);
    piece->taken = piece->input.size - stream->avail_in;
    piece->given = piece->capacity - stream->avail_out;
    codec->complete = code == LZMA_STREAM_END;
    if (code == LZMA_MEM_ERROR || code == LZMA_MEMLIMIT_ERROR)
        return COG_ERR_MEMORY;
    return code == LZMA_OK || code == LZMA_STREAM_END || code == LZMA_BUF_ERROR ? COG_OK
                                                                                : COG_ERR_INPUT;
}

static void begin_frame(struct zstd_frame *frame, struct bytes_view input) {
    if (frame->begun || !input.size)
        return;
    frame->left_bytes = ZSTD_getFrameContentSize(input.data, input.size);
    frame->is_sized = frame->left_bytes != ZSTD_CONTENTSIZE_UNKNOWN &&
                      frame->left_bytes != ZSTD_CONTENTSIZE_ERROR;
    frame->begun = true;
}

static cog_status run_zstd(struct codec *codec, struct piece *piece) {
    ZSTD_inBuffer in = {piece->input.data, piece->input.size, 0};
    ZSTD_outBuffer out = {piece->output, piece->capacity, 0};
    struct zstd_frame *frame = &codec->frame;
    if (!codec->compresses)
        begin_frame(frame, piece->input);
    size_t left = codec->compresses
                      ? ZSTD_compressStream2(codec->state.zstd.compress, &out, &in,
                                             piece->last ? ZSTD_e_end : ZSTD_e_continue)
                      : ZSTD_decompressStream(codec->state.zstd.decompress, &out, &in);
    piece->taken = in.pos;
    piece->given = out.pos;
    codec->complete = left == 0 && (piece->last || !codec->compresses);
    frame->left_bytes -= out.pos;
    if (left == 0) {
        frame->begun = false;
        return frame->is_sized && frame->left_bytes ? COG_ERR_INPUT : COG_OK;
    }
    if (!ZSTD_isError(left))
        return COG_OK;
    return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation ? COG_ERR_MEMORY : COG_ERR_INPUT;
}

cog_status codec_run(struct codec *codec, struct bytes_view *input, bool input_ended, char *output,
                     size_t capacity, size_t *produced) {
    static cog_status (*const run[])(struct codec *, struct piece *) = {
        [COMPRESSION_GZIP] = run_gzip,
        [COMPRESSION_BZIP2] = run_bzip2,
        [COMPRESSION_XZ] = run_xz,
        [COMPRESSION_ZSTD] = run_zstd,
    };
    *produced = 0;
    if (codec->complete && input->size == 0)
        return COG_OK;
    struct piece piece = {.input = *input, .output = output, .capacity = capacity};
    /* Input that one call cannot take whole has not ended yet. */
    piece.last = input_ended && clipped(input->size) == input->size;
    cog_status status = run[codec->compression](codec, &piece);
    input->data += piece.taken;
    input->size -= piece.taken;
    *produced = piece.given;
    return status;
}
