#include "join/sets/set_look_up.h"

#include <string.h>

enum {
    AHEAD = 8,
    LISTS_AT_ONCE = 8,
    POSTINGS_PER_CANDIDATE = 16,
    NEAREST_CANDIDATES = 256 /* further candidates are only compared at the threshold */
};

/* ---- Components ------------------------------------------------------------------------------ */

/* The root of a component; halves the path on the way. Safe for concurrent threads: a parent only
 * ever moves towards the root. */
uint32_t component_of(uint32_t *parents, uint32_t rank) {
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

/* The next posting of the list that may belong to another component. */
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

void note_nearest(struct joining *joining, uint32_t rank, uint32_t other, double similarity) {
    float rounded = (float)similarity;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits); /* positive floats are ordered like their bits */
    uint64_t value = (uint64_t)bits << 32 | (UINT32_MAX - other);
    uint64_t old = __atomic_load_n(&joining->nearest[rank], __ATOMIC_RELAXED);
    while (old < value && !__atomic_compare_exchange_n(&joining->nearest[rank], &old, value, true,
                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static bool notes_nearest(const struct joining *joining, double similarity) {
    return joining->nearest && similarity >= joining->lowest.threshold;
}

/* Processes a verified pair as the mode requires. Sets *ends if no further candidate is needed. */
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

/* The member at one place of the query's set, and the data that its postings are compared with. */
struct probe {
    uint32_t rank;
    uint64_t member, key; /* the key of its posting list */
    uint32_t size, place;
    bool of_words, is_prefix;
};

/* Whether a posting's document may match. In prefix order, at the first member that two sets share,
 * they share at most the members after it in either set. */
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
        return false; /* a different member with the same tag */
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
    /* Verify at once: after a match, the rest of the component is skipped. */
    TRY(verify(joining, seeker, posting->rank, &similarity, error));
    return take_pair(joining, seeker, probe->rank, posting->rank, similarity, &ends, error);
}

uint64_t near_places(const struct joining *joining, uint64_t size) {
    return joining->lowest.containment
               ? UINT64_MAX
               : size - set_needed_overlap(&joining->lowest, size, size) + 1;
}

/* A posting list being read, from its newest posting to the first of the block (`local`) or to the
 * end of the list. */
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

/* One list after the other: for connected mode, and if candidates are limited. */
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

/* Reads one posting of each list in turn, to hide memory latency. */
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

cog_status load_prefix(const struct joining *joining, struct seeker *seeker, uint32_t rank,
                       cog_error *error) {
    if (seeker->prefix_rank == rank)
        return COG_OK;
    seeker->prefix_rank = NO_RANK;
    TRY(set_prefix_load(joining->prefixes, joining->order[rank], &seeker->prefix, error));
    seeker->prefix_rank = rank;
    return COG_OK;
}

cog_status look_up(struct joining *joining, struct seeker *seeker, uint32_t rank, bool local,
                   cog_error *error) {
    const struct set_prefix *prefix = &seeker->prefix;
    set_verifier_begin(&seeker->verifier, joining->order[rank]);
    candidates_clear(&seeker->candidates);
    TRY(load_prefix(joining, seeker, rank, error));
    TRY(read_lists(joining, seeker, rank, &prefix->terms, false, true, local, error));
    TRY(read_lists(joining, seeker, rank, &prefix->words, true, true, local, error));
    /* Within a collection of descending sizes the smaller document queries, by its prefix. */
    if (joining->options->reference)
        TRY(read_lists(joining, seeker, rank, &prefix->rest, false, false, local, error));
    if (joining->options->mode == SET_JOIN_CONNECTED)
        return COG_OK;
    return verify_candidates(joining, seeker, rank, error);
}

cog_status look_up_ranks(void *context, unsigned worker, size_t begin, size_t end,
                         cog_error *error) {
    struct joining *joining = context;
    for (size_t i = begin; i < end; i++)
        if (joining->ranks[i] >= joining->options->reference)
            TRY(look_up(joining, &joining->seekers[worker], joining->ranks[i], false, error));
    return COG_OK;
}
