/* A collection in memory: the id and size of every document, and its terms, unless these go to
 * disk.
 *
 * In: documents, read once. A document whose id was used before is a bad record. Out: statistics,
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
    uint32_t *frequencies; /* NULL where only sets were wanted */
    float *weights;        /* NULL where no row has them of its input */
    size_t term_count, hash_capacity, frequency_capacity, weight_capacity;
    struct id_table *id_table;
};

struct corpus_options {
    const struct term_options *terms;
    bool want_frequencies;
    bool as_sets; /* rows are bags of sets (collection/sets/set_bag.h); the terms are made for that
                   */
    bool takes_foreign; /* documents with a lexicon become bags with expected frequencies; else they
                           are refused */
    bool repeat_ids;    /* a document whose id was used before is a row as well, not a bad record */
    /* Called in order for records that are skipped, duplicate ids among them. May be NULL. */
    cog_status (*reject)(void *context, struct bytes_view raw, cog_error *error);
    void *reject_context;
    /* Parallel: may change a document's terms before they are counted. May be NULL. */
    cog_status (*amend)(void *context, unsigned worker, const struct document *document,
                        struct term_list *terms, cog_error *error);
    void *amend_context;
    /* Where not NULL, the terms go there, one document after the other, and the corpus has their
     * number only. */
    struct bag_spool *spool;
    /* The same for the sets of terms, to which the rows of the corpus are added in their order,
     * with fingerprints and without ids. The corpus has neither frequencies nor lengths. */
    struct document_sets *sets;
};
cog_status corpus_read(struct corpus *corpus, cog_documents *documents,
                       const struct corpus_options *options, const cog_run_options *run,
                       cog_report *report, cog_error *error);
/* Gives back what only reading needs: room for more rows, and the table of ids. */
void corpus_settle(struct corpus *corpus);
/* A row of these terms. */
cog_status corpus_add(struct corpus *corpus, struct bytes_view id, const struct bag_view *bag,
                      cog_error *error);
/* The same without an id. */
cog_status corpus_add_bag(struct corpus *corpus, const struct bag_view *bag, cog_error *error);
/* The same of a row whose terms are elsewhere; `term_count` of them. */
cog_status corpus_add_counted(struct corpus *corpus, struct bytes_view id, size_t term_count,
                              cog_error *error);
void corpus_free(struct corpus *corpus);
struct bytes_view corpus_id(const struct corpus *corpus, size_t row);
/* The row of an id; false if there is none. Not after rows were taken out. */
bool corpus_find(const struct corpus *corpus, struct bytes_view id, uint32_t *row);
struct bag_view corpus_bag(const struct corpus *corpus, size_t row);
uint64_t corpus_memory_bytes(const struct corpus *corpus);

/* Replaces all rows by the next documents of a spool, of `most` terms together or a few more; none
 * after the last. The rows have no ids. */
cog_status corpus_next_spooled(struct corpus *corpus, struct bag_spool *spool, size_t most,
                               cog_error *error);

/* Adds df and cf of the rows. */
cog_status corpus_count(const struct corpus *corpus, unsigned threads,
                        struct statistics *statistics, cog_error *error);
/* df and cf over all corpora together. */
cog_status corpus_statistics(const struct corpus *const *corpora, size_t count, unsigned threads,
                             struct statistics **statistics, cog_error *error);
/* The rows that have each term, those too whose expected frequency is rounded to 0. */
cog_status corpus_presence(const struct corpus *corpus, unsigned threads,
                           struct statistics **statistics, cog_error *error);
/* In both, selected[i], where not NULL, is 1 for the rows of corpus i that take part; the others
 * are empty. */

/* Rows of unit length over the common columns. Rows with fewer than min_terms weighted terms are
 * left empty: too short for weights. */
cog_status corpus_vectors(const struct corpus *const *corpora, size_t count,
                          const struct statistics *statistics, const struct weighting *weighting,
                          uint32_t min_terms, const uint8_t *const *selected, unsigned threads,
                          struct sparse_matrix *matrices, cog_error *error);
/* The same for one corpus over columns that exist already. */
cog_status corpus_vectors_in(const struct corpus *corpus, const struct term_numbers *columns,
                             const struct statistics *statistics, const struct weighting *weighting,
                             uint32_t min_terms, const uint8_t *selected, unsigned threads,
                             struct sparse_matrix *matrix, cog_error *error);
/* Adds the sets of the selected rows, of all if selected is NULL, to a file of sets. */
cog_status corpus_add_sets(const struct corpus *corpus, const uint8_t *selected,
                           struct document_sets *sets, cog_error *error);
/* The same without weights: values are the frequencies of the terms, or the weights that the input
 * gave them. */
cog_status corpus_frequencies_in(const struct corpus *corpus, const struct term_numbers *columns,
                                 unsigned threads, struct sparse_matrix *matrix, cog_error *error);
/* Sets over the common members; those of one row only are counted, not listed. */
cog_status corpus_sets(const struct corpus *const *corpora, size_t count,
                       const struct statistics *statistics, const uint8_t *const *selected,
                       unsigned threads, struct set_collection *sets, cog_error *error);
