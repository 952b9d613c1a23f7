#include "join/sets/set_rounds.h"

#include <string.h>

#include "base/threads.h"

enum {
    BLOCK = 4096, /* ranks looked up together */
    GRAIN = 32,
    AHEAD = 8
};

/* The state of the rounds. */
struct rounds {
    size_t count;                /* documents of the join */
    uint32_t *pending;           /* the ranks of the round, ascending */
    size_t pending_count, begin; /* `begin`: the first rank not reached yet */
    size_t round_count;          /* documents at the beginning of the round */
    size_t left_count;           /* at the front of `pending`: the documents of the next round */
    bool is_full;                /* the index has no room for more documents */
    uint64_t steps;              /* documents processed in all rounds */
};

void set_rounds_reset(struct joining *joining, size_t count) {
    struct set_join_result *result = joining->result;
    for (size_t rank = 0; rank < count; rank++) {
        result->partner[rank] = (uint32_t)rank;
        result->similarity[rank] = 1;
        if (joining->nearest)
            joining->nearest[rank] = 0;
    }
    result->rounds = result->comparisons = result->candidates = 0;
    result->heavy = (struct heavy_member){0};
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

static size_t prefix_members(const struct set_prefix *prefix) {
    return (size_t)prefix->terms.count + prefix->words.count + prefix->rest.count;
}

static void add_part(struct joining *joining, uint32_t rank, const struct prefix_part *part,
                     uint32_t size, bool is_prefix) {
    const uint64_t near = part->count ? near_places(joining, size) : 0;
    for (uint32_t i = 0; i < part->count; i++) {
        if (i + AHEAD < part->count)
            __builtin_prefetch(set_index_head(&joining->index, part->members[i + AHEAD]), 1);
        const uint32_t place = part->place + i;
        const uint64_t member = part->members[i] ^ (place < near ? 0 : far_lists);
        set_index_add(&joining->index, member, rank, place, is_prefix);
        const size_t posting = joining->index.count - 1;
        if (joining->skips)
            joining->skips[posting] = joining->index.postings[posting].next;
    }
}

/* False if the index is full. */
static bool add_document(struct joining *joining, uint32_t rank, const struct set_prefix *prefix) {
    struct set_index *index = &joining->index;
    if (index->capacity - index->count < prefix_members(prefix))
        return false;
    const struct set_row *row = row_of(joining, rank);
    add_part(joining, rank, &prefix->terms, row->terms, true);
    add_part(joining, rank, &prefix->words, row->words, true);
    add_part(joining, rank, &prefix->rest, row->terms, false);
    return true;
}

/* Compares the documents of a block one by one with earlier ones of the block (not for pairs, which
 * are independent), and adds them to the index if later documents may match them. Documents that
 * find no room, and all after them, are left for the next round. */
static cog_status decide_block(struct joining *joining, const uint32_t *ranks, size_t count,
                               bool *full, uint32_t *left, size_t *left_count, cog_error *error) {
    struct seeker *seeker = &joining->seekers[0];
    const size_t reference = joining->options->reference;
    const bool finds_pairs = joining->options->mode == SET_JOIN_PAIRS;
    joining->block_first = joining->index.count;
    for (size_t i = 0; i < count; i++) {
        const uint32_t rank = ranks[i];
        const bool looks = rank >= reference && !finds_pairs,
                   is_listed = reference == 0 || rank < reference;
        if (looks && is_listed && (!is_done(joining, rank) || joining->nearest))
            TRY(look_up(joining, seeker, rank, true, error));
        if (is_done(joining, rank) && !joining->nearest)
            continue;
        if (is_done(joining, rank) || !is_listed) { /* the next rounds list others */
            left[(*left_count)++] = rank;
            continue;
        }
        TRY(load_prefix(joining, seeker, rank, error));
        *full = *full || !add_document(joining, rank, &seeker->prefix);
        if (*full)
            left[(*left_count)++] = rank;
    }
    return COG_OK;
}

/* ---- Checkpoints ----------------------------------------------------------------------------- */

static const char saved_name[] = "rounds";
enum {
    SAVED_STEPS,
    SAVED_ROUND_COUNT,
    SAVED_FULL,
    SAVED_ROUNDS,
    SAVED_COMPARISONS,
    SAVED_CANDIDATES,
    SAVED_POSTINGS,
    SAVED_HEAVY,
    SAVED_NUMBERS = SAVED_HEAVY + 3
};
enum {
    ARRAY_LEFT,
    ARRAY_REST,
    ARRAY_LISTED,
    ARRAY_PARTNER,
    ARRAY_SIMILARITY,
    ARRAY_NEAREST,
    ARRAYS
};

/* The documents of the index, in the order in which they were listed; free() *ranks. */
static cog_status list_ranks(const struct set_index *index, uint32_t **ranks, size_t *count,
                             cog_error *error) {
    *count = 0;
    for (size_t i = 0; i < index->count; i++)
        *count += i == 0 || index->postings[i].rank != index->postings[i - 1].rank;
    TAKE(*ranks, *count, "documents", error);
    *count = 0;
    for (size_t i = 0; i < index->count; i++)
        if (i == 0 || index->postings[i].rank != index->postings[i - 1].rank)
            (*ranks)[(*count)++] = index->postings[i].rank;
    return COG_OK;
}

static void count_work(const struct joining *joining, uint64_t numbers[SAVED_NUMBERS]) {
    const struct set_join_result *result = joining->result;
    struct heavy_member heavy = result->heavy;
    numbers[SAVED_COMPARISONS] = result->comparisons;
    numbers[SAVED_CANDIDATES] = result->candidates;
    for (unsigned i = 0; i < joining->job->threads; i++) {
        const struct seeker *seeker = &joining->seekers[i];
        numbers[SAVED_COMPARISONS] += seeker->comparisons;
        numbers[SAVED_CANDIDATES] += seeker->verified;
        if (seeker->heavy.documents > heavy.documents)
            heavy = seeker->heavy;
    }
    numbers[SAVED_HEAVY] = heavy.member;
    numbers[SAVED_HEAVY + 1] = heavy.documents;
    numbers[SAVED_HEAVY + 2] = heavy.rank;
}

static cog_status save(struct joining *joining, const struct rounds *rounds, cog_error *error) {
    const struct set_join_result *result = joining->result;
    const size_t rank_bytes = sizeof *rounds->pending, all = rounds->count;
    uint64_t numbers[SAVED_NUMBERS] = {[SAVED_STEPS] = rounds->steps,
                                       [SAVED_ROUND_COUNT] = rounds->round_count,
                                       [SAVED_FULL] = rounds->is_full,
                                       [SAVED_ROUNDS] = result->rounds,
                                       [SAVED_POSTINGS] = joining->index.count};
    uint32_t *listed;
    size_t listed_count;
    count_work(joining, numbers);
    TRY(set_prefixes_save(joining->prefixes, &joining->checkpoints, error));
    TRY(list_ranks(&joining->index, &listed, &listed_count, error));
    const struct checkpoint_array arrays[ARRAYS] = {
        [ARRAY_LEFT] = {rounds->pending, rounds->left_count * rank_bytes},
        [ARRAY_REST] = {rounds->pending + rounds->begin,
                        (rounds->pending_count - rounds->begin) * rank_bytes},
        [ARRAY_LISTED] = {listed, listed_count * rank_bytes},
        [ARRAY_PARTNER] = {result->partner, all * sizeof *result->partner},
        [ARRAY_SIMILARITY] = {result->similarity, all * sizeof *result->similarity},
        [ARRAY_NEAREST] = {joining->nearest,
                           joining->nearest ? all * sizeof *joining->nearest : 0}};
    cog_status status = join_checkpoint_save(&joining->checkpoints, saved_name, numbers,
                                             SAVED_NUMBERS, arrays, ARRAYS, error);
    free(listed);
    return status;
}

size_t set_rounds_saved_postings(const struct join_checkpoints *checkpoints) {
    struct container saved;
    uint64_t numbers[SAVED_NUMBERS];
    if (!join_checkpoint_open(checkpoints, saved_name, numbers, SAVED_NUMBERS, &saved))
        return 0;
    container_close(&saved);
    return (size_t)numbers[SAVED_POSTINGS];
}

void set_rounds_remove_saved(const struct join_checkpoints *checkpoints) {
    join_checkpoint_remove(checkpoints, saved_name);
}

/* Whether the ranks are ascending, like those of `pending`, and below `count`. */
static bool are_ranks(const uint32_t *ranks, size_t ranks_count, size_t count) {
    for (size_t i = 0; i < ranks_count; i++)
        if (ranks[i] >= count || (i > 0 && ranks[i] <= ranks[i - 1]))
            return false;
    return true;
}

/* Restores `pending`: the ranks left for the next round, then the ranks not reached yet, which
 * start at least a block later. */
static bool take_pending(struct rounds *rounds, const struct container *saved) {
    const size_t rank_bytes = sizeof *rounds->pending;
    const size_t left = join_checkpoint_size(saved, ARRAY_LEFT) / rank_bytes;
    const size_t rest = join_checkpoint_size(saved, ARRAY_REST) / rank_bytes;
    if (left > rounds->count || rest > rounds->count - left)
        return false;
    rounds->left_count = rounds->begin = left;
    rounds->pending_count = left + rest;
    return join_checkpoint_copy(saved, ARRAY_LEFT, rounds->pending, left * rank_bytes) &&
           join_checkpoint_copy(saved, ARRAY_REST, rounds->pending + left, rest * rank_bytes) &&
           are_ranks(rounds->pending, left, rounds->count) &&
           are_ranks(rounds->pending + left, rest, rounds->count);
}

static bool take_result(struct joining *joining, size_t count, const struct container *saved,
                        const uint64_t numbers[SAVED_NUMBERS]) {
    struct set_join_result *result = joining->result;
    if (!join_checkpoint_copy(saved, ARRAY_PARTNER, result->partner,
                              count * sizeof *result->partner) ||
        !join_checkpoint_copy(saved, ARRAY_SIMILARITY, result->similarity,
                              count * sizeof *result->similarity) ||
        !join_checkpoint_copy(saved, ARRAY_NEAREST, joining->nearest,
                              joining->nearest ? count * sizeof *joining->nearest : 0))
        return false;
    for (size_t rank = 0; rank < count; rank++)
        if (result->partner[rank] > rank)
            return false;
    result->rounds = numbers[SAVED_ROUNDS];
    result->comparisons = numbers[SAVED_COMPARISONS];
    result->candidates = numbers[SAVED_CANDIDATES];
    result->heavy = (struct heavy_member){numbers[SAVED_HEAVY], numbers[SAVED_HEAVY + 1],
                                          (uint32_t)numbers[SAVED_HEAVY + 2]};
    return result->heavy.rank < count;
}

/* Adds the documents that the round had listed to the index again. *fits is false if it has no
 * room. */
static cog_status list_again(struct joining *joining, size_t count, const struct container *saved,
                             bool *fits, cog_error *error) {
    const size_t listed_count = join_checkpoint_size(saved, ARRAY_LISTED) / sizeof(uint32_t);
    uint32_t *listed;
    TAKE(listed, listed_count, "documents", error);
    *fits = join_checkpoint_copy(saved, ARRAY_LISTED, listed, listed_count * sizeof *listed) &&
            are_ranks(listed, listed_count, count);
    cog_status status = COG_OK;
    set_index_clear(&joining->index);
    for (size_t i = 0; i < listed_count && *fits && status == COG_OK; i++) {
        status = load_prefix(joining, &joining->seekers[0], listed[i], error);
        *fits = status == COG_OK && add_document(joining, listed[i], &joining->seekers[0].prefix);
    }
    free(listed);
    return status;
}

/* Continues where an earlier job stopped. */
static cog_status restore(struct joining *joining, struct rounds *rounds, bool *was_restored,
                          cog_error *error) {
    struct container saved;
    uint64_t numbers[SAVED_NUMBERS];
    if (!join_checkpoint_open(&joining->checkpoints, saved_name, numbers, SAVED_NUMBERS, &saved))
        return COG_OK;
    cog_status status = COG_OK;
    *was_restored =
        take_pending(rounds, &saved) && take_result(joining, rounds->count, &saved, numbers);
    if (*was_restored)
        status = list_again(joining, rounds->count, &saved, was_restored, error);
    container_close(&saved);
    rounds->steps = numbers[SAVED_STEPS];
    rounds->round_count = (size_t)numbers[SAVED_ROUND_COUNT];
    rounds->is_full = numbers[SAVED_FULL] != 0;
    if (!*was_restored) {
        set_rounds_reset(joining, rounds->count);
        *rounds = (struct rounds){.pending = rounds->pending, .count = rounds->count};
    }
    return status;
}

/* ---- Running --------------------------------------------------------------------------------- */

/* The size of the next block: a reference collection is listed before others are looked up. */
static size_t block_size(const struct joining *joining, const uint32_t *pending, size_t left) {
    const size_t reference = joining->options->reference;
    size_t count = left < BLOCK ? left : BLOCK;
    while (pending[0] < reference && pending[count - 1] >= reference)
        count--;
    return count;
}

/* The approximate number of documents processed by all rounds together: if each round lists as many
 * documents as its index holds, R rounds process R, R - 1, ... and one R-th of them. */
static uint64_t expected_steps(const struct joining *joining, size_t pending_count) {
    const size_t capacity = joining->index.capacity;
    const uint64_t rounds = capacity ? (joining->result->listed + capacity - 1) / capacity : 1;
    return (uint64_t)pending_count * (rounds + 1) / 2;
}

static cog_status run_block(struct joining *joining, struct rounds *rounds, cog_error *error) {
    const bool finds_pairs = joining->options->mode == SET_JOIN_PAIRS;
    uint32_t ranks[BLOCK];
    const size_t count =
        block_size(joining, rounds->pending + rounds->begin, rounds->pending_count - rounds->begin);
    memcpy(ranks, rounds->pending + rounds->begin, count * sizeof *ranks);
    joining->ranks = ranks;
    if (!finds_pairs)
        TRY(parallel_for(joining->job->threads, count, GRAIN, look_up_ranks, joining, error));
    /* Ranks left over move to the front of `pending`; the block has been read beyond that point. */
    TRY(decide_block(joining, ranks, count, &rounds->is_full, rounds->pending, &rounds->left_count,
                     error));
    if (finds_pairs)
        TRY(parallel_for(joining->job->threads, count, GRAIN, look_up_ranks, joining, error));
    rounds->begin += count;
    rounds->steps += count;
    return COG_OK;
}

/* Runs a round to its end from its current state. */
static cog_status run_round(struct joining *joining, struct rounds *rounds,
                            struct progress *progress, cog_error *error) {
    while (rounds->begin < rounds->pending_count) {
        job_part(joining->job, rounds->steps, progress->total);
        TRY(run_block(joining, rounds, error));
        progress->total = rounds->steps < progress->total ? progress->total : rounds->steps;
        TRY(progress_report(progress, rounds->steps, error));
        if (join_checkpoints_are_due(&joining->checkpoints))
            TRY(save(joining, rounds, error));
    }
    return COG_OK;
}

/* Starts the next round with what this one left. */
static void begin_round(struct joining *joining, struct rounds *rounds) {
    set_index_clear(&joining->index);
    joining->result->rounds++;
    rounds->begin = rounds->left_count = 0;
    rounds->round_count = rounds->pending_count;
    rounds->is_full = false;
}

/* A round that lists nothing new would repeat forever: a document does not fit into the index. */
static cog_status check_room(const struct joining *joining, size_t before, size_t after,
                             cog_error *error) {
    if (after < before || after == 0)
        return COG_OK;
    return error_set(error, COG_ERR_MEMORY,
                     "the posting lists of one document do not fit into the %llu bytes that the "
                     "memory budget leaves for them: raise it",
                     (unsigned long long)set_index_bytes(joining->index.capacity));
}

/* Puts the documents that have anything to look up into the first round. */
static void begin_rounds(struct joining *joining, struct rounds *rounds) {
    for (size_t rank = 0; rank < rounds->count; rank++)
        if (set_prefixes_has(joining->prefixes, joining->order[rank]))
            rounds->pending[rounds->pending_count++] = (uint32_t)rank;
    begin_round(joining, rounds);
}

static cog_status run_all(struct joining *joining, struct rounds *rounds, cog_error *error) {
    struct progress progress;
    bool was_restored = false;
    TRY(restore(joining, rounds, &was_restored, error));
    if (!was_restored)
        begin_rounds(joining, rounds);
    progress_start(&progress, &joining->job->run, "joining",
                   expected_steps(joining, rounds->pending_count));
    while (rounds->pending_count > 0) {
        TRY(run_round(joining, rounds, &progress, error));
        rounds->pending_count = rounds->is_full ? rounds->left_count : 0;
        TRY(check_room(joining, rounds->round_count, rounds->pending_count, error));
        if (rounds->pending_count)
            begin_round(joining, rounds);
    }
    return progress_finish(&progress, error);
}

cog_status set_rounds_run(struct joining *joining, size_t count, cog_error *error) {
    struct rounds rounds = {.count = count};
    TAKE(rounds.pending, count, "documents", error);
    cog_status status = run_all(joining, &rounds, error);
    free(rounds.pending);
    return status;
}
