#include "collection/equal_documents.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

/* 128 bits that do not depend on the order of the terms; two different bags share them by chance
 * once in 2^128 pairs. */
struct fingerprint {
    uint64_t first, second;
    uint32_t row;
};

static struct fingerprint fingerprint_of(const struct corpus *corpus, uint32_t row,
                                         bool use_frequencies) {
    struct bag_view bag = corpus_bag(corpus, row);
    struct fingerprint print = {bag.count, 0, row};
    for (size_t i = 0; i < bag.count; i++) {
        uint64_t frequency = use_frequencies ? bag.frequencies[i] : 1;
        if (use_frequencies &&
            bag.weights) { /* clicks have fractions, and frequencies round them */
            uint32_t bits;
            memcpy(&bits, &bag.weights[i], sizeof bits);
            frequency |= (uint64_t)bits << 32;
        }
        print.first += hash_pair(bag.hashes[i], frequency);
        print.second += hash_pair(frequency + 0x9e3779b97f4a7c15u, bag.hashes[i]);
    }
    return print;
}

static int by_fingerprint(const void *a, const void *b) {
    const struct fingerprint *p = a, *q = b;
    if (p->first != q->first)
        return p->first < q->first ? -1 : 1;
    if (p->second != q->second)
        return p->second < q->second ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

static void name_leaders(struct fingerprint *prints, size_t count, struct equal_documents *equal) {
    qsort(prints, count, sizeof *prints, by_fingerprint);
    size_t first = 0;
    for (size_t i = 0; i < count; i++) {
        if (prints[i].first != prints[first].first || prints[i].second != prints[first].second)
            first = i;
        equal->leader[prints[i].row] = prints[first].row;
        equal->selected[prints[i].row] = i == first;
        equal->groups += i == first + 1;
    }
}

cog_status equal_documents_find(const struct corpus *corpus, bool use_frequencies,
                                struct equal_documents *equal, cog_error *error) {
    struct fingerprint *prints = memory_array(corpus->rows, sizeof *prints);
    equal->leader = memory_array(corpus->rows, sizeof *equal->leader);
    equal->selected = memory_zeroed_array(corpus->rows, 1);
    if (!prints || !equal->leader || !equal->selected) {
        free(prints);
        return error_memory(error, corpus->rows * sizeof *prints, "equal documents");
    }
    size_t count = 0;
    for (size_t row = 0; row < corpus->rows; row++) {
        equal->leader[row] = (uint32_t)row;
        if (corpus->items[row].term_count)
            prints[count++] = fingerprint_of(corpus, (uint32_t)row, use_frequencies);
    }
    name_leaders(prints, count, equal);
    free(prints);
    return COG_OK;
}

void equal_documents_free(struct equal_documents *equal) {
    free(equal->leader);
    free(equal->selected);
    *equal = (struct equal_documents){0};
}
