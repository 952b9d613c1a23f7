#include "jobs/pairs/short_pairs.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/strings.h"
#include "join/sets/set_join.h"

/* ---- The rows that are joined ---------------------------------------------------------------- */

/* The rows of a side that are short or may match a short row of the other side; in a self-join, the
 * other side is the same. */
struct short_side {
    uint8_t *marks;
    uint32_t *numbers; /* of the marked rows, ascending; the order of the file of sets */
    size_t count;
    size_t first; /* in the file */
};

struct short_join {
    const struct pair_task *task;
    struct short_side sides[2];
    struct document_sets sets;
    const struct match_sieve *out;
    const char *beside; /* location of scratch files; NULL: in memory, like the terms */
    /* The current part: short rows of `side`, after the rows of the other side. */
    size_t side;
    uint32_t *order;
    size_t reference;
};

/* The number of terms of the largest short row; 0 if there is none. */
static size_t most_terms(const struct pair_task *task, size_t side) {
    const struct corpus *corpus = &task->corpora[side];
    size_t most = 0;
    for (size_t row = 0; row < corpus->rows; row++)
        if (task->short_rows[side][row] && corpus->items[row].term_count > most)
            most = corpus->items[row].term_count;
    return most;
}

/* Marks the rows, except sets too large to match a short row of `most` terms. */
static cog_status mark_rows(struct short_join *join, size_t side, size_t most, cog_error *error) {
    const struct pair_task *task = join->task;
    const struct corpus *corpus = &task->corpora[side];
    struct short_side *rows = &join->sides[side];
    TAKE_ZEROED(rows->marks, corpus->rows + 1, "the partners of short documents", error);
    TAKE(rows->numbers, corpus->rows + 1, "the partners of short documents", error);
    for (size_t row = 0; row < corpus->rows; row++) {
        const double terms = corpus->items[row].term_count;
        rows->marks[row] = task->short_rows[side][row] ||
                           (most > 0 && terms > 0 && pair_task_is_selected(task, side, row) &&
                            terms * task->given_threshold <= (double)most);
        if (rows->marks[row])
            rows->numbers[rows->count++] = (uint32_t)row;
    }
    return COG_OK;
}

/* Reads rows on disk a part at a time. */
static cog_status add_stored(struct short_join *join, size_t side, struct row_store *store,
                             cog_error *error) {
    enum { TERMS_AT_ONCE = 1 << 17 };
    const struct short_side *rows = &join->sides[side];
    const struct corpus *corpus = &join->task->corpora[side];
    cog_status status = COG_OK;
    for (size_t begin = 0, end; begin < rows->count && status == COG_OK; begin = end) {
        struct corpus part = {0};
        size_t terms = 0;
        for (end = begin; end < rows->count && (end == begin || terms < TERMS_AT_ONCE); end++)
            terms += corpus->items[rows->numbers[end]].term_count;
        status = row_store_bags(store, rows->numbers + begin, end - begin, &part, error);
        THEN(status, corpus_add_sets(&part, NULL, &join->sets, error));
        corpus_free(&part);
    }
    return status;
}

static cog_status add_sets(struct short_join *join, struct row_store *const *stores,
                           cog_error *error) {
    TRY(document_sets_open(&join->sets, join->beside, error));
    for (size_t side = 0; side < join->task->sides; side++) {
        struct short_side *rows = &join->sides[side];
        rows->first = join->sets.count;
        TRY(stores ? add_stored(join, side, stores[side], error)
                   : corpus_add_sets(&join->task->corpora[side], rows->marks, &join->sets, error));
    }
    return COG_OK;
}

/* ---- The join -------------------------------------------------------------------------------- */

/* Whether a pair of a short row of `side` and a row of the other side counts: each pair once, and
 * no row with itself. Orders a match that counts: a is the earlier row, or the row of side 0. */
static bool take_pair(const struct pair_task *task, size_t side, struct match *match) {
    const uint8_t *other = task->short_rows[task->sides == 2 ? 1 - side : 0];
    const bool both_short = other[match->b];
    if (task->sides == 2 ? side == 1 && both_short /* found from both sides */
                         : match->a == match->b || (both_short && match->b < match->a))
        return false;
    match->distance = DISTANCE_NONE;
    if (task->sides == 2 ? side == 1 : match->b < match->a)
        *match = (struct match){match->b, match->a, match->distance, match->similarity};
    return true;
}

static uint32_t row_of_rank(const struct short_join *join, size_t side, uint32_t rank) {
    const struct short_side *rows = &join->sides[side];
    return rows->numbers[join->order[rank] - rows->first];
}

/* A match_sieve.keep: converts ranks to rows. */
static cog_status take_batch(void *context, struct match *items, size_t *count, cog_error *error) {
    const struct short_join *join = context;
    const size_t other = join->task->sides == 2 ? 1 - join->side : join->side;
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        struct match match = {row_of_rank(join, join->side, items[i].b),
                              row_of_rank(join, other, items[i].a), 0, items[i].similarity};
        if (take_pair(join->task, join->side, &match))
            items[kept++] = match;
    }
    *count = 0;
    return join->out->keep(join->out->context, items, &kept, error);
}

