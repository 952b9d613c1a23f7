#include "join/sets/set_join.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "join/candidates.h"
#include "join/sets/member_counts.h"
#include "join/sets/set_index.h"
#include "join/sets/set_prefix.h"
#include "join/sets/set_verify.h"

enum {
    BLOCK = 4096, /* ranks that are looked up together */
    GRAIN = 32,
    AHEAD = 8,
    LISTS_AT_ONCE = 8,
    /* Sets of candidates that a join keeps decoded, without a limit; with one, a sixteenth of it.
     */
    CACHE_BYTES = 64 << 20,
    POSTINGS_PER_CANDIDATE = 16,
    NEAREST_CANDIDATES = 256, /* further ones are only compared at the threshold */
    /* Without a limit. With one: three quarters of it at most. */
    COUNTS_BYTES_MOST = 1 << 30
};
#define NO_RANK UINT32_MAX

/* One thread's part. */
struct seeker {
    struct set_prefix prefix;
    struct set_verifier verifier;
    uint32_t prefix_rank; /* whose prefix is loaded */
    struct candidates candidates;
    struct match_list pairs;
    struct heavy_member heavy;
    uint64_t comparisons, verified;
};

/* Jaccard. Let x be the smaller of two partners. They share what two sets of the size of x must
 * share at least, so the first member that they share is even among the first places of x, about
 * half of its prefix: the near places. Postings of near places and of far places are in lists of
 * their own, and two far places are never compared. In a family of documents that lies below the
 * threshold, what its members share is often only in far places. */
static const uint64_t far_lists = 0x5bd1e995c2b2;

struct joining {
    const struct set_file *file;
    const uint32_t *order;
    const struct set_join_options *options;
    struct set_measure lowest; /* the measure at the floor */
    uint64_t candidates_most;
    double share; /* needed overlap per member of both sets, rounded down */
    struct job *job;
    struct set_join_result *result;
    struct set_prefixes *prefixes;
    struct set_index index;
    uint32_t *skips;   /* connected: of a posting, a later one of its list; between them are only
                          postings of its component */
    uint64_t *nearest; /* similarity as bits, then the complement of the rank; atomic */
    struct seeker *seekers;
    const uint32_t *ranks; /* of the block at hand */
    size_t block_first;    /* the first posting of the block at hand */
    size_t listed_pairs;   /* atomic: what the lists of pairs share */
};

static const struct set_row *row_of(const struct joining *joining, uint32_t rank) {
    return &joining->file->rows[joining->order[rank]];
}

/* ---- Components ------------------------------------------------------------------------------ */

/* The first rank of a component; halves the path on the way. Threads may do it at once: a parent
 * only ever moves towards the root. */
static uint32_t component_of(uint32_t *parents, uint32_t rank) {
    for (;;) {
        uint32_t parent = __atomic_load_n(&parents[rank], __ATOMIC_RELAXED);
        uint32_t grand = __atomic_load_n(&parents[parent], __ATOMIC_RELAXED);
        if (parent == grand)
            return parent;
        __atomic_store_n(&parents[rank], grand, __ATOMIC_RELAXED);
        rank = grand;
    }
}

