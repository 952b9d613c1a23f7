/* Chooses what the report of dedup shows: which clusters and documents it lists, which pairs it
 * highlights, and whose texts it includes.
 *
 * In: the result. Out: lists limited to fixed sizes however large the collection, so that the page
 * opens quickly. The choice depends only on the result. Memory: up to 20 bytes per row during the
 * call, plus the lists. */
#pragma once

#include "base/memory.h"
#include "jobs/dedup/duplicate_rows.h"

/* Two documents, as positions in report_choice.documents. */
struct report_pair {
    uint32_t a, b; /* a is kept */
    float similarity;
};

struct report_pairs {
    struct report_pair *pairs;
    size_t count, capacity;
    size_t found; /* total number, listed or not */
};

struct report_choice {
    /* The rows listed in the page: grouped by cluster, then those added by pairs and references. In
     * a cluster, the survivor comes first, then the others by ascending similarity, identical ones
     * last. */
    uint32_t *documents;
    size_t document_count, document_capacity;
    struct listed_cluster {
        uint32_t first;  /* position of the survivor in documents */
        uint32_t listed; /* number of its documents listed */
        uint32_t size;   /* number of its documents */
        float worst;     /* the lowest similarity to the survivor */
    } * clusters;        /* by descending size, then number */
    size_t cluster_count;
    struct report_pairs below;      /* both kept; nearest to the threshold first */
    struct report_pairs sample;     /* random sample of removals; near ones first */
    struct report_pairs references; /* removed for a reference; here, and in `below` with a
                                       reference collection, a is a row of that collection */
    uint8_t *has_text;              /* by document: its text is in the page */
    uint32_t *reference_rows; /* rows of the reference collection whose texts are also in the page,
                                 ascending */
    size_t reference_count, reference_capacity;
};

/* Zero-initialise the choice; report_choice_free releases. */
cog_status report_choice_make(const struct duplicate_rows *rows, struct report_choice *choice,
                              cog_error *error);
void report_choice_free(struct report_choice *choice);
