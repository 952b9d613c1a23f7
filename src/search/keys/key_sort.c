#include "search/keys/key_sort.h"

#include <string.h>

#include "base/memory.h"
#include "base/threads.h"

#define INLINE static inline __attribute__((always_inline))

enum {
    TOP_BITS = 10, /* of the first pass: the ends of its buckets stay in the TLB and the
                      second-level cache */
    PASS_BITS = 8, /* of the passes in cache */
    LARGE_BYTES = 2 << 20,
    INSERTION_COUNT = 24 /* shorter runs are sorted by insertion */
};

/* Only large arrays get pages of their own: small ones are allocated by the thousands. */
static void *take(size_t size_bytes) {
    return size_bytes < LARGE_BYTES ? malloc(size_bytes + 1) : memory_large(size_bytes);
}

static void give_back(void *block, size_t size_bytes) {
    if (size_bytes < LARGE_BYTES)
        free(block);
    else
        memory_large_free(block, size_bytes);
}

cog_status key_array_init(struct key_array *array, size_t count, unsigned words, bool with_rows,
                          cog_error *error) {
    *array = (struct key_array){.count = count, .words = words};
    if (words)
        array->keys = take(count * words * sizeof *array->keys);
    if (with_rows)
        array->rows = take(count * sizeof *array->rows);
    if ((array->keys || !words) && (array->rows || !with_rows))
        return COG_OK;
    key_array_free(array);
    return error_memory(error, count * (words * 8 + 4), "the keys of signatures");
}

void key_array_free_keys(struct key_array *array) {
    give_back(array->keys, array->count * array->words * sizeof *array->keys);
    array->keys = NULL;
}

void key_array_free(struct key_array *array) {
    key_array_free_keys(array);
    give_back(array->rows, array->count * sizeof *array->rows);
    *array = (struct key_array){0};
}

enum row_source { ROWS_NONE, ROWS_COPIED, ROWS_ARE_POSITIONS };

static enum row_source row_source_of(const struct key_array *to, const struct key_array *from) {
    return !to->rows ? ROWS_NONE : from->rows ? ROWS_COPIED : ROWS_ARE_POSITIONS;
}

INLINE void move(const struct key_array *to, size_t i, const struct key_array *from, size_t j,
                 unsigned words, enum row_source rows) {
    to->keys[words * i] = from->keys[words * j];
    if (words == 2)
        to->keys[2 * i + 1] = from->keys[2 * j + 1];
    if (rows != ROWS_NONE)
        to->rows[i] = rows == ROWS_COPIED ? from->rows[j] : (uint32_t)j;
}

INLINE unsigned digit(const struct key_array *array, size_t i, unsigned words, unsigned bit,
                      unsigned width) {
    uint64_t word = array->keys[words * i + bit / 64];
    return (unsigned)(word << (bit % 64) >> (64 - width));
}

INLINE void count_digits(const struct key_array *from, size_t begin, size_t end, unsigned words,
                         unsigned bit, unsigned width, uint32_t *counts) {
    for (size_t i = begin; i < end; i++)
        counts[digit(from, i, words, bit, width)]++;
}

INLINE void scatter(const struct key_array *to, const struct key_array *from, size_t begin,
                    size_t end, unsigned words, enum row_source rows, unsigned bit, unsigned width,
                    uint32_t *places) {
    for (size_t i = begin; i < end; i++)
        move(to, places[digit(from, i, words, bit, width)]++, from, i, words, rows);
}

INLINE bool is_less(const uint64_t *x, const uint64_t *y, unsigned words) {
    return x[0] < y[0] || (words == 2 && x[0] == y[0] && x[1] < y[1]);
}

