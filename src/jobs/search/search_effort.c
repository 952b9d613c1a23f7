#include "jobs/search/search_effort.h"

enum { CANDIDATES_PER_NEIGHBOUR = 5, CANDIDATES_LEAST = 50, CANDIDATE_STEPS = 12 };

/* docs/index.md has what they find. */
static const struct search_effort slices_steps[] = {
    {.expand = 1, .admit = 1, .probes = 800, .distances = 1000},
    {.expand = 2, .admit = 2, .probes = 2000, .distances = 1000},
    {.expand = 3, .admit = 3, .probes = 16000, .distances = 2000},
    {.expand = 4, .admit = 4, .probes = 64000, .distances = 4000},
    {.expand = 5, .admit = 5, .probes = 128000, .distances = 8000},
};

static const struct search_effort columns_steps[] = {
    {.share = 0.1, .columns = 30, .distances = 500},
    {.share = 0.2, .columns = 60, .distances = 1000},
    {.share = 0.3, .columns = 90, .distances = 2000},
    {.share = 0.5, .columns = 90, .distances = 8000},
    {.share = 0.7, .columns = 120, .distances = 16000},
    {.share = 1, .columns = 180, .distances = 32000},
    {.share = 1, .columns = 240, .distances = 32000},
    {.share = 1, .columns = 390, .distances = 32000},
    {.share = 1, .columns = 600, .distances = 32000},
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
