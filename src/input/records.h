/* Finds the ends of records in bytes that arrive in pieces. Looks at every byte once, and only as
 * closely as needed to find the end: the workers do the parsing. */
#pragma once

#include "base/error.h"
#include "input/documents/csv_row.h"
#include "input/documents/json_array.h"
#include "input/documents/warc_record.h"
#include "input/input_files.h"

enum cut_kind { CUT_FILE, CUT_LINE, CUT_CSV, CUT_PAGE, CUT_ELEMENT, CUT_WARC };

struct record_cutter {
    enum cut_kind kind;
    uint64_t line;                /* of the first byte that has not been cut */
    size_t scanned;               /* bytes of the unfinished record that have been looked at */
    uint64_t count;               /* records that have been cut */
    struct csv_scan csv;          /* csv only */
    struct json_array_scan array; /* JSON arrays only */
    struct warc_scan warc;        /* crawls only */
    bool started, closed; /* wikixml: the opening and the closing of the dump have been seen */
    bool in_page;
    uint64_t skipped_bytes; /* belonging to no page */
};

/* A piece at the front of the uncut bytes: `skip` bytes that belong to no record, then a record. */
struct cut {
    size_t skip, size;
    uint64_t line, number;
    bool found; /* if false, skip and call again with more bytes */
};

/* Chooses the kind by the file's format and what else is known about it. */
void record_cutter_start(struct record_cutter *cutter, const struct input_file *file);
/* `ended`: no bytes follow in the file. COG_ERR_INPUT if the end can only be that of a damaged file
 * (an open quote, a dump without its closing tag, an array without its bracket, an unfinished crawl
 * record). */
cog_status record_cutter_next(struct record_cutter *cutter, const char *data, size_t size,
                              bool ended, const char *file_name, struct cut *cut, cog_error *error);
