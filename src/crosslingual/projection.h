/* Projects the documents of a collection into the terms of another language (Ture et al. 2011,
 * section 3; Darwish and Oard 2003). A source term becomes its translations in the lexicon, with
 * their probabilities; a document's tf and a collection's df become real numbers over target terms:
 *
 *     tf*(e) = sum over f of w(e, f) tf(f),     df*(e) = sum over f of w(e, f) df(f),
 *
 * with w(e, f) = p(e | f), or p(f | e) as in the paper. word_projection.h defines what happens to
 * words that the lexicon does not have; the other collection defines which words the target
 * language has. */
#pragma once

#include "crosslingual/word_projection.h"
#include "vector/term_numbers.h"

/* Source term s (a number of `sources`) becomes terms[offsets[s] .. offsets[s + 1]). */
struct projected_term {
    uint32_t column; /* of `targets` */
    float weight;
};
struct projection {
    struct term_numbers *sources, *targets;
    uint64_t *offsets;
    struct projected_term *terms;
    uint64_t *target_hashes;                /* by column; 0 if nothing is projected to it */
    double *document_frequencies;           /* df* of each target column */
    uint64_t known, split, passed, dropped; /* source terms by outcome */
};

/* `from` and `to` are the statistics of the two collections; the source terms are those of `from`.
 */
cog_status projection_create(const struct lexicon *lexicon,
                             const struct projection_options *options,
                             const struct term_options *from_terms, const struct statistics *from,
                             const struct statistics *to, const struct unknown_words *unknown,
                             struct projection **projection, cog_error *error);
void projection_free(struct projection *projection);

/* A sparse vector under construction: sums by column. Zero-initialise; one per thread. */
struct column_sums {
    double *sums;      /* by column; zero between documents */
    uint64_t *marks;   /* a bit for each column, for sorting; zero between sorts */
    uint32_t *columns; /* columns with a sum; ascending after column_sums_sort */
    size_t count, capacity, column_count;
};
cog_status column_sums_init(struct column_sums *sums, size_t column_count, cog_error *error);
void column_sums_free(struct column_sums *sums);
cog_status column_sums_add(struct column_sums *sums, uint32_t column, double value,
                           cog_error *error);
void column_sums_sort(struct column_sums *sums);
/* Sets all sums to zero again. */
void column_sums_clear(struct column_sums *sums);

/* Adds tf* of a document to the sums. */
cog_status projection_add(const struct projection *projection, const struct bag_view *bag,
                          struct column_sums *sums, cog_error *error);
