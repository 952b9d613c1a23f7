/* PPJoin (Xiao, Wang, Lin, Yu, "Efficient similarity joins for near-duplicate detection", WWW 2008)
 * on static lists. The order of members is: those of the row alone first (they are the rarest),
 * then by number.
 *
 * Why it is safe. Let two sets share o members. The first member that they share, in this order,
 * has o - 1 shared ones behind it in both, so it stands at a place (from 0) of |x| - o or less in
 * x, and the same in y. With `least` no larger than any o that x can have with a partner, the first
 * |x| - least + 1 places of x, its prefix, hold that member; unlisted members fill places without
 * ever being shared. Quotients of integers as doubles are monotone in both, so every bound holds
 * for the rounded quotient too: o / |x or y| >= t  and  |x or y| >= |x|              give  o / |x|
 * >= t        (least_overlap) o / |x or y| >= t  and  |x or y| = |x| + |y| - o     give  o >=
 * needed_overlap and |y| >= o bounds the sizes of partners. */
#include "join/jaccard_join.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "join/equal_rows.h"

enum { QUERY_GRAIN = 64 };

struct posting {
    uint32_t entry; /* position in the collection's order of sizes */
    uint32_t place; /* of the member in its set, unlisted ones counted */
};

/* The distinct sets of a collection in rising order of size, those that can match at all. */
struct sized_sets {
    const struct set_collection *sets;
    struct equal_rows groups;
    size_t count;
    struct sized_set *entries;
};

struct sized_set {
    uint32_t size;     /* with unlisted members */
    uint32_t unlisted; /* how many */
    uint32_t group;
    uint32_t listed;
    const uint32_t *members;
};

struct worker {
    uint32_t *counts;       /* an entry; shared members met so far, or DEAD; zero between queries */
    uint32_t *met;          /* entries in the order of their first shared member */
    uint64_t *bits;         /* members of the query; zero between queries */
    uint32_t *needed;       /* overlap needed with a partner of each size from needed_from on */
    uint32_t needed_for;    /* the size of the queries that `needed` is for */
    struct join_part *part; /* borrowed */
};

#define DEAD UINT32_MAX

struct jaccard_join {
    struct join_parts parts;
    struct sized_sets queries, collection; /* queries unused in a self-join */
    bool self;
    double threshold;
    uint64_t *starts; /* member_count + 1 */
    struct posting *postings;
    struct worker *workers; /* one per part */
};

static bool reaches(uint64_t overlap, uint64_t either, double threshold) {
    return (double)overlap / (double)either >= threshold;
}

/* Smallest overlap with overlap / size >= threshold: no partner of a set of this size shares less.
 */
static uint32_t least_overlap(uint32_t size, double threshold) {
    uint32_t overlap = (uint32_t)((double)size * threshold);
    while (overlap > 0 && reaches(overlap - 1, size, threshold))
        overlap--;
    while (!reaches(overlap, size, threshold))
        overlap++;
    return overlap;
}

/* Smallest overlap of sets of x and y members that reaches the threshold, from a guess that is not
 * above it; more than min(x, y) when none does. */
static uint32_t needed_overlap(uint64_t x, uint64_t y, double threshold, uint32_t guess) {
    uint64_t smaller = x < y ? x : y;
    while (guess <= smaller && !reaches(guess, x + y - guess, threshold))
        guess++;
    return guess;
}

/* Places of the prefix that hold listed members. */
static uint32_t listed_prefix(const struct sized_set *set, uint32_t least) {
    if (least > set->listed)
        return 0;
    return set->listed - least + 1; /* |x| - least + 1 places, less the unlisted ones */
}

/* First entry of at least that size. */
static size_t first_of_size(const struct sized_sets *sets, uint64_t size) {
    size_t low = 0, high = sets->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sets->entries[middle].size < size)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Partners of a query: entries [begin, end), of at most largest_size members. */
struct partners {
    size_t begin, end;
    uint32_t smallest_size, largest_size;
};

