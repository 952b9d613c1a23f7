#include "jobs/dedup/dedup_pairs.h"

#include <stdlib.h>

#include "base/memory.h"
#include "cluster/clusters.h"
#include "collection/equal_documents.h"
#include "jobs/dedup/keep_order.h"
#include "jobs/pairs/pair_join.h"

struct pair_dedup {
    const cog_dedup_options *options;
    struct pair_task task;
    uint32_t *leaders; /* by row: the first row with the same terms; itself if it has no terms */
    uint8_t *selected; /* 1 for leaders with terms */
    struct match_list matches;
    struct clusters groups; /* clusters of leaders */
    uint32_t *best;         /* by leader: the row of its group that would stay */
    uint64_t *keys;         /* by row: larger keys stay */
    struct output *rejects;
};

static cog_status write_reject(void *context, struct bytes_view raw, cog_error *error) {
    const struct pair_dedup *dedup = context;
    return output_write_line(dedup->rejects, raw.data, raw.size, error);
}

static cog_status read_documents(struct pair_dedup *dedup, cog_documents *documents,
                                 cog_error *error) {
    struct pair_task *task = &dedup->task;
    cog_documents *sides[2] = {documents, dedup->options->against};
    struct corpus_options reading = {.terms = &task->terms,
                                     .want_frequencies =
                                         task->options.measure == COG_MEASURE_COSINE,
                                     .repeat_ids = true,
                                     .reject_context = dedup};
    TRY(pair_task_check_memory(task, sides, error));
    if (dedup->rejects)
        reading.reject = write_reject;
    TRY(corpus_read(&task->corpora[0], documents, &reading, task->run, task->report, error));
    report_number(task->report, "documents", (double)task->corpora[0].rows);
    if (task->sides == 1)
        return COG_OK;
    reading.reject = NULL;
    TRY(corpus_read(&task->corpora[1], sides[1], &reading, task->run, task->report, error));
    report_number(task->report, "documents", (double)task->corpora[0].rows);
    report_number(task->report, "reference_documents", (double)task->corpora[1].rows);
    return COG_OK;
}

/* Finds the best row of each group of equal documents; a leader gets the key of its group's best.
 */
static cog_status choose_best(struct pair_dedup *dedup, cog_documents *documents,
                              cog_error *error) {
    const struct corpus *corpus = &dedup->task.corpora[0];
    TAKE(dedup->best, corpus->rows, "clusters", error);
    TAKE(dedup->keys, corpus->rows, "clusters", error);
    for (size_t row = 0; row < corpus->rows; row++)
        dedup->keys[row] = corpus->items[row].text_bytes;
    TRY(keep_order_keys(dedup->options, documents, corpus->rows, &dedup->task.job, dedup->keys,
                        error));
    for (uint32_t row = 0; row < corpus->rows; row++) {
        const uint32_t leader = dedup->leaders[row];
        dedup->best[row] = row;
        if (dedup->keys[row] > dedup->keys[leader]) {
            dedup->best[leader] = row;
            dedup->keys[leader] = dedup->keys[row];
        }
    }
    return COG_OK;
}

/* The similarity of a leader to the document kept for it; in chains the two may be far apart. */
static double similarity_to_kept(const struct pair_dedup *dedup, uint32_t leader) {
    const uint32_t representative = dedup->groups.representative[leader];
    const float known = dedup->groups.similarity[leader];
    return known > 0 || leader == representative
               ? (double)known
               : pair_task_similarity(&dedup->task, representative, leader);
}

static void decide(const struct pair_dedup *dedup, struct duplicates *duplicates) {
    for (uint32_t row = 0; row < duplicates->count; row++) {
        const uint32_t leader = dedup->leaders[row];
        const uint32_t representative = dedup->groups.representative[leader];
        const double similarity = leader == representative ? 1 : similarity_to_kept(dedup, leader);
        /* A listed match is near even if its rounded similarity is below the threshold. */
        const bool is_near =
            dedup->groups.similarity[leader] > 0 || similarity >= dedup->task.options.threshold;
        duplicates->twin[row] = dedup->best[representative];
        duplicates->similarity[row] = (float)similarity;
        duplicates->reason[row] = (uint8_t)(row == duplicates->twin[row] ? REASON_KEPT
                                            : leader == representative   ? REASON_IDENTICAL
                                            : is_near                    ? REASON_NEAR
                                                                         : REASON_CHAIN);
    }
}

/* Groups documents with the same terms, and for cosine with the same frequencies, to be joined as
 * one. */
