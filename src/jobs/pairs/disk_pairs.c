#include "jobs/pairs/disk_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/io/files.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/threads.h"
#include "jobs/pairs/block_join.h"
#include "jobs/pairs/few_terms.h"
#include "join/cosine/cosine_join.h"
#include "join/join_method.h"
#include "plan/method_table.h"
#include "run/job.h"

/* The program with its dictionaries, and the memory of a thread that reads documents. */
enum { PROGRAM_BYTES = 20 << 20, READER_BYTES = 9 << 20 };

enum {
    TERM_BYTES = 48,  /* maximum per term of documents weighed together */
    PIECE_SHARE = 16, /* of the room, for documents weighed or signed together */
    PIECE_TERMS = 1 << 18,
    SORTER_SHARE = 8,  /* of the room, for matches */
    LIST_EIGHTHS = 3,  /* of the room, for the posting lists of a join of vectors */
    NUMBER_BYTES = 64, /* per term with a number (vector/term_numbers.h) */
    IDF_BYTES = 1 << 19,
    LEAST_ROOM_BYTES = 3 << 20
};

struct disk_side {
    struct row_store store;
    struct cosine_survey survey; /* if the method joins vectors */
    struct row_key *keys;        /* until the rows are grouped */
    struct equal_rows groups;
    uint32_t *firsts; /* the first row of each group */
};

struct disk_pairs {
    struct pair_task *task;
    struct disk_side sides[2];
    struct term_numbers *columns; /* of the terms with weights; freed when all rows are weighed */
    struct rows_on_disk rows;
    struct joining joining;
    struct cosine_plan plan;
    struct match_sorter results;
};

/* ---- Memory ---------------------------------------------------------------------------------- */

static double text_bytes(const struct pair_task *task, cog_documents *const *documents) {
    double bytes = 0;
    for (size_t side = 0; side < task->sides; side++)
        bytes += (double)ingest_text_bytes(documents[side]);
    return bytes;
}

static bool has_pipe(const struct pair_task *task, cog_documents *const *documents) {
    for (size_t side = 0; side < task->sides; side++)
        if (documents[side]->reader && reader_has_pipe(documents[side]->reader))
            return true;
    return false;
}

static bool joins_vectors(const struct pair_task *task) {
    return method_of(task->options.method)->needs & NEEDS_VECTORS;
}

/* The number of documents is not known yet, so this assumes signatures of short documents. */
bool disk_pairs_needed(const struct pair_task *task, cog_documents *const *documents) {
    enum { SHORT_TEXT_BYTES = 48 };
    const cog_pairs_options *options = &task->options;
    const uint64_t budget = task->run ? task->run->memory_bytes : 0;
    const double signatures = text_bytes(task, documents) / SHORT_TEXT_BYTES *
                              (double)signature_stride_bytes(options->sign.signature.bits);
    if (!budget || options->measure != COG_MEASURE_COSINE)
        return false;
    return has_pipe(task, documents) ||
           pair_task_memory_bytes(task, documents) + (joins_vectors(task) ? 0 : signatures) >
               (double)budget;
}

/* The memory of rows and vocabulary now. */
static uint64_t held_bytes(const struct disk_pairs *pairs) {
    const struct pair_task *task = pairs->task;
    uint64_t held = pair_task_held_bytes(task);
    for (size_t side = 0; side < task->sides; side++) {
        const struct disk_side *disk = &pairs->sides[side];
        const size_t rows = task->corpora[side].rows;
        held += rows * (sizeof(uint64_t) + sizeof(uint32_t)); /* offsets, compared */
        held += disk->keys ? rows * sizeof *disk->keys : 0;
        held += disk->groups.rows ? rows * (sizeof(size_t) + 2 * sizeof(uint32_t)) : 0;
        held += (uint64_t)disk->survey.column_count * sizeof(uint32_t);
    }
    if (pairs->columns)
        held += (uint64_t)term_numbers_count(pairs->columns) * NUMBER_BYTES + IDF_BYTES;
    return held + (pairs->plan.spans ? pairs->sides[0].store.column_count : 0);
}

/* The memory of a join's workers per column: a spread row, and lists or tiles. */
static uint64_t column_bytes(const struct disk_pairs *pairs) {
    return (uint64_t)pairs->sides[0].store.column_count *
           (pairs->task->threads * sizeof(float) + 3 * sizeof(uint32_t));
}

/* The memory that the budget leaves now. If that is too little, COG_ERR_MEMORY with the minimum
 * budget. */
