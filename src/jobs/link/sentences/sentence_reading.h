/* The sentences of linked documents. In: a collection, which is read again, and the rows that have
 * links. Out: the sentences of each row, in order. All threads split; documents without links are
 * not parsed. Memory: the text, and about 50 bytes per sentence. */
#pragma once

#include "collection/corpus.h"
#include "run/job.h"

/* Zero-initialise, then linked_sentences_read; linked_sentences_free releases. */
struct linked_sentences {
    struct ingest *ingest;
    const struct corpus *corpus; /* borrowed */
    struct buffer text;          /* of all sentences */
    cog_document *items;         /* a sentence each; text points into the buffer */
    uint8_t *joined;             /* by sentence: no white space parts it from the one before it */
    size_t *row_ends;            /* by row: the number of sentences up to and including its own */
    uint64_t *records;           /* numbers of the linked records */
    struct sentence_splitter **splitters; /* one per worker */
    size_t count, item_capacity, joined_capacity, record_count;
};

/* wanted: by row, nonzero if it has a link. */
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
/* Sets `text` to `count` sentences from `first` on, with a blank where white space parted them. */
cog_status linked_sentences_text(const struct linked_sentences *sentences, size_t first,
                                 size_t count, struct buffer *text, cog_error *error);
