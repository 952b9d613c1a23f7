#include "api/number_rows.h"

#include "base/arguments.h"

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
