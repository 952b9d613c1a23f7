#include "search/slices/slices_search.h"

#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "hamming/hamming.h"
#include "search/hits/query_batch.h"

enum {
    POSTINGS_AHEAD = 16, /* lists */
    LINE_ROWS = 16,      /* row numbers in a cache line */
    /* Looking at and clearing this many rows costs what following one posting does. */
    ROWS_PER_POSTING = 64,
    CANDIDATES_PER_VERIFIED = 4, /* expected by chance; the best are verified */
    SCAN_ROWS = 4096,            /* scanned at a time */
};

/* Costs that decide between lists and a scan, in picoseconds: what one list, one posting and one
 * byte of signatures took on server processors. Only speed depends on them. */
enum { LIST_COST_PS = 15000, POSTING_COST_PS = 1500, SCAN_BYTE_COST_PS = 80 };

/* ---- Scores ---------------------------------------------------------------------------------- */

cog_status slice_scores_init(struct slice_scores *scores, size_t rows, unsigned slices,
                             cog_error *error) {
    size_t slots = SCORE_BLOCK;
    while (slots < rows)
        slots *= 2;
    scores->rows = rows;
    scores->saturates = slices > SLICE_SCORE_MAX;
    scores->collect = score_collect_for(cpu_best_level());
    scores->mask = slots - 1;
    scores->scores = memory_large(slots);
    scores->candidates = memory_array(slots + 1, sizeof *scores->candidates);
    if (scores->scores && scores->candidates)
        return COG_OK;
    slice_scores_free(scores);
    return error_memory(error, slots * 5, "the scores of a query");
}

void slice_scores_free(struct slice_scores *scores) {
    if (scores->scores)
        memory_large_free(scores->scores, scores->mask + 1);
    free(scores->candidates);
    *scores = (struct slice_scores){0};
}

/* What the loop does in addition to adding: constants of each of its copies. Collecting costs a
 * third of the time of adding alone, saturating a tenth. */
enum score_mode {
    SCORE_ADMITS = 1,    /* rows that have no score yet get one */
    SCORE_SATURATES = 2, /* sums may pass the highest score */
    SCORE_COLLECTS = 4,  /* rows that reach the threshold become candidates at once */
};

static inline __attribute__((always_inline)) void add_lists(struct slice_scores *scores,
                                                            const struct slice_list *lists,
                                                            size_t count, unsigned threshold,
                                                            unsigned mode) {
    size_t mask = scores->mask, found = scores->candidate_count;
    uint8_t *values = scores->scores; /* bytes alias everything: the loop needs locals */
    for (size_t l = 0; l < count; l++) {
        if (l + POSTINGS_AHEAD < count) {
            __builtin_prefetch(lists[l + POSTINGS_AHEAD].at);
            __builtin_prefetch(lists[l + POSTINGS_AHEAD].at + LINE_ROWS);
        }
        const uint32_t *rows = lists[l].at;
        for (size_t i = 0, end = lists[l].count; i < end; i++) {
            size_t row = rows[i] & mask;
            unsigned before = values[row], after = before + 1;
            if (!(mode & SCORE_ADMITS) && before == 0)
                continue;
            if ((mode & SCORE_SATURATES) && after > SLICE_SCORE_MAX)
                after = SLICE_SCORE_MAX;
            values[row] = (uint8_t)after;
            if ((mode & SCORE_COLLECTS) && after == threshold && before < threshold)
                scores->candidates[found++] = (uint32_t)row;
        }
    }
    scores->candidate_count = found;
}

/* Many postings: add, then look through all scores. Few: never touch what no posting names. */
static bool is_scattered(const struct slice_scores *scores, const struct slice_reading *reading) {
    return reading->postings < scores->rows / ROWS_PER_POSTING;
}

