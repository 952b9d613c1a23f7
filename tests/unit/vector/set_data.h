/* Collections of member sets for tests: kept in memory as they are, and written to a file of sets.
 */
#pragma once

#include "base/hash.h"
#include "vector/set_file.h"

struct set_document {
    uint64_t *terms, *words; /* sorted, distinct */
    size_t term_count, word_count;
};

/* Zero-initialise; set_data_free releases. All calls abort if memory or disk are out: it is a test.
 */
struct set_data {
    struct set_document *documents;
    size_t count, capacity;
    struct set_row *rows;
    struct set_file file;
};

/* Sorts and removes repetitions, the slow way; returns the number of members. */
size_t set_data_unique(uint64_t *members, size_t count);
/* Adds a document; members in any order and with repetitions. */
void set_data_add(struct set_data *data, const uint64_t *terms, size_t term_count,
                  const uint64_t *words, size_t word_count);
/* Writes the file, with an id for each document: its row as text, repeated `row % 5` times. */
void set_data_write(struct set_data *data);
void set_data_id(size_t row, struct buffer *id);
void set_data_free(struct set_data *data);