static cog_status group_equal(struct pair_dedup *dedup, cog_error *error) {
    const struct corpus *corpus = &dedup->task.corpora[0];
    struct fingerprint *prints;
    size_t groups = 0;
    TAKE(dedup->selected, corpus->rows, "equal documents", error);
    TAKE(prints, corpus->rows, "equal documents", error);
    for (size_t row = 0; row < corpus->rows; row++) {
        const struct bag_view bag = corpus_bag(corpus, row);
        prints[row] = bag.count ? fingerprint_of_bag(&bag) : (struct fingerprint){row, UINT64_MAX};
    }
    cog_status status = equal_documents_find(prints, corpus->rows, &dedup->leaders, &groups, error);
    free(prints);
    for (size_t row = 0; row < corpus->rows && status == COG_OK; row++)
        dedup->selected[row] = dedup->leaders[row] == row && corpus->items[row].term_count > 0;
    dedup->task.selected[0] = dedup->selected;
    report_number(dedup->task.report, "equal_groups", (double)groups);
    return status;
}

static cog_status find_clusters(struct pair_dedup *dedup, cog_documents *documents,
                                struct duplicates *duplicates, cog_error *error) {
    struct pair_task *task = &dedup->task;
    const enum cluster_mode mode =
        dedup->options->grouping == COG_GROUP_CONNECTED ? CLUSTERS_CONNECTED : CLUSTERS_STRICT;
    TRY(group_equal(dedup, error));
    TRY(choose_best(dedup, documents, error));
    TRY(pair_task_prepare(task, error));
    TRY(pair_join_run(task, &dedup->matches, error));
    TRY(clusters_build(&dedup->matches, task->corpora[0].rows, dedup->keys, mode, &dedup->groups,
                       error));
    decide(dedup, duplicates);
    return COG_OK;
}

/* Whether a document and one of the reference collection have the same terms. */
static bool are_equal(const struct pair_dedup *dedup, size_t row, size_t twin) {
    const struct bag_view bags[2] = {corpus_bag(&dedup->task.corpora[0], row),
                                     corpus_bag(&dedup->task.corpora[1], twin)};
    const struct fingerprint a = fingerprint_of_bag(&bags[0]), b = fingerprint_of_bag(&bags[1]);
    return a.low == b.low && a.high == b.high;
}

/* Removes each document in favour of the first document of the reference collection that it
 * matches. */
static cog_status find_by_reference(struct pair_dedup *dedup, struct duplicates *duplicates,
                                    cog_error *error) {
    TRY(pair_task_prepare(&dedup->task, error));
    TRY(pair_join_run(&dedup->task, &dedup->matches, error));
    duplicates->by_reference = true;
    for (size_t i = dedup->matches.count; i-- > 0;) {
        const struct match *match = &dedup->matches.items[i];
        duplicates->twin[match->a] = match->b;
        duplicates->similarity[match->a] = match->similarity;
        duplicates->reason[match->a] = REASON_NEAR;
    }
    for (size_t row = 0; row < duplicates->count; row++)
        if (!duplicates_keeps(duplicates, row) && are_equal(dedup, row, duplicates->twin[row]))
            duplicates->reason[row] = REASON_IDENTICAL;
    return COG_OK;
}

cog_status dedup_by_pairs(cog_documents *documents, const cog_dedup_options *options,
                          struct output *rejects, struct job *job, struct duplicates *duplicates,
                          cog_error *error) {
    struct pair_dedup dedup = {.options = options, .rejects = rejects};
    struct pair_task *task = &dedup.task;
    cog_status status = pair_join_init(task, &options->pairs, options->against ? 2 : 1, &job->run,
                                       job->report, error);
    THEN(status, read_documents(&dedup, documents, error));
    THEN(status, duplicates_init(duplicates, task->corpora[0].rows, error));
    if (options->against)
        THEN(status, find_by_reference(&dedup, duplicates, error));
    else
        THEN(status, find_clusters(&dedup, documents, duplicates, error));
    if (status == COG_OK) {
        duplicates->estimates = task->estimates;
        duplicates->corpus = task->corpora[0];
        duplicates->reference = task->corpora[1];
        task->corpora[0] = task->corpora[1] = (struct corpus){0};
    }
    pair_task_free(task);
    free(dedup.leaders);
    free(dedup.selected);
    match_list_free(&dedup.matches);
    clusters_free(&dedup.groups);
    free(dedup.best);
    free(dedup.keys);
    return status;
}
