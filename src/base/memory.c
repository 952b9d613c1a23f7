#include "base/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/heap.h"
#include "base/numbers.h"

enum { HUGE_PAGE_BYTES = 2 << 20 };

bool size_multiply(size_t a, size_t b, size_t *product) {
    return !__builtin_mul_overflow(a, b, product);
}

void *memory_array(size_t count, size_t size_bytes) {
    size_t total;
    if (!size_multiply(count, size_bytes, &total))
        return NULL;
    return malloc(total ? total : 1);
}

void *memory_zeroed_array(size_t count, size_t size_bytes) {
    return calloc(count ? count : 1, size_bytes ? size_bytes : 1);
}

void *memory_written_array(size_t count, size_t size_bytes) {
    void *array = memory_array(count, size_bytes);
    if (array)
        memset(array, 0, count * size_bytes);
    return array;
}

cog_status memory_take(void *pointer, size_t count, size_t size_bytes, bool zeroed,
                       const char *what, cog_error *error) {
    void *taken = zeroed ? memory_zeroed_array(count, size_bytes) : memory_array(count, size_bytes);
    memcpy(pointer, &taken, sizeof taken);
    return taken ? COG_OK : error_memory(error, count * size_bytes, what);
}

bool memory_grow(void **array, size_t *capacity, size_t needed, size_t size_bytes) {
    if (needed <= *capacity)
        return true;
    size_t wanted = *capacity > SIZE_MAX / 2 ? needed : *capacity * 2;
    if (wanted < needed)
        wanted = needed;
    if (wanted < 16)
        wanted = 16;
    size_t total;
    if (!size_multiply(wanted, size_bytes, &total))
        return false;
    void *grown = realloc(*array, total);
    if (!grown)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

void memory_free_all(void *const *pointers, size_t count) {
    for (size_t i = 0; i < count; i++)
        free(pointers[i]);
}

size_t memory_large_bytes(size_t size_bytes) {
    size_t unit = size_bytes >= HUGE_PAGE_BYTES ? (size_t)HUGE_PAGE_BYTES : 4096;
    return (size_bytes + unit - 1) / unit * unit;
}

void *memory_large(size_t size_bytes) {
    if (size_bytes == 0)
        size_bytes = 1;
    if (size_bytes > SIZE_MAX - HUGE_PAGE_BYTES)
        return NULL;
    size_t total = memory_large_bytes(size_bytes);
    void *block = mmap(NULL, total, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED)
        return NULL;
    if (size_bytes >= HUGE_PAGE_BYTES)
        madvise(block, total, MADV_HUGEPAGE);
    heap_count((int64_t)total);
    return block;
}

void memory_large_free(void *block, size_t size_bytes) {
    if (!block)
        return;
    const size_t total = memory_large_bytes(size_bytes ? size_bytes : 1);
    munmap(block, total);
    heap_count(-(int64_t)total);
}

/* A line of /proc/self/status that counts kilobytes; 0 if there is none. */
static uint64_t status_bytes(const char *name) {
    char line[128];
    const size_t length = strlen(name);
    uint64_t kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "re");
    while (status && !kilobytes && fgets(line, sizeof line, status))
        if (strncmp(line, name, length) == 0)
            kilobytes = strtoull(line + length, NULL, 10);
    if (status)
        fclose(status);
    return kilobytes * 1024;
}

/* getrusage also counts the program that this one replaced by exec. */
uint64_t memory_peak_bytes(void) {
    struct rusage usage;
    uint64_t bytes = status_bytes("VmHWM:");
    if (!bytes && getrusage(RUSAGE_SELF, &usage) == 0)
        bytes = (uint64_t)usage.ru_maxrss * 1024;
    return bytes;
}

uint64_t memory_resident_bytes(void) {
    return status_bytes("VmRSS:");
}

uint64_t memory_job_peak_bytes(void) {
    struct heap_account *account = heap_account_current();
    return account ? heap_account_peak(account) : memory_peak_bytes();
}

uint64_t memory_job_held_bytes(void) {
    struct heap_account *account = heap_account_current();
    return account ? heap_account_held(account) : 0;
}

bool buffer_reserve(struct buffer *buffer, size_t extra) {
    if (extra > SIZE_MAX - buffer->size)
        return false;
    return memory_grow((void **)&buffer->data, &buffer->capacity, buffer->size + extra, 1);
}

bool buffer_append(struct buffer *buffer, const void *data, size_t size) {
    if (!buffer_reserve(buffer, size))
        return false;
    if (size)
        memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
    return true;
}

bool buffer_append_text(struct buffer *buffer, const char *text) {
    return buffer_append(buffer, text, strlen(text));
}

static bool append_formatted(struct buffer *buffer, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    bool fits = length >= 0 && buffer_reserve(buffer, (size_t)length + 1);
    if (fits) {
        vsnprintf(buffer->data + buffer->size, (size_t)length + 1, format, again);
        buffer->size += (size_t)length;
    }
    va_end(again);
    return fits;
}

bool buffer_printf(struct buffer *buffer, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    locale_t previous = uselocale(number_locale());
    bool fits = append_formatted(buffer, format, arguments);
    uselocale(previous);
    va_end(arguments);
    return fits;
}

void buffer_reset(struct buffer *buffer) {
    buffer->size = 0;
}

void buffer_free(struct buffer *buffer) {
    free(buffer->data);
    buffer->data = NULL;
    buffer->size = buffer->capacity = 0;
}

int view_compare(const void *x, const void *y) {
    const struct bytes_view *a = x, *b = y;
    size_t common = a->size < b->size ? a->size : b->size;
    int order = common ? memcmp(a->data, b->data, common) : 0;
    return order ? order : ORDER(a->size, b->size);
}
