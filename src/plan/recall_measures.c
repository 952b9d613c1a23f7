#include "plan/recall_measures.h"

#include <string.h>

#define SECTION_RECALL CONTAINER_TAG('r', 'c', 'a', 'l')

_Static_assert(sizeof(struct recall_measure) == 64, "a measure has no padding");

struct recall_measure recall_measure_of(const char *method, uint32_t flags, uint32_t k,
                                        uint32_t effort, const struct share_tally *tally) {
    struct recall_measure measure = {.flags = flags,
                                     .k = k,
                                     .effort = effort,
                                     .units = (uint32_t)tally->units,
                                     .hits = tally->hits,
                                     .trials = tally->trials,
                                     .hits_squared = tally->hits_squared,
                                     .products = tally->products,
                                     .trials_squared = tally->trials_squared};
    memcpy(measure.method, method, strnlen(method, RECALL_NAME_BYTES));
    return measure;
}

struct measured_share recall_measure_share(const struct recall_measure *measure) {
    const struct share_tally tally = {measure->hits,     measure->trials,
                                      measure->units,    measure->hits_squared,
                                      measure->products, measure->trials_squared};
    return measured_share(&tally);
}

uint32_t recall_measured_k(size_t k) {
    static const uint32_t measured[] = {10, 100};
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++)
        if (k <= measured[i])
            return measured[i];
    return 0;
}

size_t recall_candidates(size_t k, unsigned effort) {
    enum { PER_NEIGHBOUR = 5 };
    uint32_t measured = recall_measured_k(k);
    k = k < UINT32_MAX ? k : UINT32_MAX; /* an index has fewer rows, and the product fits */
    return (measured ? measured : k) * PER_NEIGHBOUR << effort;
}

size_t recall_proposed(size_t candidates) {
    enum { PER_CANDIDATE = 4 };
    return candidates * PER_CANDIDATE;
}

static bool is_of(const struct recall_measure *measure, const char *method, uint32_t flags,
                  uint32_t k) {
    return measure->flags == flags && measure->k == k &&
           strncmp(measure->method, method, RECALL_NAME_BYTES) == 0;
}

const struct recall_measure *recall_measure_reaching(const struct recall_measures *measures,
                                                     const char *method, uint32_t flags, size_t k,
                                                     double recall,
                                                     const struct recall_measure *after) {
    uint32_t measured = recall_measured_k(k);
    for (size_t i = after ? (size_t)(after - measures->items) + 1 : 0; i < measures->count; i++)
        if (is_of(&measures->items[i], method, flags, measured) &&
            recall_measure_share(&measures->items[i]).low >= recall)
            return &measures->items[i];
    return NULL;
}

bool recall_is_measured(const struct recall_measures *measures, const char *method, uint32_t flags,
                        size_t k) {
    return recall_measure_reaching(measures, method, flags, k, 0, NULL) != NULL;
}

cog_status recall_measures_write(const struct recall_measures *measures,
                                 struct container_writer *writer, cog_error *error) {
    return measures->count
               ? container_writer_section(writer, SECTION_RECALL, measures->items,
                                          measures->count * sizeof *measures->items, error)
               : COG_OK;
}

cog_status recall_measures_open(const struct container *container, struct recall_measures *measures,
                                cog_error *error) {
    struct bytes_view view;
    *measures = (struct recall_measures){0};
    if (!container_find(container, SECTION_RECALL, &view))
        return COG_OK;
    if (view.size % sizeof *measures->items)
        return error_set(error, COG_ERR_FORMAT,
                         "%s: the measures of recall are damaged (%zu bytes)", container->path,
                         view.size);
    measures->items = (const struct recall_measure *)(const void *)view.data;
    measures->count = view.size / sizeof *measures->items;
    return COG_OK;
}

cog_status recall_measures_check(const struct recall_measures *measures, const char *path,
                                 cog_error *error) {
    for (size_t i = 0; i < measures->count; i++) {
        const struct recall_measure *item = &measures->items[i];
        if (item->hits > item->trials || item->units > item->trials || item->units == 0 ||
            !(item->trials_squared > 0) || !(item->hits_squared >= 0) || !(item->products >= 0))
            return error_set_at(error, COG_ERR_FORMAT, i, "%s: measure %zu of recall is invalid",
                                path, i);
    }
    return COG_OK;
}