static void add_all(struct slice_scores *scores, const struct slice_reading *reading, size_t beyond,
                    unsigned threshold) {
    const struct slice_list *first = reading->lists, *second = first + beyond;
    size_t second_count = reading->count - beyond;
    scores->candidate_count = 0;
    if (is_scattered(scores, reading)) {
        add_lists(scores, first, beyond, threshold,
                  SCORE_ADMITS | SCORE_SATURATES | SCORE_COLLECTS);
        add_lists(scores, second, second_count, threshold, SCORE_SATURATES | SCORE_COLLECTS);
    } else if (scores->saturates) {
        add_lists(scores, first, beyond, threshold, SCORE_ADMITS | SCORE_SATURATES);
        add_lists(scores, second, second_count, threshold, SCORE_SATURATES);
    } else {
        add_lists(scores, first, beyond, threshold, SCORE_ADMITS);
        add_lists(scores, second, second_count, threshold, 0);
    }
}

/* Makes the rows of all scores from the threshold on candidates. */
static void collect_candidates(struct slice_scores *scores, unsigned threshold) {
    scores->candidate_count =
        scores->collect(scores->scores, scores->rows, threshold, scores->candidates);
}

unsigned slice_scores_add(struct slice_scores *scores, const struct slice_reading *reading,
                          size_t beyond, unsigned threshold, size_t enough) {
    bool scattered = is_scattered(scores, reading);
    add_all(scores, reading, beyond, threshold);
    if (!scattered)
        collect_candidates(scores, threshold);
    while (threshold > 1 && scores->candidate_count < enough) {
        threshold /= 2;
        if (scattered) {
            slice_scores_clear(scores, reading);
            add_all(scores, reading, beyond, threshold);
        } else {
            collect_candidates(scores, threshold);
        }
    }
    return threshold;
}

void slice_scores_clear(struct slice_scores *scores, const struct slice_reading *reading) {
    if (!is_scattered(scores, reading)) {
        memset(scores->scores, 0, scores->mask + 1);
        return;
    }
    for (size_t l = 0; l < reading->count; l++)
        for (uint32_t i = 0; i < reading->lists[l].count; i++)
            scores->scores[reading->lists[l].at[i] & scores->mask] = 0;
}

/* The score of a row that meets lists by chance is Poisson: P(s) = P(s - 1) rate / s, taken
 * relative to P(0) and normalised by the sum. */
static unsigned slice_scores_threshold(const struct slice_scores *scores,
                                       const struct slice_reading *reading, size_t most) {
    double chances[SLICE_SCORE_MAX] = {1}, total = 1, above = 0;
    double rows = (double)scores->rows, rate = (double)reading->postings / rows;
    for (unsigned score = 1; score < SLICE_SCORE_MAX; score++) {
        chances[score] = chances[score - 1] * rate / score;
        total += chances[score];
    }
    unsigned threshold = SLICE_SCORE_MAX;
    while (threshold > 1 && (above += chances[threshold - 1]) * rows <= (double)most * total)
        threshold--;
    return threshold;
}

/* ---- Collecting, portable -------------------------------------------------------------------- */

typedef uint8_t byte_vector __attribute__((vector_size(16)));

static inline byte_vector load_vector(const uint8_t *bytes) {
    byte_vector vector;
    memcpy(&vector, bytes, sizeof vector);
    return vector;
}

static inline bool is_any_set(byte_vector vector) {
    uint64_t halves[2];
    memcpy(halves, &vector, sizeof halves);
    return halves[0] | halves[1];
}

/* A bit for each of 64 bytes that is nonzero in the highest bit. */
static inline uint64_t highest_bits(const byte_vector *vectors) {
    uint64_t words[SCORE_BLOCK / 8], bits = 0;
    memcpy(words, vectors, sizeof words);
    for (int i = 0; i < SCORE_BLOCK / 8; i++)
        bits |= ((words[i] & 0x8080808080808080u) >> 7) * 0x0102040810204080u >> 56 << (8 * i);
    return bits;
}

size_t score_collect_portable(const uint8_t *values, size_t rows, unsigned threshold,
                              uint32_t *candidates) {
    const byte_vector least = (byte_vector){0} + (uint8_t)threshold;
    size_t found = 0;
    for (size_t row = 0; row < rows; row += SCORE_BLOCK) {
        byte_vector reached[SCORE_BLOCK / sizeof(byte_vector)], any = {0};
        for (size_t i = 0; i < SCORE_BLOCK / sizeof any; i++)
            any |= reached[i] = (byte_vector)(load_vector(values + row + i * sizeof any) >= least);
        if (!is_any_set(any))
            continue;
        for (uint64_t rest = highest_bits(reached); rest; rest &= rest - 1)
            candidates[found++] = (uint32_t)(row + (size_t)__builtin_ctzll(rest));
    }
    return found;
}

