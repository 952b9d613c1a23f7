#include "jobs/pairs/verify_pairs.h"

#include <float.h>
#include <math.h>

#include "base/threads.h"
#include "collection/sets/document_sets.h"
#include "jobs/pairs/pair_task.h"
#include "join/sets/set_verify.h"

enum { PAIRS_PER_PIECE = 256, ROW_NONE = UINT32_MAX };

/* Rows are numbered through both collections; record numbers of each collection ascend. */
struct verifying {
    const struct given_pairs *pairs;
    double *similarities;
    size_t first_row[2], row_count[2]; /* of each side, among all rows */
    uint64_t (*record_of)(const struct verifying *verifying, int side, size_t row);
    cog_status (*measure)(const struct verifying *verifying, uint32_t a, uint32_t b,
                          double *similarity, cog_error *error);
    const struct pair_task *task;     /* or */
    const struct document_sets *sets; /* with */
    struct set_measure set_measure;
};

/* The row of a record, counted from the first row of its side; ROW_NONE if the record was skipped.
 */
static uint32_t row_of(const struct verifying *verifying, int side, int64_t position) {
    const uint64_t record = (uint64_t)position;
    const size_t rows = verifying->row_count[side];
    size_t row;
    FIND_FIRST_NOT(row, 0, rows, verifying->record_of(verifying, side, row) < record);
    return position >= 0 && row < rows && verifying->record_of(verifying, side, row) == record
               ? (uint32_t)row
               : ROW_NONE;
}

static cog_status verify_piece(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    const struct verifying *verifying = context;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        uint32_t a = row_of(verifying, 0, verifying->pairs->a[i]);
        uint32_t b = row_of(verifying, 1, verifying->pairs->b[i]);
        verifying->similarities[i] = NAN;
        if (a != ROW_NONE && b != ROW_NONE)
            TRY(verifying->measure(verifying, a, b, &verifying->similarities[i], error));
    }
    return COG_OK;
}

/* ---- Vectors, and sets of terms -------------------------------------------------------------- */

static uint64_t record_of_corpus(const struct verifying *verifying, int side, size_t row) {
    return verifying->task->corpora[side < (int)verifying->task->sides ? side : 0]
        .items[row]
        .record;
}

static cog_status measure_vectors(const struct verifying *verifying, uint32_t a, uint32_t b,
                                  double *similarity, cog_error *error) {
    (void)error;
    *similarity = pair_task_similarity(verifying->task, a, b);
    return COG_OK;
}

static cog_status verify_vectors(struct verifying *verifying, struct pair_task *task,
                                 cog_documents *const documents[2], cog_error *error) {
    struct corpus_options reading = {.terms = &task->terms, .want_frequencies = true};
    for (size_t side = 0; side < task->sides; side++)
        TRY(corpus_read(&task->corpora[side], documents[side], &reading, task->run, task->report,
                        error));
    TRY(pair_task_prepare(task, error));
    verifying->task = task;
    verifying->record_of = record_of_corpus;
    verifying->measure = measure_vectors;
    for (size_t side = 0; side < 2; side++)
        verifying->row_count[side] = task->corpora[side < task->sides ? side : 0].rows;
    return parallel_for(task->threads, verifying->pairs->count, PAIRS_PER_PIECE, verify_piece,
                        verifying, error);
}

/* ---- Sets as deduplication has them ---------------------------------------------------------- */

static uint64_t record_of_set(const struct verifying *verifying, int side, size_t row) {
    return verifying->sets->facts[verifying->first_row[side] + row].record;
}

static cog_status measure_sets(const struct verifying *verifying, uint32_t a, uint32_t b,
                               double *similarity, cog_error *error) {
    const struct document_sets *sets = verifying->sets;
    uint32_t rows[2] = {(uint32_t)verifying->first_row[0] + a,
                        (uint32_t)verifying->first_row[1] + b};
    const struct set_row *one = &sets->rows[rows[0]], *other = &sets->rows[rows[1]];
    *similarity = 0;
    /* Texts without terms are either equal or share nothing. */
    if (one->terms + one->words == 0 || other->terms + other->words == 0) {
        const struct fingerprint *x = &sets->fingerprints[rows[0]],
                                 *y = &sets->fingerprints[rows[1]];
        *similarity = x->low == y->low && x->high == y->high;
        return COG_OK;
    }
    return set_pair_similarity(&sets->file, rows[0], rows[1], &verifying->set_measure, similarity,
                               error);
}

static cog_status verify_sets(struct verifying *verifying, struct document_sets *sets,
                              cog_documents *const documents[2], const struct term_options *terms,
                              struct job *job, cog_error *error) {
    TRY(document_sets_open(sets, "-", error));
    TRY(document_sets_read(sets, documents[0], terms, !documents[1], NULL, job, error));
    verifying->row_count[0] = verifying->row_count[1] = sets->count;
    if (documents[1]) {
        TRY(document_sets_read(sets, documents[1], terms, true, NULL, job, error));
        verifying->first_row[1] = verifying->row_count[0];
        verifying->row_count[1] = sets->count - verifying->row_count[0];
    }
    verifying->sets = sets;
    verifying->record_of = record_of_set;
    verifying->measure = measure_sets;
    job_stage(job, "verifying");
    return parallel_for(job->threads, verifying->pairs->count, PAIRS_PER_PIECE, verify_piece,
                        verifying, error);
}

/* ---- The job --------------------------------------------------------------------------------- */

static cog_status by_vectors(struct verifying *verifying, cog_documents *const documents[2],
                             const cog_verify_options *options, const cog_run_options *run,
                             cog_report *report, cog_error *error) {
    cog_pairs_options pairs;
    struct pair_task task = {0};
    cog_pairs_options_init(&pairs, options->measure);
    pairs.sign.terms = options->terms;
    pairs.sign.weights = options->weights;
    task.given_statistics = options->statistics ? options->statistics->counts : NULL;
    cog_status status = pair_task_init(&task, &pairs, documents[1] ? 2 : 1, run, report, error);
    THEN(status, verify_vectors(verifying, &task, documents, error));
    pair_task_free(&task);
    return status;
}

cog_status verify_pairs(cog_documents *const documents[2], const struct given_pairs *pairs,
                        const cog_verify_options *options, const cog_run_options *run,
                        double *similarities, cog_report *report, cog_error *error) {
    bool is_containment = options->measure == COG_MEASURE_CONTAINMENT;
    struct verifying verifying = {
        .pairs = pairs, .similarities = similarities, .set_measure = {is_containment, DBL_MIN}};
    if (options->measure == COG_MEASURE_COSINE || (!is_containment && !options->short_texts))
        return by_vectors(&verifying, documents, options, run, report, error);
    struct term_options terms;
    struct document_sets sets = {0};
    struct job job;
    TRY(options_set_terms(&options->terms, options->measure, &terms, error));
    job_begin(&job, run, report);
    cog_status status = verify_sets(&verifying, &sets, documents, &terms, &job, error);
    document_sets_close(&sets);
    job_end(&job);
    return status;
}
