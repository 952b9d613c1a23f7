#include "jobs/explain/word_matches.h"

#include <stdlib.h>
#include <string.h>

static int compare_bytes(const char *a, size_t a_size, const char *b, size_t b_size) {
    int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    return order ? order : (a_size > b_size) - (a_size < b_size);
}

static int by_share(const void *x, const void *y) {
    const cog_word_match *a = x, *b = y;
    if (a->share != b->share)
        return a->share > b->share ? -1 : 1;
    int order = compare_bytes(a->from, a->from_size, b->from, b->from_size);
    return order ? order : compare_bytes(a->to, a->to_size, b->to, b->to_size);
}

void word_matches_sort(cog_word_match *matches, size_t count) {
    if (count)
        qsort(matches, count, sizeof *matches, by_share);
}
