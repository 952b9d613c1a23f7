/* Heap accounting per job: bytes held now, and the peak. Several jobs may run in one process that
 * also has memory of its own, so process-wide figures do not do.
 *
 * CMakeLists.txt includes this header first in every C file of the library. It redirects malloc,
 * calloc, realloc, strdup, strndup and free to functions that also count the size that the
 * allocator reports, in the account of the calling thread. The blocks are ordinary ones: either
 * kind of free releases them. A thread without an account counts nothing.
 *
 * A thread accumulates up to 64 KB before it updates the account, so peaks are exact to 64 KB per
 * thread. Memory taken by other libraries (ICU, compression) and mapped files are not counted.
 * Memory that an earlier job took and this one frees counts as negative. */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Zero-initialise. Must outlive its use by threads, which add to it until they leave it. */
struct heap_account {
    int64_t held, peak; /* atomic; bytes */
};

/* Sets the account of the calling thread (NULL: none) and returns the previous one, after adding to
 * it all that this thread counted. */
struct heap_account *heap_account_set(struct heap_account *account);
struct heap_account *heap_account_current(void);
/* The most that the account held until now, including what this thread has counted. */
uint64_t heap_account_peak(struct heap_account *account);
/* Bytes held now; 0 if more was freed than taken. */
uint64_t heap_account_held(struct heap_account *account);
/* Counts bytes that were not allocated by these functions; negative if they were released. */
void heap_count(int64_t bytes);

void *heap_malloc(size_t size);
void *heap_calloc(size_t count, size_t size);
void *heap_realloc(void *block, size_t size);
char *heap_strdup(const char *text);
char *heap_strndup(const char *text, size_t most);
void heap_free(void *block);

/* C only: in C++ the macros would affect headers that are included later. */
#ifndef __cplusplus
#undef strdup
#undef strndup
#define malloc(size) heap_malloc(size)
#define calloc(count, size) heap_calloc(count, size)
#define realloc(block, size) heap_realloc(block, size)
#define strdup(text) heap_strdup(text)
#define strndup(text, most) heap_strndup(text, most)
#define free(block) heap_free(block)
#endif
