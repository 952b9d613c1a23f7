/* Finds where records end in bytes that arrive in pieces. It looks at every byte once, and only as
 * far as the format needs to find the end: parsing is the workers' part. */
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
    uint64_t skipped_bytes; /* that belong to no page */
};

/* A piece of the front of the uncut bytes: `skip` bytes that belong to no record, then a record. */
struct cut {
    size_t skip, size;
    uint64_t line, number;
    bool found; /* else: skip, and come back with more bytes */
};

/* By the file's format, and what else is known about its form. */
void record_cutter_start(struct record_cutter *cutter, const struct input_file *file);
/* ended: the file has no bytes behind these. Fails with COG_ERR_INPUT on what can only be the end
 * of a damaged file (an open quote, a dump without its closing tag, an array without its bracket, a
 * record of a crawl that does not end).
 */
cog_status record_cutter_next(struct record_cutter *cutter, const char *data, size_t size,
                              bool ended, const char *file_name, struct cut *cut, cog_error *error);
