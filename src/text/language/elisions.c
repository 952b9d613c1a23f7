#include "text/language/elisions.h"

#include <string.h>

#include "base/hash.h"
#include "text/language/stop_words.h"

static const struct {
    const char *language, *words;
} tables[] = {
    {"ca", "d l m n s t"},
    {"fr", "c d j l m n s t qu jusqu lorsqu puisqu quoiqu"},
    {"it", "c d l m n s t v un gl agl dagl degl negl sugl all dall dell nell sull coll pell "
           "anch com cos dov quell quest"},
    {"oc", "d l m n qu s t"},
};
enum { TABLES = sizeof tables / sizeof *tables };

const char *elisions_of(const char *canonical) {
    for (unsigned i = 0; i < TABLES; i++)
        if (strcmp(tables[i].language, canonical) == 0)
            return tables[i].words;
    return NULL;
}

size_t elision_bytes(const char *elisions, struct bytes_view word) {
    const char *apostrophe = word.size ? memchr(word.data, '\'', word.size) : NULL;
    if (!apostrophe)
        return 0;
    size_t front = (size_t)(apostrophe - word.data);
    if (front + 1 == word.size)
        return 0;
    struct bytes_view elided;
    while (stop_words_next(&elisions, &elided))
        if (elided.size == front && memcmp(elided.data, word.data, front) == 0)
            return front + 1;
    return 0;
}

uint32_t elisions_hash(void) {
    uint64_t hash = 0;
    for (unsigned i = 0; i < TABLES; i++)
        hash = hash_pair(hash, hash_pair(hash_bytes(tables[i].language, 2),
                                         hash_bytes(tables[i].words, strlen(tables[i].words))));
    return (uint32_t)(hash >> 32);
}
