/* A user's list of ids from a file: one per line, escaped as in results. */
#pragma once

#include "base/error.h"
#include "base/memory.h"
#include "base/strings.h"

/* Zero-initialise; id_list_free releases. */
struct id_list {
    struct buffer bytes;
    struct bytes_view *ids; /* point into the bytes */
    size_t count, capacity;
};

/* "-" is standard input. Ignores empty lines. Release the list also after an error. */
cog_status id_list_read(struct id_list *list, const char *path, cog_error *error);
void id_list_free(struct id_list *list);