score_collect *score_collect_for(enum cpu_level level) {
    static score_collect *const levels[CPU_LEVEL_COUNT] =
        CPU_TABLE(score_collect_portable, score_collect_portable, score_collect_avx2,
                  score_collect_avx512, score_collect_portable);
    return levels[level];
}

/* ---- Searchers ------------------------------------------------------------------------------- */

struct slices_searcher {
    const struct slices_view *view;
    const struct signatures_view *signatures;
    struct slice_scores scores;
    uint32_t *chosen; /* candidates in the order of verification */
    uint16_t *distances;
    struct neighbour *hits;
    size_t hit_capacity;
    struct topk nearest;
    struct slice_reading reading;
    uint8_t admitted[SLICE_COUNT_MAX], reach[SLICE_COUNT_MAX]; /* rings of each slice */
    uint64_t by_length[SLICE_COUNT_MAX]; /* slices, by the length of the query's own list */
};

cog_status slices_searcher_create(const struct slices_view *view,
                                  const struct signatures_view *signatures,
                                  struct slices_searcher **result, cog_error *error) {
    if (view->rows != signatures->rows || view->layout.bits != signatures->bits)
        return error_set(error, COG_ERR_USAGE,
                         "slices of %zu rows of %u bits do not belong to %zu signatures of %u bits",
                         view->rows, view->layout.bits, signatures->rows, signatures->bits);
    struct slices_searcher *searcher;
    TAKE_ZEROED(searcher, 1, "a searcher", error);
    searcher->view = view;
    searcher->signatures = signatures;
    cog_status status = slice_scores_init(&searcher->scores, view->rows, view->layout.count, error);
    THEN(status, TAKEN(searcher->chosen, view->rows, "a searcher", error));
    THEN(status, TAKEN(searcher->distances, view->rows, "a searcher", error));
    return HAND_OUT(status, searcher, slices_searcher_free, result);
}

void slices_searcher_free(struct slices_searcher *searcher) {
    if (!searcher)
        return;
    slice_scores_free(&searcher->scores);
    FREE(searcher->chosen, searcher->distances, searcher->hits);
    topk_free(&searcher->nearest);
    slice_reading_free(&searcher->reading);
    free(searcher);
}

/* ---- Verification ---------------------------------------------------------------------------- */

/* Puts up to `most` candidates of the highest scores into chosen; returns how many and the highest
 * score that was left out (threshold - 1 if none was). */
static size_t choose_candidates(struct slices_searcher *searcher, size_t most, unsigned threshold,
                                unsigned *left_out) {
    const struct slice_scores *scores = &searcher->scores;
    size_t histogram[SLICE_SCORE_MAX + 1] = {0}, places[SLICE_SCORE_MAX + 1], total = 0;
    for (size_t i = 0; i < scores->candidate_count; i++)
        histogram[scores->scores[scores->candidates[i]]]++;
    *left_out = threshold - 1;
    for (unsigned score = SLICE_SCORE_MAX; score > 0; score--) {
        places[score] = total;
        total += histogram[score];
        if (total > most && *left_out < score)
            *left_out = score;
    }
    size_t chosen = 0;
    for (size_t i = 0; i < scores->candidate_count; i++) {
        uint32_t row = scores->candidates[i];
        if (places[scores->scores[row]]++ < most && row < scores->rows)
            searcher->chosen[chosen++] = row;
    }
    return chosen;
}

/* Makes room for hits: the k nearest, or `count` of them. */
static cog_status prepare_hits(struct slices_searcher *searcher,
                               const struct slices_request *request, size_t count,
                               cog_error *error) {
    struct topk *nearest = &searcher->nearest;
    count = request->k ? request->k : count;
    GROW(searcher->hits, searcher->hit_capacity, count, "the hits of a query", error);
    if (request->k == 0 || (nearest->k == request->k && nearest->items))
        return COG_OK;
    topk_free(nearest);
    return topk_init(nearest, request->k, searcher->view->layout.bits, error);
}

