/* Random documents, each collection in all the forms that the library reads: items in memory, an
 * Arrow stream of a random layout, and a file of JSON lines. Texts are null, empty, without words,
 * not UTF-8, short, or edits of earlier ones. */
#pragma once

#include "api/arrow_streams.h"
#include "base/hash.h"

enum { RANDOM_ROWS = 48, RANDOM_TEXT_BYTES = 220, RANDOM_ID_BYTES = 32, RANDOM_FORMS = 3 };
static const char *const random_form_names[RANDOM_FORMS] = {"memory", "arrow", "file"};

struct random_documents {
    size_t count;  /* 1 to RANDOM_ROWS */
    size_t usable; /* documents whose text is neither null nor invalid */
    struct arrow_row rows[RANDOM_ROWS];
    cog_document items[RANDOM_ROWS];
    cog_documents *forms[RANDOM_FORMS]; /* the same documents in memory, by Arrow, from a file */
    struct arrow_producer producer;
    const char *path; /* of the file; kept when the next collection is opened */
    char texts[RANDOM_ROWS][RANDOM_TEXT_BYTES], ids[RANDOM_ROWS][RANDOM_ID_BYTES];
};

/* Uniform in [0, bound). */
size_t random_number(struct random *random, size_t bound);
bool random_one_in(struct random *random, size_t bound);
/* How often a random test draws: `usual`, or the environment variable RANDOM_ROUNDS. */
uint64_t random_rounds(uint64_t usual);
/* Makes a collection and opens its forms. Zero-initialise `documents` before the first time. */
cog_status random_documents_open(struct random_documents *documents, struct random *random,
                                 cog_error *error);
void random_documents_close(struct random_documents *documents);
