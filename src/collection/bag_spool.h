/* Bags of documents in a scratch file. The pass that counts statistics writes them and the pass
 * that signs reads them, so the input is read and analysed once. Documents that do not fit in
 * memory also go here. If the disk is full, bag_spool_is_complete returns false from then on. */
#pragma once

#include "base/error.h"
#include "base/memory.h"
#include "vector/bag.h"

struct bag_spool;
/* The scratch file has no name, is in the folder of `near_path` ("-": TMPDIR) and is deleted with
 * the spool. */
cog_status bag_spool_create(const char *near_path, struct bag_spool **spool, cog_error *error);
void bag_spool_free(struct bag_spool *spool);

/* Appends an encoded document to `batch`; false if out of memory. */
bool bag_spool_encode(struct buffer *batch, struct bytes_view id, const struct bag_view *bag);
/* Appends a batch. After a failed write the spool is lost, and further writes do nothing. */
void bag_spool_write(struct bag_spool *spool, const struct buffer *batch);
/* False once a write has failed. */
bool bag_spool_is_complete(const struct bag_spool *spool);
/* Bytes on disk: nine per term, or twelve if a term of the document occurs 256 times or more. */
uint64_t bag_spool_size_bytes(const struct bag_spool *spool);

/* Reads from the beginning. */
void bag_spool_rewind(struct bag_spool *spool);
/* Reads from the batch that contains this document, counted from 0; returns the number of the
 * batch's first document. */
size_t bag_spool_seek(struct bag_spool *spool, size_t row);
/* The next batch of documents, in the encoded form; after the last, sets *end and leaves the batch
 * empty. */
cog_status bag_spool_read(struct bag_spool *spool, struct buffer *batch, bool *end,
                          cog_error *error);
/* Decodes the document at *at of a batch and advances *at. The views point into the batch. */
void bag_spool_decode(const struct buffer *batch, size_t *at, struct bytes_view *id,
                      struct bag_view *bag);
