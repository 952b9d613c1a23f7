/* A collection as a file of member sets, for exact joins by Jaccard and containment.
 *
 * In: documents, read once. Out: a file with the set of terms and the id of each document
 * (vector/set_file.h) and, in memory, 40 bytes per document. Nothing else grows with the
 * collection. Several collections may be read into one file in turn; a document's row is its
 * position among all of them. */
#pragma once

#include "base/io/output.h"
#include "collection/equal_documents.h"
#include "collection/ingest.h"
#include "collection/work_folder.h"
#include "index/segment_sets.h"
#include "vector/set_file.h"

struct document_fact {
    uint32_t record;     /* number of the record in its collection */
    uint32_t text_bytes; /* at most UINT32_MAX */
};

/* Zero-initialise, then document_sets_open; document_sets_close releases. */
struct document_sets {
    struct set_file file; /* its rows are `rows` */
    struct set_row *rows;
    struct document_fact *facts;
    /* Of the terms, or of the text's bytes if it has no terms; document_sets_group frees them. */
    struct fingerprint *fingerprints;
    size_t count, row_capacity, fact_capacity, fingerprint_capacity;
    struct work_folder *folder; /* NULL: the file is a scratch file */
    struct work_progress progress;
    uint64_t collections_read;
};

/* Opens a scratch file in the folder of `near_path`; "-": TMPDIR, NULL: in memory. */
cog_status document_sets_open(struct document_sets *sets, const char *near_path, cog_error *error);
/* Creates or continues the file of a work folder; parameters as in work_folder_open. Documents
 * already in it are not read again. */
cog_status document_sets_open_work(struct document_sets *sets, const char *path,
                                   const struct settings *made_by, bool resume, cog_error *error);
void document_sets_close(struct document_sets *sets);

/* For documents without terms; the others have fingerprints of their encoded sets. */
struct fingerprint fingerprint_of_text(struct bytes_view text);

/* Documents of a batch to be appended to the file. Zero-initialise; set_batch_free releases. */
struct set_batch {
    struct buffer bytes;
    struct set_document *documents; /* with offsets from the beginning of the batch */
    size_t count, capacity;
    uint64_t *scratch; /* a batch is used by one worker at a time */
    size_t scratch_capacity;
};
/* Adds a document; changes its term list. If has_id is false, its id is not stored in the file. */
cog_status set_batch_add(struct set_batch *batch, const struct ingested *item, bool has_id,
                         cog_error *error);
/* The same for existing sets; `record` is stored in document_fact. */
cog_status set_batch_add_set(struct set_batch *batch, const struct document_set *set,
                             struct bytes_view id, uint32_t record, cog_error *error);
/* The number of terms and words of the last document added. */
size_t set_batch_last_members(const struct set_batch *batch);
/* Removes the documents whose mark is 0; none may have an id in the file. */
void set_batch_select(struct set_batch *batch, const uint8_t *marks);
void set_batch_free(struct set_batch *batch);
/* Appends the documents of a batch to the file and empties the batch. */
cog_status document_sets_append(struct document_sets *sets, struct set_batch *batch,
                                cog_error *error);

/* Reads the next collection; its first row is then progress.first_row. `is_last`: no more follow.
 * Bad records are written unchanged to `rejects` if it is not NULL. A work folder keeps those of
 * the last collection for jobs that resume. */
cog_status document_sets_read(struct document_sets *sets, cog_documents *documents,
                              const struct term_options *terms, bool is_last,
                              struct output *rejects, struct job *job, cog_error *error);

/* Counts the next collection as read. If true, the caller must append its documents; if false, a
 * work folder has them from an earlier job. Not for the last collection. */
bool document_sets_wants_next(struct document_sets *sets);

/* Groups equal documents: leaders[row] is the first equal row. free() *leaders. Frees the
 * fingerprints; *groups is the number of groups with two or more rows. */
cog_status document_sets_group(struct document_sets *sets, uint32_t **leaders, size_t *groups,
                               cog_error *error);

/* The memory currently held. */
uint64_t document_sets_memory_bytes(const struct document_sets *sets);
