/* What a job holds of the heap, and the most it held: several jobs may run in one process, next to
 * memory that is none of theirs.
 *
 * Every C file of the library is compiled with this header in front (CMakeLists.txt), which leads
 * malloc, calloc, realloc, strdup, strndup and free to functions that also count into the account
 * of the calling thread, by the size that the allocator reports. The memory itself is the
 * allocator's own: what was taken by one kind may be freed by the other. Without an account nothing
 * is counted.
 *
 * A thread counts up to 64 KB by itself before it adds to the account, so that peaks are exact to
 * 64 KB per thread. Memory that libraries take (ICU, compression) is not counted, nor are mapped
 * files. Memory that an earlier job took and this one frees counts as negative. */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Zero-initialise. Threads add to it until they leave it; it must live as long. */
struct heap_account {
    int64_t held, peak; /* atomic; bytes */
};

/* Sets the account of the calling thread (NULL: none) and returns the previous one, which then has
 * all that this thread did. */
struct heap_account *heap_account_set(struct heap_account *account);
struct heap_account *heap_account_current(void);
/* The most that the account held until now; what this thread counted is in it. */
uint64_t heap_account_peak(struct heap_account *account);
/* What it holds now; 0 if more was freed than taken. */
uint64_t heap_account_held(struct heap_account *account);
/* Adds bytes that were not taken by these functions, or, if negative, given back. */
void heap_count(int64_t bytes);

void *heap_malloc(size_t size);
void *heap_calloc(size_t count, size_t size);
void *heap_realloc(void *block, size_t size);
char *heap_strdup(const char *text);
char *heap_strndup(const char *text, size_t most);
void heap_free(void *block);

/* In C++, headers of the library that come later would see them. */
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