static cog_status find_room(const struct disk_pairs *pairs, uint64_t taken_bytes, uint64_t *room,
                            cog_error *error) {
    const uint64_t budget = pairs->task->run ? pairs->task->run->memory_bytes : 0;
    const uint64_t taken = PROGRAM_BYTES + held_bytes(pairs) + taken_bytes;
    if (budget == 0) {
        *room = UINT64_MAX / 4;
        return COG_OK;
    }
    if (budget < taken + LEAST_ROOM_BYTES)
        return error_about(error, COG_ERR_MEMORY, "memory_bytes",
                           "joining these documents from disk needs at least %llu MB and the "
                           "budget is %llu MB; raise the budget or split the input",
                           (unsigned long long)((taken + LEAST_ROOM_BYTES) >> 20) + 1,
                           (unsigned long long)(budget >> 20));
    *room = budget - taken;
    return COG_OK;
}

/* Bytes on disk per byte of input, measured: terms and vectors, of which stop words are a third;
 * signatures; and margins for methods that plan with them. */
static double disk_factor(const struct pair_task *task) {
    const bool stops = task->terms.drop_stop_words && task->terms.language[0];
    const double rows = joins_vectors(task)                          ? 0
                        : method_of(task->options.method)->plan_join ? 0.45
                                                                     : 0.1;
    return (stops ? 1.1 : 1.6) + rows;
}

/* Checks the memory before reading, from the size of the input. */
static cog_status check_memory(const struct pair_task *task, cog_documents *const *documents,
                               cog_error *error) {
    const double text = text_bytes(task, documents);
    const double reading = (double)task->threads * READER_BYTES;
    const double weighing = memory_of_statistics(text, task->terms.ngram) + LEAST_ROOM_BYTES;
    const double least = PROGRAM_BYTES + (reading > weighing ? reading : weighing);
    const double budget = task->run ? (double)task->run->memory_bytes : 0;
    const double all = pair_task_memory_bytes(task, documents);
    memory_budget_announce(budget && budget < all ? budget : all, task->run, task->report);
    disk_announce(text * disk_factor(task), task->run, task->report);
    return memory_budget_keep(least, task->run, error);
}

/* ---- Documents to disk ----------------------------------------------------------------------- */

static cog_status read_documents(struct disk_pairs *pairs, cog_documents *const *documents,
                                 cog_error *error) {
    struct pair_task *task = pairs->task;
    struct corpus_options reading = {.terms = &task->terms, .want_frequencies = true};
    cog_status status = COG_OK;
    for (size_t side = 0; side < task->sides && status == COG_OK; side++) {
        status = row_store_open(&pairs->sides[side].store, error);
        reading.spool = pairs->sides[side].store.bags;
        THEN(status, corpus_read(&task->corpora[side], documents[side], &reading, task->run,
                                 task->report, error));
        corpus_trim(&task->corpora[side]);
    }
    return status;
}

/* ---- Passes over the documents --------------------------------------------------------------- */

static cog_status count_terms(struct disk_pairs *pairs, cog_error *error) {
    enum { COUNTED_TERMS = 1 << 16 };
    struct pair_task *task = pairs->task;
    struct corpus part = {0};
    cog_status status = statistics_create(&task->statistics, error);
    for (size_t side = 0; side < task->sides && status == COG_OK; side++) {
        bag_spool_rewind(pairs->sides[side].store.bags);
        do {
            uint64_t room;
            status =
                corpus_next_spooled(&part, pairs->sides[side].store.bags, COUNTED_TERMS, error);
            THEN(status, corpus_count(&part, task->threads, task->statistics, error));
            THEN(status, find_room(pairs, 0, &room, error));
        } while (part.rows && status == COG_OK);
    }
    corpus_free(&part);
    return status;
}

/* The number of terms of documents to weigh or sign together. */
static cog_status piece_terms(const struct disk_pairs *pairs, size_t *most, cog_error *error) {
    uint64_t room;
    TRY(find_room(pairs, 0, &room, error));
    room = room / PIECE_SHARE / TERM_BYTES;
    *most = room < PIECE_TERMS ? (size_t)room : PIECE_TERMS;
    return COG_OK;
}

/* ---- Vectors --------------------------------------------------------------------------------- */

