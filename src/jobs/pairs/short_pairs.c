#include "jobs/pairs/short_pairs.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/strings.h"
#include "join/jaccard_join.h"
#include "run/report.h"

static bool is_selected(const struct pair_task *task, size_t side, size_t row) {
    return !task->selected[side] || task->selected[side][row];
}

cog_status short_pairs_mark(struct pair_task *task, cog_error *error) {
    uint64_t total = 0;
    for (size_t side = 0; side < task->sides; side++) {
        const struct corpus *corpus = &task->corpora[side];
        const struct sparse_matrix *vectors = &task->vectors[side];
        task->short_rows[side] = memory_zeroed_array(corpus->rows, 1);
        if (!task->short_rows[side])
            return error_memory(error, corpus->rows, "short documents");
        for (size_t row = 0; row < corpus->rows; row++) {
            bool is_short = corpus->items[row].term_count > 0 && is_selected(task, side, row) &&
                            vectors->offsets[row] == vectors->offsets[row + 1];
            task->short_rows[side][row] = is_short;
            total += is_short;
        }
    }
    report_number(task->report, "short_documents", (double)total);
    if (total)
        report_notice(task->report,
                      "%llu document%s fewer than %u weighted terms; pairs with %s are measured "
                      "by their term sets",
                      (unsigned long long)total, plural(total, " has", "s have"), task->short_terms,
                      plural(total, "it", "them"));
    return COG_OK;
}

size_t short_pairs_most_terms(const struct corpus *corpus, const uint8_t *is_short) {
    size_t most = 0;
    for (size_t row = 0; row < corpus->rows; row++)
        if (is_short[row] && corpus->items[row].term_count > most)
            most = corpus->items[row].term_count;
    return most;
}

void short_pairs_mark_partners(const struct pair_task *task, size_t side, size_t most,
                               uint8_t *marks) {
    const struct corpus *corpus = &task->corpora[side];
    for (size_t row = 0; row < corpus->rows && most > 0; row++)
        if (is_selected(task, side, row) &&
            (double)corpus->items[row].term_count * task->given_threshold <= (double)most)
            marks[row] = 1;
}

/* Whether a pair of the join below counts: each once, and none of a row with itself. */
static bool counts(const struct pair_task *task, size_t side, uint32_t row, uint32_t partner) {
    const uint8_t *other = task->short_rows[task->sides == 2 ? 1 - side : 0];
    if (task->sides == 2) /* two short rows are met from both sides */
        return side == 0 || !other[partner];
    return row != partner && (row < partner || !other[partner]);
}

static cog_status take_pairs(const struct pair_task *task, size_t side,
                             const struct match_list *found, struct match_list *matches,
                             cog_error *error) {
    cog_status status = COG_OK;
    for (size_t i = 0; i < found->count && status == COG_OK; i++) {
        struct match match = found->items[i];
        if (!counts(task, side, match.a, match.b))
            continue;
        bool swap = task->sides == 2 ? side == 1 : match.b < match.a;
        match.distance = DISTANCE_NONE;
        if (swap)
            match = (struct match){match.b, match.a, match.distance, match.similarity};
        status = match_list_add(matches, match, error);
    }
    return status;
}

/* Short rows of one side against all of the other, which in a self-join is the same. */
static cog_status join_side(const struct pair_task *task, size_t side, struct match_list *matches,
                            cog_error *error) {
    size_t other = task->sides == 2 ? 1 - side : side, rows = task->corpora[other].rows;
    size_t most = short_pairs_most_terms(&task->corpora[side], task->short_rows[side]);
    if (most == 0)
        return COG_OK;
    uint8_t *partners = memory_zeroed_array(rows + 1, 1);
    if (!partners)
        return error_memory(error, rows, "the partners of short documents");
    short_pairs_mark_partners(task, other, most, partners);
    const struct corpus *corpora[2] = {&task->corpora[side], &task->corpora[other]};
    const uint8_t *const selected[2] = {task->short_rows[side], partners};
    struct set_collection sets[2] = {{0}};
    struct match_list found = {0};
    struct join_options options = {.threshold = task->given_threshold,
                                   .threads = task->threads,
                                   .max_matches = pair_task_max_matches(task)};
    cog_status status =
        corpus_sets(corpora, 2, task->statistics, selected, task->threads, sets, error);
    THEN(status, jaccard_join(&sets[0], &sets[1], &options, &found, error));
    THEN(status, take_pairs(task, side, &found, matches, error));
    match_list_free(&found);
    set_collection_free(&sets[0]);
    set_collection_free(&sets[1]);
    free(partners);
    return status;
}

cog_status short_pairs_join(const struct pair_task *task, struct match_list *matches,
                            cog_error *error) {
    cog_status status = COG_OK;
    size_t before = matches->count;
    for (size_t side = 0; side < task->sides && status == COG_OK; side++)
        status = join_side(task, side, matches, error);
    if (matches->count > before)
        match_list_sort(matches);
    return status;
}

bool short_pairs_has(const struct pair_task *task, uint32_t a, uint32_t b) {
    size_t other = task->sides - 1;
    return task->short_rows[0] && task->short_rows[other] &&
           (task->short_rows[0][a] || task->short_rows[other][b]);
}

double short_pairs_similarity(const struct pair_task *task, uint32_t a, uint32_t b) {
    struct bag_view x = corpus_bag(&task->corpora[0], a);
    struct bag_view y = corpus_bag(&task->corpora[task->sides - 1], b);
    size_t overlap = 0;
    for (size_t i = 0; i < x.count; i++)
        for (size_t j = 0; j < y.count; j++)
            overlap += x.hashes[i] == y.hashes[j];
    size_t either = x.count + y.count - overlap;
    return either ? (double)overlap / (double)either : 0;
}
