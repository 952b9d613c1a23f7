/* Searches an index by Jaccard or containment: the k most similar documents of a query, all
 * documents at a threshold, or any one of them. Exact.
 *
 * Each segment has its own posting lists and order of members (index/member_lists.h). A query's
 * members are taken in that order, rarest first. The first member that the query shares with a
 * document limits how much they share: the members after it in either set. Documents that cannot
 * reach the threshold or the k-th best so far are skipped; the others are compared on their sets.
 * The lists of members after the query's prefix are not read. */
#pragma once

#include "collection/sets/set_bag.h"
#include "jobs/index/index_job.h"
#include "join/candidates.h"

struct set_question {
    struct set_measure measure; /* a threshold of 0 finds all documents that share anything */
    size_t k;                   /* 0: all */
    bool first;                 /* any one hit is enough */
    bool earliest;              /* for set_search_earliest */
};

/* The row of an index in favour of which a document is removed. */
struct set_twin {
    uint64_t row; /* UINT64_MAX: none */
    double similarity;
    bool is_equal; /* all of its sets are equal */
};
/* Converts the options of a search of an index of sets; rejects options that do not apply. */
cog_status set_question_take(const cog_index *index, const cog_search_options *options,
                             struct set_question *question, cog_error *error);

/* The state of one thread, and its last answer. Zero-initialise; set_search_free releases. */
struct set_search {
    struct match *hits; /* sorted by similarity, then row; `a` is 0 */
    size_t count;
    uint64_t compared, postings; /* of all queries */
    /* Of the current query. */
    struct set_bag bag; /* if given as a bag */
    struct set_twin twin;
    struct loaded_sets loaded;
    struct candidates candidates;
    struct member_list *lists; /* of the query's members */
    uint64_t *order;
    size_t hit_capacity, list_capacity, order_capacity;
};
cog_status set_search_run(struct set_search *search, const cog_index *index,
                          const struct set_question *question, const struct bag_view *bag,
                          cog_error *error);
/* Finds the first equal row; if there is none, the first at the threshold. Few documents of a large
 * family are compared. */
cog_status set_search_earliest(struct set_search *search, const cog_index *index,
                               const struct set_measure *measure, const struct document_set *query,
                               struct set_twin *twin, cog_error *error);
void set_search_free(struct set_search *search);
/* Reports an exact answer and its work: compared documents and postings read. */
void set_search_report(uint64_t compared, uint64_t postings, cog_report *report);

/* Searches for all rows of a corpus, with a report. `lists` is overwritten. */
cog_status set_search_corpus(const cog_index *index, const cog_search_options *options,
                             const struct corpus *corpus, unsigned threads, struct hit_lists *lists,
                             cog_report *report, cog_error *error);
