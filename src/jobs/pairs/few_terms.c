#include "jobs/pairs/few_terms.h"

#include <stdlib.h>

#include "base/memory.h"

/* With more terms, the bits of similar documents differ as their cosine says, up to about twice the
 * deviation of independent bits (docs/results.md). */
enum { FEW_TERMS = 8 };

/* Gaussian values have no such steps. Given knobs promise no recall: the pairs are those of the
 * method alone, here and on a cluster. */
bool few_terms_matter(const struct pair_task *task) {
    const cog_signature_options *signature = &task->options.sign.signature;
    return task->options.measure == COG_MEASURE_COSINE && task->options.verify &&
           !task->options.knobs.given && signature->kind != COG_SIGNATURE_MINHASH &&
           !signature->gaussian;
}

bool few_terms_has(const struct pair_task *task, size_t side, uint32_t row) {
    const uint64_t *offsets = task->vectors[side].offsets;
    return offsets[row + 1] - offsets[row] <= FEW_TERMS;
}

static size_t list_rows(const struct pair_task *task, uint32_t *rows) {
    const struct compared_rows *compared = &task->compared[0];
    size_t count = 0;
    for (size_t i = 0; i < compared->count; i++) {
        uint32_t row = compared->numbers ? compared->numbers[i] : (uint32_t)i;
        if (few_terms_has(task, 0, row))
            rows[count++] = row;
    }
    return count;
}

/* In a self-join the earlier row comes first, and a pair of two rows with few terms stays twice. */
static void name_pairs(const struct pair_task *task, const uint32_t *rows,
                       struct match_list *matches) {
    const bool self = task->sides == 1;
    size_t kept = 0;
    for (size_t i = 0; i < matches->count; i++) {
        struct match match = matches->items[i];
        const uint32_t a = rows[match.a];
        if ((self || task->same_corpus) && a == match.b)
            continue;
        match.a = self && match.b < a ? match.b : a;
        match.b = self && match.b < a ? a : match.b;
        match.distance = DISTANCE_NONE;
        matches->items[kept++] = match;
    }
    matches->count = kept;
}

cog_status few_terms_join(const struct pair_task *task, struct match_list *matches,
                          cog_error *error) {
    const struct truth_rows truth = pair_task_truth(task);
    uint32_t *rows;
    TAKE(rows, task->compared[0].count + 1, "documents with few terms", error);
    size_t count = list_rows(task, rows);
    cog_status status = count ? truth_find(&truth, rows, count, matches, error) : COG_OK;
    if (status == COG_OK)
        name_pairs(task, rows, matches);
    if (status == COG_OK && count)
        report_number(task->report, "documents_with_few_terms", (double)count);
    free(rows);
    return status;
}
