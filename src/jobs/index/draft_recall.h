/* Shared state of measuring the recall of a new segment: the sample of its rows, their true
 * neighbours, and the measures so far (draft_recall.c), and the measures of the method that
 * compares all signatures (flat_recall.c). */
#pragma once

#include "jobs/index/index_job.h"
#include "plan/recall_measures.h"

enum { RECALL_SAMPLE_ROWS = 500, RECALL_NEIGHBOURS_MAX = 100 };

struct measuring {
    const struct segment *segment;
    bool of_cosines;
    unsigned threads;
    uint32_t sample[RECALL_SAMPLE_ROWS];
    size_t count;
    struct signatures_view signatures; /* of the sample */
    float *margins;                    /* of the sample, or NULL */
    struct hit_lists truth;            /* of the sample; a row may be its own neighbour here */
    struct recall_measure *items;
    size_t item_count, item_capacity;
};

/* Above this recall, nearly nothing is missed: higher efforts are not measured. */
static const double RECALL_NEARLY_ALL = 0.9985;

/* Copies the first k of a list that are not the query itself; returns their number. */
size_t measuring_others(const struct hit_lists *lists, size_t query, uint32_t itself, size_t k,
                        struct match *copy);
/* The number of queries to run at once, from `first` on, so that lists of this length stay small.
 */
size_t measuring_at_once(const struct measuring *own, size_t first, size_t list);
/* The number of efforts of a method that are worth measuring. */
unsigned measuring_steps(const struct measuring *own, const struct search_method *method,
                         uint32_t flags, uint32_t k);
cog_status measuring_add(struct measuring *own, const struct search_method *method, uint32_t flags,
                         uint32_t k, unsigned effort, const struct share_tally *tally,
                         cog_error *error);

/* Measures candidates proposed by all signatures, whose true cosines decide. Gives the same counts
 * as measuring every effort separately, with one search from which every effort takes its
 * candidates. */
cog_status measure_flat(struct measuring *own, cog_error *error);
