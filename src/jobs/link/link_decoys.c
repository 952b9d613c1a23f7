#include "jobs/link/link_decoys.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"

static const uint32_t NONE = UINT32_MAX;

/* The mean cosine of a document to its k nearest without two of them. A neighbour that was not
 * found is taken to lie where the search ended. */
static double mean_without(const struct link_candidates *candidates, int side, uint32_t row,
                           size_t k, uint32_t a, uint32_t b) {
    const struct cosine_neighbours *neighbours = &candidates->sides[side];
    const struct cosine_neighbour *items = neighbours->items + row * neighbours->k;
    double sum = 0;
    size_t used = 0;
    for (size_t i = 0; i < neighbours->counts[row] && used < k; i++) {
        if (items[i].row == a || items[i].row == b)
            continue;
        sum += (double)items[i].similarity;
        used++;
    }
    sum += (double)candidates->beyond * (double)(k - used);
    return k ? sum / (double)k : 0;
}

/* The view of a link in a world without the target document `gone`. */
static struct link_view view_of_link(const struct link_candidates *candidates, uint32_t from,
                                     uint32_t to, double cosine, uint32_t gone) {
    double next = mean_without(candidates, 0, from, 1, to, gone);
    double next_back = mean_without(candidates, 1, to, 1, from, NONE);
    double mean = mean_without(candidates, 0, from, LINK_HEIGHT_NEIGHBOURS, to, gone);
    double mean_back = mean_without(candidates, 1, to, LINK_HEIGHT_NEIGHBOURS, from, NONE);
    return (struct link_view){.margin = (float)(cosine - fmax(next, next_back)),
                              .height = (float)(2 * cosine - mean - mean_back)};
}

float link_margin(const struct link_candidates *candidates, const struct link *link) {
    return view_of_link(candidates, link->from, link->to, (double)link->similarity, NONE).margin;
}

struct decoying {
    const struct link_candidates *candidates;
    const struct link *links;
    const uint32_t *owners; /* by target row: the link that has it, or NONE; NULL: all are free */
    size_t rivals;
    struct link_sample *sample;
};

/* The contrast of a candidate without the target document `gone`, but for the part of the target
 * document of the candidate, which is the same for its rivals. */
static double contrast_without(const struct decoying *work, uint32_t from, double cosine,
                               uint32_t gone) {
    return 2 * cosine - mean_without(work->candidates, 0, from, work->rivals, gone, NONE);
}

static bool is_free(const struct decoying *work, uint32_t to, double contrast, uint32_t gone) {
    if (!work->owners || work->owners[to] == NONE)
        return true;
    const struct link *owner = &work->links[work->owners[to]];
    return contrast > contrast_without(work, owner->from, (double)owner->similarity, gone);
}

static struct link_view find_decoy(const struct decoying *work, const struct link *link) {
    const struct link_candidates *candidates = work->candidates;
    const struct cosine_neighbours *neighbours = &candidates->sides[0];
    const struct cosine_neighbour *items = neighbours->items + link->from * neighbours->k;
    const struct cosine_neighbour *best = NULL;
    double highest = -INFINITY;
    for (size_t i = 0; i < neighbours->counts[link->from]; i++) {
        uint32_t to = items[i].row;
        if (to == link->to)
            continue;
        double own = contrast_without(work, link->from, (double)items[i].similarity, link->to);
        double contrast = own - mean_without(candidates, 1, to, work->rivals, NONE, NONE);
        if (contrast <= highest || !is_free(work, to, own, link->to))
            continue;
        highest = contrast;
        best = &items[i];
    }
    if (!best)
        return (struct link_view){NAN, NAN};
    return view_of_link(candidates, link->from, best->row, (double)best->similarity, link->to);
}

static cog_status take_views(void *context, unsigned worker, size_t begin, size_t end,
                             cog_error *error) {
    (void)worker;
    (void)error;
    const struct decoying *work = context;
    for (size_t i = begin; i < end; i++) {
        const struct link *link = &work->links[i];
        work->sample->links[i] =
            view_of_link(work->candidates, link->from, link->to, (double)link->similarity, NONE);
        work->sample->decoys[i] = find_decoy(work, link);
    }
    return COG_OK;
}

/* The link of each target document. */
static cog_status list_owners(const struct link *links, size_t count, size_t targets,
                              uint32_t **owners, cog_error *error) {
    TAKE(*owners, targets, "links", error);
    for (size_t to = 0; to < targets; to++)
        (*owners)[to] = NONE;
    for (uint32_t i = 0; i < count; i++)
        (*owners)[links[i].to] = i;
    return COG_OK;
}

cog_status link_sample_take(struct link_sample *sample, const struct link_candidates *candidates,
                            const struct link *links, size_t count, size_t rivals, bool one_to_one,
                            unsigned threads, cog_error *error) {
    enum { LINKS_PER_PIECE = 256 };
    uint32_t *owners = NULL;
    sample->count = count;
    TAKE(sample->links, count, "links", error);
    TAKE(sample->decoys, count, "links", error);
    if (one_to_one)
        TRY(list_owners(links, count, candidates->sides[1].queries, &owners, error));
    struct decoying work = {candidates, links, owners, rivals, sample};
    cog_status status = parallel_for(threads, count, LINKS_PER_PIECE, take_views, &work, error);
    free(owners);
    return status;
}

void link_sample_free(struct link_sample *sample) {
    free(sample->links);
    free(sample->decoys);
    *sample = (struct link_sample){0};
}
