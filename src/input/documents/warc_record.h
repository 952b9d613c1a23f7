/* Records of WARC files, the format of web crawls, and of the WET files made from them: where a
 * record ends, whether it is a document, and its id, language and text.
 *
 * Documents are `conversion` records of plain text (WET), and `response` and `resource` records
 * of web addresses with HTML or plain text. All others (warcinfo, request, metadata, images, failed
 * requests) are passed over. A record's bytes include its header and the blank lines behind it. */
#pragma once

#include <stdint.h>

#include "base/memory.h"

/* The scan for the end of a record, kept over the pieces in which the record arrives. */
struct warc_scan {
    uint64_t end;   /* of the record's content; 0 until its header is complete */
    size_t scanned; /* bytes that have been looked at */
};
/* Sets *record to the size of the record at the front of the bytes, or to 0 if more bytes are
 * needed. `ended`: there are none. Returns what is wrong with the file (a constant), or NULL. */
const char *warc_scan_record(struct warc_scan *scan, const char *data, size_t size, bool ended,
                             size_t *record);

/* Whether a whole record is a document. */
bool warc_is_document(struct bytes_view record);

struct warc_parser;
/* NULL when memory ran out. */
struct warc_parser *warc_parser_create(void);
void warc_parser_free(struct warc_parser *parser);

enum warc_result { WARC_OK, WARC_BAD, WARC_OUT_OF_MEMORY };

/* Of a record that is a document; id and lang may be empty and are not checked to be UTF-8, as the
 * text of a conversion record is not. Views are valid until the next call and as long as the
 * record; on WARC_BAD *problem says what is wrong (a constant). */
enum warc_result warc_parse(struct warc_parser *parser, struct bytes_view record,
                            struct bytes_view *id, struct bytes_view *lang, struct bytes_view *text,
                            const char **problem);