static inline void take_row(struct slices_searcher *searcher, const struct slices_request *request,
                            uint32_t row, uint32_t distance, size_t *count) {
    if (request->k)
        topk_add(&searcher->nearest, row, distance);
    else if (distance <= request->radius_bits)
        searcher->hits[(*count)++] = (struct neighbour){row, distance};
}

static void finish_hits(struct slices_searcher *searcher, const struct slices_request *request,
                        size_t *count) {
    if (request->k)
        *count = topk_finish(&searcher->nearest, searcher->hits);
    else if (*count > 1)
        qsort(searcher->hits, *count, sizeof *searcher->hits, neighbour_compare);
}

/* True distances of the first `count` chosen rows; the k nearest or those within the radius become
 * hits. */
static cog_status verify(struct slices_searcher *searcher, const uint8_t *query,
                         const struct slices_request *request, size_t count, size_t *hit_count,
                         cog_error *error) {
    TRY(prepare_hits(searcher, request, count, error));
    hamming_gather(searcher->signatures, query, searcher->chosen, count, searcher->distances);
    *hit_count = 0;
    for (size_t i = 0; i < count; i++)
        take_row(searcher, request, searcher->chosen[i], searcher->distances[i], hit_count);
    finish_hits(searcher, request, hit_count);
    return COG_OK;
}

/* Reads all signatures. */
static cog_status scan(struct slices_searcher *searcher, const uint8_t *query,
                       const struct slices_request *request, struct query_answer *answer,
                       cog_error *error) {
    const struct signatures_view *rows = searcher->signatures;
    size_t hits = 0;
    TRY(prepare_hits(searcher, request, 0, error));
    for (size_t row = 0, count; row < rows->rows; row += count) {
        count = rows->rows - row < SCAN_ROWS ? rows->rows - row : SCAN_ROWS;
        int32_t limit = request->k ? topk_limit(&searcher->nearest, (uint32_t)row)
                                   : (int32_t)request->radius_bits;
        hamming_scan(rows, query, row, count, searcher->distances);
        size_t found = limit < 0 ? 0
                                 : hamming_kernels()->select(searcher->distances, count,
                                                             (uint32_t)limit, searcher->chosen);
        TRY(prepare_hits(searcher, request, hits + found, error));
        for (size_t i = 0; i < found; i++) {
            uint32_t place = searcher->chosen[i];
            take_row(searcher, request, (uint32_t)(row + place), searcher->distances[place], &hits);
        }
    }
    finish_hits(searcher, request, &hits);
    answer->hits = searcher->hits;
    answer->count = hits;
    answer->verified += rows->rows;
    answer->exact = true;
    return COG_OK;
}

/* ---- Search ---------------------------------------------------------------------------------- */

/* How the lists that were found are to be used. */
struct plan {
    size_t most;          /* true distances */
    unsigned threshold;   /* of the score; 0 chooses */
    uint32_t total;       /* the least distance of a row that no list showed; 0 if not known */
    uint32_t admit_total; /* the same for the lists that admit */
    unsigned most_reach;  /* of a slice: what one list can take from the total */
};

static cog_status finish(struct slices_searcher *searcher, const uint8_t *query,
                         const struct slices_request *request, const struct plan *plan,
                         unsigned threshold, struct query_answer *answer, cog_error *error) {
    unsigned left_out = 0;
    size_t count = choose_candidates(searcher, plan->most, threshold, &left_out), hits = 0;
    TRY(verify(searcher, query, request, count, &hits, error));
    /* No row without a true distance can be nearer than this. */
    uint32_t shown = left_out * plan->most_reach;
    uint32_t bound = left_out < SLICE_SCORE_MAX && shown < plan->total ? plan->total - shown : 0;
    if (bound > plan->admit_total)
        bound = plan->admit_total;
    bool certified = request->k ? hits == request->k && searcher->hits[hits - 1].distance < bound
                                : request->radius_bits < bound;
    answer->hits = searcher->hits;
    answer->count = hits;
    answer->exact = certified || count == searcher->view->rows;
    answer->verified += count;
    return COG_OK;
}

