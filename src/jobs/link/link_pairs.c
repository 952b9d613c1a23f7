#include "jobs/link/link_pairs.h"

#include "jobs/link/link_space.h"
#include "jobs/pairs/pair_join.h"
#include "plan/method_choice.h"

/* The space's documents and vectors become the task's. */
static void take_space(struct pair_task *task, struct link_space *space) {
    for (int side = 0; side < 2; side++) {
        task->corpora[side] = space->corpora[side];
        task->vectors[side] = space->vectors[side];
        space->corpora[side] = (struct corpus){0};
        space->vectors[side] = (struct sparse_matrix){0};
    }
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
    if (status == COG_OK && method == COG_METHOD_AUTO && task->options.verify)
        task->options.method = method_for_pairs_across(task->vectors, task->options.recall);
    return status == COG_OK ? pair_join_run(task, matches, error) : status;
}
