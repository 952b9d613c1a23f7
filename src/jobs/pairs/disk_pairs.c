#include "jobs/pairs/disk_pairs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/threads.h"
#include "jobs/pairs/pair_join.h"
#include "run/job.h"

enum {
    MARK_GRAIN = 64,
    TERM_BYTES = 20,  /* of a document in memory and of its vector */
    SAMPLE_SHARE = 8, /* of the memory, for the recall sample at most */
    TRUTH_SHARE = 32  /* of the memory, for documents that the recall sample meets at a time */
};

struct disk_side {
    struct bag_spool *spool;
    int signatures; /* a scratch file; -1: not open */
    struct signatures_view view;
    uint8_t *marks; /* rows whose terms are wanted in memory */
};

struct disk_pairs {
    struct pair_task *task;
    struct disk_side sides[2];
    struct recall_sample sample;
};

static double text_bytes(const struct pair_task *task, cog_documents *const *documents) {
    double bytes = 0;
    for (size_t side = 0; side < task->sides; side++)
        bytes += (double)ingest_text_bytes(documents[side]);
    return bytes;
}

/* The number of documents is not known yet: signatures count as those of short documents. */
bool disk_pairs_needed(const struct pair_task *task, cog_documents *const *documents) {
    enum { SHORT_TEXT_BYTES = 48 };
    const cog_pairs_options *options = &task->options;
    uint64_t budget = task->run ? task->run->memory_bytes : 0;
    double signatures = text_bytes(task, documents) / SHORT_TEXT_BYTES *
                        (double)signature_stride_bytes(options->sign.signature.bits);
    return budget && options->method == COG_METHOD_WINDOW && options->verify &&
           options->measure == COG_MEASURE_COSINE &&
           pair_task_memory_bytes(task, documents) + signatures > (double)budget;
}

/* ---- Documents to the scratch file ----------------------------------------------------------- */

static cog_status check_memory(const struct pair_task *task, cog_documents *const *documents,
                               cog_error *error) {
    double statistics = memory_of_statistics(text_bytes(task, documents), task->terms.ngram);
    return memory_budget_check(MEMORY_BASE_BYTES + statistics, task->run, task->report, error);
}

static cog_status read_documents(struct disk_pairs *pairs, cog_documents *const *documents,
                                 cog_error *error) {
    struct pair_task *task = pairs->task;
    struct corpus_options reading = {.terms = &task->terms, .want_frequencies = true};
    cog_status status = COG_OK;
    for (size_t side = 0; side < task->sides && status == COG_OK; side++) {
        status = bag_spool_create("-", &pairs->sides[side].spool, error);
        reading.spool = pairs->sides[side].spool;
        THEN(status, corpus_read(&task->corpora[side], documents[side], &reading, task->run,
                                 task->report, error));
        pairs->sides[side].marks = memory_zeroed_array(task->corpora[side].rows, 1);
        if (status == COG_OK && !pairs->sides[side].marks)
            status = error_memory(error, task->corpora[side].rows, "documents");
    }
    return status;
}

/* ---- Passes over the scratch file ------------------------------------------------------------ */

/* Documents of a piece of the spool. */
struct piece {
    struct buffer data;
    struct bag_view *bags;
    size_t count, capacity;
};

static cog_status read_piece(struct bag_spool *spool, struct piece *piece, bool *end,
                             cog_error *error) {
    cog_status status = bag_spool_read(spool, &piece->data, end, error);
    piece->count = 0;
    for (size_t at = 0; at < piece->data.size && status == COG_OK; piece->count++) {
        struct bytes_view id;
        GROW(piece->bags, piece->capacity, piece->count + 1, "a piece of the documents", error);
        bag_spool_decode(&piece->data, &at, &id, &piece->bags[piece->count]);
    }
    return status;
}

static void free_piece(struct piece *piece) {
    buffer_free(&piece->data);
    free(piece->bags);
}

static cog_status count_terms(struct disk_pairs *pairs, cog_error *error) {
    struct pair_task *task = pairs->task;
    struct statistics_batch *batch = NULL;
    struct piece piece = {0};
    cog_status status = statistics_create(&task->statistics, error);
    THEN(status, statistics_batch_create(task->statistics, &batch, error));
    for (size_t side = 0; side < task->sides && status == COG_OK; side++) {
        bag_spool_rewind(pairs->sides[side].spool);
        for (bool end = false; !end && status == COG_OK;) {
            status = read_piece(pairs->sides[side].spool, &piece, &end, error);
            for (size_t i = 0; i < piece.count && status == COG_OK; i++)
                status = statistics_batch_add(batch, &piece.bags[i], error);
        }
    }
    THEN(status, statistics_batch_flush(batch, error));
    statistics_batch_free(batch);
    free_piece(&piece);
    return status;
}

