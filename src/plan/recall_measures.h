/* The recall of a segment's methods, measured when the segment was built.
 *
 * Some rows are asked as queries, each without itself, and the answers of every step of effort are
 * compared with those of the exhaustive search (jobs/index/draft_recall.c). The counts stand in the
 * segment, so a search takes the least effort that reaches the wanted recall without brute force.
 * Section `rcal` of docs/format.md; 64 bytes per measure. Files of older writers do not have it. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "estimate/interval.h"
#include "store/container.h"

/* What the true neighbours are and what a query brings. */
enum recall_flags {
    RECALL_OF_COSINES = 1,   /* the truth are cosines of vectors, else distances of signatures */
    RECALL_WITH_MARGINS = 2, /* the method had the margins of the queries; they also chose the
                              * candidates for true cosines (search/hits/graded_query.h) */
};

enum { RECALL_NAME_BYTES = 8 };

/* As it stands in the file: no padding. Measures of a method, its flags and k stand together, their
 * efforts rising. */
struct recall_measure {
    char method[RECALL_NAME_BYTES]; /* its name, with zeros behind */
    uint32_t flags;                 /* recall_flags */
    uint32_t k;                     /* true neighbours of each query */
    uint32_t effort;
    uint32_t units; /* queries with neighbours */
    uint64_t hits, trials;
    double hits_squared, products, trials_squared;
};

struct recall_measures {
    const struct recall_measure *items; /* NULL: none */
    size_t count;
};

struct recall_measure recall_measure_of(const char *method, uint32_t flags, uint32_t k,
                                        uint32_t effort, const struct share_tally *tally);
struct measured_share recall_measure_share(const struct recall_measure *measure);

/* The number of neighbours for which a search of the k nearest is measured: the least from k on
 * that is. 0 if k is more than any. */
uint32_t recall_measured_k(size_t k);
/* Rows that get the true cosine, at least, in a search of the k nearest at this step. */
size_t recall_candidates(size_t k, unsigned effort);
/* Rows that signatures propose, if margins of the query choose this number of candidates. */
size_t recall_proposed(size_t candidates);

/* The least effort that reaches the recall with a confidence of 97.5%, of those that stand behind
 * `after` if it is not NULL; NULL if none does. */
const struct recall_measure *recall_measure_reaching(const struct recall_measures *measures,
                                                     const char *method, uint32_t flags, size_t k,
                                                     double recall,
                                                     const struct recall_measure *after);
/* Whether the method was measured for such searches at all. */
bool recall_is_measured(const struct recall_measures *measures, const char *method, uint32_t flags,
                        size_t k);

cog_status recall_measures_write(const struct recall_measures *measures,
                                 struct container_writer *writer, cog_error *error);
/* Constant time, without copying. A file without the section leaves *measures zero. */
cog_status recall_measures_open(const struct container *container, struct recall_measures *measures,
                                cog_error *error);
/* Whether all counts are possible. */
cog_status recall_measures_check(const struct recall_measures *measures, const char *path,
                                 cog_error *error);
