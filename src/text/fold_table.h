/* Folding of single characters: tables over the Basic Multilingual Plane, built once from ICU, that
 * replace ICU wherever the folding of a character does not depend on its neighbours. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"

enum fold_kind {
    FOLD_WORDS, /* folded text for Unicode words: what separates words is FOLD_GAP */
    FOLD_REGEX, /* lower case as Python has it: what is not \w is FOLD_GAP */
    FOLD_CHARS, /* folded text as it is */
};

/* Replaces separators outside ASCII. It is not white space, so white space in the folded text is
 * always white space of the text. */
#define FOLD_GAP '\x01'
/* Replaces white space outside ASCII in FOLD_CHARS: the rarest of the white-space characters. */
#define FOLD_WHITE '\v'

enum fold_action {
    FOLD_HARD,     /* ICU has to see the neighbours */
    FOLD_IDENTITY, /* the character's own bytes */
    FOLD_SIGMA,    /* capital sigma, lower-cased by its place in the word (FOLD_REGEX) */
    FOLD_FIRST_ENTRY,
};

/* At most three times the bytes of the character, so that room can be reserved ahead. */
struct fold_entry {
    uint8_t size;
    char bytes[15];
};

enum { FOLD_ENTRY_LIMIT = 16384, FOLD_GROWTH = 3 };
struct fold_table {
    enum fold_kind kind;
    unsigned entry_count;
    uint16_t action[0x10000]; /* a fold_action, or FOLD_FIRST_ENTRY + index of the entry */
    struct fold_entry entries[FOLD_ENTRY_LIMIT];
};

/* Built at the first call for its kind, and kept. Thread-safe. */
const struct fold_table *fold_table_of(enum fold_kind kind);

/* Optional marks: Arabic vowel signs (harakat), recitation signs and the stretching tatweel; Hebrew
 * points and accents. Folding for words and characters drops them. */
bool fold_ignores(uint32_t code_point);

/* Folds the text up to its end or the first hard character; returns the bytes read. `out` needs
 * room for FOLD_GROWTH * size + TEXT_BLOCK_BYTES bytes. */
struct text_kernels;
size_t fold_text(const struct fold_table *table, const struct text_kernels *kernels,
                 const char *text, size_t size, char *out, size_t *out_size);
