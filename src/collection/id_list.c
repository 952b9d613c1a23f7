#include "collection/id_list.h"

#include <stdlib.h>

#include "input/parallel/line_source.h"

void id_list_free(struct id_list *list) {
    buffer_free(&list->bytes);
    free(list->ids);
}

/* The ids' data pointers are set after the last byte, when the buffer no longer moves. */
static cog_status add_id(struct id_list *list, struct bytes_view line, struct buffer *id,
                         cog_error *error) {
    if (!unescape_into(id, line) || !buffer_append(&list->bytes, id->data, id->size) ||
        !memory_grow((void **)&list->ids, &list->capacity, list->count + 1, sizeof *list->ids))
        return error_memory(error, list->bytes.size + line.size, "ids");
    list->ids[list->count++] = view_of(NULL, id->size);
    return COG_OK;
}

cog_status id_list_read(struct id_list *list, const char *path, cog_error *error) {
    struct line_source lines = {0};
    struct buffer id = {0};
    bool end = false;
    cog_status status = line_source_open(&lines, path, error);
    while (status == COG_OK && !end) {
        struct bytes_view line;
        status = line_source_next(&lines, &line, &end, error);
        if (status == COG_OK && !end && line.size)
            status = add_id(list, line, &id, error);
    }
    const char *at = list->bytes.data;
    for (size_t i = 0; i < list->count; at += list->ids[i++].size)
        list->ids[i].data = at;
    buffer_free(&id);
    line_source_close(&lines);
    return status;
}
