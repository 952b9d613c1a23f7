/* Query logs as Arrow streams: a row has a query, a URL that was clicked, and the number of clicks.
 *
 * In: a stream with the columns "query", "url" ("clickurl" in AOL's logs) and "clicks", written in
 * any case. Without clicks, each row is one click; a row without a URL is a query that led to none.
 * Out: a query log that is not grouped yet, and the number of rows. Queries are copied and URLs
 * hashed, so that nothing of the stream is kept. */
#pragma once

#include "input/arrow_stream.h"
#include "input/documents/query_log.h"

/* Reads the stream to its end and releases it, also after a failure. */
cog_status query_log_of_stream(struct ArrowArrayStream *stream, struct query_log **log,
                               uint64_t *rows, cog_error *error);