static struct partners find_partners(const struct jaccard_join *join, const struct sized_set *query,
                                     size_t position) {
    struct partners partners = {.smallest_size = least_overlap(query->size, join->threshold)};
    partners.begin = first_of_size(&join->collection, partners.smallest_size);
    partners.end = position;
    partners.largest_size = query->size;
    if (join->self)
        return partners;
    size_t low = partners.begin, high = join->collection.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint32_t size = join->collection.entries[middle].size;
        if (least_overlap(size, join->threshold) <= query->size)
            low = middle + 1;
        else
            high = middle;
    }
    partners.end = low;
    partners.largest_size = low > 0 ? join->collection.entries[low - 1].size : 0;
    return partners;
}

/* Queries come in order of size, so the table is made once per size. */
static void prepare_needed(const struct jaccard_join *join, struct worker *worker, uint32_t size,
                           const struct partners *partners) {
    if (worker->needed_for == size)
        return;
    uint32_t needed = partners->smallest_size;
    for (uint64_t s = partners->smallest_size; s <= partners->largest_size; s++)
        worker->needed[s] = needed = needed_overlap(size, s, join->threshold, needed);
    worker->needed_for = size;
}

static const struct posting *list_from(const struct posting *begin, const struct posting *end,
                                       size_t entry) {
    while (end - begin > 8) {
        const struct posting *middle = begin + (end - begin) / 2;
        if (middle->entry < entry)
            begin = middle + 1;
        else
            end = middle;
    }
    while (begin < end && begin->entry < entry)
        begin++;
    return begin;
}

/* Counts shared members in both prefixes. After a member at place i of x and j of y, at most
 * min(|x| - i, |y| - j) - 1 more can be shared (the positional filter). */
static size_t meet(const struct jaccard_join *join, struct worker *worker,
                   const struct sized_set *query, const struct partners *partners) {
    uint32_t prefix = listed_prefix(query, partners->smallest_size);
    size_t met = 0;
    for (uint32_t k = 0; k < prefix; k++) {
        uint32_t member = query->members[k], rest = query->listed - k;
        const struct posting *end = join->postings + join->starts[member + 1];
        const struct posting *p =
            list_from(join->postings + join->starts[member], end, partners->begin);
        for (; p < end && p->entry < partners->end; p++) {
            uint32_t size = join->collection.entries[p->entry].size;
            uint32_t *count = &worker->counts[p->entry], rest_there = size - p->place;
            worker->met[met] = p->entry;
            met += *count == 0;
            worker->part->work.postings++;
            uint32_t most = *count + (rest < rest_there ? rest : rest_there);
            *count = *count == DEAD || most < worker->needed[size] ? DEAD : *count + 1;
        }
    }
    return met;
}

/* |x and y| with x in bits, or less than needed when it cannot be reached: after each run of
 * members the ones that y has and x has not may not exceed |y| - needed. */
static uint32_t count_shared(const uint64_t *bits, const struct sized_set *set, uint32_t needed) {
    enum { RUN = 16 };
    uint32_t shared = 0, done = 0;
    while (done < set->listed) {
        uint32_t end = set->listed - done < RUN ? set->listed : done + RUN;
        for (; done < end; done++) {
            uint32_t member = set->members[done];
            shared += (uint32_t)(bits[member / 64] >> (member % 64)) & 1;
        }
        if (shared + (set->listed - done) < needed)
            return shared;
    }
    return shared;
}

static cog_status verify(const struct jaccard_join *join, struct worker *worker,
                         const struct sized_set *query, const struct sized_set *other,
                         cog_error *error) {
    const struct equal_rows *groups = &join->collection.groups;
    uint32_t shared = count_shared(worker->bits, other, worker->needed[other->size]);
    worker->part->work.verified++;
    if (shared < worker->needed[other->size])
        return COG_OK;
    double either = (double)((uint64_t)query->size + other->size - shared);
    return equal_rows_match(join->self ? groups : &join->queries.groups, query->group, groups,
                            other->group, join->self, (double)shared / either,
                            &worker->part->matches, error);
}