static void connect(uint32_t *parents, uint32_t a, uint32_t b) {
    for (;;) {
        a = component_of(parents, a);
        b = component_of(parents, b);
        if (a == b)
            return;
        uint32_t first = a < b ? a : b, last = a < b ? b : a, expected = last;
        if (__atomic_compare_exchange_n(&parents[last], &expected, first, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return;
    }
}

/* The next posting of the list that may be of another component. */
static uint32_t skip_component(struct joining *joining, uint32_t posting) {
    const struct posting *postings = joining->index.postings;
    uint32_t *parents = joining->result->partner;
    const uint16_t tag = postings[posting].tag;
    const uint32_t component = component_of(parents, postings[posting].rank);
    uint32_t at = __atomic_load_n(&joining->skips[posting], __ATOMIC_RELAXED);
    while (at != POSTING_NONE) {
        if (postings[at].tag != tag)
            at = postings[at].next;
        else if (component_of(parents, postings[at].rank) == component)
            at = __atomic_load_n(&joining->skips[at], __ATOMIC_RELAXED);
        else
            break;
    }
    __atomic_store_n(&joining->skips[posting], at, __ATOMIC_RELAXED);
    return at;
}

/* ---- Verifying ------------------------------------------------------------------------------- */

static cog_status verify(struct joining *joining, struct seeker *seeker, uint32_t other,
                         double *similarity, cog_error *error) {
    const struct set_measure *measure = seeker->verifier.compared < NEAREST_CANDIDATES
                                            ? &joining->lowest
                                            : &joining->options->measure;
    seeker->verified++;
    return set_verifier_compare(&seeker->verifier, joining->order[other], measure, similarity,
                                error);
}

/* Keeps the largest similarity, and of equal ones the smallest rank, whoever comes first. */
static void note_nearest(struct joining *joining, uint32_t rank, uint32_t other,
                         double similarity) {
    float rounded = (float)similarity;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits); /* positive floats are ordered as their bits are */
    uint64_t value = (uint64_t)bits << 32 | (UINT32_MAX - other);
    uint64_t old = __atomic_load_n(&joining->nearest[rank], __ATOMIC_RELAXED);
    while (old < value && !__atomic_compare_exchange_n(&joining->nearest[rank], &old, value, true,
                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static bool notes_nearest(const struct joining *joining, double similarity) {
    return joining->nearest && similarity >= joining->lowest.threshold;
}

/* Takes a verified pair as the mode wants it. *ends: no further candidate is needed. */
static cog_status take_pair(struct joining *joining, struct seeker *seeker, uint32_t rank,
                            uint32_t other, double similarity, bool *ends, cog_error *error) {
    struct set_join_result *result = joining->result;
    if (notes_nearest(joining, similarity)) {
        note_nearest(joining, rank, other, similarity);
        if (similarity < joining->options->measure.threshold &&
            joining->options->mode != SET_JOIN_REPRESENTATIVES)
            note_nearest(joining, other, rank, similarity);
    }
    if (similarity < joining->options->measure.threshold)
        return COG_OK;
    switch (joining->options->mode) {
    case SET_JOIN_CONNECTED:
        connect(result->partner, rank, other);
        break;
    case SET_JOIN_PAIRS:
        return match_list_add(&seeker->pairs, (struct match){other, rank, 0, (float)similarity},
                              error);
    case SET_JOIN_REPRESENTATIVES:
        if (result->partner[rank] == rank || other < result->partner[rank]) {
            result->partner[rank] = other;
            result->similarity[rank] = (float)similarity;
        }
        *ends = !joining->nearest;
    }
    return COG_OK;
}

static cog_status verify_candidates(struct joining *joining, struct seeker *seeker, uint32_t rank,
                                    cog_error *error) {
    struct candidates *candidates = &seeker->candidates;
    cog_status status = COG_OK;
    bool ends = false;
    uint32_t other;
    candidates_order(candidates);
    while (!ends && status == COG_OK && candidates_take(candidates, &other)) {
        double similarity = 0;
        status = verify(joining, seeker, other, &similarity, error);
        THEN(status, take_pair(joining, seeker, rank, other, similarity, &ends, error));
    }
    return status;
}

/* ---- Looking up ------------------------------------------------------------------------------ */

/* The member at a place of the query's set, and what its postings are compared with. */
struct probe {
    uint32_t rank;
    uint64_t member, key; /* the key of its list */
    uint32_t size, place;
    bool of_words, is_prefix;
};

/* Whether a posting's document may match. At the first member that two sets share, in the order of
 * prefixes, they share no more than what is behind it in either. */
static bool may_match(const struct joining *joining, const struct probe *probe,
                      const struct posting *posting) {
    const struct set_row *row = row_of(joining, posting->rank);
    const uint32_t size = probe->of_words ? row->words : row->terms;
    if (probe->of_words && row->terms > 0 && row_of(joining, probe->rank)->terms > 0)
        return false;
    if (joining->lowest.containment)
        return (size <= probe->size && posting->is_prefix) ||
               (probe->size <= size && probe->is_prefix);
    if (posting->place >= size)
        return false; /* a member that the tag does not tell apart */
    const uint32_t mine = probe->size - probe->place, other = size - posting->place;
    return (mine < other ? mine : other) >= joining->share * ((double)probe->size + size);
}

static cog_status meet(struct joining *joining, struct seeker *seeker, const struct probe *probe,
                       const struct posting *posting, cog_error *error) {
    bool is_new, ends;
    double similarity;
    if (!may_match(joining, probe, posting) ||
        joining->order[posting->rank] == joining->order[probe->rank])
        return COG_OK;
    TRY(candidates_add(&seeker->candidates, posting->rank, &is_new, error));
    if (!is_new || joining->options->mode != SET_JOIN_CONNECTED)
        return COG_OK;
    /* At once: after a match, the rest of the component is skipped. */
    TRY(verify(joining, seeker, posting->rank, &similarity, error));
    return take_pair(joining, seeker, probe->rank, posting->rank, similarity, &ends, error);
}

/* The number of near places of a set. For containment all places are near. */
static uint64_t near_places(const struct joining *joining, uint64_t size) {
    return joining->lowest.containment
               ? UINT64_MAX
               : size - set_needed_overlap(&joining->lowest, size, size) + 1;
}

/* A posting list that is being read, from its newest posting to the first of the block (`local`) or
 * to its end. */
struct walk {
    struct probe probe;
    uint64_t steps;
    uint32_t at;
    uint16_t tag;
};

static struct walk walk_of(const struct joining *joining, const struct probe *probe) {
    return (struct walk){.probe = *probe,
                         .at = *set_index_head(&joining->index, probe->key),
                         .tag = set_index_tag(probe->key) & 0x7fff};
}

static void end_walk(struct seeker *seeker, const struct walk *walk) {
    seeker->comparisons += walk->steps;
    if (walk->steps > seeker->heavy.documents)
        seeker->heavy = (struct heavy_member){walk->probe.member, walk->steps, walk->probe.rank};
}

/* Connected, and if there is a limit to candidates: one list after the other. */
static cog_status read_list(struct joining *joining, struct seeker *seeker, struct walk *walk,
                            size_t first, cog_error *error) {
    const struct set_index *index = &joining->index;
    const uint32_t rank = walk->probe.rank;
    const uint64_t most = joining->candidates_most, steps_most = most * POSTINGS_PER_CANDIDATE;
    uint32_t *parents = joining->result->partner;
    while (walk->at != POSTING_NONE && walk->at >= first && seeker->candidates.count < most &&
           walk->steps < steps_most) {
        const struct posting *posting = &index->postings[walk->at];
        if (posting->tag == walk->tag && posting->rank < rank) {
            walk->steps++;
            if (joining->skips &&
                component_of(parents, posting->rank) == component_of(parents, rank)) {
                walk->at = skip_component(joining, walk->at);
                continue;
            }
            TRY(meet(joining, seeker, &walk->probe, posting, error));
        }
        walk->at = posting->next;
    }
    end_walk(seeker, walk);
    return COG_OK;
}

/* A posting of each in turn: the next ones come from memory meanwhile. */
static cog_status read_together(struct joining *joining, struct seeker *seeker, struct walk *walks,
                                size_t count, size_t first, cog_error *error) {
    const struct posting *postings = joining->index.postings;
    while (count > 0)
        for (size_t i = 0; i < count;) {
            struct walk *walk = &walks[i];
            if (walk->at == POSTING_NONE || walk->at < first) {
                end_walk(seeker, walk);
                *walk = walks[--count];
                continue;
            }
            const struct posting *posting = &postings[walk->at];
            walk->at = posting->next;
            if (walk->at != POSTING_NONE)
                __builtin_prefetch(&postings[walk->at]);
            i++;
            if (posting->tag != walk->tag || posting->rank >= walk->probe.rank)
                continue;
            walk->steps++;
            TRY(meet(joining, seeker, &walk->probe, posting, error));
        }
    return COG_OK;
}

static cog_status read_walks(struct joining *joining, struct seeker *seeker, struct walk *walks,
                             size_t *count, bool local, cog_error *error) {
    const size_t first = local ? joining->block_first : 0;
    cog_status status = COG_OK;
    if (!joining->skips && !joining->options->candidates_most)
        status = read_together(joining, seeker, walks, *count, first, error);
    else
        for (size_t i = 0; i < *count && status == COG_OK; i++)
            status = read_list(joining, seeker, &walks[i], first, error);
    *count = 0;
    return status;
}

static cog_status read_lists(struct joining *joining, struct seeker *seeker, uint32_t rank,
                             const struct prefix_part *part, bool of_words, bool is_prefix,
                             bool local, cog_error *error) {
    const struct set_row *row = row_of(joining, rank);
    struct probe probe = {.rank = rank,
                          .size = of_words ? row->words : row->terms,
                          .of_words = of_words,
                          .is_prefix = is_prefix};
    const uint64_t near = part->count ? near_places(joining, probe.size) : 0;
    struct walk walks[LISTS_AT_ONCE];
    size_t count = 0;
    for (uint32_t i = 0; i < part->count; i++) {
        if (i + AHEAD < part->count)
            __builtin_prefetch(set_index_head(&joining->index, part->members[i + AHEAD]));
        probe.member = probe.key = part->members[i];
        probe.place = part->place + i;
        walks[count++] = walk_of(joining, &probe);
        if (probe.place < near && !joining->lowest.containment) {
            probe.key ^= far_lists;
            walks[count++] = walk_of(joining, &probe);
        }
        if (count + 2 > LISTS_AT_ONCE)
            TRY(read_walks(joining, seeker, walks, &count, local, error));
    }
    return read_walks(joining, seeker, walks, &count, local, error);
}

static cog_status load_prefix(const struct joining *joining, struct seeker *seeker, uint32_t rank,
                              cog_error *error) {
    if (seeker->prefix_rank == rank)
        return COG_OK;
    seeker->prefix_rank = NO_RANK;
    TRY(set_prefix_load(joining->prefixes, joining->order[rank], &seeker->prefix, error));
    seeker->prefix_rank = rank;
    return COG_OK;
}

/* Compares a document with what the index has: of the block at hand (`local`), or of earlier
 * ones. */
static cog_status look_up(struct joining *joining, struct seeker *seeker, uint32_t rank, bool local,
                          cog_error *error) {
    const struct set_prefix *prefix = &seeker->prefix;
    set_verifier_begin(&seeker->verifier, joining->order[rank]);
    candidates_clear(&seeker->candidates);
    TRY(load_prefix(joining, seeker, rank, error));
    TRY(read_lists(joining, seeker, rank, &prefix->terms, false, true, local, error));
    TRY(read_lists(joining, seeker, rank, &prefix->words, true, true, local, error));
    /* Inside a collection of falling sizes the smaller document asks, by its prefix. */
    if (joining->options->reference)
        TRY(read_lists(joining, seeker, rank, &prefix->rest, false, false, local, error));
    if (joining->options->mode == SET_JOIN_CONNECTED)
        return COG_OK;
    return verify_candidates(joining, seeker, rank, error);
}

static bool is_done(const struct joining *joining, uint32_t rank) {
    return joining->options->mode == SET_JOIN_REPRESENTATIVES &&
           joining->result->partner[rank] != rank;
}

static cog_status look_up_ranks(void *context, unsigned worker, size_t begin, size_t end,
                                cog_error *error) {
    struct joining *joining = context;
    for (size_t i = begin; i < end; i++)
        if (joining->ranks[i] >= joining->options->reference)
            TRY(look_up(joining, &joining->seekers[worker], joining->ranks[i], false, error));
    return COG_OK;
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

/* One after the other, the documents of a block are compared with those before them in the block
 * (not for pairs, which do not depend on each other), and put into the index if later ones may
 * match them. Those that find no room, and all behind them, are left for the next round. */
static cog_status settle_block(struct joining *joining, const uint32_t *ranks, size_t count,
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

/* The size of the next block: a reference collection is listed before others are looked up. */
static size_t block_size(const struct joining *joining, const uint32_t *pending, size_t left) {
    const size_t reference = joining->options->reference;
    size_t count = left < BLOCK ? left : BLOCK;
    while (pending[0] < reference && pending[count - 1] >= reference)
        count--;
    return count;
}

/* Documents that all rounds together go through, about: if each round lists as many documents as
 * its index holds, R rounds go through R, R - 1, ... and one R-th of them. */
static uint64_t expected_steps(const struct joining *joining, size_t pending_count) {
    const size_t capacity = joining->index.capacity;
    const uint64_t rounds = capacity ? (joining->result->listed + capacity - 1) / capacity : 1;
    return (uint64_t)pending_count * (rounds + 1) / 2;
}

/* *steps: documents that were gone through, of progress->total or more. */
static cog_status run_round(struct joining *joining, uint32_t *pending, size_t *pending_count,
                            struct progress *progress, uint64_t *steps, cog_error *error) {
    const bool finds_pairs = joining->options->mode == SET_JOIN_PAIRS;
    size_t left_count = 0;
    bool full = false;
    set_index_clear(&joining->index);
    joining->result->rounds++;
    for (size_t begin = 0, count; begin < *pending_count; begin += count) {
        uint32_t ranks[BLOCK];
        count = block_size(joining, pending + begin, *pending_count - begin);
        memcpy(ranks, pending + begin, count * sizeof *ranks);
        joining->ranks = ranks;
        job_part(joining->job, *steps, progress->total);
        if (!finds_pairs)
            TRY(parallel_for(joining->job->threads, count, GRAIN, look_up_ranks, joining, error));
        /* What is left moves to the front of `pending`, behind which the block has been read. */
        TRY(settle_block(joining, ranks, count, &full, pending, &left_count, error));
        if (finds_pairs)
            TRY(parallel_for(joining->job->threads, count, GRAIN, look_up_ranks, joining, error));
        *steps += count;
        progress->total = *steps < progress->total ? progress->total : *steps;
        TRY(progress_report(progress, *steps, error));
    }
    *pending_count = full ? left_count : 0;
    return COG_OK;
}

/* A round that lists nothing new would repeat itself: a document larger than the index. */
static cog_status check_room(const struct joining *joining, size_t before, size_t after,
                             cog_error *error) {
    if (after < before || after == 0)
        return COG_OK;
    return error_set(error, COG_ERR_MEMORY,
                     "the posting lists of one document do not fit into the %llu bytes that the "
                     "memory budget leaves for them: raise it",
                     (unsigned long long)set_index_bytes(joining->index.capacity));
}

static cog_status run_rounds(struct joining *joining, size_t count, cog_error *error) {
    struct progress progress;
    uint32_t *pending;
    size_t pending_count = 0;
    uint64_t steps = 0;
    TAKE(pending, count, "documents", error);
    for (size_t rank = 0; rank < count; rank++)
        if (set_prefixes_has(joining->prefixes, joining->order[rank]))
            pending[pending_count++] = (uint32_t)rank;
    progress_start(&progress, &joining->job->run, "joining",
                   expected_steps(joining, pending_count));
    cog_status status = COG_OK;
    while (pending_count > 0 && status == COG_OK) {
        const size_t before = pending_count;
        status = run_round(joining, pending, &pending_count, &progress, &steps, error);
        THEN(status, check_room(joining, before, pending_count, error));
    }
    THEN(status, progress_finish(&progress, error));
    free(pending);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static uint64_t cache_bytes(const struct joining *joining) {
    const uint64_t limit = joining->options->memory_bytes / 16;
    return limit == 0 || limit > CACHE_BYTES ? CACHE_BYTES : limit;
}

/* As many slots as sets of the usual size fit. */
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
        TRY(set_verifier_init(&seeker->verifier, joining->file, cache_slots, error));
    }
    return COG_OK;
}

/* Moves what the threads found into the result, and frees their buffers. */
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

static cog_status begin_result(struct joining *joining, size_t count, cog_error *error) {
    struct set_join_result *result = joining->result;
    TAKE(result->partner, count, "matches", error);
    TAKE(result->similarity, count, "matches", error);
    for (size_t rank = 0; rank < count; rank++) {
        result->partner[rank] = (uint32_t)rank;
        result->similarity[rank] = 1;
    }
    return joining->options->floor > 0 ? TAKEN_ZEROED(joining->nearest, count, "matches", error)
                                       : COG_OK;
}

/* Documents have met earlier representatives. A representative is also near the later ones, but not
 * near what became a member of another cluster. Notes go to earlier ranks, which have been passed.
 */
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

/* Marks the rows of the order, and counts their members. */
static uint64_t mark_rows(const struct joining *joining, size_t count, uint8_t *marks) {
    uint64_t members = 0;
    for (size_t rank = 0; rank < count; rank++) {
        const struct set_row *row = row_of(joining, (uint32_t)rank);
        marks[joining->order[rank]] = 1;
        members += (uint64_t)row->terms + row->words;
    }
    return members;
}

static uint64_t left_of(uint64_t budget, uint64_t taken) {
    return budget == 0 ? UINT64_MAX : budget > taken ? budget - taken : 0;
}

static uint64_t most_counts_bytes(const struct set_join_options *options) {
    return options->memory_bytes ? options->memory_bytes / 4 * 3 : (uint64_t)COUNTS_BYTES_MOST;
}

uint64_t set_join_predict_bytes(const struct set_file *file,
                                const struct set_join_options *options) {
    enum { ROW_BYTES = 9, PREFIX_SHARE = 8 }; /* a fiftieth of the members, 6 bytes each */
    uint64_t members = 0;
    for (size_t row = 0; row < file->row_count; row++)
        members += (uint64_t)file->rows[row].terms + file->rows[row].words;
    const uint64_t counts = member_counts_predict_bytes(members, most_counts_bytes(options));
    const uint64_t filter = options->measure.containment ? members / 8 : 0;
    return counts + filter + members / PREFIX_SHARE + (uint64_t)file->row_count * ROW_BYTES;
}

static cog_status make_prefixes(struct joining *joining, size_t count, cog_error *error) {
    const struct set_join_options *options = joining->options;
    struct set_join_result *result = joining->result;
    struct member_counts counts = {0};
    uint8_t *marks;
    TAKE_ZEROED(marks, joining->file->row_count, "rows", error);
    result->members = mark_rows(joining, count, marks);
    job_stage(joining->job, "counting");
    cog_status status =
        member_counts_init(&counts, result->members, most_counts_bytes(options), error);
    THEN(status,
         member_counts_add_rows(&counts, joining->file, marks, joining->job->threads, error));
    job_stage(joining->job, "sorting");
    THEN(status,
         set_prefixes_make(joining->file, &counts, marks, &joining->lowest,
                           left_of(options->memory_bytes, member_counts_bytes(&counts)) / 4,
                           options->beside, joining->job->threads, &joining->prefixes, error));
    if (joining->prefixes)
        result->memory_bytes =
            member_counts_bytes(&counts) + set_prefixes_memory_bytes(joining->prefixes);
    member_counts_free(&counts);
    free(marks);
    return status;
}

static cog_status make_index(struct joining *joining, cog_error *error) {
    struct set_join_result *result = joining->result;
    const uint64_t held = set_prefixes_memory_bytes(joining->prefixes);
    const bool has_skips = joining->options->mode == SET_JOIN_CONNECTED;
    const uint64_t left = left_of(joining->options->memory_bytes, held + cache_bytes(joining));
    result->listed = set_prefixes_members(joining->prefixes);
    size_t capacity = set_index_capacity(has_skips ? left / 4 * 3 : left);
    capacity = capacity < result->listed ? capacity : (size_t)result->listed;
    TRY(set_index_init(&joining->index, capacity, error));
    if (has_skips)
        TAKE(joining->skips, capacity, "posting lists", error);
    const uint64_t memory = held + set_index_bytes(capacity) + (has_skips ? capacity * 4 : 0);
    result->memory_bytes = memory > result->memory_bytes ? memory : result->memory_bytes;
    result->disk_bytes = set_prefixes_disk_bytes(joining->prefixes);
    return COG_OK;
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
    if (options->floor > 0 && options->floor < options->measure.threshold)
        joining.lowest.threshold = options->floor;
    if (options->candidates_most)
        joining.candidates_most = options->candidates_most;
    const double t = joining.lowest.threshold;
    joining.share = t / (1 + t) * (1 - 1e-9);
    cog_status status = begin_result(&joining, count, error);
    THEN(status, make_prefixes(&joining, count, error));
    THEN(status, make_index(&joining, error));
    THEN(status, make_seekers(&joining, count, error));
    job_stage(job, NULL);
    job_stage(job, "joining");
    THEN(status, run_rounds(&joining, count, error));
    status = close_seekers(&joining, status, error);
    THEN(status, end_result(&joining, count, error));
    job_stage(job, NULL);
    set_index_free(&joining.index);
    set_prefixes_free(joining.prefixes);
    free(joining.skips);
    free(joining.nearest);
    return status;
}

void set_join_result_free(struct set_join_result *result) {
    free(result->partner);
    free(result->similarity);
    free(result->nearest);
    free(result->nearest_similarity);
    match_list_free(&result->pairs);
    *result = (struct set_join_result){0};
}
