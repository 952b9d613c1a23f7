#include "api/number_rows.h"

#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "jobs/link/link_block.h"
#include "jobs/link/link_options.h"

cog_status link_side_check(int side, cog_error *error) {
    return side == 0 || side == 1 ? COG_OK
                                  : error_set(error, COG_ERR_USAGE,
                                              "side %d: 0 has the source language, 1 the target "
                                              "language",
                                              side);
}

cog_status offsets_check(const int64_t *offsets, size_t count, const char *name, cog_error *error) {
    TRY(check_given(offsets, name, error));
    if (count >= UINT32_MAX)
        return error_set(error, COG_ERR_USAGE, "%s: give fewer than 4 billion rows", name);
    for (size_t i = 0; i <= count; i++)
        if (offsets[i] < (i ? offsets[i - 1] : 0))
            return error_set(error, COG_ERR_USAGE, "%s: row %zu ends before it begins", name, i);
    return COG_OK;
}

cog_status number_rows_check(const cog_number_rows *rows, const char *name, cog_error *error) {
    TRY(check_given(rows, name, error));
    if (rows->count == 0)
        return COG_OK;
    TRY(offsets_check(rows->offsets, rows->count, name, error));
    return rows->offsets[rows->count] > rows->offsets[0] ? check_given(rows->items, name, error)
                                                         : COG_OK;
}

cog_status vectors_take(const cog_number_rows *rows, const char *name, struct sparse_matrix *matrix,
                        cog_error *error) {
    const int64_t first = rows->count ? rows->offsets[0] : 0;
    const size_t total = rows->count ? (size_t)(rows->offsets[rows->count] - first) : 0;
    matrix->rows = rows->count;
    TAKE_ZEROED(matrix->offsets, rows->count + 1, "vectors", error);
    TAKE(matrix->columns, total, "vectors", error);
    TAKE(matrix->values, total, "vectors", error);
    for (size_t row = 0; row < rows->count; row++)
        matrix->offsets[row + 1] = (uint64_t)(rows->offsets[row + 1] - first);
    for (size_t row = 0; row < rows->count; row++)
        for (uint64_t i = matrix->offsets[row]; i < matrix->offsets[row + 1]; i++) {
            const uint64_t entry = (uint64_t)rows->items[(size_t)first + i];
            const uint32_t bits = (uint32_t)entry;
            matrix->columns[i] = (uint32_t)(entry >> 32);
            memcpy(&matrix->values[i], &bits, sizeof bits);
            if (matrix->columns[i] == UINT32_MAX || !isfinite(matrix->values[i]) ||
                (i > matrix->offsets[row] && matrix->columns[i] <= matrix->columns[i - 1]))
                return error_set(error, COG_ERR_USAGE,
                                 "%s: row %zu is no vector: give the entries as they were made",
                                 name, row);
            if (matrix->columns[i] >= matrix->column_count)
                matrix->column_count = matrix->columns[i] + 1;
        }
    return COG_OK;
}

void vectors_share_columns(struct sparse_matrix sides[2]) {
    if (sides[0].column_count < sides[1].column_count)
        sides[0].column_count = sides[1].column_count;
    sides[1].column_count = sides[0].column_count;
}

cog_status link_search_take(const cog_link_options *options, struct link_search *search,
                            cog_error *error) {
    TRY(link_options_check(options, error));
    if (!link_block_has_method(options->method) && options->method != COG_METHOD_LISTS &&
        options->method != COG_METHOD_WINDOW)
        return error_about(error, COG_ERR_USAGE, "method",
                           "links in steps are found by the methods exact, lists, flat and window");
    *search = (struct link_search){.method = options->method, .options = options};
    link_options_wanted(options, search->wanted);
    return COG_OK;
}

cog_status neighbours_take(const cog_link_neighbours *given, uint64_t others, size_t k,
                           struct cosine_neighbours *own, cog_error *error) {
    const size_t documents = (size_t)given->documents;
    if (documents) {
        TRY(offsets_check(given->offsets, documents, "neighbours", error));
        if (given->offsets[documents]) {
            TRY(check_given(given->rows, "rows of neighbours", error));
            TRY(check_given(given->similarities, "similarities of neighbours", error));
        }
    }
    TRY(cosine_neighbours_take(own, documents, k, error));
    for (size_t row = 0; row < documents; row++) {
        size_t begin = (size_t)given->offsets[row];
        size_t count = (size_t)given->offsets[row + 1] - begin;
        count = count < k ? count : k;
        for (size_t i = 0; i < count; i++) {
            int64_t other = given->rows[begin + i];
            if (other < 0 || (uint64_t)other >= others)
                return error_set(error, COG_ERR_USAGE,
                                 "neighbours: row %zu has the neighbour %lld, and there are %llu "
                                 "documents",
                                 row, (long long)other, (unsigned long long)others);
            own->items[row * k + i] =
                (struct cosine_neighbour){(uint32_t)other, (float)given->similarities[begin + i]};
        }
        own->counts[row] = (uint32_t)count;
    }
    return COG_OK;
}