/* Stores the rows from `first` on. */
static cog_status store_vectors(struct disk_pairs *pairs, size_t side, size_t first,
                                const struct sparse_matrix *matrix, cog_error *error) {
    struct disk_side *disk = &pairs->sides[side];
    uint64_t *offsets = pairs->task->vectors[side].offsets;
    TRY(row_store_add_vectors(&disk->store, matrix, offsets[first], error));
    for (size_t i = 0; i < matrix->rows; i++) {
        const uint64_t at = matrix->offsets[i], count = matrix->offsets[i + 1] - at;
        offsets[first + i + 1] = offsets[first + i] + count;
        if (disk->keys)
            disk->keys[first + i] = row_key_of((uint32_t)(first + i), matrix->columns + at,
                                               matrix->values + at, (size_t)count);
    }
    return disk->keys ? cosine_survey_add(&disk->survey, matrix, error) : COG_OK;
}

static cog_status weigh_side(struct disk_pairs *pairs, size_t side, cog_error *error) {
    struct pair_task *task = pairs->task;
    struct disk_side *disk = &pairs->sides[side];
    const size_t rows = task->corpora[side].rows;
    struct corpus part = {0};
    size_t most, first = 0;
    TAKE_ZEROED(task->vectors[side].offsets, rows + 1, "rows", error);
    task->vectors[side].rows = rows;
    task->vectors[side].column_count = term_numbers_count(pairs->columns);
    disk->store.offsets = task->vectors[side].offsets;
    disk->store.column_count = term_numbers_count(pairs->columns);
    if (joins_vectors(task)) {
        TAKE_ZEROED(disk->keys, rows, "rows", error);
    }
    TRY(piece_terms(pairs, &most, error));
    bag_spool_rewind(disk->store.bags);
    cog_status status = COG_OK;
    do {
        struct sparse_matrix matrix = {0};
        status = corpus_next_spooled(&part, disk->store.bags, most, error);
        THEN(status, corpus_vectors_in(&part, pairs->columns, task->statistics, &task->weighting,
                                       NULL, task->threads, &matrix, error));
        THEN(status, store_vectors(pairs, side, first, &matrix, error));
        sparse_matrix_free(&matrix);
        first += part.rows;
    } while (part.rows && status == COG_OK);
    corpus_free(&part);
    return status;
}

/* Groups equal rows of a side, which are joined as one. */
static cog_status group_side(struct disk_pairs *pairs, size_t side, cog_error *error) {
    struct disk_side *disk = &pairs->sides[side];
    if (!disk->keys)
        return COG_OK;
    TRY(equal_rows_of_keys(disk->keys, pairs->task->corpora[side].rows, &disk->groups, error));
    free(disk->keys);
    disk->keys = NULL;
    TAKE(disk->firsts, disk->groups.count + 1, "groups of equal rows", error);
    for (size_t group = 0; group < disk->groups.count; group++)
        disk->firsts[group] = equal_rows_first(&disk->groups, group);
    return COG_OK;
}