/* Scores what reading holds; from list number `beyond` on, lists admit no new rows. */
static cog_status run(struct slices_searcher *searcher, const uint8_t *query,
                      const struct slices_request *request, const struct plan *plan, size_t beyond,
                      struct query_answer *answer, cog_error *error) {
    struct slice_scores *scores = &searcher->scores;
    const struct slice_reading *reading = &searcher->reading;
    unsigned threshold = plan->threshold;
    if (threshold == 0)
        threshold = slice_scores_threshold(scores, reading, CANDIDATES_PER_VERIFIED * plan->most);
    threshold = slice_scores_add(scores, reading, beyond, threshold, request->k);
    cog_status status = finish(searcher, query, request, plan, threshold, answer, error);
    slice_scores_clear(scores, reading);
    return status;
}

static void set_reach(const struct slices_view *view, unsigned reach, uint8_t *rings,
                      uint32_t *total) {
    *total = 0;
    for (unsigned slice = 0; slice < view->layout.count; slice++) {
        unsigned most = slice_width(&view->layout, slice) + 1;
        rings[slice] = (uint8_t)(reach < most ? reach : most);
        *total += rings[slice];
    }
}

static size_t verify_limit(const struct slices_searcher *searcher,
                           const struct slices_request *request) {
    size_t most = request->verify ? request->verify : SLICES_VERIFY_DEFAULT;
    if (most < request->k)
        most = request->k;
    return most < searcher->view->rows ? most : searcher->view->rows;
}

/* Expansion to i, admission to j (sections 5.2 and 6.2). */
static cog_status search_expanded(struct slices_searcher *searcher, const uint8_t *query,
                                  const struct slices_request *request, struct query_answer *answer,
                                  cog_error *error) {
    struct slice_reading *reading = &searcher->reading;
    const struct slices_view *view = searcher->view;
    unsigned admit = request->admit < request->expand ? request->admit : request->expand;
    struct plan plan = {.most = verify_limit(searcher, request)};
    plan.most_reach = request->expand + 1;
    set_reach(view, request->expand + 1, searcher->reach, &plan.total);
    set_reach(view, admit + 1, searcher->admitted, &plan.admit_total);
    slice_reading_reset(reading);
    TRY(slice_reading_add_rings(reading, view, query, NULL, searcher->admitted, error));
    slice_reading_locate(reading, view, 0);
    size_t beyond = reading->count;
    TRY(slice_reading_add_rings(reading, view, query, searcher->admitted, searcher->reach, error));
    slice_reading_locate(reading, view, beyond);
    return run(searcher, query, request, &plan, beyond, answer, error);
}

static cog_status search_probes(struct slices_searcher *searcher, const uint8_t *query,
                                const struct slices_request *request, struct query_answer *answer,
                                cog_error *error) {
    struct plan plan = {.most = verify_limit(searcher, request)};
    slice_reading_reset(&searcher->reading);
    TRY(slice_reading_add_probes(&searcher->reading, searcher->view, query, request->weights,
                                 request->probes, error));
    slice_reading_locate(&searcher->reading, searcher->view, 0);
    return run(searcher, query, request, &plan, searcher->reading.count, answer, error);
}

/* What each slice must be expanded to so that no row within the radius is missed: a row that no
 * list shows is farther than the sum of reach - 1, so radius + 1 rings are dealt out, and slices
 * with short lists get the odd ones. False if the slices cannot take that many rings. */
static bool deal_rings(struct slices_searcher *searcher, const uint8_t *query, uint32_t rings) {
    const struct slices_view *view = searcher->view;
    unsigned slices = view->layout.count, each = rings / slices, odd = rings % slices;
    if (each + (odd > 0) > view->layout.narrow_width + 1u)
        return false;
    memset(searcher->reach, (int)each, slices);
    if (odd == 0)
        return true;
    for (unsigned slice = 0; slice < slices; slice++) {
        const uint32_t *at = view->offsets + slice_first_offset(&view->layout, slice) +
                             slice_query_key(view, query, slice);
        searcher->by_length[slice] = (uint64_t)(at[1] - at[0]) << 32 | slice;
    }
    qsort(searcher->by_length, slices, sizeof *searcher->by_length, compare_u64);
    for (unsigned i = 0; i < odd; i++)
        searcher->reach[(uint32_t)searcher->by_length[i]]++;
    return true;
}

