/* Documents into a job: one thread reads while all of them parse, analyse and do the job's work a
 * document; what they made is delivered batch by batch in the order of the input. Counts what was
 * skipped and why. */
#pragma once

#include "input/reader.h"
#include "run/job.h"
#include "text/analyzer.h"
#include "vector/bag.h"

struct cog_documents {
    struct reader *reader; /* NULL for documents in memory */
    const cog_document *items;
    size_t item_count;
    bool strict;
};

/* What a worker sees of a document. Views are valid during the call only. */
struct ingested {
    const struct document *document;
    uint64_t record;               /* number of the record in the input, bad ones counted */
    const struct term_list *terms; /* in order, with repetitions */
    struct bag_view bag;           /* where ingest_plan.want_bags */
};

struct ingest_plan {
    const struct term_options *terms; /* NULL: the text is not analysed */
    bool want_bags;
    /* A batch's results, made by the job; one a batch in flight. */
    void *(*result_create)(void *context);
    void (*result_free)(void *result);
    /* Parallel: adds one document to the batch's result. */
    cog_status (*work)(void *context, unsigned worker, void *result, const struct ingested *item,
                       cog_error *error);
    /* Serial, in order; leaves the result empty for its next batch. */
    cog_status (*deliver)(void *context, void *result, cog_error *error);
    /* Serial, in order, before the deliver of its batch: a record that was skipped. May be NULL. */
    cog_status (*reject)(void *context, struct bytes_view raw, cog_error *error);
    /* Parallel: may change a document's terms before they are counted. May be NULL. */
    cog_status (*amend)(void *context, unsigned worker, const struct document *document,
                        struct term_list *terms, cog_error *error);
    void *context;
    const char *stage; /* for progress and the report */
};

/* Reads from the beginning. Skipped records are counted in the report ("bad_records") and the first
 * ten named as notices, unless an earlier pass over the same input has named them; a strict
 * collection ends at the first. */
cog_status ingest_run(cog_documents *documents, const struct ingest_plan *plan,
                      const cog_run_options *run, cog_report *report, bool named_before,
                      cog_error *error);

/* For a job that reads the documents more than once: call it before the first pass. */
void ingest_keep_pipes(cog_documents *documents);

/* About how many bytes of text the documents have: exact in memory, the size of plain files, four
 * times that of compressed ones. */
uint64_t ingest_text_bytes(const cog_documents *documents);

/* Notes a record that a job itself rejects (a duplicate id) as ingest notes the others. */
enum { NAMED_BAD_RECORDS = 10 };
cog_status ingest_note_bad(const cog_documents *documents, cog_report *report, uint64_t bad_so_far,
                           const char *message, cog_error *error);