struct piece_signing {
    const struct term_numbers *columns; /* of terms that have weights */
    const struct piece *piece;
    uint8_t *signatures;
    size_t stride_bytes;
    uint8_t *marks; /* set for documents that are too short for weights */
    unsigned short_terms;
};

static size_t weighted_terms(const struct term_numbers *columns, const struct bag_view *bag) {
    size_t count = 0;
    for (size_t i = 0; i < bag->count; i++)
        count += term_numbers_find(columns, bag->hashes[i]) != TERM_NUMBER_NONE;
    return count;
}

static cog_status mark_short(void *context, unsigned worker, size_t begin, size_t end,
                             cog_error *error) {
    (void)worker;
    (void)error;
    const struct piece_signing *signing = context;
    for (size_t i = begin; i < end; i++) {
        const struct bag_view *bag = &signing->piece->bags[i];
        signing->marks[i] =
            bag->count > 0 && weighted_terms(signing->columns, bag) < signing->short_terms;
    }
    return COG_OK;
}

/* Drops the signatures of documents that are not compared. The first document is row `first`. */
static size_t keep_compared(const struct piece_signing *signing, size_t first,
                            struct compared_rows *compared) {
    size_t kept = 0;
    for (size_t i = 0; i < signing->piece->count; i++) {
        if (signing->piece->bags[i].count == 0 || signing->marks[i])
            continue;
        memmove(signing->signatures + kept++ * signing->stride_bytes,
                signing->signatures + i * signing->stride_bytes, signing->stride_bytes);
        compared->numbers[compared->count++] = (uint32_t)(first + i);
    }
    return kept;
}

/* Signatures of a side, one piece after the other, into their scratch file. */
static cog_status sign_side(const struct pair_task *task, const struct text_signer *signer,
                            const struct term_numbers *columns, struct disk_side *side,
                            struct compared_rows *compared, cog_error *error) {
    const size_t stride_bytes = signature_stride_bytes(task->options.sign.signature.bits);
    struct piece piece = {0};
    struct buffer signatures = {0};
    size_t row = 0;
    cog_status status = COG_OK;
    bag_spool_rewind(side->spool);
    for (bool end = false; !end && status == COG_OK;) {
        status = read_piece(side->spool, &piece, &end, error);
        buffer_reset(&signatures);
        if (status == COG_OK && !buffer_reserve(&signatures, piece.count * stride_bytes + 1))
            status = error_memory(error, piece.count * stride_bytes, "signatures");
        struct piece_signing signing = {.columns = columns,
                                        .piece = &piece,
                                        .signatures = (uint8_t *)signatures.data,
                                        .stride_bytes = stride_bytes,
                                        .marks = side->marks + row,
                                        .short_terms = task->short_terms};
        struct signable_rows rows = {.bags = piece.bags, .count = piece.count};
        THEN(status, rows_sign(signer, &rows, task->threads, signing.signatures, NULL, 0, error));
        THEN(status,
             parallel_for(task->threads, piece.count, MARK_GRAIN, mark_short, &signing, error));
        if (status == COG_OK) {
            const size_t before = compared->count, kept = keep_compared(&signing, row, compared);
            status = descriptor_write_at(side->signatures, signatures.data, kept * stride_bytes,
                                         before * stride_bytes, "scratch file in TMPDIR", error);
        }
        row += piece.count;
    }
    buffer_free(&signatures);
    free_piece(&piece);
    return status;
}

static cog_status map_signatures(const struct pair_task *task, size_t number,
                                 struct disk_side *side, cog_error *error) {
    const unsigned bits = task->options.sign.signature.bits;
    const size_t rows = task->compared[number].count, stride_bytes = signature_stride_bytes(bits);
    if (rows == 0) {
        side->view = (struct signatures_view){NULL, 0, bits, stride_bytes};
        return COG_OK;
    }
    void *data = mmap(NULL, rows * stride_bytes, PROT_READ, MAP_SHARED, side->signatures, 0);
    if (data == MAP_FAILED)
        return error_memory(error, rows * stride_bytes, "signatures");
    side->view = (struct signatures_view){data, rows, bits, stride_bytes};
    return COG_OK;
}