/* Joins the short rows of one side with the rows of the other. */
static cog_status join_side(struct short_join *join, size_t side, uint64_t memory_bytes,
                            cog_error *error) {
    const struct pair_task *task = join->task;
    const struct short_side *mine = &join->sides[side];
    const struct short_side *others = &join->sides[task->sides == 2 ? 1 - side : side];
    const struct match_sieve sieve = {take_batch, join};
    struct set_join_options options = {.mode = SET_JOIN_PAIRS,
                                       .measure = {false, task->given_threshold},
                                       .sieve = &sieve,
                                       .memory_bytes = memory_bytes,
                                       .beside = join->beside};
    struct set_join_result result = {0};
    struct job job;
    size_t count = 0;
    TAKE(join->order, mine->count + others->count, "short documents", error);
    join->side = side;
    for (size_t i = 0; i < others->count; i++)
        join->order[count++] = (uint32_t)(others->first + i);
    options.reference = count;
    for (size_t i = 0; i < mine->count; i++)
        if (task->short_rows[side][mine->numbers[i]])
            join->order[count++] = (uint32_t)(mine->first + i);
    job_begin(&job, task->run, NULL);
    cog_status status = COG_OK;
    if (options.reference > 0 && count > options.reference)
        status = set_join_run(&join->sets.file, join->order, count, &options, &job, &result, error);
    job_end(&job);
    set_join_result_free(&result);
    free(join->order);
    join->order = NULL;
    return status;
}

static cog_status run(struct short_join *join, struct row_store *const *stores,
                      uint64_t memory_bytes, cog_error *error) {
    const size_t sides = join->task->sides;
    size_t most[2] = {0};
    for (size_t side = 0; side < sides; side++)
        most[side] = most_terms(join->task, side);
    if (most[0] + most[1] == 0)
        return COG_OK;
    for (size_t side = 0; side < sides; side++)
        TRY(mark_rows(join, side, most[sides - 1 - side], error));
    TRY(add_sets(join, stores, error));
    for (size_t side = 0; side < sides; side++)
        TRY(join_side(join, side, memory_bytes, error));
    return COG_OK;
}

static cog_status join_short(const struct pair_task *task, struct row_store *const *stores,
                             uint64_t memory_bytes, const struct match_sieve *out,
                             cog_error *error) {
    struct short_join join = {.task = task, .out = out, .beside = stores ? "-" : NULL};
    cog_status status = run(&join, stores, memory_bytes, error);
    for (size_t side = 0; side < 2; side++) {
        free(join.sides[side].marks);
        free(join.sides[side].numbers);
    }
    document_sets_close(&join.sets);
    return status;
}

struct listing {
    pthread_mutex_t lock;
    struct match_list *matches;
};

/* A match_sieve.keep. */
static cog_status list_batch(void *context, struct match *items, size_t *count, cog_error *error) {
    struct listing *listing = context;
    cog_status status = COG_OK;
    pthread_mutex_lock(&listing->lock);
    for (size_t i = 0; i < *count && status == COG_OK; i++)
        status = match_list_add(listing->matches, items[i], error);
    pthread_mutex_unlock(&listing->lock);
    return status;
}

cog_status short_pairs_join(const struct pair_task *task, struct match_list *matches,
                            cog_error *error) {
    struct listing listing = {PTHREAD_MUTEX_INITIALIZER, matches};
    const struct match_sieve out = {list_batch, &listing};
    const size_t before = matches->count;
    matches->limit = pair_task_max_matches(task);
    cog_status status = join_short(task, NULL, pair_task_set_join_bytes(task), &out, error);
    if (matches->count > before)
        match_list_sort(matches);
    return status;
}

/* A match_sieve.keep. */
static cog_status sort_batch(void *context, struct match *items, size_t *count, cog_error *error) {
    return match_sorter_add(context, items, *count, error);
}

cog_status short_pairs_join_stored(const struct pair_task *task, struct row_store *const stores[2],
                                   uint64_t memory_bytes, struct match_sorter *results,
                                   cog_error *error) {
    const struct match_sieve out = {sort_batch, results};
    return join_short(task, stores, memory_bytes, &out, error);
}

/* ---- One pair -------------------------------------------------------------------------------- */

static bool has_short_row(const struct pair_task *task, uint32_t a, uint32_t b) {
    size_t other = task->sides - 1;
    return task->short_rows[0] && task->short_rows[other] &&
           (task->short_rows[0][a] || task->short_rows[other][b]);
}

static double jaccard_of_bags(const struct pair_task *task, uint32_t a, uint32_t b) {
    struct bag_view x = corpus_bag(&task->corpora[0], a);
    struct bag_view y = corpus_bag(&task->corpora[task->sides - 1], b);
    size_t overlap = 0;
    for (size_t i = 0; i < x.count; i++)
        for (size_t j = 0; j < y.count; j++)
            overlap += x.hashes[i] == y.hashes[j];
    size_t either = x.count + y.count - overlap;
    return either ? (double)overlap / (double)either : 0;
}

double pair_task_listed_similarity(const struct pair_task *task, uint32_t a, uint32_t b) {
    return has_short_row(task, a, b) ? jaccard_of_bags(task, a, b)
                                     : pair_task_similarity(task, a, b);
}
