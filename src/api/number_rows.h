/* Checks of arrays that callers hand to the steps of links. */
#pragma once

#include "base/error.h"
#include "vector/sparse.h"

/* 0 or 1. */
cog_status link_side_check(int side, cog_error *error);
/* count + 1 numbers from 0 on that never fall. */
cog_status offsets_check(const int64_t *offsets, size_t count, const char *name, cog_error *error);
cog_status number_rows_check(const cog_number_rows *rows, const char *name, cog_error *error);
/* Entries as cog_link_vectors makes them as a matrix with columns up to the largest; the caller
 * frees it, also after an error. */
cog_status vectors_take(const cog_number_rows *rows, const char *name, struct sparse_matrix *matrix,
                        cog_error *error);
