/* Reads the sentences of linked documents. In: a collection, which is read again, and the rows with
 * links. Out: the sentences of each row, in order. All threads split; documents without links are
 * not parsed. Memory: the text, plus about 50 bytes per sentence. */
#pragma once

#include "collection/corpus.h"
#include "run/job.h"

/* Zero-initialise, then linked_sentences_read; linked_sentences_free releases. */
struct linked_sentences {
    struct ingest *ingest;
    const struct corpus *corpus; /* borrowed; NULL: every record is a row */
    struct buffer text;          /* of all sentences */
    cog_document *items;         /* one per sentence; the texts point into the buffer */
    uint8_t *joined;   /* by sentence: no white space separates it from the previous one */
    size_t *row_ends;  /* by row: the number of sentences up to and including the row's */
    uint64_t *records; /* numbers of the linked records */
    struct sentence_splitter **splitters; /* one per worker */
    size_t count, rows, item_capacity, joined_capacity, row_capacity, record_count;
};

/* wanted: by row, nonzero if it has a link. With corpus NULL, `wanted` is not read: all records are
 * split, and their numbers are the rows. */
cog_status linked_sentences_read(struct linked_sentences *sentences, cog_documents *documents,
                                 const struct corpus *corpus, const uint8_t *wanted,
                                 const char *language, struct job *job, cog_error *error);
void linked_sentences_free(struct linked_sentences *sentences);

/* The sentences of a row: [*begin, *end). */
static inline void linked_sentences_of(const struct linked_sentences *sentences, uint32_t row,
                                       size_t *begin, size_t *end) {
    *begin = row ? sentences->row_ends[row - 1] : 0;
    *end = sentences->row_ends[row];
}
/* Sets `text` to `count` sentences from `first` on, with a space where white space separated them.
 */
cog_status linked_sentences_text(const struct linked_sentences *sentences, size_t first,
                                 size_t count, struct buffer *text, cog_error *error);
