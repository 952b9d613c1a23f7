/* Reads the texts shown in the report of dedup, in one more pass over the input. Texts are cut
 * after REPORT_TEXT_BYTES. Memory: these texts. */
#pragma once

#include "collection/ingest.h"

/* Maximum size of a text in the page. */
enum { REPORT_TEXT_BYTES = 24 << 10 };

/* A document whose text is shown: its record, and the position of the text in the result. */
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

/* Reads the texts of records, which it sorts, into `count` positions. Zero-initialise the texts;
 * report_texts_free releases. For documents from a pipe, call ingest_keep_pipes before the
 * first pass. */
cog_status report_texts_read(cog_documents *documents, struct wanted_text *wanted,
                             size_t wanted_count, size_t count, const cog_run_options *run,
                             cog_report *report, struct report_texts *texts, cog_error *error);
void report_texts_free(struct report_texts *texts);
