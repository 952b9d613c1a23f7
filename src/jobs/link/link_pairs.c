#include "jobs/link/link_pairs.h"

#include <string.h>

#include "jobs/link/link_space.h"
#include "jobs/pairs/pair_join.h"
#include "plan/method_choice.h"

/* Moves the space's documents and vectors to the task; vectors on disk are borrowed. */
static void take_space(struct pair_task *task, struct link_space *space) {
    task->has_lent_vectors = space->is_on_disk;
    for (int side = 0; side < 2; side++) {
        task->corpora[side] = space->corpora[side];
        task->vectors[side] = space->vectors[side];
        space->corpora[side] = (struct corpus){0};
        if (!space->is_on_disk)
            space->vectors[side] = (struct sparse_matrix){0};
    }
}

static cog_status join_space(struct pair_task *task, struct job *job, struct link_space *space,
                             cog_method method, struct match_list *matches, cog_error *error) {
    struct vector_guard guard;
    take_space(task, space);
    if (!space->is_on_disk)
        link_space_free(space); /* free what the join does not need */
    if (method == COG_METHOD_AUTO && task->options.verify)
        task->options.method = method_for_pairs_across(task->vectors, task->options.recall);
    vector_guard_start(&guard, space->files, job->run.memory_bytes);
    cog_status status = pair_join_run(task, matches, error);
    vector_guard_end(&guard);
    if (task->has_lent_vectors)
        memset(task->vectors, 0, sizeof task->vectors);
    return status;
}

cog_status link_pairs_find(struct pair_task *task, struct job *job,
                           cog_documents *const documents[2], const struct lexicon *lexicon,
                           const cog_projection_options *projection, cog_method method,
                           struct match_list *matches, cog_error *error) {
    struct link_space space = {0};
    task->projected = true;
    task->announced_bytes = link_space_predicted_bytes(documents);
    TRY(link_space_choose_place(&space, job, documents, error));
    cog_status status = link_space_read(&space, job, lexicon, documents, error);
    THEN(status, link_space_build(&space, job, projection, error));
    THEN(status, join_space(task, job, &space, method, matches, error));
    link_space_free(&space);
    return status;
}
