#include "join/sets/set_join.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "join/sets/lone_sets.h"
#include "join/sets/member_counts.h"
#include "join/sets/set_rounds.h"

enum {
    /* Decoded sets of candidates kept by a join without a memory limit; with one, a sixteenth of
     * it. */
    CACHE_BYTES = 64 << 20,
    /* Without a memory limit; with one, at most three quarters of it. */
    COUNTS_BYTES_MOST = 1 << 30
};

/* ---- Threads --------------------------------------------------------------------------------- */

static uint64_t cache_bytes(const struct joining *joining) {
    const uint64_t limit = joining->options->memory_bytes / 16;
    return limit == 0 || limit > CACHE_BYTES ? CACHE_BYTES : limit;
}

/* The number of slots for sets of average size. */
static size_t choose_cache_slots(const struct joining *joining, size_t count) {
    const uint64_t members = count ? joining->result->members / count + 1 : 1;
    const uint64_t bytes = set_verifier_slot_bytes(members);
    size_t slots = 16;
    while (slots * 2 * bytes * joining->job->threads <= cache_bytes(joining) && slots < count)
        slots *= 2;
    return slots;
}

static cog_status make_seekers(struct joining *joining, size_t count, cog_error *error) {
    const struct match_list *pairs = &joining->result->pairs;
    const size_t cache_slots = choose_cache_slots(joining, count);
    TAKE_ZEROED(joining->seekers, joining->job->threads, "a join", error);
    for (unsigned i = 0; i < joining->job->threads; i++) {
        struct seeker *seeker = &joining->seekers[i];
        seeker->prefix_rank = NO_RANK;
        match_list_share(&seeker->pairs, pairs->limit, &joining->listed_pairs);
        seeker->pairs.sieve = joining->options->sieve;
        TRY(set_verifier_init(&seeker->verifier, joining->file, cache_slots,
                              cache_bytes(joining) / joining->job->threads, error));
    }
    return COG_OK;
}

/* Moves the results of all threads into the result and frees their buffers. */
static cog_status close_seekers(struct joining *joining, cog_status status, cog_error *error) {
    struct set_join_result *result = joining->result;
    for (unsigned i = 0; joining->seekers && i < joining->job->threads; i++) {
        struct seeker *seeker = &joining->seekers[i];
        THEN(status, match_list_move(&result->pairs, &seeker->pairs, error));
        result->comparisons += seeker->comparisons;
        result->candidates += seeker->verified;
        if (seeker->heavy.documents > result->heavy.documents)
            result->heavy = seeker->heavy;
        match_list_free(&seeker->pairs);
        set_prefix_free(&seeker->prefix);
        set_verifier_free(&seeker->verifier);
        candidates_free(&seeker->candidates);
    }
    free(joining->seekers);
    return status;
}

/* ---- The result ------------------------------------------------------------------------------ */

static cog_status begin_result(struct joining *joining, size_t count, cog_error *error) {
    struct set_join_result *result = joining->result;
    TAKE(result->partner, count, "matches", error);
    TAKE(result->similarity, count, "matches", error);
    if (joining->options->floor > 0)
        TAKE(joining->nearest, count, "matches", error);
    set_rounds_reset(joining, count);
    return COG_OK;
}

/* Each document has been compared with earlier representatives. A representative may also be near
 * later ones, but not near a member of another cluster. Notes go to earlier ranks, which have been
 * passed. */
static void note_later_representatives(struct joining *joining, size_t count) {
    for (uint32_t rank = 0; rank < count; rank++) {
        const uint64_t nearest = joining->nearest[rank];
        const uint32_t bits = (uint32_t)(nearest >> 32);
        float similarity;
        memcpy(&similarity, &bits, sizeof bits);
        if (bits && joining->result->partner[rank] == rank)
            note_nearest(joining, UINT32_MAX - (uint32_t)nearest, rank, (double)similarity);
    }
}

static cog_status end_result(struct joining *joining, size_t count, cog_error *error) {
    struct set_join_result *result = joining->result;
    if (joining->options->mode == SET_JOIN_CONNECTED)
        for (size_t rank = 0; rank < count; rank++) {
            result->partner[rank] = component_of(result->partner, (uint32_t)rank);
            result->similarity[rank] = result->partner[rank] == rank;
        }
    if (!joining->nearest)
        return COG_OK;
    if (joining->options->mode == SET_JOIN_REPRESENTATIVES)
        note_later_representatives(joining, count);
    TAKE(result->nearest, count, "matches", error);
    TAKE(result->nearest_similarity, count, "matches", error);
    for (size_t rank = 0; rank < count; rank++) {
        uint32_t bits = (uint32_t)(joining->nearest[rank] >> 32);
        memcpy(&result->nearest_similarity[rank], &bits, sizeof bits);
        result->nearest[rank] = bits ? UINT32_MAX - (uint32_t)joining->nearest[rank] : NO_RANK;
    }
    return COG_OK;
}

