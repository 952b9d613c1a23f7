/* Results as Arrow: columns are filled one by one and handed out as a stream of one array.
 *
 * In: the number of rows, then columns by name and type; each call returns memory to fill. Out: an
 * ArrowArrayStream that owns the columns. After a column could not be had, the others return NULL
 * too, and arrow_table_finish fails: fillers check the pointer and nothing else. */
#pragma once

#include "base/error.h"
#include "base/memory.h"
#include "search/hits/hit_lists.h"

enum { ARROW_TABLE_COLUMNS = 8 };

struct column_block;

/* Zero-initialise. */
struct arrow_table {
    size_t rows;
    size_t count;
    struct arrow_table_column {
        const char *name; /* a literal */
        char format[16];
        struct column_block *block; /* the pointers to its buffers, and the values */
        int64_t buffer_count, null_count;
        struct buffer text; /* texts while they are appended */
        size_t texts;
        struct column_block *items; /* of lists: int64 */
        size_t item_count;
    } columns[ARROW_TABLE_COLUMNS];
    bool out_of_memory;
};

int64_t *arrow_table_int64(struct arrow_table *table, const char *name);
int32_t *arrow_table_int32(struct arrow_table *table, const char *name);
double *arrow_table_double(struct arrow_table *table, const char *name);
/* width bytes per row. */
uint8_t *arrow_table_bytes(struct arrow_table *table, const char *name, size_t width);
/* A bit per row, all 0. */
uint8_t *arrow_table_bool(struct arrow_table *table, const char *name);
/* Texts, which are appended row by row; NULL if memory ran out. */
struct arrow_table_column *arrow_table_text(struct arrow_table *table, const char *name);
void arrow_table_append(struct arrow_table *table, struct arrow_table_column *column,
                        struct bytes_view text);
/* Lists of numbers, `items` of them in all: the list of row r is items[offsets[r]] up to
 * items[offsets[r + 1]]; offsets[0] is 0. Both are NULL if memory ran out. */
struct arrow_list {
    int32_t *offsets;
    int64_t *items;
};
struct arrow_list arrow_table_list(struct arrow_table *table, const char *name, size_t items);
/* The columns "query", "row" and "distance" of as many hits as the table has rows. */
void arrow_table_hits(struct arrow_table *table, const struct match *hits);
/* Makes a row of the last column null. */
void arrow_table_set_null(struct arrow_table *table, size_t row);

/* Releases the columns of a table that will not be finished. */
void arrow_table_discard(struct arrow_table *table);
/* Hands the columns over to the stream, or releases them if memory ran out. */
cog_status arrow_table_finish(struct arrow_table *table, struct ArrowArrayStream *stream,
                              cog_error *error);
