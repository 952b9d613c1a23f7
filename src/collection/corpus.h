/* A collection in memory: the id and size of every document, and its terms unless these go to disk.
 *
 * In: documents, read once. A document whose id was already used is a bad record. Out: statistics,
 * the matrix of unit vectors for cosine, or the sets for Jaccard. */
#pragma once

#include "base/error.h"
#include "base/memory.h"
#include "collection/bag_spool.h"
#include "collection/id_table.h"
#include "collection/ingest.h"
#include "collection/sets/document_sets.h"
#include "vector/sparse.h"
#include "vector/statistics.h"
#include "vector/term_numbers.h"

/* Zero-initialise; corpus_free releases. */
struct corpus {
    size_t rows;
    size_t row_capacity;
    struct corpus_row {
        uint64_t first_term; /* index into hashes */
        uint64_t first_id;   /* index into id_bytes */
        uint64_t record;     /* number of the record in the input */
        uint64_t length;     /* terms with repetition */
        uint64_t text_bytes;
        uint32_t term_count;
        uint32_t id_bytes;
    } * items;
    struct buffer ids;
    uint64_t *hashes;      /* distinct terms of each row */
    uint32_t *frequencies; /* NULL if only sets were requested */
    float *weights;        /* NULL if no row has weights from the input */
    size_t term_count, hash_capacity, frequency_capacity, weight_capacity;
    struct id_table *id_table;
};

struct corpus_options {
    const struct term_options *terms;
    bool want_frequencies;
    bool as_sets; /* rows are bags of sets (collection/sets/set_bag.h); `terms` must be options for
                     sets */
    bool takes_foreign; /* documents with a lexicon become bags with expected frequencies; otherwise
                           they are rejected */
    /* Keep documents whose id was already used as rows instead of rejecting them. */
    bool repeat_ids;
    /* Called in order for skipped records, including duplicate ids. May be NULL. */
    cog_status (*reject)(void *context, struct bytes_view raw, cog_error *error);
    void *reject_context;
    /* Called concurrently; may change a document's terms before they are counted. May be NULL. */
    cog_status (*amend)(void *context, unsigned worker, const struct document *document,
                        struct term_list *terms, cog_error *error);
    void *amend_context;
    /* If not NULL, receives the terms, document by document; the corpus only keeps their number. */
    struct bag_spool *spool;
    /* The same for sets of terms: the rows of the corpus are added in order, with fingerprints and
     * without ids. The corpus then has neither frequencies nor lengths. */
    struct document_sets *sets;
};
cog_status corpus_read(struct corpus *corpus, cog_documents *documents,
                       const struct corpus_options *options, const cog_run_options *run,
                       cog_report *report, cog_error *error);
/* Frees memory needed only for reading: spare room, and the table of ids. */
void corpus_trim(struct corpus *corpus);
/* Appends a row with these terms. Either all rows have frequencies or none. */
cog_status corpus_add(struct corpus *corpus, struct bytes_view id, const struct bag_view *bag,
                      cog_error *error);
/* The same without an id. */
cog_status corpus_add_bag(struct corpus *corpus, const struct bag_view *bag, cog_error *error);
/* The same for a row with `term_count` terms stored elsewhere. */
cog_status corpus_add_counted(struct corpus *corpus, struct bytes_view id, size_t term_count,
                              cog_error *error);
void corpus_free(struct corpus *corpus);
/* Frees the terms. Ids and the number of terms of each row stay. */
void corpus_free_terms(struct corpus *corpus);
struct bytes_view corpus_id(const struct corpus *corpus, size_t row);
/* The row of an id; false if there is none. Not allowed after rows were removed. */
bool corpus_find(const struct corpus *corpus, struct bytes_view id, uint32_t *row);
struct bag_view corpus_bag(const struct corpus *corpus, size_t row);
uint64_t corpus_memory_bytes(const struct corpus *corpus);

/* Replaces all rows by the next documents of a spool, with `most` terms in total or slightly more;
 * no rows after the last. The rows have no ids. */
cog_status corpus_next_spooled(struct corpus *corpus, struct bag_spool *spool, size_t most,
                               cog_error *error);

/* Adds df and cf of the rows. */
cog_status corpus_count(const struct corpus *corpus, unsigned threads,
                        struct statistics *statistics, cog_error *error);
/* df and cf of all corpora together. */
cog_status corpus_statistics(const struct corpus *const *corpora, size_t count, unsigned threads,
                             struct statistics **statistics, cog_error *error);
/* The number of rows that have each term, including rows where its expected frequency rounds to 0.
 */
cog_status corpus_presence(const struct corpus *corpus, unsigned threads,
                           struct statistics **statistics, cog_error *error);
/* In the next two, selected[i], if not NULL, is 1 for the rows of corpus i to use; other rows are
 * empty. */

/* Rows of unit length over the common columns. */
cog_status corpus_vectors(const struct corpus *const *corpora, size_t count,
                          const struct statistics *statistics, const struct weighting *weighting,
                          const uint8_t *const *selected, unsigned threads,
                          struct sparse_matrix *matrices, cog_error *error);
/* The same for one corpus over existing columns. */
cog_status corpus_vectors_in(const struct corpus *corpus, const struct term_numbers *columns,
                             const struct statistics *statistics, const struct weighting *weighting,
                             const uint8_t *selected, unsigned threads,
                             struct sparse_matrix *matrix, cog_error *error);
/* Adds the sets of the selected rows (all if `selected` is NULL) to a file of sets. */
cog_status corpus_add_sets(const struct corpus *corpus, const uint8_t *selected,
                           struct document_sets *sets, cog_error *error);
/* The same without weighting: values are term frequencies, or the weights given in the input. */
cog_status corpus_frequencies_in(const struct corpus *corpus, const struct term_numbers *columns,
                                 unsigned threads, struct sparse_matrix *matrix, cog_error *error);
/* Sets over the common members; members of only one row are counted but not listed. */
cog_status corpus_sets(const struct corpus *const *corpora, size_t count,
                       const struct statistics *statistics, const uint8_t *const *selected,
                       unsigned threads, struct set_collection *sets, cog_error *error);
