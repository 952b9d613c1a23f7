/* Memory: overflow-checked allocation, growing arrays, binary search, large blocks on huge pages,
 * growing byte buffers and borrowed views of bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* count * size_bytes of uninitialised (or zeroed) memory; NULL on overflow or exhaustion. free()
 * it. */
void *memory_array(size_t count, size_t size_bytes);
void *memory_zeroed_array(size_t count, size_t size_bytes);
/* Zeroed memory, with the zeros written at once: for tables that are read at random before they are
 * written. A fresh page that is read first is mapped twice, and the second mapping interrupts every
 * processor that runs the program. */
void *memory_written_array(size_t count, size_t size_bytes);

/* Makes room for `needed` elements in *array (capacity at least doubles). If memory ran out,
 * returns false and leaves the array unchanged. */
bool memory_grow(void **array, size_t *capacity, size_t needed, size_t size_bytes);

/* Sets *pointer (the address of any pointer) to count * size_bytes of memory; on failure the
 * message names `what`, the use of the memory. */
cog_status memory_take(void *pointer, size_t count, size_t size_bytes, bool zeroed,
                       const char *what, cog_error *error);
/* Allocate `count` items, or make room for `needed`; evaluate to a status. The item size follows
 * from the type of the pointer. */
#define TAKEN(pointer, count, what, error)                                                         \
    memory_take(&(pointer), count, sizeof *(pointer), false, what, error)
#define TAKEN_ZEROED(pointer, count, what, error)                                                  \
    memory_take(&(pointer), count, sizeof *(pointer), true, what, error)
#define GROWN(pointer, capacity, needed, what, error)                                              \
    (memory_grow((void **)&(pointer), &(capacity), needed, sizeof *(pointer))                      \
         ? COG_OK                                                                                  \
         : error_memory(error, (needed) * sizeof *(pointer), what))
/* The same, but return from the calling function if memory ran out. */
#define TAKE(pointer, count, what, error) TRY(TAKEN(pointer, count, what, error))
#define TAKE_ZEROED(pointer, count, what, error) TRY(TAKEN_ZEROED(pointer, count, what, error))
#define GROW(pointer, capacity, needed, what, error)                                               \
    TRY(GROWN(pointer, capacity, needed, what, error))

/* Frees several pointers; each may be NULL. */
#define FREE(...)                                                                                  \
    memory_free_all((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
void memory_free_all(void *const *pointers, size_t count);

/* Three-way comparison for sorting: negative, 0 or positive. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))
/* Binary search. Sets `at`, an integer, to the first value in [begin, end) for which `condition`,
 * an expression of `at`, is false, or to `end` if there is none. All values for which the condition
 * is true must come first. If begin >= end, `at` is begin. */
#define FIND_FIRST_NOT(at, begin, end, condition)                                                  \
    do {                                                                                           \
        __typeof__(at) low_ = (begin), high_ = (end);                                              \
        while (low_ < high_) {                                                                     \
            (at) = low_ + (high_ - low_) / 2;                                                      \
            if (condition)                                                                         \
                low_ = (at) + 1;                                                                   \
            else                                                                                   \
                high_ = (at);                                                                      \
        }                                                                                          \
        (at) = low_;                                                                               \
    } while (0)

/* Zeroed memory for a large table: aligned to 64 bytes, on huge pages if the system provides them.
 * Free with memory_large_free and the same size. */
void *memory_large(size_t size_bytes);
void memory_large_free(void *block, size_t size_bytes);
/* Bytes that a block from memory_large occupies. */
size_t memory_large_bytes(size_t size_bytes);

/* False if a * b overflows. */
bool size_multiply(size_t a, size_t b, size_t *product);

/* Peak resident memory of this process in bytes. */
uint64_t memory_peak_bytes(void);
/* Resident memory of this process now, in bytes; 0 if the system does not report it. */
uint64_t memory_resident_bytes(void);
/* The peak of the calling thread's job (base/heap.h); without a job, of the process. */
uint64_t memory_job_peak_bytes(void);
/* Bytes that the job holds now; 0 without a job. */
uint64_t memory_job_held_bytes(void);

/* ---- Bytes ----------------------------------------------------------------------------------- */

#ifdef __cplusplus
extern "C" {
#endif

/* Borrowed: valid as long as its source. Not zero-terminated. */
struct bytes_view {
    const char *data;
    size_t size;
};

/* Zero-initialise; buffer_free releases. */
struct buffer {
    char *data;
    size_t size;
    size_t capacity;
};

/* Makes room for `extra` more bytes. If memory ran out, returns false and leaves the buffer
 * unchanged. */
bool buffer_reserve(struct buffer *buffer, size_t extra);
bool buffer_append(struct buffer *buffer, const void *data, size_t size);
bool buffer_append_text(struct buffer *buffer, const char *text);
bool buffer_printf(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Empties the buffer but keeps its memory. */
void buffer_reset(struct buffer *buffer);
void buffer_free(struct buffer *buffer);

static inline struct bytes_view view_of(const char *data, size_t size) {
    struct bytes_view view = {data, size};
    return view;
}

static inline struct bytes_view view_of_text(const char *text) {
    return view_of(text, strlen(text));
}

/* What the buffer holds now. */
static inline struct bytes_view buffer_view(const struct buffer *buffer) {
    return view_of(buffer->data, buffer->size);
}

/* For qsort: by bytes, then the shorter first. */
int view_compare(const void *x, const void *y);

static inline bool view_equals(struct bytes_view a, struct bytes_view b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static inline bool view_is(struct bytes_view view, const char *text) {
    return view_equals(view, view_of_text(text));
}

static inline bool view_begins_with(struct bytes_view view, const char *text) {
    const size_t size = strlen(text);
    return view.size >= size && memcmp(view.data, text, size) == 0;
}

#ifdef __cplusplus
}
#endif
