/* Reads documents for a job. One thread at a time reads while all threads parse, analyse and do the
 * job's work on each document; results are delivered batch by batch in input order.
 *
 * In: a collection. Out: documents with their terms. Memory is a few batches of about 1 MiB per
 * thread. */
#pragma once

#include "collection/foreign_documents.h"
#include "input/reader.h"
#include "run/job.h"
#include "text/analyzer.h"
#include "vector/bag.h"

struct cog_documents {
    struct reader *source; /* files, or a table in memory */
    struct reader
        *reader; /* the source if it is files, whose records can be copied; otherwise NULL */
    bool strict;
    bool wants_ids;                    /* see record_parser_want_ids */
    struct foreign_documents *foreign; /* the lexicon of documents in another language, or NULL */
    /* Numbers of the records that the last job skipped; sorted by cog_documents_skipped. */
    uint64_t *skipped;
    size_t skipped_count, skipped_capacity;
    /* A finished pass over the first documents (sets/set_sample.h). It is freed with the documents:
     * once large buffers are freed, glibc takes others of their size from its heap, and reading
     * then needs 10 MB more. */
    struct ingest *ahead;
};

/* Documents of a table; takes ownership of it, even after a failure. */
cog_status documents_of_table(struct document_table *table, bool strict, cog_documents **documents,
                              cog_error *error);
/* The same over a query log of `rows` rows in memory. */
cog_status documents_of_log(struct query_log *log, uint64_t rows, bool strict,
                            cog_documents **documents, cog_error *error);
/* Accepts NULL. */
void documents_close(cog_documents *documents);

/* A document being processed by a worker. Views are valid until the worker's next call. */
struct ingested {
    const struct document *document; /* NULL after the last of a batch */
    uint64_t record;                 /* number of the record in the input, counting bad ones */
    /* In order, with repetitions; NULL if not requested; empty for a projected document. */
    struct term_list *terms;
    /* Set by ingest_count; already set for terms given in the input and for projected documents. */
    struct bag_view bag;
};

/* A batch of records in flight. */
struct ingest_batch {
    void *result; /* the job's own, zeroed; the job must release it before ingest_close */
    struct skipped_record {
        struct bad_record bad;
        struct bytes_view raw;
        uint64_t record;
    } * skipped;
    size_t skipped_count;
    /* Private to ingest.c from here. */
    size_t skipped_capacity;
    struct record_batch records;
    size_t next_item;
};

/* One pass over documents. */
struct ingest {
    struct ingest_batch *batches;
    size_t batch_count;
    /* Records before this one are skipped, as an earlier job has read them. 0 unless set after
     * ingest_open. */
    uint64_t first_record;
    uint64_t records, bad_records; /* of the batches delivered so far */
    /* Private to ingest.c from here. */
    void **slots;
    cog_documents *documents;
    const struct term_options *terms;
    struct ingest_worker *workers;
    struct document_projector projector; /* of foreign documents */
    unsigned worker_count;
    uint64_t read_records, start_ns;
    struct progress progress;
    const char *stage;
    cog_report *report;
    bool named_before, raw;
    const uint64_t *only; /* ingest_only */
    size_t only_count;
};

/* Starts at the beginning. `terms` NULL: texts are not analysed. `result_bytes`: size of a batch's
 * result. `stage`: for progress and the report. `named_before`: an earlier pass over the same input
 * has reported the skipped records. */
cog_status ingest_open(cog_documents *documents, const struct term_options *terms,
                       size_t result_bytes, const char *stage, const cog_run_options *run,
                       cog_report *report, bool named_before, struct ingest **ingest,
                       cog_error *error);
/* The same for the raw, unparsed records of files, to copy records chosen by number in an earlier
 * pass. ingest_next returns every record, including bad and skipped ones, with only raw, file and
 * line set, and the id if the file is the document. */
cog_status ingest_open_raw(cog_documents *documents, size_t result_bytes, const char *stage,
                           const cog_run_options *run, cog_report *report, struct ingest **ingest,
                           cog_error *error);
/* Call before the run: returns only these records, in ascending order. Others are not parsed, and
 * the input after the last is not read. The numbers are borrowed. */
void ingest_only(struct ingest *ingest, const uint64_t *records, size_t count);
/* Accepts NULL. */
void ingest_close(struct ingest *ingest);

/* Reads everything. `work` receives batches on any thread and gets their documents with
 * ingest_next. `deliver`, which may be NULL, receives them on one thread at a time in input order,
 * and leaves the result empty for the next batch. Skipped records are counted in the report
 * ("bad_records") and the first ten named in notices; a strict collection fails at the first. */
typedef cog_status ingest_worker_function(void *context, unsigned worker, void *batch,
                                          cog_error *error);
typedef cog_status ingest_receiver(void *context, void *batch, cog_error *error);
cog_status ingest_run(struct ingest *ingest, void *context, ingest_worker_function *work,
                      ingest_receiver *deliver, cog_error *error);
/* The next good document of a batch. */
cog_status ingest_next(struct ingest *ingest, unsigned worker, struct ingest_batch *batch,
                       struct ingested *item, cog_error *error);
/* Counts the terms of the document into item->bag. */
cog_status ingest_count(struct ingest *ingest, unsigned worker, struct ingested *item,
                        cog_error *error);

/* A projected document has this many terms for each original term. */
enum { INGEST_PROJECTED_SHARE = 4 };
/* Memory for projecting documents of another language; 0 for other documents. */
double ingest_projection_bytes(const cog_documents *documents, unsigned threads);
/* For jobs that read the documents more than once; call it before the first pass. */
void ingest_keep_pipes(cog_documents *documents);

/* The approximate size of the documents' text: exact in memory, the size of plain files, four times
 * that of compressed files. */
uint64_t ingest_text_bytes(const cog_documents *documents);

/* Reports a record that the job itself rejects (a duplicate id) like other bad records. `report` is
 * NULL if an earlier pass has reported it. */
enum { NAMED_BAD_RECORDS = 10 };
cog_status ingest_note_bad(const cog_documents *documents, cog_report *report, uint64_t bad_so_far,
                           const char *message, cog_error *error);
/* Records its number for cog_documents_skipped. */
cog_status ingest_note_skipped(cog_documents *documents, uint64_t record, cog_error *error);
