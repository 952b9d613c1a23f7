/* What `auto` chooses. All choices that depend on the size of a job, its recall and its rows are
 * made here, with two exceptions: a search of an index also measures which method is faster
 * (jobs/search/search_task.c), and pairs of documents use the exhaustive method.
 *
 * In: sizes, wanted recall, contents of an index. Out: a method. Keeps no state. */
#pragma once

#include "plan/method_table.h"

/* The fastest method that finds all pairs of a signature join within its radius. */
const struct search_method *method_to_join_signatures(const struct method_join *join);
/* The tables to build for an index. For few rows only signatures pay; queries of documents have
 * margins, which columns use best. */
cog_method method_for_index(size_t rows, bool documents);
/* For linking documents to partners in another language, and for all pairs of such documents.
 * `vectors` are those of both sides, in one space. */
cog_method method_for_links(const struct sparse_matrix vectors[2], double recall);
cog_method method_for_pairs_across(const struct sparse_matrix vectors[2], double recall);
/* For a search of an index: among the methods whose tables may answer, one that needs no timing, or
 * else the last of the table. AUTO if none may answer. */
cog_method method_for_search(bool (*may_answer)(const void *context,
                                                const struct search_method *method),
                             const void *context);
