/* Reads the language links of a wiki from a database dump: the INSERT lines of langlinks.sql, each
 * with many rows (page, 'language', 'title'). Rows stream; memory does not grow with the file. */
#pragma once

#include "input/input_files.h"

struct langlink {
    uint64_t page;                 /* number of the page in its own wiki */
    struct bytes_view code, title; /* of the partner; valid until the next call */
};

/* Zero-initialise; wiki_langlinks_close releases. */
struct wiki_langlinks {
    struct byte_source bytes;
    const char *path; /* borrowed */
    char *block;
    size_t at, size;
    bool in_rows; /* inside of an INSERT */
    struct buffer head, code, title;
    uint64_t line;     /* from 1 */
    uint64_t rows;     /* read so far */
    uint64_t bad_rows; /* cut off by a line end, malformed, or not UTF-8: skipped */
};

/* `path` names a file, compressed or not, and is borrowed until wiki_langlinks_close. */
cog_status wiki_langlinks_open(struct wiki_langlinks *links, const char *path, cog_error *error);
/* The next row; sets *end if there is none. A file that ends inside a row is an error. */
cog_status wiki_langlinks_next(struct wiki_langlinks *links, struct langlink *link, bool *end,
                               cog_error *error);
void wiki_langlinks_close(struct wiki_langlinks *links);