static cog_status run_query(const struct jaccard_join *join, struct worker *worker,
                            const struct sized_set *query, size_t position, cog_error *error) {
    struct partners partners = find_partners(join, query, position);
    prepare_needed(join, worker, query->size, &partners);
    size_t met = meet(join, worker, query, &partners), kept = 0;
    worker->part->work.candidates += met;
    for (size_t i = 0; i < met; i++) {
        uint32_t entry = worker->met[i];
        worker->met[kept] = entry;
        kept += worker->counts[entry] != DEAD;
        worker->counts[entry] = 0;
    }
    if (kept == 0)
        return COG_OK;
    for (uint32_t k = 0; k < query->listed; k++)
        worker->bits[query->members[k] / 64] |= (uint64_t)1 << (query->members[k] % 64);
    cog_status status = COG_OK;
    for (size_t i = 0; i < kept && status == COG_OK; i++)
        status = verify(join, worker, query, &join->collection.entries[worker->met[i]], error);
    for (uint32_t k = 0; k < query->listed; k++)
        worker->bits[query->members[k] / 64] = 0;
    return status;
}

static cog_status run_queries(void *context, unsigned number, size_t begin, size_t end,
                              cog_error *error) {
    struct jaccard_join *join = context;
    const struct sized_sets *queries = join->self ? &join->collection : &join->queries;
    cog_status status = COG_OK;
    for (size_t i = begin; i < end && status == COG_OK; i++)
        status = run_query(join, &join->workers[number], &queries->entries[i], i, error);
    return status;
}

static int by_size(const void *x, const void *y) {
    const struct sized_set *p = x, *q = y;
    if (p->size != q->size)
        return p->size < q->size ? -1 : 1;
    return (p->group > q->group) - (p->group < q->group);
}

/* A set with fewer listed members than it must share matches nothing and is left out. */
static cog_status size_sets(const struct set_collection *sets, double threshold,
                            struct sized_sets *sized, cog_error *error) {
    struct row_bytes source = {sets->rows, sets->offsets, sets->members, NULL, sets->sizes};
    TRY(equal_rows_build(&source, &sized->groups, error));
    sized->sets = sets;
    TAKE(sized->entries, sized->groups.count + 1, "a Jaccard join", error);
    for (size_t g = 0; g < sized->groups.count; g++) {
        uint32_t row = equal_rows_first(&sized->groups, g), size = sets->sizes[row];
        uint32_t listed = (uint32_t)(sets->offsets[row + 1] - sets->offsets[row]);
        if (least_overlap(size, threshold) <= listed)
            sized->entries[sized->count++] = (struct sized_set){
                size, size - listed, (uint32_t)g, listed, sets->members + sets->offsets[row]};
    }
    qsort(sized->entries, sized->count, sizeof *sized->entries, by_size);
    return COG_OK;
}

/* What an indexed set shares with any partner: in a self-join partners are at least as large. */
static uint32_t index_prefix(const struct jaccard_join *join, const struct sized_set *set) {
    uint32_t least = least_overlap(set->size, join->threshold);
    if (join->self)
        least = needed_overlap(set->size, set->size, join->threshold, least);
    return listed_prefix(set, least);
}

static cog_status build_index(struct jaccard_join *join, cog_error *error) {
    const struct sized_sets *sets = &join->collection;
    size_t members = sets->sets->member_count;
    TAKE_ZEROED(join->starts, members + 2, "an inverted index", error);
    for (size_t i = 0; i < sets->count; i++) {
        uint32_t prefix = index_prefix(join, &sets->entries[i]);
        for (uint32_t k = 0; k < prefix; k++)
            join->starts[sets->entries[i].members[k] + 2]++;
    }
    for (size_t m = 0; m < members; m++)
        join->starts[m + 2] += join->starts[m + 1];
    size_t count = (size_t)join->starts[members + 1];
    TAKE(join->postings, count + 1, "an inverted index", error);
    for (size_t i = 0; i < sets->count; i++) {
        const struct sized_set *set = &sets->entries[i];
        uint32_t prefix = index_prefix(join, set);
        for (uint32_t k = 0; k < prefix; k++)
            join->postings[join->starts[set->members[k] + 1]++] =
                (struct posting){(uint32_t)i, set->unlisted + k};
    }
    return COG_OK;
}

