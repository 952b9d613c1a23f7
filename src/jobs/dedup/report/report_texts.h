/* The texts that the report of dedup shows: one more pass over the input, which keeps the texts of
 * chosen documents, cut after REPORT_TEXT_BYTES. Memory: these texts. */
#pragma once

#include "collection/ingest.h"

/* Bytes of a text that the page shows at most. */
enum { REPORT_TEXT_BYTES = 24 << 10 };

/* A document whose text is wanted: its record, and where the text goes. */
struct wanted_text {
    uint64_t record;
    uint32_t position;
};

struct report_texts {
    struct report_text {
        size_t at, size;   /* in bytes */
        size_t whole_size; /* before it was cut */
        bool found;
    } * items; /* per position */
    struct buffer bytes;
};

/* Reads the texts of records that rise, into `count` positions. Zero-initialise the texts;
 * report_texts_free releases. Documents that come through a pipe must have been kept
 * (ingest_keep_pipes). */
cog_status report_texts_read(cog_documents *documents, const struct wanted_text *wanted,
                             size_t wanted_count, size_t count, const cog_run_options *run,
                             cog_report *report, struct report_texts *texts, cog_error *error);
void report_texts_free(struct report_texts *texts);
