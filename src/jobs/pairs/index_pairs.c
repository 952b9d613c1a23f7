#include "jobs/pairs/index_pairs.h"

#include "base/threads.h"
#include "jobs/pairs/pair_join.h"
#include "jobs/pairs/set_memory.h"
#include "jobs/pairs/set_pairs.h"

cog_status index_pairs_check(const cog_index *index, const cog_pairs_options *options,
                             cog_error *error) {
    cog_sign_options expected = index->sign;
    if (!index->has_documents || (!index_is_of_sets(index) && !index->has_vectors))
        return error_about(error, COG_ERR_USAGE, "against",
                           "the index contains only signatures: compare with one that has vectors");
    if (index->measure != options->measure ||
        (index_is_of_sets(index) && !pairs_are_by_sets(options)))
        return error_about(error, COG_ERR_USAGE, "against",
                           "the index was built with another measure, or sets are to be compared "
                           "by signatures: compare by the measure of the index, by sets exactly");
    if (index->is_multilingual)
        return error_about(error, COG_ERR_USAGE, "against",
                           "the index holds documents that were projected from other languages: "
                           "compare with an index of one language");
    expected.terms = options->sign.terms;
    TRY(cog_index_expect(index, &expected, error));
    return index_prepare(index, error);
}

/* ---- Documents of the index ------------------------------------------------------------------ */

/* Appends the terms of a segment's documents to the corpus. */
static cog_status read_part(const cog_index *index, size_t part, struct corpus *corpus,
                            struct part_bags *bags, cog_error *error) {
    enum { ROWS_AT_ONCE = 1024 };
    const struct manifest_entry *entry = &index->parts.manifest.entries[part];
    for (uint32_t row = 0; row < entry->rows; row++) {
        struct bytes_view id = {NULL, 0};
        struct bag_view bag;
        if (row % ROWS_AT_ONCE == 0)
            TRY(threads_check(row, entry->rows, error));
        if (entry->removed_count && manifest_is_removed(entry, row))
            continue;
        TRY(part_bags_read(bags, row, &bag, error));
        segment_id(&index->parts.segments[part], row, &id);
        TRY(corpus_add(corpus, id, &bag, error));
        corpus->items[corpus->rows - 1].record = corpus->rows - 1;
    }
    return COG_OK;
}

static cog_status read_terms(const cog_index *index, struct corpus *corpus, cog_error *error) {
    cog_status status = COG_OK;
    for (size_t part = 0; part < index->parts.manifest.count && status == COG_OK; part++) {
        struct part_bags bags = {0};
        status = part_bags_open(&bags, index, part, error);
        THEN(status, read_part(index, part, corpus, &bags, error));
        part_bags_close(&bags);
    }
    corpus_trim(corpus);
    return status;
}

static cog_status add_row(void *context, struct bytes_view id, const struct document_set *set,
                          cog_error *error) {
    return corpus_add_counted(context, id, set->term_count + set->word_count, error);
}

/* ---- The job --------------------------------------------------------------------------------- */

static cog_status find_by_sets(struct pair_task *task, cog_documents *documents,
                               const cog_index *index, struct document_sets *sets,
                               struct match_list *matches, cog_error *error) {
    const struct corpus_options reading = {.terms = &task->terms, .sets = sets};
    cog_documents *const both[2] = {documents, NULL};
    TRY(set_memory_announce_disk(both, &task->terms, task->options.threshold,
                                 index_set_bytes(index), &task->job, error));
    TRY(document_sets_open(sets, "-", error));
    TRY(corpus_read(&task->corpora[0], documents, &reading, task->run, task->report, error));
    corpus_trim(&task->corpora[0]);
    TRY(index_append_sets(index, 0, UINT64_MAX, sets, error));
    TRY(index_visit_sets(index, 0, UINT64_MAX, add_row, &task->corpora[1], error));
    corpus_trim(&task->corpora[1]);
    report_number(task->report, "scratch_bytes", (double)sets->file.size_bytes);
    return set_pairs_join(task, sets, matches, error);
}

static cog_status find_by_cosine(struct pair_task *task, cog_documents *documents,
                                 const cog_index *index, struct match_list *matches,
                                 cog_error *error) {
    const struct corpus_options reading = {.terms = &task->terms, .want_frequencies = true};
    TRY(corpus_read(&task->corpora[0], documents, &reading, task->run, task->report, error));
    TRY(read_terms(index, &task->corpora[1], error));
    TRY(pair_task_take_memory(task, 0, error));
    TRY(pair_task_prepare(task, error));
    report_number(task->report, "statistics_documents",
                  (double)(task->corpora[0].rows + task->corpora[1].rows));
    return pair_join_run(task, matches, error);
}

static cog_status find(struct pair_task *task, cog_documents *documents, const cog_index *index,
                       struct match_list *matches, cog_error *error) {
    struct document_sets sets = {0};
    if (!index_is_of_sets(index))
        return find_by_cosine(task, documents, index, matches, error);
    cog_status status = find_by_sets(task, documents, index, &sets, matches, error);
    document_sets_close(&sets);
    return status;
}

cog_status index_pairs_find(struct pair_task *task, cog_documents *documents,
                            const cog_index *index, struct match_list *matches, cog_error *error) {
    task->terms = index->terms;
    cog_status status = find(task, documents, index, matches, error);
    report_number(task->report, "reference_documents", (double)task->corpora[1].rows);
    return status;
}