static cog_status sign_documents(struct disk_pairs *pairs, cog_error *error) {
    struct pair_task *task = pairs->task;
    const cog_sign_options *options = &task->options.sign;
    struct text_signer signer = {0};
    struct term_numbers *columns = NULL;
    cog_status status = text_signer_init(&signer, options, task->statistics, error);
    THEN(status, term_numbers_create(task->statistics, 1, task->weighting.min_collection_frequency,
                                     &columns, error));
    for (size_t side = 0; side < task->sides && status == COG_OK; side++) {
        struct compared_rows *compared = &task->compared[side];
        const size_t rows = task->corpora[side].rows;
        compared->numbers = memory_array(rows, sizeof *compared->numbers);
        if (!compared->numbers)
            status = error_memory(error, rows * sizeof *compared->numbers, "rows");
        if (status == COG_OK) {
            pairs->sides[side].signatures = scratch_file_open(error);
            status = pairs->sides[side].signatures < 0 ? COG_ERR_IO : COG_OK;
        }
        THEN(status, sign_side(task, &signer, columns, &pairs->sides[side], compared, error));
        THEN(status, map_signatures(task, side, &pairs->sides[side], error));
    }
    term_numbers_free(columns);
    text_signer_reset(&signer);
    return status;
}

/* ---- Documents that have candidates ---------------------------------------------------------- */

/* Marks rows that have candidates and rows small enough to match short rows; short rows are marked.
 */
static void mark_rows(struct disk_pairs *pairs, const struct match_list *candidates) {
    const struct pair_task *task = pairs->task;
    const size_t last = task->sides - 1;
    size_t most[2] = {0, 0}; /* terms of a short row of the side */
    for (size_t side = 0; side < task->sides; side++)
        most[side] = short_pairs_most_terms(&task->corpora[side], pairs->sides[side].marks);
    for (size_t side = 0; side < task->sides; side++) {
        size_t other = task->sides == 2 && side == 0;
        short_pairs_mark_partners(task, side, most[other], pairs->sides[side].marks);
    }
    for (size_t i = 0; i < candidates->count; i++) {
        pairs->sides[0].marks[candidates->items[i].a] = 1;
        pairs->sides[last].marks[candidates->items[i].b] = 1;
    }
}

struct marked {
    uint64_t rows, bytes;
};

static struct marked count_marked(const struct disk_pairs *pairs) {
    struct marked marked = {0};
    for (size_t side = 0; side < pairs->task->sides; side++) {
        const struct corpus *corpus = &pairs->task->corpora[side];
        for (size_t row = 0; row < corpus->rows; row++)
            if (pairs->sides[side].marks[row]) {
                marked.rows++;
                marked.bytes += (uint64_t)corpus->items[row].term_count * TERM_BYTES;
            }
    }
    return marked;
}

/* The budget without vocabulary and ids. */
static uint64_t memory_left(const struct pair_task *task) {
    uint64_t taken = statistics_memory_bytes(task->statistics);
    for (size_t side = 0; side < task->sides; side++)
        taken += corpus_memory_bytes(&task->corpora[side]);
    return taken < task->run->memory_bytes ? task->run->memory_bytes - taken : 0;
}

/* Marks as many rows for the recall sample as there is room for. */
static void mark_sample(struct disk_pairs *pairs, uint64_t room_bytes) {
    const struct corpus *corpus = &pairs->task->corpora[0];
    const struct truth_rows rows = pair_task_truth(pairs->task);
    uint64_t bytes = room_bytes + 1;
    for (size_t most = RECALL_ROWS; bytes > room_bytes; most /= 2) {
        recall_sample_draw(&pairs->sample, &rows, most);
        bytes = 0;
        for (size_t i = 0; i < pairs->sample.count; i++)
            bytes += (uint64_t)corpus->items[pairs->sample.rows[i]].term_count * TERM_BYTES;
    }
    for (size_t i = 0; i < pairs->sample.count; i++)
        pairs->sides[0].marks[pairs->sample.rows[i]] = 1;
}

/* The recall sample takes what the other rows leave, so that it alone never stops a run. */
static cog_status choose_rows(struct disk_pairs *pairs, const struct match_list *candidates,
                              cog_error *error) {
    const struct pair_task *task = pairs->task;
    const uint64_t left = memory_left(task), share = task->run->memory_bytes / SAMPLE_SHARE;
    mark_rows(pairs, candidates);
    struct marked needed = count_marked(pairs);
    if (needed.bytes > left)
        return error_about(error, COG_ERR_MEMORY, "memory_bytes",
                           "%llu documents have candidates or are short, which need about %llu MB "
                           "of the %llu MB left; raise the memory budget or the threshold",
                           (unsigned long long)needed.rows,
                           (unsigned long long)(needed.bytes >> 20),
                           (unsigned long long)(left >> 20));
    mark_sample(pairs, left - needed.bytes < share ? left - needed.bytes : share);
    report_number(task->report, "documents_loaded", (double)count_marked(pairs).rows);
    return COG_OK;
}

