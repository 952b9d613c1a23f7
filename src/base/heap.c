#include "base/heap.h"

#undef malloc
#undef calloc
#undef realloc
#undef strdup
#undef strndup
#undef free

#include <malloc.h>
#include <stdbool.h>

enum { UNCOUNTED_BYTES = 64 << 10 };

/* initial-exec: an access is one instruction, not a call. It takes room that the loader keeps for
 * libraries loaded late, and two words are few enough. */
#define THREAD_OWN static _Thread_local __attribute__((tls_model("initial-exec")))
THREAD_OWN struct heap_account *account_of_thread;
THREAD_OWN int64_t uncounted;

static void add_uncounted(struct heap_account *account) {
    const int64_t held = __atomic_add_fetch(&account->held, uncounted, __ATOMIC_RELAXED);
    int64_t peak = __atomic_load_n(&account->peak, __ATOMIC_RELAXED);
    uncounted = 0;
    while (held > peak && !__atomic_compare_exchange_n(&account->peak, &peak, held, true,
                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

struct heap_account *heap_account_set(struct heap_account *account) {
    struct heap_account *previous = account_of_thread;
    if (previous)
        add_uncounted(previous);
    account_of_thread = account;
    return previous;
}

struct heap_account *heap_account_current(void) {
    return account_of_thread;
}

uint64_t heap_account_peak(struct heap_account *account) {
    if (account == account_of_thread)
        add_uncounted(account);
    return (uint64_t)__atomic_load_n(&account->peak, __ATOMIC_RELAXED);
}

uint64_t heap_account_held(struct heap_account *account) {
    if (account == account_of_thread)
        add_uncounted(account);
    int64_t held = __atomic_load_n(&account->held, __ATOMIC_RELAXED);
    return held > 0 ? (uint64_t)held : 0;
}

void heap_count(int64_t bytes) {
    if (!account_of_thread)
        return;
    uncounted += bytes;
    if (uncounted > UNCOUNTED_BYTES || uncounted < -UNCOUNTED_BYTES)
        add_uncounted(account_of_thread);
}

static int64_t size_of(void *block) {
    return account_of_thread && block ? (int64_t)malloc_usable_size(block) : 0;
}

static void *counted(void *block) {
    heap_count(size_of(block));
    return block;
}

void *heap_malloc(size_t size) {
    return counted(malloc(size));
}

void *heap_calloc(size_t count, size_t size) {
    return counted(calloc(count, size));
}

void *heap_realloc(void *block, size_t size) {
    const int64_t before = size_of(block);
    void *grown = realloc(block, size);
    if (grown)
        heap_count(size_of(grown) - before);
    return grown;
}

char *heap_strdup(const char *text) {
    return counted(strdup(text));
}

char *heap_strndup(const char *text, size_t most) {
    return counted(strndup(text, most));
}

void heap_free(void *block) {
    heap_count(-size_of(block));
    free(block);
}
