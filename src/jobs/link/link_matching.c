#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "jobs/link/link_job.h"

/* One-to-one links, best first. A link that neither of its rows would give up for a better one is
 * in the greedy choice, and all links of that choice are such. As all links have one order, the
 * choice is unique, so every source row may propose to its best candidate until no row is rejected
 * (Gale and Shapley). This takes 12 bytes per source row and 4 per target row; sorting all
 * candidates takes several hundred per row. */

enum { NOBODY = UINT32_MAX };

/* The candidate that a source row proposed to last. */
struct asked {
    float contrast;
    uint32_t to;
};

struct matching {
    const struct cosine_neighbours *candidates;
    const struct link_means *both;
    struct asked *asked; /* by source row */
    uint32_t *holders;   /* by target row: the source row that holds it, or NOBODY */
};

static struct link score_candidate(const struct matching *matching, uint32_t from, size_t i) {
    const struct cosine_neighbours *candidates = matching->candidates;
    const struct cosine_neighbour *other = &candidates->items[from * candidates->k + i];
    struct link link = {.from = from, .to = other->row, .similarity = other->similarity};
    links_score(&link, 1, matching->both[0], matching->both[1]);
    return link;
}

/* Proceeds to the best candidate after the current one; false if there is none. */
static bool ask_next(const struct matching *matching, uint32_t from) {
    struct asked last = matching->asked[from], next = {.contrast = -INFINITY, .to = NOBODY};
    for (size_t i = 0; i < matching->candidates->counts[from]; i++) {
        struct link link = score_candidate(matching, from, i);
        bool is_behind =
            link.contrast < last.contrast || (link.contrast == last.contrast && link.to > last.to);
        if (is_behind && (link.contrast > next.contrast ||
                          (link.contrast == next.contrast && link.to < next.to)))
            next = (struct asked){link.contrast, link.to};
    }
    matching->asked[from] = next;
    return next.to != NOBODY;
}

/* Matches a source row, and then any row that it displaces. */
static void place(const struct matching *matching, uint32_t from) {
    while (ask_next(matching, from)) {
        const struct asked *own = &matching->asked[from];
        uint32_t *holder = &matching->holders[own->to], other = *holder;
        if (other == NOBODY) {
            *holder = from;
            return;
        }
        float held = matching->asked[other].contrast;
        if (own->contrast > held || (own->contrast == held && from < other)) {
            *holder = from;
            from = other;
        }
    }
}

static cog_status list_links(const struct matching *matching, struct link **links, size_t *count,
                             cog_error *error) {
    const struct cosine_neighbours *candidates = matching->candidates;
    size_t total = 0;
    for (uint32_t from = 0; from < candidates->queries; from++) {
        const struct asked *own = &matching->asked[from];
        total += own->to != NOBODY && matching->holders[own->to] == from;
    }
    TAKE(*links, total, "links", error);
    *count = 0;
    for (uint32_t from = 0; from < candidates->queries; from++) {
        const struct asked *own = &matching->asked[from];
        if (own->to == NOBODY || matching->holders[own->to] != from)
            continue;
        for (size_t i = 0; i < candidates->counts[from]; i++)
            if (candidates->items[from * candidates->k + i].row == own->to)
                (*links)[(*count)++] = score_candidate(matching, from, i);
    }
    return COG_OK;
}

cog_status links_one_to_one(const struct cosine_neighbours *candidates, size_t to_rows,
                            const struct link_means both[2], struct link **links, size_t *count,
                            cog_error *error) {
    struct matching matching = {.candidates = candidates, .both = both};
    cog_status status = TAKEN(matching.asked, candidates->queries, "links", error);
    THEN(status, TAKEN(matching.holders, to_rows, "links", error));
    for (size_t to = 0; to < to_rows && status == COG_OK; to++)
        matching.holders[to] = NOBODY;
    for (size_t from = 0; from < candidates->queries && status == COG_OK; from++)
        matching.asked[from] = (struct asked){.contrast = INFINITY};
    for (uint32_t from = 0; from < candidates->queries && status == COG_OK; from++)
        place(&matching, from);
    THEN(status, list_links(&matching, links, count, error));
    FREE(matching.asked, matching.holders);
    return status;
}
