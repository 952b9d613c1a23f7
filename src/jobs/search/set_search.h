/* Searches of an index by Jaccard or containment: the k most similar documents of a query, all at a
 * threshold, or any one of them; exact.
 *
 * Each segment has posting lists and an order of members of its own (index/member_lists.h). A query
 * takes its members in that order, the rarest first. The first member that it shares with a
 * document, in the order, bounds how much they share at most: what stands after the member in
 * either set. Documents that cannot reach the threshold, or the k-th best so far, are passed over;
 * the others are compared on their sets. The lists of members that are after the query's prefix
 * are not read. */
#pragma once

#include "collection/sets/set_bag.h"
#include "jobs/index/index_job.h"
#include "join/candidates.h"

struct set_question {
    struct set_measure measure; /* with a threshold of 0: all that share anything */
    size_t k;                   /* 0: all */
    bool first;                 /* any one is enough */
    bool earliest;              /* for set_search_earliest */
};

/* The row of an index for which a document goes. */
struct set_twin {
    uint64_t row; /* UINT64_MAX: none */
    double similarity;
    bool is_equal; /* in all of its sets */
};
/* What was asked of an index of sets; refuses what has no meaning there. */
cog_status set_question_take(const cog_index *index, const cog_search_options *options,
                             struct set_question *question, cog_error *error);

/* What one thread needs, and its last answer. Zero-initialise; set_search_free releases. */
struct set_search {
    struct match *hits; /* by similarity, then row; `a` is 0 */
    size_t count;
    uint64_t compared, postings; /* of all queries */
    /* Of the query at hand. */
    struct set_bag bag; /* if it is given as a bag */
    struct set_twin twin;
    struct loaded_sets loaded;
    struct candidates candidates;
    struct member_list *lists; /* of its members */
    uint64_t *order;
    size_t hit_capacity, list_capacity, order_capacity;
};
cog_status set_search_run(struct set_search *search, const cog_index *index,
                          const struct set_question *question, const struct bag_view *bag,
                          cog_error *error);
/* The first row that is equal; if there is none, the first at the threshold. Of a large family few
 * are compared. */
cog_status set_search_earliest(struct set_search *search, const cog_index *index,
                               const struct set_measure *measure, const struct document_set *query,
                               struct set_twin *twin, cog_error *error);
void set_search_free(struct set_search *search);

/* All rows of a corpus, with a report. `lists` is overwritten. */
cog_status set_search_corpus(const cog_index *index, const cog_search_options *options,
                             const struct corpus *corpus, unsigned threads, struct hit_lists *lists,
                             cog_report *report, cog_error *error);
