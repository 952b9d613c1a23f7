#include "search/window/window_join.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/error.h"
#include "base/io/files.h"
#include "base/io/output.h"
#include "base/memory.h"
#include "base/threads.h"
#include "hamming/hamming.h"
#include "search/hits/pair_set.h"
#include "search/keys/bit_permutation.h"
#include "search/window/band_scan.h"

/* ---- Rows in a scratch file ------------------------------------------------------------------ */

/* The rows of a collection in the order of a table, on disk, if the rows do not fit the memory
 * budget. Rows are read once from front to back and distributed over regions of a scratch file,
 * each a stretch of the order; loading part of the order reads the regions that it touches. */
struct spool {
    int file; /* -1 if it could not be opened */
    size_t rows, region_rows, row_bytes, record_bytes;
    uint32_t *ranks;  /* of each row of the collection: its place in the order */
    uint8_t *buffers; /* one per region, of records on their way */
    size_t *buffered; /* records in each */
    size_t *written;  /* records of each region in the file */
    size_t regions;
    size_t buffer_records;
};

enum { BUFFER_BYTES = 64 * 1024 };

static const char *const file_name = "scratch file in TMPDIR";

/* A record is the place of a row in the order, and the row. */
static size_t record_bytes(unsigned bits) {
    return sizeof(uint32_t) + signature_stride_bytes(bits);
}

static size_t count_regions(size_t rows, size_t region_rows) {
    return rows / region_rows + (rows % region_rows != 0);
}

static void spool_free(struct spool *spool) {
    if (spool->region_rows && spool->file >= 0) /* a spool that was not created has no file */
        close(spool->file);
    FREE(spool->ranks, spool->buffers, spool->buffered, spool->written);
    *spool = (struct spool){0};
}

/* Room for the rows of the view in regions of about region_rows. */
static cog_status spool_create(struct spool *spool, const struct signatures_view *view,
                               size_t region_rows, cog_error *error) {
    *spool = (struct spool){.file = -1,
                            .rows = view->rows,
                            .region_rows = region_rows,
                            .row_bytes = signature_stride_bytes(view->bits),
                            .record_bytes = record_bytes(view->bits)};
    spool->regions = count_regions(view->rows, region_rows);
    spool->buffer_records = BUFFER_BYTES / spool->record_bytes;
    /* One more buffer is for reading. */
    TAKE(spool->buffers, (spool->regions + 1) * spool->buffer_records * spool->record_bytes,
         "the order of rows", error);
    TAKE_ZEROED(spool->buffered, spool->regions, "the order of rows", error);
    TAKE_ZEROED(spool->written, spool->regions, "the order of rows", error);
    TAKE(spool->ranks, view->rows, "the order of rows", error);
    return scratch_file_open(&spool->file, error);
}

static uint8_t *buffer_of(const struct spool *spool, size_t region) {
    return spool->buffers + region * spool->buffer_records * spool->record_bytes;
}

static uint64_t offset_of(const struct spool *spool, size_t region, size_t record) {
    return ((uint64_t)region * spool->region_rows + record) * spool->record_bytes;
}

static cog_status flush_region(struct spool *spool, size_t region, cog_error *error) {
    cog_status status = descriptor_write_at(
        spool->file, buffer_of(spool, region), spool->buffered[region] * spool->record_bytes,
        offset_of(spool, region, spool->written[region]), file_name, error);
    spool->written[region] += spool->buffered[region];
    spool->buffered[region] = 0;
    return status;
}

