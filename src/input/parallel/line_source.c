#include "input/parallel/line_source.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 18 };

cog_status byte_source_open_path(struct byte_source *source, const char *path, cog_error *error) {
    bool standard = strcmp(path, "-") == 0;
    *source = (struct byte_source){.descriptor = -1, .spool = -1};
    int descriptor = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return error_system(error, "open", path);
    return byte_source_start(source, descriptor, !standard, path, -1, error);
}

cog_status line_source_open(struct line_source *source, const char *path, cog_error *error) {
    *source = (struct line_source){0};
    return byte_source_open_path(&source->bytes, path, error);
}

/* Moves what is left to the front and reads more behind it. */
static cog_status read_more(struct line_source *source, cog_error *error) {
    struct buffer *window = &source->window;
    if (source->at) {
        memmove(window->data, window->data + source->at, window->size - source->at);
        window->size -= source->at;
        source->at = 0;
    }
    if (!buffer_reserve(window, READ_BYTES))
        return error_memory(error, window->size + READ_BYTES, "a line of text");
    size_t got = 0;
    cog_status status =
        byte_source_read(&source->bytes, window->data + window->size, READ_BYTES, &got, error);
    window->size += got;
    source->ended = status == COG_OK && got == 0;
    return status;
}

cog_status line_source_next(struct line_source *source, struct bytes_view *line, bool *end,
                            cog_error *error) {
    size_t scanned = 0;
    const char *newline = NULL;
    *end = false;
    for (;;) {
        size_t have = source->window.size - source->at;
        if (have > scanned)
            newline = memchr(source->window.data + source->at + scanned, '\n', have - scanned);
        if (newline || source->ended)
            break;
        scanned = have;
        TRY(read_more(source, error));
    }
    size_t have = source->window.size - source->at;
    if (!newline && have == 0) {
        *end = true;
        return COG_OK;
    }
    const char *begin = source->window.data + source->at;
    size_t size = newline ? (size_t)(newline - begin) : have;
    source->line_at = source->at;
    source->at += size + (newline != NULL);
    source->line++;
    if (size && begin[size - 1] == '\r')
        size--;
    *line = view_of(begin, size);
    return COG_OK;
}

void line_source_put_back(struct line_source *source) {
    source->at = source->line_at;
    source->line--;
}

void line_source_close(struct line_source *source) {
    byte_source_free(&source->bytes);
    buffer_free(&source->window);
    *source = (struct line_source){.bytes = {.descriptor = -1, .spool = -1}};
}

struct bytes_view take_field(struct bytes_view *rest, char delimiter) {
    const char *stop = rest->size ? memchr(rest->data, delimiter, rest->size) : NULL;
    struct bytes_view field = view_of(rest->data, stop ? (size_t)(stop - rest->data) : rest->size);
    *rest = stop ? view_of(stop + 1, rest->size - field.size - 1) : view_of(NULL, 0);
    return field;
}