static const char saved_name[] = "result";
enum {
    SAVED_MEMBERS,
    SAVED_LISTED,
    SAVED_COMPARISONS,
    SAVED_CANDIDATES,
    SAVED_ROUNDS,
    SAVED_HEAVY,
    SAVED_NUMBERS = SAVED_HEAVY + 3
};
enum { ARRAY_PARTNER, ARRAY_SIMILARITY, ARRAY_NEAREST, ARRAY_NEAREST_SIMILARITY, ARRAYS };

/* Saves the result and removes the checkpoints that led to it. */
static cog_status save_result(struct joining *joining, size_t count, cog_error *error) {
    const struct set_join_result *result = joining->result;
    const size_t nearest = result->nearest ? count : 0;
    const uint64_t numbers[SAVED_NUMBERS] = {[SAVED_MEMBERS] = result->members,
                                             [SAVED_LISTED] = result->listed,
                                             [SAVED_COMPARISONS] = result->comparisons,
                                             [SAVED_CANDIDATES] = result->candidates,
                                             [SAVED_ROUNDS] = result->rounds,
                                             [SAVED_HEAVY] = result->heavy.member,
                                             [SAVED_HEAVY + 1] = result->heavy.documents,
                                             [SAVED_HEAVY + 2] = result->heavy.rank};
    const struct checkpoint_array arrays[ARRAYS] = {
        [ARRAY_PARTNER] = {result->partner, count * sizeof *result->partner},
        [ARRAY_SIMILARITY] = {result->similarity, count * sizeof *result->similarity},
        [ARRAY_NEAREST] = {result->nearest, nearest * sizeof *result->nearest},
        [ARRAY_NEAREST_SIMILARITY] = {result->nearest_similarity,
                                      nearest * sizeof *result->nearest_similarity}};
    if (!joining->checkpoints.work)
        return COG_OK;
    TRY(join_checkpoint_save(&joining->checkpoints, saved_name, numbers, SAVED_NUMBERS, arrays,
                             ARRAYS, error));
    set_rounds_remove_saved(&joining->checkpoints);
    set_prefixes_remove_saved(&joining->checkpoints);
    return COG_OK;
}

static bool are_ranks(const uint32_t *ranks, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (ranks[i] != NO_RANK && ranks[i] >= count)
            return false;
    return true;
}

static cog_status copy_result(struct joining *joining, size_t count, const struct container *saved,
                              bool *is_whole, cog_error *error) {
    struct set_join_result *result = joining->result;
    if (joining->options->floor > 0) {
        TAKE(result->nearest, count, "matches", error);
        TAKE(result->nearest_similarity, count, "matches", error);
    }
    const size_t nearest = result->nearest ? count : 0;
    *is_whole = join_checkpoint_copy(saved, ARRAY_PARTNER, result->partner,
                                     count * sizeof *result->partner) &&
                join_checkpoint_copy(saved, ARRAY_SIMILARITY, result->similarity,
                                     count * sizeof *result->similarity) &&
                join_checkpoint_copy(saved, ARRAY_NEAREST, result->nearest,
                                     nearest * sizeof *result->nearest) &&
                join_checkpoint_copy(saved, ARRAY_NEAREST_SIMILARITY, result->nearest_similarity,
                                     nearest * sizeof *result->nearest_similarity) &&
                are_ranks(result->partner, count) && are_ranks(result->nearest, nearest);
    if (*is_whole)
        return COG_OK;
    FREE(result->nearest, result->nearest_similarity);
    result->nearest = NULL;
    result->nearest_similarity = NULL;
    set_rounds_reset(joining, count);
    return COG_OK;
}

