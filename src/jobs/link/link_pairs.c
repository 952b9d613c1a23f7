#include "jobs/link/link_pairs.h"

#include "jobs/link/link_space.h"
#include "jobs/pairs/pair_join.h"
#include "join/join_method.h"

/* The space's documents and vectors become the task's. */
static void take_space(struct pair_task *task, struct link_space *space) {
    for (int side = 0; side < 2; side++) {
        task->corpora[side] = space->corpora[side];
        task->vectors[side] = space->vectors[side];
        space->corpora[side] = (struct corpus){0};
        space->vectors[side] = (struct sparse_matrix){0};
    }
}

/* Measured on 388 million pairs of documents with 575 terms on both sides together: the exact join
 * takes 5 ns per pair. */
static bool lists_pay(const struct pair_task *task) {
    const double exact_term_ns = 5.0 / 575;
    return task->options.verify && task->options.recall < 1 &&
           lists_method_pays(task->vectors, exact_term_ns);
}

cog_status link_pairs_find(struct pair_task *task, struct job *job,
                           cog_documents *const documents[2], const struct lexicon *lexicon,
                           const cog_projection_options *projection, cog_method method,
                           struct match_list *matches, cog_error *error) {
    struct link_space space = {0};
    task->projected = true;
    TRY(pair_task_check_memory(task, documents, error));
    cog_status status = link_space_read(&space, job, lexicon, documents, error);
    THEN(status, link_space_build(&space, job, projection, error));
    if (status == COG_OK)
        take_space(task, &space);
    link_space_free(&space);
    if (status == COG_OK && method == COG_METHOD_AUTO && lists_pay(task))
        task->options.method = COG_METHOD_LISTS;
    return status == COG_OK ? pair_join_run(task, matches, error) : status;
}
