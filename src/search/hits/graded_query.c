#include "search/hits/graded_query.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"

enum { PLANES = 3, LEVELS = 8, GRADE_GRAIN = 16 };

/* The step between levels that rounds normal numbers to sixteen levels with the least error, in
 * standard deviations. */
static const double STEP_DEVIATIONS = 0.335;

struct grading {
    struct hit_lists *lists;
    const struct method_rows *rows, *queries;
    uint32_t first_row;
    size_t keep;
    size_t *counts; /* of the hits that stay, per query */
};

/* What a thread works with. */
struct grader {
    uint8_t *planes;  /* one row of bits per digit, the lowest first */
    uint32_t *starts; /* of the hits at each finer distance, from the least that occurs on */
    struct match *kept;
    /* Of the items of a list: */
    uint32_t *numbers, *finer;
    uint16_t *distances;
    size_t capacity;
};

static void free_items(struct grader *grader) {
    FREE(grader->numbers, grader->finer, grader->distances);
    grader->numbers = grader->finer = NULL;
    grader->distances = NULL;
    grader->capacity = 0;
}

static void grader_free(struct grader *grader) {
    free_items(grader);
    FREE(grader->planes, grader->starts, grader->kept);
}

static cog_status grader_init(struct grader *grader, const struct signatures_view *rows,
                              size_t keep, cog_error *error) {
    TAKE(grader->planes, PLANES * rows->stride_bytes, "a graded query", error);
    TAKE(grader->starts, (size_t)rows->bits * (2 * LEVELS - 1) + 2, "graded hits", error);
    return TAKEN(grader->kept, keep, "graded hits", error);
}

static cog_status make_room(struct grader *grader, size_t count, cog_error *error) {
    if (count <= grader->capacity)
        return COG_OK;
    free_items(grader);
    TAKE(grader->numbers, count, "graded hits", error);
    TAKE(grader->finer, count, "graded hits", error);
    TAKE(grader->distances, count, "graded hits", error);
    grader->capacity = count;
    return COG_OK;
}

/* A bit of plane p is set if digit p of the margin's level (0 next to zero) equals the margin's own
 * bit. */
static void fill_planes(const float *margins, const uint8_t *signature, unsigned bits,
                        size_t stride_bytes, uint8_t *planes) {
    double squares = 0;
    for (unsigned bit = 0; bit < bits; bit++)
        squares += (double)margins[bit] * (double)margins[bit];
    float step = (float)(STEP_DEVIATIONS * sqrt(squares / bits));
    memset(planes, 0, PLANES * stride_bytes);
    for (unsigned bit = 0; bit < bits; bit++) {
        float size = fabsf(margins[bit]);
        unsigned level = size < step * (LEVELS - 1) ? (unsigned)(size / step) : LEVELS - 1;
        unsigned digits = signature_bit(signature, bit) ? level : ~level;
        for (unsigned p = 0; p < PLANES; p++)
            planes[p * stride_bytes + bit / 8] |= (uint8_t)((digits >> p & 1u) << (7 - bit % 8));
    }
}

/* The finer distance of every item. */
static void grade(const struct signatures_view *rows, uint32_t first_row, struct grader *grader,
                  const struct match *items, size_t count, uint32_t *finer) {
    for (size_t i = 0; i < count; i++) {
        grader->numbers[i] = items[i].b - first_row;
        finer[i] = items[i].distance << PLANES;
    }
    for (unsigned p = 0; p < PLANES; p++) {
        hamming_gather(rows, grader->planes + p * rows->stride_bytes, grader->numbers, count,
                       grader->distances);
        for (size_t i = 0; i < count; i++)
            finer[i] += (uint32_t)grader->distances[i] << p;
    }
}

/* The first `keep` of more items, by finer distance, then place: sorted by counting, because the
 * distances that occur are few and close to each other. */
static void keep_best(struct grader *grader, struct match *items, size_t count, size_t keep) {
    uint32_t least = UINT32_MAX, most = 0, *starts = grader->starts;
    for (size_t i = 0; i < count; i++) {
        least = grader->finer[i] < least ? grader->finer[i] : least;
        most = grader->finer[i] > most ? grader->finer[i] : most;
    }
    memset(starts, 0, ((size_t)(most - least) + 2) * sizeof *starts);
    for (size_t i = 0; i < count; i++)
        starts[grader->finer[i] - least + 1]++;
    for (uint32_t distance = 0; distance < most - least; distance++)
        starts[distance + 1] += starts[distance];
    for (size_t i = 0; i < count; i++) {
        uint32_t place = starts[grader->finer[i] - least]++;
        if (place < keep)
            grader->kept[place] = items[i];
    }
    memcpy(items, grader->kept, keep * sizeof *items);
}

static cog_status grade_query(const struct grading *grading, struct grader *grader, size_t query,
                              cog_error *error) {
    const struct signatures_view *signatures = grading->queries->signatures;
    const unsigned bits = signatures->bits;
    size_t first = grading->lists->offsets[query];
    size_t count = grading->lists->offsets[query + 1] - first;
    struct match *items = grading->lists->items + first;
    grading->counts[query] = count < grading->keep ? count : grading->keep;
    if (count <= grading->keep)
        return COG_OK;
    TRY(make_room(grader, count, error));
    fill_planes(grading->queries->margins + query * bits, signature_row(signatures, query), bits,
                grading->rows->signatures->stride_bytes, grader->planes);
    grade(grading->rows->signatures, grading->first_row, grader, items, count, grader->finer);
    keep_best(grader, items, count, grading->keep);
    return COG_OK;
}

cog_status hits_grade(const struct signatures_view *rows, const uint8_t *signature,
                      const float *margins, const struct match *items, size_t count,
                      uint32_t *finer, cog_error *error) {
    struct grader grader = {0};
    cog_status status = grader_init(&grader, rows, 0, error);
    THEN(status, make_room(&grader, count, error));
    if (status == COG_OK) {
        fill_planes(margins, signature, rows->bits, rows->stride_bytes, grader.planes);
        grade(rows, 0, &grader, items, count, finer);
    }
    grader_free(&grader);
    return status;
}

static cog_status grade_queries(void *context, unsigned worker, size_t begin, size_t end,
                                cog_error *error) {
    (void)worker;
    const struct grading *grading = context;
    struct grader grader = {0};
    cog_status status = grader_init(&grader, grading->rows->signatures, grading->keep, error);
    for (size_t query = begin; query < end && status == COG_OK; query++)
        status = grade_query(grading, &grader, query, error);
    grader_free(&grader);
    return status;
}

cog_status hits_keep_graded(struct hit_lists *lists, const struct method_rows *rows,
                            const struct method_rows *queries, uint32_t first_row, size_t keep,
                            unsigned threads, cog_error *error) {
    struct grading grading = {lists, rows, queries, first_row, keep, NULL};
    TAKE(grading.counts, lists->queries, "queries", error);
    cog_status status =
        parallel_for(threads, lists->queries, GRADE_GRAIN, grade_queries, &grading, error);
    if (status == COG_OK)
        hit_lists_cut(lists, grading.counts);
    free(grading.counts);
    return status;
}