/* Whether reading the lists within reach is expected to take longer than reading all signatures. */
static bool scan_is_cheaper(const struct slices_searcher *searcher) {
    const struct slice_layout *layout = &searcher->view->layout;
    double cost = 0, rows = (double)searcher->view->rows;
    for (unsigned slice = 0; slice < layout->count; slice++) {
        unsigned width = slice_width(layout, slice);
        double lists = slice_ball_lists(width, searcher->reach[slice]);
        cost += lists * LIST_COST_PS;
        cost += lists * rows / (double)((uint64_t)1 << width) * POSTING_COST_PS;
    }
    return cost > rows * (double)searcher->signatures->stride_bytes * SCAN_BYTE_COST_PS;
}

/* All rows within radius_bits become candidates; the request keeps them all, or the k nearest. */
static cog_status search_exactly(struct slices_searcher *searcher, const uint8_t *query,
                                 const struct slices_request *request, uint32_t radius_bits,
                                 struct query_answer *answer, cog_error *error) {
    if (radius_bits >= searcher->view->layout.bits ||
        !deal_rings(searcher, query, radius_bits + 1) || scan_is_cheaper(searcher))
        return scan(searcher, query, request, answer, error);
    slice_reading_reset(&searcher->reading);
    TRY(slice_reading_add_rings(&searcher->reading, searcher->view, query, NULL, searcher->reach,
                                error));
    slice_reading_locate(&searcher->reading, searcher->view, 0);
    struct plan plan = {SIZE_MAX, 1, radius_bits + 1, radius_bits + 1, 0};
    cog_status status =
        run(searcher, query, request, &plan, searcher->reading.count, answer, error);
    answer->exact = true;
    return status;
}

/* A cheap search bounds the k-th distance, and everything within that bound is then looked up. */
static cog_status search_certain(struct slices_searcher *searcher, const uint8_t *query,
                                 const struct slices_request *request, struct query_answer *answer,
                                 cog_error *error) {
    struct slices_request first = {.k = request->k, .expand = 1, .admit = 1};
    cog_status status = search_expanded(searcher, query, &first, answer, error);
    if (status != COG_OK || answer->exact)
        return status;
    uint32_t bound = answer->count == request->k ? answer->hits[answer->count - 1].distance
                                                 : searcher->view->layout.bits;
    return search_exactly(searcher, query, request, bound, answer, error);
}

cog_status slices_search(struct slices_searcher *searcher, const uint8_t *query,
                         const struct slices_request *request, struct query_answer *answer,
                         cog_error *error) {
    *answer = (struct query_answer){0};
    if (searcher->view->rows == 0) {
        answer->exact = true;
        return COG_OK;
    }
    struct slices_request bounded = *request;
    if (bounded.k > searcher->view->rows)
        bounded.k = searcher->view->rows;
    if (bounded.radius_bits > searcher->view->layout.bits)
        bounded.radius_bits = searcher->view->layout.bits;
    if (bounded.k == 0)
        return search_exactly(searcher, query, &bounded, bounded.radius_bits, answer, error);
    if (request->certain)
        return search_certain(searcher, query, &bounded, answer, error);
    if (request->weights && request->probes)
        return search_probes(searcher, query, &bounded, answer, error);
    return search_expanded(searcher, query, &bounded, answer, error);
}

/* ---- Many queries ---------------------------------------------------------------------------- */

static cog_status create_searcher(const void *context, void **searcher, cog_error *error) {
    const struct slices_batch *batch = context;
    return slices_searcher_create(batch->view, batch->signatures,
                                  (struct slices_searcher **)searcher, error);
}

static cog_status search_one(const void *context, void *searcher, const uint8_t *query,
                             const float *margins, struct query_answer *answer, cog_error *error) {
    struct slices_request request = ((const struct slices_batch *)context)->request;
    request.weights = margins;
    return slices_search(searcher, query, &request, answer, error);
}

static void release_searcher(void *searcher) {
    slices_searcher_free(searcher);
}

const struct query_searching slices_searching = {create_searcher, search_one, release_searcher};
