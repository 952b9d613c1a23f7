/* Reads the lines of one file, compressed or not, with their numbers. */
#pragma once

#include "input/input_files.h"

struct line_source {
    struct byte_source bytes;
    struct buffer window; /* bytes that have been read; bytes before `at` are consumed */
    size_t at, line_at;   /* the next byte to scan; where the last returned line begins */
    uint64_t line;        /* number of the last returned line, from 1 */
    bool ended;
};

/* path is borrowed until the source is closed; "-" is standard input. */
cog_status line_source_open(struct line_source *source, const char *path, cog_error *error);
/* The next line without its end (LF or CRLF), valid until the next call; sets *end if there is
 * none. */
cog_status line_source_next(struct line_source *source, struct bytes_view *line, bool *end,
                            cog_error *error);
/* The next call returns the last line again. */
void line_source_put_back(struct line_source *source);
/* Accepts a zeroed source. */
void line_source_close(struct line_source *source);

/* Opens a file, or standard input for "-", for reading bytes. */
cog_status byte_source_open_path(struct byte_source *source, const char *path, cog_error *error);

/* Splits off the field before the next delimiter. *rest becomes the remainder; its data is NULL
 * after the last field. */
struct bytes_view take_field(struct bytes_view *rest, char delimiter);
