#include "plan/method_table.h"

#include <string.h>

#include "join/join_method.h"
#include "search/bphs/bphs_method.h"
#include "search/columns/columns_method.h"
#include "search/flat/flat_method.h"
#include "search/lsh/lsh_method.h"
#include "search/psm/psm_method.h"
#include "search/slices/slices_method.h"
#include "search/window/window_method.h"

static const struct search_method *const methods[COG_METHOD_COUNT] = {
    [COG_METHOD_EXACT] = &exact_method,   [COG_METHOD_FLAT] = &flat_method,
    [COG_METHOD_SLICES] = &slices_method, [COG_METHOD_LSH] = &lsh_method,
    [COG_METHOD_WINDOW] = &window_method, [COG_METHOD_COLUMNS] = &columns_method,
    [COG_METHOD_PSM] = &psm_method,       [COG_METHOD_BPHS] = &bphs_method,
    [COG_METHOD_LISTS] = &lists_method,
};

__attribute__((weak)) const struct search_method *method_linked_in(size_t number) {
    (void)number;
    return NULL;
}

const struct search_method *method_of(cog_method method) {
    size_t number = (size_t)method;
    return number < COG_METHOD_COUNT ? methods[number]
                                     : method_linked_in(number - COG_METHOD_COUNT);
}

cog_method method_exhaustive(bool vectors) {
    return vectors ? COG_METHOD_EXACT : COG_METHOD_FLAT;
}

cog_method method_named(const char *name) {
    const struct search_method *method;
    for (int number = COG_METHOD_AUTO + 1; (method = method_of((cog_method)number)); number++)
        if (strcmp(method->name, name) == 0)
            return (cog_method)number;
    return COG_METHOD_AUTO;
}

const char *method_name(cog_method method) {
    const struct search_method *found = method_of(method);
    return method == COG_METHOD_AUTO ? "auto" : found ? found->name : "none";
}

cog_status method_take_knobs(cog_method *method, const cog_knobs *knobs, unsigned use,
                             cog_error *error) {
    if (*method == COG_METHOD_AUTO && knobs->given)
        *method = knobs->method;
    const struct search_method *found = method_of(*method);
    if (*method != COG_METHOD_AUTO && !found)
        return error_set(error, COG_ERR_USAGE, "method %d does not exist", (int)*method);
    if (!knobs->given)
        return COG_OK;
    const struct search_method *owner = method_of(knobs->method);
    unsigned first = (unsigned)__builtin_ctz(knobs->given);
    if (knobs->method != *method)
        return error_set(error, COG_ERR_USAGE, "'%s' belongs to the method %s, not to %s",
                         owner && first < owner->knob_count ? owner->knobs[first].name : "a knob",
                         method_name(knobs->method), method_name(*method));
    return method_check_knobs(found, knobs, use, error);
}