static size_t worker_memory_bytes(size_t rows, size_t members, size_t largest_size) {
    return sizeof(struct worker) + (2 * rows + 2) * sizeof(uint32_t) + (members / 64 + 1) * 8 +
           (largest_size + 1) * sizeof(uint32_t);
}

static cog_status make_workers(struct jaccard_join *join, cog_error *error) {
    const struct sized_sets *sets = &join->collection;
    size_t largest = sets->count ? sets->entries[sets->count - 1].size : 0;
    size_t words = sets->sets->member_count / 64 + 1;
    join->workers = memory_zeroed_array(join->parts.threads, sizeof *join->workers);
    bool enough = join->workers != NULL;
    for (unsigned i = 0; enough && i < join->parts.threads; i++) {
        struct worker *worker = &join->workers[i];
        worker->counts = memory_zeroed_array(sets->count + 1, sizeof *worker->counts);
        worker->met = memory_array(sets->count + 1, sizeof *worker->met);
        worker->bits = memory_zeroed_array(words, sizeof *worker->bits);
        worker->needed = memory_array(largest + 1, sizeof *worker->needed);
        worker->part = &join->parts.items[i];
        enough = worker->counts && worker->met && worker->bits && worker->needed;
    }
    size_t size_bytes =
        join->parts.threads * worker_memory_bytes(sets->count, sets->sets->member_count, largest);
    return enough ? COG_OK : error_memory(error, size_bytes, "a Jaccard join");
}

/* Rows of a group list the same members; their other members no other row has. */
static cog_status match_within_groups(struct jaccard_join *join, struct match_list *matches,
                                      cog_error *error) {
    cog_status status = COG_OK;
    for (size_t i = 0; i < join->collection.count && status == COG_OK; i++) {
        const struct sized_set *set = &join->collection.entries[i];
        uint64_t either = 2 * (uint64_t)set->size - set->listed;
        if (reaches(set->listed, either, join->threshold))
            status = equal_rows_match_within(&join->collection.groups, set->group,
                                             (double)set->listed / (double)either, matches, error);
    }
    return status;
}

static cog_status run_join(struct jaccard_join *join, cog_error *error) {
    TRY(build_index(join, error));
    TRY(make_workers(join, error));
    TRY(parallel_for(join->parts.threads, join->self ? join->collection.count : join->queries.count,
                     QUERY_GRAIN, run_queries, join, error));
    return join->self ? match_within_groups(join, &join->parts.items[0].matches, error) : COG_OK;
}

static void free_join(struct jaccard_join *join) {
    for (unsigned i = 0; join->workers && i < join->parts.threads; i++) {
        struct worker *worker = &join->workers[i];
        free(worker->counts);
        free(worker->met);
        free(worker->bits);
        free(worker->needed);
    }
    free(join->workers);
    free(join->starts);
    free(join->postings);
    free(join->queries.entries);
    free(join->collection.entries);
    equal_rows_free(&join->queries.groups);
    equal_rows_free(&join->collection.groups);
}

cog_status jaccard_join(const struct set_collection *a, const struct set_collection *b,
                        const struct join_options *options, struct match_list *matches,
                        cog_error *error) {
    struct jaccard_join join = {.self = b == NULL, .threshold = options->threshold};
    if (b && a->member_count != b->member_count)
        return error_set(error, COG_ERR_USAGE,
                         "sets of %u and of %u members cannot be joined: number both sides' "
                         "members together",
                         a->member_count, b->member_count);
    cog_status status = join_start(&join.parts, options, error);
    if (status == COG_OK && b)
        status = size_sets(a, options->threshold, &join.queries, error);
    THEN(status, size_sets(b ? b : a, options->threshold, &join.collection, error));
    THEN(status, run_join(&join, error));
    free_join(&join);
    return join_finish(&join.parts, options, status, matches, error);
}