static cog_status weigh_documents(struct disk_pairs *pairs, cog_error *error) {
    struct pair_task *task = pairs->task;
    uint64_t start = clock_ns();
    progress_show("weighing");
    cog_status status = count_terms(pairs, error);
    THEN(status,
         term_numbers_create(task->statistics, 1, weighting_least_frequency(&task->weighting),
                             &pairs->columns, error));
    for (size_t side = 0; side < task->sides && status == COG_OK; side++)
        status = weigh_side(pairs, side, error);
    term_numbers_free(pairs->columns);
    pairs->columns = NULL;
    for (size_t side = 0; side < task->sides && status == COG_OK; side++)
        status = group_side(pairs, side, error);
    THEN(status, pair_task_list_rows(task, error));
    report_stage(task->report, "weighing", clock_seconds_since(start));
    report_number(task->report, "vocabulary_terms",
                  task->statistics ? (double)statistics_term_count(task->statistics) : 0);
    return status;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Starts a join of the compared rows, or of the first rows of groups, with the memory left. */
static cog_status start_blocks(struct disk_pairs *pairs, struct block_join *join,
                               cog_error *error) {
    const struct pair_task *task = pairs->task;
    uint64_t room;
    *join = (struct block_join){
        .task = task,
        .self = task->sides == 1,
        .costs = {.entry_bytes = sizeof(uint32_t) + 2 * sizeof(float), .row_bytes = 64},
        .results = &pairs->results};
    TRY(find_room(pairs, column_bytes(pairs), &room, error));
    join->join = (struct method_join){.threshold = task->options.threshold,
                                      .verify = task->options.verify,
                                      .bits = task->options.sign.signature.bits,
                                      .threads = task->threads,
                                      .list_bytes = room / 8 * LIST_EIGHTHS};
    join->memory_bytes = room - join->join.list_bytes - room / SORTER_SHARE;
    for (size_t side = 0; side < task->sides; side++)
        join->sides[side] = (struct block_rows){.store = &pairs->sides[side].store,
                                                .numbers = task->compared[side].numbers,
                                                .count = task->compared[side].count};
    return COG_OK;
}

/* A truth_rows.find. */
static cog_status find_sampled(void *context, const uint32_t *sample, size_t count,
                               struct match_list *truth, cog_error *error) {
    struct block_join join;
    TRY(start_blocks(context, &join, error));
    cog_status status = block_join_sample(&join, sample, count, truth, error);
    block_join_free(&join);
    return status;
}

/* ---- Signatures ------------------------------------------------------------------------------ */

/* Like pair_task_sign, for a few rows in any order. */
static cog_status sign_sampled(void *context, size_t side, const struct compared_rows *rows,
                               struct signatures_view *view, float *margins, size_t margins_per_row,
                               cog_error *error) {
    struct disk_pairs *pairs = context;
    const struct pair_task *task = pairs->task;
    struct corpus part = {0};
    uint32_t *distinct = memory_array(rows->count + 1, sizeof *distinct);
    uint32_t *places = memory_array(rows->count + 1, sizeof *places);
    cog_status status =
        distinct && places ? COG_OK : error_memory(error, rows->count * sizeof *places, "rows");
    size_t count = 0;
    if (status == COG_OK) {
        memcpy(distinct, rows->numbers, rows->count * sizeof *distinct);
        count = sort_distinct_u32(distinct, rows->count);
    }
    for (size_t i = 0; i < rows->count && status == COG_OK; i++)
        places[i] = (uint32_t)((uint32_t *)bsearch(&rows->numbers[i], distinct, count,
                                                   sizeof *distinct, compare_u32) -
                               distinct);
    THEN(status, row_store_bags(&pairs->sides[side].store, distinct, count, &part, error));
    const struct signable_rows signable = {
        .corpus = &part, .numbers = places, .count = rows->count};
    THEN(status, corpus_sign(&signable, &task->options.sign, task->statistics, task->threads, view,
                             margins, margins_per_row, error));
    corpus_free(&part);
    free(distinct);
    free(places);
    return status;
}

/* Signs the compared rows of a part of a side; `first` is the part's first row. */
static cog_status sign_part(struct disk_pairs *pairs, size_t side, const struct text_signer *signer,
                            const struct corpus *part, size_t first, size_t *place,
                            cog_error *error) {
    const struct pair_task *task = pairs->task;
    const struct compared_rows *compared = &task->compared[side];
    struct row_store *store = &pairs->sides[side].store;
    const size_t margins_per_row = store->margins_per_row, begin = *place;
    uint32_t *numbers;
    size_t count = 0;
    TAKE(numbers, part->rows + 1, "rows", error);
    while (begin + count < compared->count && compared->numbers[begin + count] < first + part->rows)
        numbers[count] = (uint32_t)(compared->numbers[begin + count] - first), count++;
    uint8_t *signatures = memory_array(count + 1, signature_stride_bytes(store->bits));
    float *margins = memory_array(count * margins_per_row + 1, sizeof *margins);
    cog_status status =
        signatures && margins
            ? COG_OK
            : error_memory(error, count * margins_per_row * sizeof *margins, "signatures");
    const struct signable_rows rows = {.corpus = part, .numbers = numbers, .count = count};
    THEN(status, rows_sign(signer, &rows, task->threads, signatures,
                           margins_per_row ? margins : NULL, margins_per_row, error));
    THEN(status, row_store_add_signatures(store, begin, count, signatures, margins, error));
    *place += count;
    FREE(numbers, signatures, margins);
    return status;
}

static cog_status sign_side(struct disk_pairs *pairs, size_t side, const struct text_signer *signer,
                            cog_error *error) {
    const struct method_join *planned = &pairs->joining.join;
    struct row_store *store = &pairs->sides[side].store;
    struct corpus part = {0};
    size_t most, first = 0, place = 0;
    TRY(row_store_sign_begin(store, planned->bits, planned->margins_out, error));
    TRY(piece_terms(pairs, &most, error));
    bag_spool_rewind(store->bags);
    cog_status status = COG_OK;
    do {
        status = corpus_next_spooled(&part, store->bags, most, error);
        THEN(status, sign_part(pairs, side, signer, &part, first, &place, error));
        first += part.rows;
    } while (part.rows && status == COG_OK);
    corpus_free(&part);
    return status;
}

static cog_status sign_documents(struct disk_pairs *pairs, cog_error *error) {
    const struct pair_task *task = pairs->task;
    struct text_signer signer = {0};
    cog_status status = text_signer_init(&signer, &task->options.sign, task->statistics, error);
    for (size_t side = 0; side < task->sides && status == COG_OK; side++)
        status = sign_side(pairs, side, &signer, error);
    text_signer_reset(&signer);
    return status;
}

/* ---- Joins of vectors ------------------------------------------------------------------------ */

/* Loads the vectors of the first or the second rows of the true pairs. */
static cog_status load_pairs(struct disk_pairs *pairs, size_t number, struct sparse_matrix *matrix,
                             cog_error *error) {
    const struct match_list *truth = &pairs->joining.truth;
    uint32_t *rows;
    TAKE(rows, truth->count + 1, "the plan", error);
    for (size_t i = 0; i < truth->count; i++)
        rows[i] = number ? truth->items[i].b : truth->items[i].a;
    cog_status status = row_store_vectors(&pairs->sides[number ? pairs->task->sides - 1 : 0].store,
                                          rows, truth->count, matrix, error);
    free(rows);
    return status;
}

static cog_status find_tails(struct disk_pairs *pairs, const struct cosine_survey surveys[2],
                             struct cosine_tails *tails, cog_error *error) {
    struct sparse_matrix vectors[2] = {{0}};
    struct method_join *join = &pairs->joining.join;
    struct cosine_cuts cuts;
    cosine_cuts_of(&surveys[0], &surveys[1], &cuts);
    cog_status status = load_pairs(pairs, 0, &vectors[0], error);
    THEN(status, load_pairs(pairs, 1, &vectors[1], error));
    join->pairs.rows[0].vectors = &vectors[0];
    join->pairs.rows[1].vectors = &vectors[1];
    THEN(status, lists_tails(join, &cuts, tails, error));
    join->pairs.rows[0].vectors = join->pairs.rows[1].vectors = NULL;
    sparse_matrix_free(&vectors[0]);
    sparse_matrix_free(&vectors[1]);
    return status;
}

/* Loads evenly spaced first rows of groups. */
static cog_status load_sample(struct disk_pairs *pairs, size_t side, size_t most,
                              struct sparse_matrix *matrix, cog_error *error) {
    struct disk_side *disk = &pairs->sides[side];
    const size_t all = disk->groups.count, count = all < most ? all : most;
    uint32_t rows[COSINE_SAMPLE_ROWS];
    for (size_t i = 0; i < count; i++)
        rows[i] = disk->firsts[cosine_sample_place(all, count, i)];
    return row_store_vectors(&disk->store, rows, count, matrix, error);
}

/* Makes one plan for all blocks. */
static cog_status plan_vectors(struct disk_pairs *pairs, cog_error *error) {
    const size_t last = pairs->task->sides - 1;
    const struct cosine_survey surveys[2] = {pairs->sides[0].survey, pairs->sides[last].survey};
    const bool has_tails = pairs->joining.truth.count >= LISTS_LEAST_PAIRS;
    struct sparse_matrix samples[2] = {{0}};
    struct cosine_tails tails;
    uint32_t numbers[COSINE_SAMPLE_ROWS];
    for (uint32_t i = 0; i < COSINE_SAMPLE_ROWS; i++)
        numbers[i] = i;
    cog_status status = has_tails ? find_tails(pairs, surveys, &tails, error) : COG_OK;
    THEN(status, load_sample(pairs, 0, COSINE_SAMPLE_QUERIES, &samples[0], error));
    THEN(status, load_sample(pairs, last, COSINE_SAMPLE_ROWS, &samples[1], error));
    const struct cosine_rows rows[2] = {{&samples[0], numbers, samples[0].rows},
                                        {&samples[1], numbers, samples[1].rows}};
    THEN(status, cosine_plan_make(&pairs->plan, surveys, rows, pairs->task->options.threshold,
                                  has_tails ? &tails : NULL, error));
    sparse_matrix_free(&samples[0]);
    sparse_matrix_free(&samples[1]);
    cosine_survey_free(&pairs->sides[0].survey);
    cosine_survey_free(&pairs->sides[1].survey);
    return status;
}

/* ---- The join -------------------------------------------------------------------------------- */

static void take_groups(struct disk_pairs *pairs, struct block_join *join) {
    for (size_t side = 0; side < pairs->task->sides; side++) {
        const struct disk_side *disk = &pairs->sides[side];
        join->sides[side].numbers = disk->firsts;
        join->sides[side].count = disk->groups.count;
        join->sides[side].groups = &disk->groups;
    }
    join->join.plan = &pairs->plan;
    join->small_second = true;
}

/* Posting lists for more rows than a join builds at a time need no memory; blocks get it. */
static void limit_lists(const struct disk_pairs *pairs, struct block_join *join) {
    double rows = 0, entries = 0;
    for (size_t side = 0; side < pairs->task->sides; side++) {
        rows += (double)pairs->task->compared[side].count;
        entries += (double)pairs->task->vectors[side].offsets[pairs->task->corpora[side].rows];
    }
    const uint64_t most = cosine_join_list_bytes(&pairs->plan, rows > 0 ? entries / rows : 0);
    if (join->join.list_bytes <= most)
        return;
    join->memory_bytes += join->join.list_bytes - most;
    join->join.list_bytes = most;
}

/* Predicts the memory of the join, now that the rows are known. */
static void predict_memory(const struct disk_pairs *pairs, const struct block_join *join) {
    const uint64_t blocks = block_join_bytes(join);
    const uint64_t reading = pairs->task->threads * (uint64_t)READER_BYTES;
    const uint64_t joining = held_bytes(pairs) + column_bytes(pairs) +
                             (blocks < join->memory_bytes ? blocks : join->memory_bytes) +
                             (joins_vectors(pairs->task) ? join->join.list_bytes : 0);
    report_number(pairs->task->report, "predicted_memory_bytes",
                  (double)(PROGRAM_BYTES + (joining > reading ? joining : reading)));
}

/* Uses signatures instead of posting lists. One of two blocks has tables, and not all freed memory
 * is reused. */
static void take_signatures(const struct disk_pairs *pairs, struct block_join *join) {
    const struct method_join *planned = &pairs->joining.join;
    const size_t rows = pairs->task->compared[pairs->task->sides - 1].count;
    join->memory_bytes += join->join.list_bytes;
    join->costs.entry_bytes = planned->verify ? sizeof(uint32_t) + sizeof(float) : 0;
    join->costs.row_bytes = sizeof(uint64_t) + signature_stride_bytes(planned->bits) +
                            planned->margins_out * sizeof(float) +
                            (rows ? planned->table_bytes_out / rows * 3 / 4 : 0);
}

static cog_status join_blocks(struct disk_pairs *pairs, cog_error *error) {
    struct joining *joining = &pairs->joining;
    struct block_join join;
    TRY(start_blocks(pairs, &join, error));
    const uint64_t list_bytes = join.join.list_bytes;
    join.method = joining->method;
    join.join = joining->join;
    join.join.list_bytes = list_bytes;
    if (joins_vectors(pairs->task)) {
        take_groups(pairs, &join);
        limit_lists(pairs, &join);
    } else {
        take_signatures(pairs, &join);
    }
    predict_memory(pairs, &join);
    cog_status status = block_join_run(&join, error);
    if (status == COG_OK)
        block_join_report(&join);
    joining->join.is_exact_out = join.join.is_exact_out && pairs->task->options.verify;
    block_join_free(&join);
    return status;
}

/* ---- Methods that join all rows together ----------------------------------------------------- */

struct proposal {
    struct match_sorter sorter;
    unsigned bits;
    uint64_t count; /* atomic */
};

/* A match_sieve.keep: writes candidates to disk. */
static cog_status propose(void *context, struct match *items, size_t *count, cog_error *error) {
    struct proposal *proposal = context;
    for (size_t i = 0; i < *count; i++)
        items[i].similarity = (float)hamming_cosine(items[i].distance, proposal->bits);
    __atomic_fetch_add(&proposal->count, *count, __ATOMIC_RELAXED);
    TRY(match_sorter_add(&proposal->sorter, items, *count, error));
    *count = 0;
    return COG_OK;
}

static cog_status map_signatures(struct disk_pairs *pairs, struct mapping mappings[2],
                                 cog_error *error) {
    struct joining *joining = &pairs->joining;
    for (size_t side = 0; side < pairs->task->sides; side++) {
        TRY(mapping_of_descriptor(pairs->sides[side].store.signatures, "scratch file in TMPDIR",
                                  &mappings[side], error));
        joining->views[side].data = mappings[side].data;
    }
    return COG_OK;
}

/* Finds all candidates of the method, as places, sorted. */
static cog_status propose_all(struct disk_pairs *pairs, struct match_list *candidates,
                              cog_error *error) {
    struct joining *joining = &pairs->joining;
    struct mapping mappings[2] = {{0}};
    struct proposal proposal = {.bits = joining->join.bits};
    const struct match_sieve sieve = {propose, &proposal};
    struct match_list none = {.sieve = &sieve};
    uint64_t room;
    TRY(find_room(pairs, 0, &room, error));
    match_sorter_init(&proposal.sorter, room / SORTER_SHARE / 2);
    cog_status status = map_signatures(pairs, mappings, error);
    joining->join.memory_bytes = room - room / 4;
    THEN(status, joining->method->join(&joining->join, &none, error));
    joining->views[0].data = joining->views[1].data = NULL;
    mapping_close(&mappings[0]);
    mapping_close(&mappings[1]);
    THEN(status, match_sorter_finish(&proposal.sorter, candidates, error));
    match_list_free(&none);
    match_sorter_free(&proposal.sorter);
    report_number(pairs->task->report, "candidates", (double)proposal.count);
    return status;
}

/* Candidates as places among the rows with candidates; numbers[side] has those rows. */
struct wanted_rows {
    uint32_t *places[2]; /* by place among the compared rows */
    uint32_t *numbers[2];
    size_t counts[2];
};

static cog_status list_wanted(const struct disk_pairs *pairs, const struct match_list *candidates,
                              struct wanted_rows *wanted, cog_error *error) {
    const struct pair_task *task = pairs->task;
    const size_t last = task->sides - 1;
    for (size_t side = 0; side < task->sides; side++) {
        const size_t count = task->compared[side].count;
        TAKE_ZEROED(wanted->places[side], count + 1, "rows with candidates", error);
        TAKE(wanted->numbers[side], count + 1, "rows with candidates", error);
    }
    for (size_t i = 0; i < candidates->count; i++) {
        wanted->places[0][candidates->items[i].a] = 1;
        wanted->places[last][candidates->items[i].b] = 1;
    }
    for (size_t side = 0; side < task->sides; side++)
        for (size_t place = 0; place < task->compared[side].count; place++) {
            const uint32_t number = (uint32_t)wanted->counts[side];
            if (!wanted->places[side][place])
                continue;
            wanted->places[side][place] = number;
            wanted->numbers[side][wanted->counts[side]++] = task->compared[side].numbers[place];
        }
    return COG_OK;
}

static cog_status verify_all(struct disk_pairs *pairs, const struct match_list *candidates,
                             cog_error *error) {
    struct block_join join;
    struct wanted_rows wanted = {0};
    cog_status status = list_wanted(pairs, candidates, &wanted, error);
    THEN(status, start_blocks(pairs, &join, error));
    if (status == COG_OK) {
        join.memory_bytes += join.join.list_bytes;
        join.costs.entry_bytes = sizeof(uint32_t) + sizeof(float);
        for (size_t side = 0; side < pairs->task->sides; side++) {
            join.sides[side].numbers = wanted.numbers[side];
            join.sides[side].count = wanted.counts[side];
            join.places[side] = wanted.places[side];
        }
        if (join.self)
            join.places[1] = join.places[0];
        status = block_join_check(&join, candidates, error);
        block_join_free(&join);
    }
    report_number(pairs->task->report, "documents_loaded",
                  (double)(wanted.counts[0] + wanted.counts[1]));
    for (size_t side = 0; side < 2; side++) {
        free(wanted.places[side]);
        free(wanted.numbers[side]);
    }
    return status;
}

/* Converts candidates of the compared rows, which need no check, to rows. */
static cog_status take_all(struct disk_pairs *pairs, const struct match_list *candidates,
                           cog_error *error) {
    enum { AT_ONCE = 4096 };
    struct match batch[AT_ONCE];
    cog_status status = COG_OK;
    for (size_t first = 0; first < candidates->count && status == COG_OK; first += AT_ONCE) {
        const size_t left = candidates->count - first, count = left < AT_ONCE ? left : AT_ONCE;
        memcpy(batch, candidates->items + first, count * sizeof *batch);
        pair_task_name_rows(pairs->task, &(struct match_list){.items = batch, .count = count});
        status = match_sorter_add(&pairs->results, batch, count, error);
    }
    return status;
}

static cog_status join_whole(struct disk_pairs *pairs, cog_error *error) {
    struct match_list candidates = {0};
    cog_status status = propose_all(pairs, &candidates, error);
    THEN(status, pairs->task->options.verify ? verify_all(pairs, &candidates, error)
                                             : take_all(pairs, &candidates, error));
    match_list_free(&candidates);
    return status;
}

/* ---- The job --------------------------------------------------------------------------------- */

static cog_status plan_join(struct disk_pairs *pairs, cog_error *error) {
    struct pair_task *task = pairs->task;
    uint64_t room;
    cog_status status = joining_plan(&pairs->joining, task, error);
    if (!joins_vectors(task))
        THEN(status, sign_documents(pairs, error));
    /* From here on rows are only vectors and signatures. */
    statistics_free(task->statistics);
    task->statistics = NULL;
    if (joins_vectors(task))
        THEN(status, plan_vectors(pairs, error));
    THEN(status, find_room(pairs, 0, &room, error));
    if (status == COG_OK) {
        match_sorter_free(&pairs->results);
        match_sorter_init(&pairs->results, room / SORTER_SHARE / 2);
    }
    return status;
}

/* See few_terms.h. */
static cog_status add_few_terms(struct disk_pairs *pairs, cog_error *error) {
    struct match_list few = {.limit = pair_task_max_matches(pairs->task)};
    if (joins_vectors(pairs->task) || pairs->joining.join.is_exact_out ||
        !few_terms_matter(pairs->task))
        return COG_OK;
    cog_status status = few_terms_join(pairs->task, &few, error);
    THEN(status, match_sorter_add(&pairs->results, few.items, few.count, error));
    match_list_free(&few);
    return status;
}

static cog_status measure_recall(struct disk_pairs *pairs, const struct match_list *matches,
                                 cog_error *error) {
    const struct pair_task *task = pairs->task;
    const struct truth_rows rows = pair_task_truth(task);
    if (!pairs->joining.join.is_exact_out)
        return recall_measure(&rows, matches, task->options.recall, "exact", task->report, error);
    report_exact(task->report);
    return COG_OK;
}

static cog_status join_documents(struct disk_pairs *pairs, struct match_list *matches,
                                 cog_error *error) {
    struct pair_task *task = pairs->task;
    const uint64_t start = clock_ns();
    uint64_t room = 0;
    progress_show("joining");
    report_text(task->report, "method", method_name(task->options.method));
    report_number(task->report, "threshold", task->given_threshold);
    cog_status status = plan_join(pairs, error);
    THEN(status,
         pairs->joining.method->joins_whole ? join_whole(pairs, error) : join_blocks(pairs, error));
    THEN(status, add_few_terms(pairs, error));
    THEN(status, find_room(pairs, 0, &room, error));
    THEN(status, match_sorter_finish(&pairs->results, matches, error));
    THEN(status, measure_recall(pairs, matches, error));
    task->has_distances = !joins_vectors(task);
    task->estimates = !task->options.verify;
    report_number(task->report, "matches", (double)matches->count);
    report_stage(task->report, "joining", clock_seconds_since(start));
    report_notice(task->report,
                  "the documents exceed the memory budget and were joined from scratch files");
    return status;
}

static void report_disk(const struct disk_pairs *pairs) {
    const struct pair_task *task = pairs->task;
    double bytes = 0;
    for (size_t side = 0; side < task->sides; side++)
        bytes += (double)row_store_disk_bytes(&pairs->sides[side].store, task->corpora[side].rows,
                                              task->compared[side].count);
    report_number(task->report, "disk_bytes", bytes);
}

static void free_pairs(struct disk_pairs *pairs) {
    for (size_t side = 0; side < 2; side++) {
        struct disk_side *disk = &pairs->sides[side];
        row_store_close(&disk->store);
        cosine_survey_free(&disk->survey);
        equal_rows_free(&disk->groups);
        free(disk->keys);
        free(disk->firsts);
    }
    term_numbers_free(pairs->columns);
    joining_free(&pairs->joining);
    cosine_plan_free(&pairs->plan);
    match_sorter_free(&pairs->results);
}

cog_status disk_pairs_find(struct pair_task *task, cog_documents *const *documents,
                           struct match_list *matches, cog_error *error) {
    struct disk_pairs pairs = {.task = task};
    match_sorter_init(&pairs.results, 0);
    pairs.rows = (struct rows_on_disk){&pairs, find_sampled, sign_sampled};
    task->on_disk = &pairs.rows;
    cog_status status = check_memory(task, documents, error);
    THEN(status, read_documents(&pairs, documents, error));
    THEN(status, weigh_documents(&pairs, error));
    THEN(status, join_documents(&pairs, matches, error));
    if (status == COG_OK)
        report_disk(&pairs);
    task->on_disk = NULL;
    free_pairs(&pairs);
    return status;
}
