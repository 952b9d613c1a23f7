/* The recall of a segment's methods, measured when the segment was built.
 *
 * A sample of rows is used as queries, each excluding itself, and the answers at every effort are
 * compared with those of the exhaustive search (jobs/index/draft_recall.c). The counts are stored
 * in the segment, so a search finds the smallest effort that reaches the wanted recall without
 * brute force. Section `rcal` of docs/format.md; 64 bytes per measure. Files of older writers do
 * not have it. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "estimate/interval.h"
#include "store/container.h"

/* How the true neighbours are defined and what a query has. */
enum recall_flags {
    RECALL_OF_COSINES = 1,   /* true neighbours are by cosine of vectors; else by distance */
    RECALL_WITH_MARGINS = 2, /* the method had the margins of the queries; they also chose the
                              * candidates for true cosines (search/hits/graded_query.h) */
};

enum { RECALL_NAME_BYTES = 8 };

/* The stored form, without padding. Measures with the same method, flags and k are adjacent, with
 * ascending efforts. */
struct recall_measure {
    char method[RECALL_NAME_BYTES]; /* the method's name, padded with zeros */
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

/* The number of neighbours that was measured for a search of the k nearest: the smallest measured
 * number >= k; 0 if there is none. */
uint32_t recall_measured_k(size_t k);
/* The minimum number of rows that get the true cosine in a search of the k nearest at this effort.
 */
size_t recall_candidates(size_t k, unsigned effort);
/* The number of rows that signatures propose if the query's margins choose this number of
 * candidates. */
size_t recall_proposed(size_t candidates);

/* The smallest effort that reaches the recall with a confidence of 97.5%; only measures after
 * `after` if it is not NULL. NULL if there is none. */
const struct recall_measure *recall_measure_reaching(const struct recall_measures *measures,
                                                     const char *method, uint32_t flags, size_t k,
                                                     double recall,
                                                     const struct recall_measure *after);
/* Whether the method was measured for such searches. */
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
