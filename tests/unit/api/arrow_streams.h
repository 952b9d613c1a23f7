/* Arrow streams for tests: a producer of documents in any of the layouts that the library reads,
 * and a reader of the results. */
#pragma once

#include <stdbool.h>

#include "cognate.h"

/* ---- Documents as streams -------------------------------------------------------------------- */

enum { ARROW_MAX_ROWS = 64, ARROW_MAX_CHUNKS = 4 };

/* NULL: null. */
struct arrow_row {
    const char *text, *id, *lang;
};

struct arrow_producer {
    const char *format;    /* of all columns: "u", "U" or "vu", or their binary forms */
    const char *id_format; /* ids are integers of this format; NULL: texts */
    const char *index;     /* all columns are encoded by dictionaries, with places of this format */
    bool bad_index;        /* and the place of the last row of each array does not exist */
    bool bare;             /* texts alone */
    const struct arrow_row *rows;
    size_t sizes[ARROW_MAX_CHUNKS]; /* rows per chunk */
    size_t chunk_count, next_chunk, next_row;
    int64_t lead; /* rows in front of each array, which its offset passes over */
    int fails_at; /* get_next fails at this chunk; -1: never */
};

/* Arrays that were handed out and not released. */
extern int arrow_live_arrays;
struct ArrowArrayStream arrow_stream_of(struct arrow_producer *producer);

/* ---- Results --------------------------------------------------------------------------------- */

/* The only array of a stream. */
struct arrow_result {
    struct ArrowSchema schema;
    struct ArrowArray array;
};

/* Reads and releases the stream; false if it has not exactly one array. */
bool arrow_result_read(struct ArrowArrayStream *stream, struct arrow_result *result);
void arrow_result_free(struct arrow_result *result);
/* NULL if there is none of this name. */
const struct ArrowArray *arrow_column_named(const struct arrow_result *result, const char *name);
int64_t arrow_whole(const struct arrow_result *result, const char *name, size_t row);
double arrow_real(const struct arrow_result *result, const char *name, size_t row);
bool arrow_text_is(const struct arrow_result *result, const char *name, size_t row,
                   const char *text);
