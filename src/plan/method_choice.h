/* What `auto` takes. All choices that the size of a job, its recall and its rows decide are made
 * here. Two jobs ask more: a search of an index also measures which method is quicker
 * (jobs/search/search_task.c), and pairs of documents take the exhaustive method.
 *
 * In: sizes, wanted recall, what an index has. Out: a method. Nothing is kept. */
#pragma once

#include "plan/method_table.h"

/* The quickest method that finds all pairs of the signatures of a join within its radius. */
const struct search_method *method_to_join_signatures(const struct method_join *join);
/* What an index is built for: nothing but signatures pays for few rows; queries of documents come
 * with margins, and columns make the most of those. */
cog_method method_for_index(size_t rows, bool documents);
/* For partners of documents in another language, and for all pairs of such documents. `vectors` are
 * those of both sides, in one space. */
cog_method method_for_links(const struct sparse_matrix vectors[2], double recall);
cog_method method_for_pairs_across(const struct sparse_matrix vectors[2], double recall);
/* For a search of an index: of the methods whose tables may answer, one that is taken without
 * timing it, or else the last of the table. AUTO if none may. */
cog_method method_for_search(bool (*may_answer)(const void *context,
                                                const struct search_method *method),
                             const void *context);
