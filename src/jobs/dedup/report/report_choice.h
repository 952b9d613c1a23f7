/* What the report of dedup shows: which clusters and documents it lists, which pairs it puts
 * forward, and whose texts it has. In: the result. Out: lists whose size does not grow with the
 * collection beyond fixed limits, so that the page opens quickly. The choice depends on the result
 * alone. Memory: up to 20 bytes per row while it is made, and what is listed. */
#pragma once

#include "base/memory.h"
#include "jobs/dedup/duplicate_rows.h"

/* Two documents, as positions in report_choice.documents. */
struct report_pair {
    uint32_t a, b; /* a stays */
    float similarity;
};

struct report_pairs {
    struct report_pair *pairs;
    size_t count, capacity;
    size_t found; /* that there are, listed or not */
};

struct report_choice {
    /* The rows that the page lists: cluster by cluster, then those that pairs and references add.
     * Of a cluster the survivor comes first, then the others by rising similarity, identical ones
     * last. */
    uint32_t *documents;
    size_t document_count, document_capacity;
    struct listed_cluster {
        uint32_t first;  /* position of its survivor in documents */
        uint32_t listed; /* documents of it that are listed */
        uint32_t size;   /* documents that it has */
        float worst;     /* the lowest similarity to the survivor */
    } * clusters;        /* by falling size, then by number */
    size_t cluster_count;
    struct report_pairs below;      /* both kept, nearest to the threshold first */
    struct report_pairs sample;     /* removals drawn at random, near ones first */
    struct report_pairs references; /* removed for a reference; a is a row of the reference
                                     * collection here, and in `below` if there is one */
    uint8_t *has_text;              /* a document: its text is in the page */
    uint32_t *reference_rows;       /* of the reference collection, rising: their texts are too */
    size_t reference_count, reference_capacity;
};

/* Zero-initialise the choice; report_choice_free releases. */
cog_status report_choice_make(const struct duplicate_rows *rows, struct report_choice *choice,
                              cog_error *error);
void report_choice_free(struct report_choice *choice);
