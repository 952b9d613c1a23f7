#include "job/search_effort.h"

enum { CANDIDATES_PER_NEIGHBOUR = 5, CANDIDATES_LEAST = 50, CANDIDATE_STEPS = 12 };

/* Expansion, admission, lists by weight, true distances. docs/index.md has what they find. */
static const struct search_effort slices_steps[] = {
    {0, 1, 1, 800, 0, 1000},   {0, 2, 2, 2000, 0, 1000},   {0, 3, 3, 16000, 0, 2000},
    {0, 4, 4, 64000, 0, 4000}, {0, 5, 5, 128000, 0, 8000},
};

static const struct search_effort columns_steps[] = {
    {0, 0, 0, 0, 15, 500},    {0, 0, 0, 0, 30, 1000},   {0, 0, 0, 0, 60, 2000},
    {0, 0, 0, 0, 60, 8000},   {0, 0, 0, 0, 90, 32000},  {0, 0, 0, 0, 180, 32000},
    {0, 0, 0, 0, 240, 32000}, {0, 0, 0, 0, 390, 32000}, {0, 0, 0, 0, 600, 32000},
};

static size_t candidates_of(unsigned step, size_t k) {
    size_t least = k * CANDIDATES_PER_NEIGHBOUR;
    return (least < CANDIDATES_LEAST ? CANDIDATES_LEAST : least) << step;
}

bool search_effort_of(cog_method method, unsigned step, size_t k, size_t rows,
                      struct search_effort *effort) {
    *effort = (struct search_effort){0};
    if (method == COG_METHOD_SLICES && step < sizeof slices_steps / sizeof *slices_steps)
        *effort = slices_steps[step];
    else if (method == COG_METHOD_COLUMNS && step < sizeof columns_steps / sizeof *columns_steps)
        *effort = columns_steps[step];
    else if (method != COG_METHOD_FLAT || step >= CANDIDATE_STEPS)
        return false;
    effort->candidates = candidates_of(step, k);
    if (effort->distances < effort->candidates)
        effort->distances = effort->candidates;
    return effort->candidates / 2 < rows || step == 0;
}

unsigned search_effort_usual(cog_method method, double recall) {
    unsigned step = recall <= 0.85 ? 1 : recall <= 0.95 ? 2 : 3;
    return method == COG_METHOD_COLUMNS ? step + 1 : step;
}
