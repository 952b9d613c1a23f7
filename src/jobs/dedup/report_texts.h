/* The texts that the report of dedup shows: one more pass over the input, which keeps the texts of
 * chosen documents, cut after REPORT_TEXT_BYTES. Memory: these texts. */
#pragma once

#include "collection/ingest.h"
#include "jobs/dedup/report_choice.h"

struct report_texts {
    struct report_text {
        size_t at, size;   /* in bytes */
        size_t whole_size; /* before it was cut */
        bool found;
    } * items; /* per document of the choice */
    struct buffer bytes;
};

/* Zero-initialise; report_texts_free releases. Documents that come through a pipe must have been
 * kept (ingest_keep_pipes). */
cog_status report_texts_read(cog_documents *documents, const struct duplicate_rows *rows,
                             const struct report_choice *choice, const cog_run_options *run,
                             cog_report *report, struct report_texts *texts, cog_error *error);
void report_texts_free(struct report_texts *texts);
