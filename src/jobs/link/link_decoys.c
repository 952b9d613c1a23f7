#include "jobs/link/link_decoys.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"

static const uint32_t NONE = UINT32_MAX;

/* The best cosines of a document except to two of its neighbours, descending. Neighbours that were
 * not found are assumed to be where the search ended. */
static void rivals_without(const struct link_candidates *candidates, int side, uint32_t row,
                           uint32_t a, uint32_t b, double rivals[LINK_RIVALS]) {
    const struct cosine_neighbours *neighbours = &candidates->sides[side];
    const struct cosine_neighbour *items = neighbours->items + row * neighbours->k;
    size_t used = 0;
    for (size_t i = 0; i < neighbours->counts[row] && used < LINK_RIVALS; i++)
        if (items[i].row != a && items[i].row != b)
            rivals[used++] = (double)items[i].similarity;
    while (used < LINK_RIVALS)
        rivals[used++] = (double)candidates->beyond;
}

/* The view of a link if the target document `gone` did not exist. */
static struct link_view view_link(const struct link_candidates *candidates, uint32_t from,
                                  uint32_t to, double cosine, uint32_t gone) {
    double own[LINK_RIVALS], back[LINK_RIVALS];
    rivals_without(candidates, 0, from, to, gone, own);
    rivals_without(candidates, 1, to, from, NONE, back);
    return (struct link_view){.margin = (float)(cosine - fmax(own[0], back[0])),
                              .height = (float)(cosine - fmax(own[1], back[1])),
                              .cosine = (float)cosine,
                              .lengths = candidates->lengths[0][from] - candidates->lengths[1][to]};
}

struct link_view link_view_of(const struct link_candidates *candidates, const struct link *link) {
    return view_link(candidates, link->from, link->to, (double)link->similarity, NONE);
}

struct decoying {
    const struct link_candidates *candidates;
    const struct link *links;
    size_t rivals;
    struct link_sample *sample;
};

/* The target document's part of a contrast; the source document's part is the same for all
 * candidates. */
static double mean_of_target(const struct decoying *work, uint32_t to) {
    double nearest[LINK_RIVALS], sum = 0;
    rivals_without(work->candidates, 1, to, NONE, NONE, nearest);
    for (size_t i = 0; i < work->rivals && i < LINK_RIVALS; i++)
        sum += nearest[i];
    return work->rivals ? sum / (double)work->rivals : 0;
}

static struct link_view find_decoy(const struct decoying *work, const struct link *link) {
    const struct cosine_neighbours *neighbours = &work->candidates->sides[0];
    const struct cosine_neighbour *items = neighbours->items + link->from * neighbours->k;
    const struct cosine_neighbour *best = NULL;
    double highest = -INFINITY;
    for (size_t i = 0; i < neighbours->counts[link->from]; i++) {
        if (items[i].row == link->to)
            continue;
        double contrast = 2 * (double)items[i].similarity - mean_of_target(work, items[i].row);
        if (contrast > highest) {
            highest = contrast;
            best = &items[i];
        }
    }
    return best ? view_link(work->candidates, link->from, best->row, (double)best->similarity,
                            link->to)
                : (struct link_view){-INFINITY, -INFINITY, -INFINITY, 0};
}

static cog_status take_views(void *context, unsigned worker, size_t begin, size_t end,
                             cog_error *error) {
    (void)worker;
    (void)error;
    const struct decoying *work = context;
    for (size_t i = begin; i < end; i++) {
        const struct link *link = &work->links[i];
        work->sample->links[i] = link_view_of(work->candidates, link);
        work->sample->decoys[i] = find_decoy(work, link);
    }
    return COG_OK;
}

cog_status link_sample_take(struct link_sample *sample, const struct link_candidates *candidates,
                            const struct link *links, size_t count, size_t rivals, unsigned threads,
                            cog_error *error) {
    enum { LINKS_PER_PIECE = 256 };
    sample->count = count;
    TAKE(sample->links, count, "links", error);
    TAKE(sample->decoys, count, "links", error);
    struct decoying work = {candidates, links, rivals, sample};
    return parallel_for(threads, count, LINKS_PER_PIECE, take_views, &work, error);
}

void link_sample_free(struct link_sample *sample) {
    free(sample->links);
    free(sample->decoys);
    *sample = (struct link_sample){0};
}