INLINE void insertion_sort(const struct key_array *array, size_t begin, size_t end, unsigned words,
                           enum row_source rows) {
    for (size_t i = begin + 1; i < end; i++) {
        uint64_t key[2] = {array->keys[words * i], words == 2 ? array->keys[2 * i + 1] : 0};
        uint32_t row = rows != ROWS_NONE ? array->rows[i] : 0;
        size_t place = i;
        for (; place > begin && is_less(key, &array->keys[words * (place - 1)], words); place--)
            move(array, place, array, place - 1, words, rows);
        array->keys[words * place] = key[0];
        if (words == 2)
            array->keys[2 * place + 1] = key[1];
        if (rows != ROWS_NONE)
            array->rows[place] = row;
    }
}

/* The loops with the shape of a record as a constant. */
static void count_shaped(const struct key_array *from, size_t begin, size_t end, unsigned bit,
                         unsigned width, uint32_t *counts) {
    if (from->words == 1)
        count_digits(from, begin, end, 1, bit, width, counts);
    else
        count_digits(from, begin, end, 2, bit, width, counts);
}

static void scatter_shaped(const struct key_array *to, const struct key_array *from, size_t begin,
                           size_t end, unsigned bit, unsigned width, uint32_t *places) {
    enum row_source rows = row_source_of(to, from);
    if (from->words == 2)
        scatter(to, from, begin, end, 2, rows, bit, width, places);
    else if (rows == ROWS_NONE)
        scatter(to, from, begin, end, 1, ROWS_NONE, bit, width, places);
    else if (rows == ROWS_COPIED)
        scatter(to, from, begin, end, 1, ROWS_COPIED, bit, width, places);
    else
        scatter(to, from, begin, end, 1, ROWS_ARE_POSITIONS, bit, width, places);
}

static void insertion_sort_shaped(const struct key_array *array, size_t begin, size_t end) {
    enum row_source rows = array->rows ? ROWS_COPIED : ROWS_NONE;
    if (array->words == 2)
        insertion_sort(array, begin, end, 2, rows);
    else if (rows == ROWS_NONE)
        insertion_sort(array, begin, end, 1, ROWS_NONE);
    else
        insertion_sort(array, begin, end, 1, ROWS_COPIED);
}

static void copy_range(const struct key_array *to, const struct key_array *from, size_t begin,
                       size_t end) {
    size_t words = from->words;
    memcpy(to->keys + words * begin, from->keys + words * begin,
           (end - begin) * words * sizeof *to->keys);
    if (from->rows)
        memcpy(to->rows + begin, from->rows + begin, (end - begin) * sizeof *to->rows);
}

/* Sorts [begin, end) of `at` by the bits from `bit` on; the result goes to `final`, which is `at`
 * or `other`. */
static void sort_range(const struct key_array *at, const struct key_array *other,
                       const struct key_array *final, size_t begin, size_t end, unsigned bit) {
    if (end - begin <= INSERTION_COUNT || bit == 64 * at->words) {
        if (bit < 64 * at->words)
            insertion_sort_shaped(at, begin, end);
        if (at != final)
            copy_range(final, at, begin, end);
        return;
    }
    unsigned width = 64 - bit % 64 < PASS_BITS ? 64 - bit % 64 : PASS_BITS;
    uint32_t places[(1 << PASS_BITS) + 1] = {0};
    count_shaped(at, begin, end, bit, width, places + 1);
    for (unsigned d = 0; d < 1u << width; d++) {
        if (places[d + 1] == end - begin) { /* all have the same digit */
            sort_range(at, other, final, begin, end, bit + width);
            return;
        }
    }
    places[0] = (uint32_t)begin;
    for (unsigned d = 0; d < 1u << width; d++)
        places[d + 1] += places[d];
    scatter_shaped(other, at, begin, end, bit, width, places);
    size_t start = begin; /* the scatter has moved places[d] to the end of digit d */
    for (unsigned d = 0; d < 1u << width; start = places[d++])
        if (places[d] > start)
            sort_range(other, at, final, start, places[d], bit + width);
}

struct partition_job {
    const struct key_array *to, *from;
    unsigned bit, width;
    unsigned chunks;
    uint32_t *places; /* that of chunk c and digit d is at c << width | d */
};

