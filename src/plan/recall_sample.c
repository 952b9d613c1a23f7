#include "plan/recall_sample.h"

#include <stdlib.h>

#include "base/random.h"

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

size_t recall_sample_rows(size_t rows, size_t most, uint64_t seed, uint32_t *sample) {
    if (rows <= most) {
        for (size_t i = 0; i < rows; i++)
            sample[i] = (uint32_t)i;
        return rows;
    }
    if (most == 0)
        return 0;
    struct random random = random_seeded(seed);
    for (size_t i = 0; i < most; i++)
        sample[i] = (uint32_t)random_below(&random, rows);
    qsort(sample, most, sizeof *sample, by_number);
    size_t distinct = 1;
    for (size_t i = 1; i < most; i++)
        if (sample[i] != sample[distinct - 1])
            sample[distinct++] = sample[i];
    return distinct;
}

void recall_count_nearest(const struct match *truth, size_t truth_count, const struct match *found,
                          size_t found_count, enum recall_key key, struct share_tally *tally) {
    if (truth_count == 0)
        return;
    const struct match *last = &truth[truth_count - 1];
    size_t good = 0;
    for (size_t i = 0; i < found_count && good < truth_count; i++)
        good += key == RECALL_BY_DISTANCE ? found[i].distance <= last->distance
                                          : found[i].similarity >= last->similarity;
    share_tally_add(tally, good, truth_count);
}

bool recall_sample_holds(const uint32_t *sample, size_t count, uint32_t row) {
    return bsearch(&row, sample, count, sizeof *sample, by_number) != NULL;
}
