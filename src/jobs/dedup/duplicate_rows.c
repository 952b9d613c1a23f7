#include "jobs/dedup/duplicate_rows.h"

#include <stdlib.h>

#include "base/memory.h"

cog_status duplicate_row_id(const struct duplicate_rows *rows, uint32_t row, struct buffer *id,
                            struct bytes_view *view, cog_error *error) {
    buffer_reset(id);
    TRY(rows->append_id(rows->id_context, row, id, error));
    *view = view_of(id->data, id->size);
    return COG_OK;
}

static void forget_removed_neighbours(struct duplicate_rows *rows) {
    for (uint32_t row = 0; row < rows->count && !duplicate_rows_have_reference(rows); row++) {
        struct duplicate_row *item = &rows->rows[row];
        if (item->nearest_row != NO_ROW && !duplicate_row_is_kept(rows, item->nearest_row)) {
            item->nearest_row = NO_ROW;
            item->nearest_similarity = 0;
        }
    }
}

cog_status duplicate_rows_complete(struct duplicate_rows *rows, size_t most, cog_error *error) {
    uint32_t *sizes = NULL, *numbers = NULL;
    cog_status status = TAKEN_ZEROED(sizes, most, "clusters", error);
    THEN(status, TAKEN(numbers, most, "clusters", error));
    forget_removed_neighbours(rows);
    if (status == COG_OK) {
        rows->cluster_count = 0;
        for (size_t row = 0; row < rows->count; row++)
            if (rows->rows[row].cluster != NO_ROW)
                sizes[rows->rows[row].cluster]++;
        for (size_t cluster = 0; cluster < most; cluster++)
            numbers[cluster] = NO_ROW;
        for (size_t row = 0; row < rows->count; row++) {
            uint32_t cluster = rows->rows[row].cluster;
            if (cluster == NO_ROW)
                continue;
            if (sizes[cluster] > 1 && numbers[cluster] == NO_ROW)
                numbers[cluster] = (uint32_t)rows->cluster_count++;
            rows->rows[row].cluster = numbers[cluster];
        }
    }
    free(sizes);
    free(numbers);
    return status;
}