/* Distributes the rows anew: order[i] is the row at place i. */
static cog_status spool_fill(struct spool *spool, const struct signatures_view *view,
                             const uint32_t *order, cog_error *error) {
    for (size_t place = 0; place < spool->rows; place++)
        spool->ranks[order[place]] = (uint32_t)place;
    memset(spool->written, 0, spool->regions * sizeof *spool->written);
    for (size_t row = 0; row < spool->rows; row++) {
        size_t region = spool->ranks[row] / spool->region_rows;
        uint8_t *record =
            buffer_of(spool, region) + spool->buffered[region]++ * spool->record_bytes;
        memcpy(record, &spool->ranks[row], sizeof *spool->ranks);
        memcpy(record + sizeof *spool->ranks, signature_row(view, row), spool->row_bytes);
        if (spool->buffered[region] == spool->buffer_records)
            TRY(flush_region(spool, region, error));
    }
    for (size_t region = 0; region < spool->regions; region++)
        TRY(flush_region(spool, region, error));
    return COG_OK;
}

/* The records of a region whose places are in [first, first + count). */
static cog_status load_region(struct spool *spool, size_t region, size_t first, size_t count,
                              uint8_t *to, cog_error *error) {
    uint8_t *buffer = buffer_of(spool, spool->regions);
    for (size_t done = 0; done < spool->written[region];) {
        size_t left = spool->written[region] - done;
        size_t records = left < spool->buffer_records ? left : spool->buffer_records;
        TRY(descriptor_read_at(spool->file, buffer, records * spool->record_bytes,
                               offset_of(spool, region, done), file_name, error));
        for (size_t i = 0; i < records; i++) {
            const uint8_t *record = buffer + i * spool->record_bytes;
            uint32_t place;
            memcpy(&place, record, sizeof place);
            if (place >= first && place - first < count)
                memcpy(to + (place - first) * spool->row_bytes, record + sizeof place,
                       spool->row_bytes);
        }
        done += records;
    }
    return COG_OK;
}

/* Places [first, first + count) of the order, row_bytes each, to `to`. */
static cog_status spool_load(struct spool *spool, size_t first, size_t count, uint8_t *to,
                             cog_error *error) {
    for (size_t region = first / spool->region_rows;
         count && region <= (first + count - 1) / spool->region_rows; region++)
        TRY(load_region(spool, region, first, count, to, error));
    return COG_OK;
}

/* ---- The join -------------------------------------------------------------------------------- */

enum { TABLES_AT_ONCE = 8, CHUNKS_A_THREAD = 4, CHUNK_MIN_WINDOWS = 8, CHUNK_MIN_ROWS = 4096 };

struct detector {
    struct window_join *join;
    struct band_scanner scanner;
    struct pair_buffer pairs;
};

/* One side of the detection: which queries meet which rows. */
struct pass {
    struct band band;
    bool swapped; /* queries are of the second collection */
    /* The row numbers of the places of a piece; NULL if the band has row numbers. */
    const uint32_t *query_names, *row_names;
};

/* Rows that do not fit memory: sorted on disk, and joined in pieces. */
struct piece_reader {
    struct spool spools[2];  /* of the collections */
    size_t capacity;         /* rows that are loaded, of the queries and of the others */
    uint8_t *loaded[2];      /* queries, rows */
    uint32_t *places;        /* 0, 1, ... */
    uint32_t *begins, *ends; /* windows of the queries, counted in the piece */
};

struct window_join {
    struct row_space space;
    const struct window_options *options;
    unsigned threads;
    struct bit_permutation permutations[TABLES_AT_ONCE];
    struct key_array tables[TABLES_AT_ONCE];
    struct detector *detectors;
    struct pair_set found;
    /* Rows of each collection in the order of the table, and their windows in the other's. A
     * self-join has one side only. */
    uint32_t *sides[2], *begins[2], *ends[2];
    size_t side_rows[2];
    const struct pass *pass;
    struct piece_reader reader;
    bool spooled;
    size_t chunk_rows;
    struct window_work work;
};

static bool is_cross(const struct window_join *join) {
    return join->space.second != NULL;
}

/* A key and a row number for each table in memory and for the scratch of a sort, the order and the
 * windows, and the detectors of the threads. */