static cog_status load_documents(struct disk_pairs *pairs, cog_error *error) {
    struct pair_task *task = pairs->task;
    cog_status status = COG_OK;
    for (size_t side = 0; side < task->sides && status == COG_OK; side++)
        status = corpus_load(&task->corpora[side], pairs->sides[side].spool,
                             pairs->sides[side].marks, error);
    const struct corpus *corpora[2] = {&task->corpora[0], &task->corpora[1]};
    THEN(status,
         corpus_vectors(corpora, task->sides, task->statistics, &task->weighting, task->short_terms,
                        task->selected, task->threads, task->vectors, error));
    return status == COG_OK ? short_pairs_mark(task, error) : status;
}

/* ---- Measured recall ------------------------------------------------------------------------- */

/* The vectors of the next documents of a side, of `room` terms together or a few more. */
static cog_status next_vectors(const struct pair_task *task, struct disk_side *side,
                               const struct term_numbers *columns, uint64_t room,
                               struct sparse_matrix *vectors, bool *end, cog_error *error) {
    struct corpus part = {0};
    struct piece piece = {0};
    cog_status status = COG_OK;
    while (!*end && part.term_count < room && status == COG_OK) {
        status = read_piece(side->spool, &piece, end, error);
        for (size_t i = 0; i < piece.count && status == COG_OK; i++)
            status = corpus_add_bag(&part, &piece.bags[i], error);
    }
    THEN(status, corpus_vectors_in(&part, columns, task->statistics, &task->weighting,
                                   task->short_terms, NULL, task->threads, vectors, error));
    free_piece(&piece);
    corpus_free(&part);
    return status;
}

static cog_status measure_recall(struct disk_pairs *pairs, const struct match_list *matches,
                                 cog_error *error) {
    const struct pair_task *task = pairs->task;
    const size_t last = task->sides - 1;
    const uint64_t room = task->run->memory_bytes / TRUTH_SHARE / TERM_BYTES;
    struct sparse_matrix piece = {0};
    struct truth_rows rows = pair_task_truth(task);
    rows.vectors[1] = &piece;
    struct term_numbers *columns = NULL;
    cog_status status = term_numbers_create(
        task->statistics, 1, task->weighting.min_collection_frequency, &columns, error);
    bag_spool_rewind(pairs->sides[last].spool);
    for (bool end = false; !end && status == COG_OK;) {
        status = next_vectors(task, &pairs->sides[last], columns, room, &piece, &end, error);
        THEN(status, recall_sample_count(&pairs->sample, &rows, matches, error));
        rows.first_row += piece.rows;
        sparse_matrix_free(&piece);
    }
    if (status == COG_OK)
        recall_sample_report(&pairs->sample, task->options.recall, "exact", task->report);
    term_numbers_free(columns);
    return status;
}

/* ---- The job --------------------------------------------------------------------------------- */

static cog_status join_documents(struct disk_pairs *pairs, struct match_list *matches,
                                 cog_error *error) {
    struct pair_task *task = pairs->task;
    struct signatures_view views[2] = {pairs->sides[0].view, pairs->sides[1].view};
    uint64_t start = clock_ns();
    progress_show("joining");
    report_text(task->report, "method", "window");
    report_number(task->report, "threshold", task->given_threshold);
    matches->limit = pair_task_max_matches(task);
    cog_status status = pair_join_propose(task, views, COG_RADIUS_NONE, matches, error);
    THEN(status, choose_rows(pairs, matches, error));
    THEN(status, load_documents(pairs, error));
    struct pair_check check = pair_task_check(task);
    check.rows[0] = check.rows[1] = NULL; /* the candidates are rows */
    THEN(status, pair_check_run(&check, matches, error));
    THEN(status, measure_recall(pairs, matches, error));
    THEN(status, short_pairs_join(task, matches, error));
    task->has_distances = true;
    report_number(task->report, "matches", (double)matches->count);
    report_stage(task->report, "joining", clock_seconds_since(start));
    report_notice(task->report,
                  "the documents exceed the memory budget and were joined from scratch files");
    return status;
}

cog_status disk_pairs_find(struct pair_task *task, cog_documents *const *documents,
                           struct match_list *matches, cog_error *error) {
    struct disk_pairs pairs = {.task = task, .sides = {{.signatures = -1}, {.signatures = -1}}};
    task->on_disk = true;
    cog_status status = check_memory(task, documents, error);
    THEN(status, read_documents(&pairs, documents, error));
    THEN(status, count_terms(&pairs, error));
    THEN(status, sign_documents(&pairs, error));
    THEN(status, join_documents(&pairs, matches, error));
    for (size_t side = 0; side < 2; side++) {
        struct disk_side *disk = &pairs.sides[side];
        bag_spool_free(disk->spool);
        free(disk->marks);
        if (disk->view.data)
            munmap((void *)disk->view.data, disk->view.rows * disk->view.stride_bytes);
        if (disk->signatures >= 0)
            close(disk->signatures);
    }
    return status;
}
