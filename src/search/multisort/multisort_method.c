#include "search/multisort/multisort_method.h"

#include "search/multisort/multisort_join.h"

enum { MOST_RADIUS = 8, LEAST_ROWS = 20000 };

bool multisort_pays(const struct method_join *join) {
    const struct signatures_view *first = join->first.signatures, *second = join_second(join);
    size_t rows = first->rows + (second ? second->rows : 0);
    return (first->bits == 64 || first->bits == 128) && join->radius_bits <= MOST_RADIUS &&
           rows >= LEAST_ROWS;
}

static cog_status join_rows(struct method_join *join, struct match_list *pairs, cog_error *error) {
    const struct multisort_options options = {.radius_bits = join->radius_bits,
                                              .threads = join->threads,
                                              .memory_bytes = join->memory_bytes};
    join->is_exact_out = true;
    return multisort_join(join->first.signatures, join_second(join), &options, pairs, error);
}

const struct search_method multisort_method = {
    .name = "blocks",
    .summary = "short signatures that agree in some blocks of bits",
    .answers = COG_ANSWERS_PAIRS,
    .certain = COG_ANSWERS_PAIRS,
    .bits_min = 64,
    .bits_max = 128,
    .bits_step = 64,
    .join = join_rows,
};