static size_t join_bytes(const struct window_options *options, const struct row_space *space,
                         size_t tables) {
    size_t row_bytes = (tables + 1) * 12 + 3 * sizeof(uint32_t);
    size_t thread_bytes =
        sizeof(struct detector) + band_scanner_bytes(space->first->bits, options->window);
    return row_space_count(space) * row_bytes + threads_resolve(options->threads) * thread_bytes;
}

/* Whether the rows and the memory of the join exceed the budget. */
static bool exceeds_memory(const struct window_join *join) {
    size_t rows = row_space_count(&join->space);
    uint64_t needed =
        window_join_memory_bytes(join->space.first, join->space.second, join->options) +
        (uint64_t)rows * signature_stride_bytes(join->space.first->bits);
    return join->options->memory_bytes && needed > join->options->memory_bytes;
}

/* ---- Windows of a table ---------------------------------------------------------------------- */

static size_t window_start(size_t position, size_t window) {
    return position > window ? position - window : 0;
}

static void set_own_windows(struct window_join *join) {
    for (size_t i = 0; i < join->side_rows[0]; i++) {
        join->begins[0][i] = (uint32_t)window_start(i, join->options->window);
        join->ends[0][i] = (uint32_t)i;
    }
}

/* A row is compared with rows of the other collection before it: the last B, or those among the
 * last B of both collections. The second collection has the numbers from first_rows on. */
static void split_sides(struct window_join *join, const uint32_t *order) {
    const size_t first_rows = join->space.first->rows, window = join->options->window;
    const size_t rows = row_space_count(&join->space);
    size_t counts[2] = {0, 0};      /* rows of each side before position i */
    size_t left_counts[2] = {0, 0}; /* and before position i - B */
    for (size_t i = 0; i < rows; i++) {
        int side = order[i] >= first_rows;
        if (i > window)
            left_counts[order[i - window - 1] >= first_rows]++;
        size_t at = counts[side]++, other = counts[!side];
        join->sides[side][at] = order[i] - (side ? (uint32_t)first_rows : 0);
        join->ends[side][at] = (uint32_t)other;
        join->begins[side][at] =
            (uint32_t)(join->options->shared_window ? left_counts[!side]
                                                    : window_start(other, window));
    }
}

/* ---- Detection ------------------------------------------------------------------------------- */

static cog_status take_pair(void *context, uint32_t query_row, uint32_t row, uint32_t distance,
                            cog_error *error) {
    struct detector *detector = context;
    const struct window_join *join = detector->join;
    if (join->pass->query_names) {
        query_row = join->pass->query_names[query_row];
        row = join->pass->row_names[row];
    }
    bool swap = is_cross(join) ? join->pass->swapped : query_row > row;
    struct row_pair pair = {swap ? row : query_row, swap ? query_row : row, distance};
    return pair_set_add(&detector->join->found, &detector->pairs, pair, error);
}

static cog_status detect_chunks(void *context, unsigned worker, size_t begin, size_t end,
                                cog_error *error) {
    struct window_join *join = context;
    struct detector *detector = &join->detectors[worker];
    const struct band *band = &join->pass->band;
    for (size_t chunk = begin; chunk < end; chunk++) {
        size_t first = chunk * join->chunk_rows, left = band->queries.count - first;
        size_t last = first + (left < join->chunk_rows ? left : join->chunk_rows);
        TRY(band_scan(&detector->scanner, band, first, last, take_pair, detector, error));
    }
    return COG_OK;
}