/* Loads the result of an earlier job. */
static cog_status restore_result(struct joining *joining, size_t count, bool *was_restored,
                                 cog_error *error) {
    struct set_join_result *result = joining->result;
    struct container saved;
    uint64_t numbers[SAVED_NUMBERS];
    if (!join_checkpoint_open(&joining->checkpoints, saved_name, numbers, SAVED_NUMBERS, &saved))
        return COG_OK;
    cog_status status = COG_OK;
    if (numbers[SAVED_HEAVY + 2] < count || numbers[SAVED_HEAVY + 1] == 0)
        status = copy_result(joining, count, &saved, was_restored, error);
    container_close(&saved);
    if (status != COG_OK || !*was_restored)
        return status;
    result->members = numbers[SAVED_MEMBERS];
    result->listed = numbers[SAVED_LISTED];
    result->comparisons = numbers[SAVED_COMPARISONS];
    result->candidates = numbers[SAVED_CANDIDATES];
    result->rounds = numbers[SAVED_ROUNDS];
    result->heavy = (struct heavy_member){numbers[SAVED_HEAVY], numbers[SAVED_HEAVY + 1],
                                          (uint32_t)numbers[SAVED_HEAVY + 2]};
    return COG_OK;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static uint64_t marked_members(const struct set_file *file, const uint8_t *marks) {
    uint64_t members = 0;
    for (size_t row = 0; row < file->row_count; row++)
        if (marks[row])
            members += (uint64_t)file->rows[row].terms + file->rows[row].words;
    return members;
}

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static uint64_t left_of(uint64_t budget, uint64_t taken) {
    return budget == 0 ? UINT64_MAX : budget > taken ? budget - taken : 0;
}

static uint64_t most_counts_bytes(const struct set_join_options *options) {
    return options->memory_bytes ? options->memory_bytes / 4 * 3 : (uint64_t)COUNTS_BYTES_MOST;
}

/* Counts the members of the documents that may have a partner, and clears the marks of the others.
 */
static cog_status make_counts(struct joining *joining, uint8_t *marks, struct member_counts *counts,
                              cog_error *error) {
    const uint64_t most_bytes = most_counts_bytes(joining->options);
    const unsigned threads = joining->job->threads;
    TRY(lone_sets_unmark(joining->file, joining->result->members, &joining->lowest, most_bytes,
                         threads, marks, &joining->result->memory_bytes, error));
    return member_counts_make(counts, marked_members(joining->file, marks), most_bytes,
                              joining->file, marks, threads, &joining->checkpoints, error);
}

static cog_status make_prefixes(struct joining *joining, size_t count, cog_error *error) {
    const struct set_join_options *options = joining->options;
    struct set_join_result *result = joining->result;
    struct member_counts counts = {0};
    uint8_t *marks;
    TAKE_ZEROED(marks, joining->file->row_count, "rows", error);
    for (size_t rank = 0; rank < count; rank++)
        marks[joining->order[rank]] = 1;
    result->members = marked_members(joining->file, marks);
    job_stage(joining->job, "counting");
    const bool are_saved = set_prefixes_are_saved(&joining->checkpoints, joining->file->row_count);
    cog_status status = are_saved ? COG_OK : make_counts(joining, marks, &counts, error);
    job_stage(joining->job, "sorting");
    THEN(status,
         set_prefixes_make(joining->file, are_saved ? NULL : &counts, marks, &joining->lowest,
                           left_of(options->memory_bytes, member_counts_bytes(&counts)) / 4,
                           options->near_path, joining->job->threads, &joining->checkpoints,
                           &joining->prefixes, error));
    if (joining->prefixes)
        result->memory_bytes =
            larger(result->memory_bytes,
                   member_counts_bytes(&counts) + set_prefixes_memory_bytes(joining->prefixes));
    member_counts_free(&counts);
    free(marks);
    return status;
}

/* The cache of candidates: its slots, and the sets in them, whose number only the join will know.
 * Measured on natural and made texts, by Jaccard the sets have about as many members as are listed;
 * by containment, there is a set for about 32 listed members. */
static uint64_t expected_cache_bytes(const struct joining *joining, size_t count) {
    enum { LISTED_PER_SET = 32 };
    const struct set_join_result *result = joining->result;
    const uint64_t slots = choose_cache_slots(joining, count) * joining->job->threads;
    const uint64_t members = joining->options->measure.containment && count
                                 ? result->listed / LISTED_PER_SET * (result->members / count)
                                 : result->listed;
    const uint64_t bytes = slots * set_verifier_slot_bytes(0) + members * sizeof(uint64_t);
    return bytes < cache_bytes(joining) ? bytes : cache_bytes(joining);
}

/* Called before the index is made, which with the cache is most of the memory. */
static void predict(const struct joining *joining, size_t count, uint64_t index_and_prefixes) {
    const struct set_join_options *options = joining->options;
    if (options->predict)
        options->predict(options->predict_context,
                         larger(joining->result->memory_bytes,
                                index_and_prefixes + expected_cache_bytes(joining, count)));
}

static cog_status make_index(struct joining *joining, size_t count, cog_error *error) {
    struct set_join_result *result = joining->result;
    const uint64_t held = set_prefixes_memory_bytes(joining->prefixes);
    const bool has_skips = joining->options->mode == SET_JOIN_CONNECTED;
    const uint64_t left = left_of(joining->options->memory_bytes, held + cache_bytes(joining));
    result->listed = set_prefixes_members(joining->prefixes);
    size_t capacity = set_index_capacity(has_skips ? left / 4 * 3 : left);
    /* Budgets differ slightly from job to job. */
    const size_t saved = set_rounds_saved_postings(&joining->checkpoints);
    if (saved > capacity && saved - capacity <= capacity / 8)
        capacity = saved;
    capacity = capacity < result->listed ? capacity : (size_t)result->listed;
    const uint64_t memory =
        held + set_index_bytes(capacity) + (has_skips ? capacity * sizeof *joining->skips : 0);
    predict(joining, count, memory);
    TRY(set_index_init(&joining->index, capacity, error));
    if (has_skips)
        TAKE(joining->skips, capacity, "posting lists", error);
    result->memory_bytes = larger(result->memory_bytes, memory);
    result->disk_bytes = set_prefixes_disk_bytes(joining->prefixes);
    return COG_OK;
}

/* A hash of the question and of the sets. */
static uint64_t key_of(const struct joining *joining, size_t count) {
    const struct set_join_options *options = joining->options;
    const struct set_file *file = joining->file;
    const double reals[] = {options->measure.threshold, options->floor};
    const uint64_t numbers[] = {options->mode,
                                options->measure.containment,
                                options->reference,
                                options->candidates_most,
                                count,
                                file->size_bytes};
    uint64_t key = hash_pair(hash_bytes(reals, sizeof reals), hash_bytes(numbers, sizeof numbers));
    key = hash_pair(key, hash_bytes(joining->order, count * sizeof *joining->order));
    return hash_pair(key, hash_bytes(file->rows, file->row_count * sizeof *file->rows));
}

static cog_status join_all(struct joining *joining, size_t count, cog_error *error) {
    cog_status status = make_prefixes(joining, count, error);
    THEN(status, make_index(joining, count, error));
    THEN(status, make_seekers(joining, count, error));
    job_stage(joining->job, NULL);
    job_stage(joining->job, "joining");
    THEN(status, set_rounds_run(joining, count, error));
    status = close_seekers(joining, status, error);
    THEN(status, end_result(joining, count, error));
    THEN(status, save_result(joining, count, error));
    job_stage(joining->job, NULL);
    return status;
}

cog_status set_join_run(const struct set_file *file, const uint32_t *order, size_t count,
                        const struct set_join_options *options, struct job *job,
                        struct set_join_result *result, cog_error *error) {
    struct joining joining = {.file = file,
                              .order = order,
                              .options = options,
                              .lowest = options->measure,
                              .candidates_most = UINT32_MAX,
                              .job = job,
                              .result = result};
    bool was_restored = false;
    if (options->floor > 0 && options->floor < options->measure.threshold)
        joining.lowest.threshold = options->floor;
    if (options->candidates_most)
        joining.candidates_most = options->candidates_most;
    const double t = joining.lowest.threshold;
    joining.share = t / (1 + t) * (1 - 1e-9);
    join_checkpoints_begin(&joining.checkpoints, options->work,
                           options->work ? key_of(&joining, count) : 0);
    cog_status status = begin_result(&joining, count, error);
    THEN(status, restore_result(&joining, count, &was_restored, error));
    if (was_restored && options->predict)
        options->predict(options->predict_context, 0);
    else if (!was_restored)
        THEN(status, join_all(&joining, count, error));
    set_index_free(&joining.index);
    set_prefixes_free(joining.prefixes);
    free(joining.skips);
    free(joining.nearest);
    return status;
}

void set_join_report(const struct set_join_result *result, cog_report *report) {
    report_number(report, "terms", (double)result->members);
    report_number(report, "listed_terms", (double)result->listed);
    report_number(report, "comparisons", (double)result->comparisons);
    report_number(report, "candidates", (double)result->candidates);
    report_number(report, "rounds", (double)result->rounds);
}

void set_join_result_free(struct set_join_result *result) {
    FREE(result->partner, result->similarity, result->nearest, result->nearest_similarity);
    match_list_free(&result->pairs);
    *result = (struct set_join_result){0};
}
