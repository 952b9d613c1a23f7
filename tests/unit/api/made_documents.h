/* Documents of random words, for tests of whole jobs. */
#pragma once

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "cognate.h"

enum { MADE_WORDS = 25, MADE_BYTES = MADE_WORDS * 7 };

struct made_document {
    char text[MADE_BYTES + 1];
};

/* Fills both arrays. Every eighth document is a copy of the one before it. */
static inline void make_documents(size_t count, struct made_document *made, cog_document *items) {
    struct random random = random_seeded(5);
    for (size_t i = 0; i < count; i++) {
        for (size_t word = 0; word < MADE_WORDS; word++)
            snprintf(made[i].text + word * 7, 8, "w%05u ", (unsigned)random_below(&random, 20000));
        if (i % 8 == 1)
            made[i] = made[i - 1];
        items[i] = (cog_document){.text = made[i].text, .text_size = MADE_BYTES};
    }
}