static size_t default_chunk_rows(const struct window_join *join, size_t rows) {
    size_t chunk = rows / (CHUNKS_A_THREAD * join->threads) + 1;
    size_t least = CHUNK_MIN_WINDOWS * join->options->window;
    if (chunk < least)
        chunk = least;
    if (chunk < CHUNK_MIN_ROWS)
        chunk = CHUNK_MIN_ROWS;
    return (chunk + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS; /* blocks then begin with panels */
}

static cog_status run_pass(struct window_join *join, const struct pass *pass, cog_error *error) {
    size_t count = pass->band.queries.count;
    join->pass = pass;
    join->chunk_rows = join->options->chunk_rows && !join->spooled
                           ? join->options->chunk_rows
                           : default_chunk_rows(join, count);
    size_t chunks = count / join->chunk_rows + (count % join->chunk_rows != 0);
    for (size_t i = 0; i < count; i++)
        join->work.comparisons += pass->band.ends[i] - pass->band.begins[i];
    return parallel_for(join->threads, chunks, 1, detect_chunks, join, error);
}

static cog_status detect(struct window_join *join, int queries, int rows, cog_error *error) {
    const struct signatures_view *views[2] = {join->space.first, join->space.second};
    struct pass pass = {
        .band = {.queries = {views[queries], join->sides[queries], join->side_rows[queries]},
                 .rows = {views[rows], join->sides[rows], join->side_rows[rows]},
                 .begins = join->begins[queries],
                 .ends = join->ends[queries]},
        .swapped = queries == 1,
    };
    return run_pass(join, &pass, error);
}

/* ---- Detection in pieces --------------------------------------------------------------------- */

/* Queries from `first` on whose windows fit the reader together; the number after the last. */
static size_t piece_end(const struct window_join *join, int queries, size_t first) {
    const uint32_t *begins = join->begins[queries], *ends = join->ends[queries];
    size_t end = first + 1, capacity = join->reader.capacity;
    while (end < join->side_rows[queries] && end - first < capacity &&
           ends[end] - begins[first] <= capacity)
        end++;
    return end;
}

static cog_status detect_piece(struct window_join *join, int queries, int rows, size_t first,
                               size_t end, cog_error *error) {
    struct piece_reader *reader = &join->reader;
    const unsigned bits = join->space.first->bits;
    const size_t stride = signature_stride_bytes(bits), count = end - first;
    const size_t first_row = join->begins[queries][first];
    const size_t row_count = join->ends[queries][end - 1] - first_row;
    struct signatures_view views[2] = {{reader->loaded[0], count, bits, stride},
                                       {reader->loaded[1], row_count, bits, stride}};
    for (size_t i = 0; i < count; i++) {
        reader->begins[i] = join->begins[queries][first + i] - (uint32_t)first_row;
        reader->ends[i] = join->ends[queries][first + i] - (uint32_t)first_row;
    }
    struct pass pass = {
        .band = {.queries = {&views[0], reader->places, count},
                 .rows = {&views[1], reader->places, row_count},
                 .begins = reader->begins,
                 .ends = reader->ends},
        .swapped = queries == 1,
        .query_names = join->sides[queries] + first,
        .row_names = join->sides[rows] + first_row,
    };
    cog_status status =
        spool_load(&reader->spools[queries], first, count, reader->loaded[0], error);
    THEN(status, spool_load(&reader->spools[rows], first_row, row_count, reader->loaded[1], error));
    join->work.pieces++;
    return status == COG_OK ? run_pass(join, &pass, error) : status;
}

static cog_status detect_pieces(struct window_join *join, int queries, int rows, cog_error *error) {
    for (size_t first = 0; first < join->side_rows[queries];) {
        size_t end = piece_end(join, queries, first);
        TRY(detect_piece(join, queries, rows, first, end, error));
        first = end;
    }
    return COG_OK;
}

static cog_status fill_spools(struct window_join *join, cog_error *error) {
    const struct signatures_view *views[2] = {join->space.first, join->space.second};
    for (int side = 0; side <= is_cross(join) && join->spooled; side++)
        TRY(spool_fill(&join->reader.spools[side], views[side], join->sides[side], error));
    return COG_OK;
}

static cog_status detect_table(struct window_join *join, const uint32_t *order, cog_error *error) {
    cog_status (*detect_side)(struct window_join *, int, int, cog_error *) =
        join->spooled ? detect_pieces : detect;
    if (is_cross(join))
        split_sides(join, order);
    else
        memcpy(join->sides[0], order, join->side_rows[0] * sizeof *order);
    cog_status status = fill_spools(join, error);
    THEN(status, detect_side(join, 0, is_cross(join), error));
    if (status == COG_OK && is_cross(join))
        status = detect_side(join, 1, 0, error);
    return status;
}

/* The capacity of a piece: the memory that the rest of the join leaves, at most M + B rows, at
 * least two windows. */
static cog_status create_reader(struct window_join *join, cog_error *error) {
    const struct signatures_view *views[2] = {join->space.first, join->space.second};
    struct piece_reader *reader = &join->reader;
    const size_t stride = signature_stride_bytes(views[0]->bits), window = join->options->window;
    const size_t rows = row_space_count(&join->space);
    uint64_t used = join_bytes(join->options, &join->space, 1) + rows * sizeof(uint32_t);
    uint64_t piece_row_bytes = 2 * stride + 3 * sizeof(uint32_t);
    uint64_t left = join->options->memory_bytes > used ? join->options->memory_bytes - used : 0;
    reader->capacity = (size_t)(left / piece_row_bytes);
    if (join->options->chunk_rows && reader->capacity > join->options->chunk_rows + window)
        reader->capacity = join->options->chunk_rows + window;
    if (reader->capacity < 2 * window)
        return error_about(
            error, COG_ERR_MEMORY, "memory_bytes",
            "windows of %zu rows need about %llu MB: raise the memory budget, or use smaller "
            "windows",
            window, (unsigned long long)((used + 2 * window * piece_row_bytes) >> 20) + 1);
    for (int side = 0; side <= is_cross(join); side++)
        TRY(spool_create(&reader->spools[side], views[side], reader->capacity, error));
    for (int i = 0; i < 2; i++)
        TAKE(reader->loaded[i], reader->capacity * stride, "a piece of the rows", error);
    TAKE(reader->places, reader->capacity, "a piece of the rows", error);
    TAKE(reader->begins, reader->capacity, "a piece of the rows", error);
    TAKE(reader->ends, reader->capacity, "a piece of the rows", error);
    for (size_t i = 0; i < reader->capacity; i++)
        reader->places[i] = (uint32_t)i;
    return COG_OK;
}

static void free_reader(struct piece_reader *reader) {
    for (int i = 0; i < 2; i++) {
        spool_free(&reader->spools[i]);
        free(reader->loaded[i]);
    }
    FREE(reader->places, reader->begins, reader->ends);
}

/* ---- The whole join -------------------------------------------------------------------------- */

static cog_status run_tables(struct window_join *join, size_t first_table, size_t count,
                             cog_error *error) {
    uint64_t start_ns = clock_ns();
    cog_status status = COG_OK;
    for (size_t t = 0; t < count && status == COG_OK; t++)
        status = bit_permutation_create(&join->permutations[t], join->space.first->bits,
                                        join->options->seed, first_table + t, error);
    THEN(status, permuted_keys_gather(&join->space, join->permutations, count, join->threads,
                                      join->tables, error));
    for (size_t t = 0; t < count && status == COG_OK; t++) {
        status = permuted_keys_sort(&join->space, &join->permutations[t], join->threads,
                                    &join->tables[t], error);
        uint64_t sorted_ns = clock_ns();
        join->work.order_ns += sorted_ns - start_ns;
        THEN(status, detect_table(join, join->tables[t].rows, error));
        start_ns = clock_ns();
        join->work.detect_ns += start_ns - sorted_ns;
    }
    for (size_t t = 0; t < count; t++)
        bit_permutation_free(&join->permutations[t]);
    return status;
}

static size_t tables_at_once(const struct window_join *join) {
    size_t most = join->spooled ? 1 : TABLES_AT_ONCE;
    return join->options->tables < most ? join->options->tables : most;
}

static cog_status prepare(struct window_join *join, cog_error *error) {
    size_t at_once = tables_at_once(join), rows = row_space_count(&join->space);
    for (size_t t = 0; t < at_once; t++)
        TRY(key_array_init(&join->tables[t], rows, 1, true, error));
    for (int side = 0; side <= is_cross(join); side++) {
        TAKE(join->sides[side], join->side_rows[side], "the windows of rows", error);
        TAKE(join->begins[side], join->side_rows[side], "the windows of rows", error);
        TAKE(join->ends[side], join->side_rows[side], "the windows of rows", error);
    }
    TAKE_ZEROED(join->detectors, join->threads, "threads", error);
    for (unsigned worker = 0; worker < join->threads; worker++) {
        join->detectors[worker].join = join;
        TRY(band_scanner_create(&join->detectors[worker].scanner, join->space.first->bits,
                                join->options->radius_bits, join->options->window, error));
    }
    if (!is_cross(join))
        set_own_windows(join);
    return join->spooled ? create_reader(join, error) : COG_OK;
}

static void release(struct window_join *join) {
    for (size_t t = 0; t < TABLES_AT_ONCE; t++)
        key_array_free(&join->tables[t]);
    for (int side = 0; side < 2; side++) {
        FREE(join->sides[side], join->begins[side], join->ends[side]);
    }
    for (unsigned worker = 0; join->detectors && worker < join->threads; worker++)
        band_scanner_free(&join->detectors[worker].scanner);
    free(join->detectors);
    free_reader(&join->reader);
}

static cog_status deliver(struct window_join *join, struct match_list *matches, cog_error *error) {
    for (unsigned worker = 0; worker < join->threads; worker++)
        TRY(pair_set_flush(&join->found, &join->detectors[worker].pairs, error));
    TRY(pair_set_take(&join->found, matches, error));
    if (!matches->sieve)
        match_list_estimate(matches, join->space.first->bits);
    return COG_OK;
}

static cog_status check(const struct window_join *join, cog_error *error) {
    TRY(signatures_check(join->space.first, join->space.second, error));
    if (row_space_count(&join->space) > UINT32_MAX)
        return error_set(error, COG_ERR_USAGE, "more than 4294967295 rows: join in parts");
    if (join->options->tables == 0 || join->options->window == 0)
        return error_set(error, COG_ERR_USAGE,
                         "a window join needs one table and a window of one row at least");
    return COG_OK;
}

cog_status window_join(const struct signatures_view *first, const struct signatures_view *second,
                       const struct window_options *options, struct match_list *matches,
                       struct window_work *work, cog_error *error) {
    struct window_join join = {.space = {first, second},
                               .options = options,
                               .threads = threads_resolve(options->threads),
                               .side_rows = {first->rows, second ? second->rows : 0}};
    matches->count = matches->sieved = 0;
    if (work)
        *work = (struct window_work){0};
    cog_status status = check(&join, error);
    if (status != COG_OK || row_space_count(&join.space) == 0)
        return status;
    join.spooled = exceeds_memory(&join);
    pair_set_init(&join.found, matches->limit, matches->sieve);
    status = prepare(&join, error);
    for (size_t table = 0; table < options->tables && status == COG_OK;) {
        size_t left = options->tables - table;
        size_t at_once = tables_at_once(&join), count = left < at_once ? left : at_once;
        status = run_tables(&join, table, count, error);
        table += count;
    }
    THEN(status, deliver(&join, matches, error));
    release(&join);
    pair_set_free(&join.found);
    if (work)
        *work = join.work;
    return status;
}

size_t window_join_memory_bytes(const struct signatures_view *first,
                                const struct signatures_view *second,
                                const struct window_options *options) {
    const struct row_space space = {first, second};
    return join_bytes(options, &space,
                      options->tables < TABLES_AT_ONCE ? options->tables : TABLES_AT_ONCE);
}
