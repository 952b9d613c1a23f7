#include "search/window/window_spool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/output.h"

enum { BUFFER_BYTES = 64 * 1024 };

static const char *const file_name = "scratch file in TMPDIR";

/* A record is the place of a row in the order, and the row. */
static size_t record_bytes(unsigned bits) {
    return sizeof(uint32_t) + signature_stride_bytes(bits);
}

static size_t count_regions(size_t rows, size_t region_rows) {
    return rows / region_rows + (rows % region_rows != 0);
}

cog_status window_spool_create(struct window_spool *spool, const struct signatures_view *view,
                               size_t region_rows, cog_error *error) {
    *spool = (struct window_spool){.file = -1,
                                   .rows = view->rows,
                                   .region_rows = region_rows,
                                   .row_bytes = signature_stride_bytes(view->bits),
                                   .record_bytes = record_bytes(view->bits)};
    spool->regions = count_regions(view->rows, region_rows);
    spool->buffer_records = BUFFER_BYTES / spool->record_bytes;
    /* One more buffer is for reading. */
    spool->buffers = memory_array(spool->regions + 1, spool->buffer_records * spool->record_bytes);
    spool->buffered = memory_zeroed_array(spool->regions + 1, sizeof *spool->buffered);
    spool->written = memory_zeroed_array(spool->regions + 1, sizeof *spool->written);
    spool->ranks = memory_array(view->rows, sizeof *spool->ranks);
    cog_status status =
        spool->buffers && spool->buffered && spool->written && spool->ranks
            ? COG_OK
            : error_memory(error, view->rows * sizeof *spool->ranks, "the order of rows");
    if (status == COG_OK) {
        spool->file = scratch_file_open(error);
        status = spool->file < 0 ? COG_ERR_IO : COG_OK;
    }
    if (status != COG_OK)
        window_spool_free(spool);
    return status;
}

void window_spool_free(struct window_spool *spool) {
    if (spool->region_rows && spool->file >= 0) /* a spool that was not created has no file */
        close(spool->file);
    free(spool->ranks);
    free(spool->buffers);
    free(spool->buffered);
    free(spool->written);
    *spool = (struct window_spool){0};
}

static uint8_t *buffer_of(const struct window_spool *spool, size_t region) {
    return spool->buffers + region * spool->buffer_records * spool->record_bytes;
}

static uint64_t offset_of(const struct window_spool *spool, size_t region, size_t record) {
    return ((uint64_t)region * spool->region_rows + record) * spool->record_bytes;
}

static cog_status flush_region(struct window_spool *spool, size_t region, cog_error *error) {
    cog_status status = descriptor_write_at(
        spool->file, buffer_of(spool, region), spool->buffered[region] * spool->record_bytes,
        offset_of(spool, region, spool->written[region]), file_name, error);
    spool->written[region] += spool->buffered[region];
    spool->buffered[region] = 0;
    return status;
}

cog_status window_spool_fill(struct window_spool *spool, const struct signatures_view *view,
                             const uint32_t *order, cog_error *error) {
    cog_status status = COG_OK;
    for (size_t place = 0; place < spool->rows; place++)
        spool->ranks[order[place]] = (uint32_t)place;
    memset(spool->written, 0, spool->regions * sizeof *spool->written);
    for (size_t row = 0; row < spool->rows && status == COG_OK; row++) {
        size_t region = spool->ranks[row] / spool->region_rows;
        uint8_t *record =
            buffer_of(spool, region) + spool->buffered[region]++ * spool->record_bytes;
        memcpy(record, &spool->ranks[row], sizeof *spool->ranks);
        memcpy(record + sizeof *spool->ranks, signature_row(view, row), spool->row_bytes);
        if (spool->buffered[region] == spool->buffer_records)
            status = flush_region(spool, region, error);
    }
    for (size_t region = 0; region < spool->regions && status == COG_OK; region++)
        status = flush_region(spool, region, error);
    return status;
}

/* The records of a region whose places are in [first, first + count). */
static cog_status load_region(struct window_spool *spool, size_t region, size_t first, size_t count,
                              uint8_t *to, cog_error *error) {
    uint8_t *buffer = buffer_of(spool, spool->regions);
    cog_status status = COG_OK;
    for (size_t done = 0; done < spool->written[region] && status == COG_OK;) {
        size_t left = spool->written[region] - done;
        size_t records = left < spool->buffer_records ? left : spool->buffer_records;
        status = descriptor_read_at(spool->file, buffer, records * spool->record_bytes,
                                    offset_of(spool, region, done), file_name, error);
        for (size_t i = 0; i < records && status == COG_OK; i++) {
            const uint8_t *record = buffer + i * spool->record_bytes;
            uint32_t place;
            memcpy(&place, record, sizeof place);
            if (place >= first && place - first < count)
                memcpy(to + (place - first) * spool->row_bytes, record + sizeof place,
                       spool->row_bytes);
        }
        done += records;
    }
    return status;
}

cog_status window_spool_load(struct window_spool *spool, size_t first, size_t count, uint8_t *to,
                             cog_error *error) {
    cog_status status = COG_OK;
    for (size_t region = first / spool->region_rows;
         count && region <= (first + count - 1) / spool->region_rows && status == COG_OK; region++)
        status = load_region(spool, region, first, count, to, error);
    return status;
}