static size_t chunk_begin(const struct partition_job *job, size_t chunk) {
    return job->from->count / job->chunks * chunk +
           (chunk == job->chunks ? job->from->count % job->chunks : 0);
}

static cog_status count_chunks(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    (void)worker;
    (void)error;
    struct partition_job *job = context;
    for (size_t c = begin; c < end; c++)
        count_shaped(job->from, chunk_begin(job, c), chunk_begin(job, c + 1), job->bit, job->width,
                     job->places + (c << job->width));
    return COG_OK;
}

static cog_status scatter_chunks(void *context, unsigned worker, size_t begin, size_t end,
                                 cog_error *error) {
    (void)worker;
    (void)error;
    struct partition_job *job = context;
    for (size_t c = begin; c < end; c++)
        scatter_shaped(job->to, job->from, chunk_begin(job, c), chunk_begin(job, c + 1), job->bit,
                       job->width, job->places + (c << job->width));
    return COG_OK;
}

static void place_digits(struct partition_job *job, uint32_t *starts) {
    uint32_t place = 0;
    for (size_t d = 0; d < (size_t)1 << job->width; d++) {
        starts[d] = place;
        for (size_t c = 0; c < job->chunks; c++) {
            uint32_t count = job->places[c << job->width | d];
            job->places[c << job->width | d] = place;
            place += count;
        }
    }
    starts[(size_t)1 << job->width] = place;
}

cog_status key_partition(const struct key_array *to, const struct key_array *from, unsigned bit,
                         unsigned width, uint32_t *starts, unsigned threads, cog_error *error) {
    struct partition_job job = {to, from, bit, width, threads_resolve(threads), NULL};
    TAKE_ZEROED(job.places, (size_t)job.chunks << width, "the places of a sort", error);
    cog_status status = parallel_for(threads, job.chunks, 1, count_chunks, &job, error);
    if (status == COG_OK) {
        place_digits(&job, starts);
        status = parallel_for(threads, job.chunks, 1, scatter_chunks, &job, error);
    }
    free(job.places);
    return status;
}

struct sort_job {
    const struct key_array *array, *scratch;
    uint32_t starts[(1 << TOP_BITS) + 1];
};

static cog_status sort_digits(void *context, unsigned worker, size_t begin, size_t end,
                              cog_error *error) {
    (void)worker;
    (void)error;
    struct sort_job *job = context;
    for (size_t d = begin; d < end; d++)
        sort_range(job->scratch, job->array, job->array, job->starts[d], job->starts[d + 1],
                   TOP_BITS);
    return COG_OK;
}

cog_status key_sort(struct key_array *array, unsigned threads, cog_error *error) {
    struct key_array scratch;
    cog_status status =
        key_array_init(&scratch, array->count, array->words, array->rows != NULL, error);
    if (status != COG_OK)
        return status;
    struct sort_job job = {.array = array, .scratch = &scratch};
    if (array->count < 1u << (TOP_BITS + 2)) {
        sort_range(array, &scratch, array, 0, array->count, 0);
    } else {
        status = key_partition(&scratch, array, 0, TOP_BITS, job.starts, threads, error);
        THEN(status, parallel_for(threads, 1u << TOP_BITS, 4, sort_digits, &job, error));
    }
    key_array_free(&scratch);
    return status;
}

cog_status rows_sort(uint32_t *rows, size_t count,
                     uint64_t (*key)(const void *context, uint32_t row), const void *context,
                     unsigned threads, cog_error *error) {
    struct key_array array = {0};
    TRY(key_array_init(&array, count, 1, true, error));
    for (size_t i = 0; i < count; i++) {
        array.keys[i] = key(context, rows[i]);
        array.rows[i] = rows[i];
    }
    cog_status status = key_sort(&array, threads, error);
    if (status == COG_OK && count)
        memcpy(rows, array.rows, count * sizeof *rows);
    key_array_free(&array);
    return status;
}
