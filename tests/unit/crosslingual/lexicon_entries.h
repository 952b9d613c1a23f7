/* Entries of a lexicon, as tests ask for them. */
#pragma once

#include <string.h>

#include "base/hash.h"
#include "crosslingual/lexicon.h"

/* The probability of a pair of words; -1 where there is none. */
static inline double find_pair(const struct lexicon *lexicon, const char *from, const char *to,
                               bool backward) {
    uint32_t f = word_table_find(&lexicon->from, hash_bytes(from, strlen(from)));
    uint32_t t = word_table_find(&lexicon->to, hash_bytes(to, strlen(to)));
    if (f == WORD_NONE || t == WORD_NONE)
        return -1;
    for (uint64_t i = lexicon->offsets[f]; i < lexicon->offsets[f + 1]; i++)
        if (lexicon->targets[i] == t)
            return (double)(backward ? lexicon->from_given_to : lexicon->to_given_from)[i];
    return -1;
}
