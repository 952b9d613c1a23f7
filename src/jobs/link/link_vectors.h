/* Vectors of the documents of both sides of a link, over the terms of the target language: BM25 of
 * expected frequencies, scaled to unit length.
 *
 * A side takes two passes over its documents, which may come in parts: link_rows_measure computes
 * the length and the number of entries of each row, and link_rows_fill makes the entries, for which
 * the mean length of all rows must be known. A row depends only on its own terms, the statistics of
 * both sides, the lexicon and the mean length, so parts can be made on different machines. */
#pragma once

#include "collection/corpus.h"
#include "collection/foreign_documents.h"
#include "crosslingual/projection.h"
#include "run/job.h"

/* Determines the projection of each source term. The arguments are not kept. */
cog_status link_projection_create(const struct lexicon *lexicon,
                                  const cog_projection_options *options,
                                  const struct statistics *const statistics[2],
                                  const struct unknown_words *unknown,
                                  struct projection **projection, cog_error *error);

/* Reports how many source terms are known. */
void link_projection_report(const struct projection *projection, cog_report *report);

/* Weighs the rows of one side. The projection is borrowed. */
struct link_weigher {
    const struct projection *projection;
    int side;
    double k1, b;
    double mean_length;       /* of all rows; the caller sets it before link_rows_fill */
    float *idf;               /* by column; 0 if the term has no weight */
    struct column_sums *sums; /* one per thread */
    unsigned threads;
};
/* statistics: of both sides. Free the weigher also after an error. */
cog_status link_weigher_init(struct link_weigher *weigher, const struct projection *projection,
                             int side, const cog_projection_options *options,
                             const struct statistics *const statistics[2], unsigned threads,
                             cog_error *error);
void link_weigher_free(struct link_weigher *weigher);

/* A row's length as used in the decision: the logarithm of 1 plus the length. */
float link_length(double length);

/* Computes the length (the sum of tf or tf*) and the number of entries of each row. */
cog_status link_rows_measure(const struct link_weigher *weigher, const struct corpus *rows,
                             double *lengths, uint64_t *entries, cog_error *error);
/* Writes row r to columns[offsets[r] - offsets[0]] and following; it has the number of entries
 * measured. */
cog_status link_rows_fill(const struct link_weigher *weigher, const struct corpus *rows,
                          const double *lengths, const uint64_t *offsets, uint32_t *columns,
                          float *values, cog_error *error);
