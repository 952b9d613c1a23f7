/* Records of WARC files (web crawls) and of the WET files made from them: where a record ends,
 * whether it is a document, and its id, language and text.
 *
 * Documents are `conversion` records of plain text (WET), and `response` and `resource` records of
 * web addresses with HTML or plain text. All others (warcinfo, request, metadata, images, failed
 * requests) are skipped. A record's bytes include its header and the blank lines after it. */
#pragma once

#include <stdint.h>

#include "input/documents/http_payload.h"

/* The scan for the end of a record; keeps its state between the pieces in which the record arrives.
 */
struct warc_scan {
    uint64_t end;   /* of the record's content; 0 until its header is complete */
    size_t scanned; /* bytes that have been looked at */
};
/* Sets *record to the size of the record at the front of the bytes, or to 0 if more bytes are
 * needed. `ended`: there are no more. Returns NULL, or the problem with the file (a constant). */
const char *warc_scan_record(struct warc_scan *scan, const char *data, size_t size, bool ended,
                             size_t *record);

/* Whether a whole record is a document. */
bool warc_is_document(struct bytes_view record);

/* Parses a record that is a document. id and lang may be empty; neither they nor the text of a
 * conversion record are checked to be UTF-8. Views are valid until the next call and as long as the
 * record. On PARSE_BAD, *problem is set to the reason (a constant). */
enum parse_result warc_parse(struct payload_decoder *decoder, struct bytes_view record,
                             struct bytes_view *id, struct bytes_view *lang,
                             struct bytes_view *text, const char **problem);
