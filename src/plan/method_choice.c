#include "plan/method_choice.h"

#include "join/join_method.h"
#include "search/flat/flat_method.h"
#include "search/multisort/multisort_join.h"

const struct search_method *method_to_join_signatures(const struct method_join *join) {
    return multisort_pays(join) ? &multisort_method : &flat_method;
}

cog_method method_for_index(size_t rows, bool documents) {
    enum { FLAT_ROWS = 100000 };
    return rows < FLAT_ROWS ? COG_METHOD_FLAT : documents ? COG_METHOD_COLUMNS : COG_METHOD_SLICES;
}

/* exact_ns: time of the exact method per pair of documents with 575 terms in total. */
static cog_method lists_or_exact(const struct sparse_matrix vectors[2], double recall,
                                 double exact_ns) {
    return recall < 1 && lists_method_pays(vectors, exact_ns / 575) ? COG_METHOD_LISTS
                                                                    : COG_METHOD_EXACT;
}

/* Measured on 100 million to 10 billion pairs of sentences and of documents: the exact search takes
 * 25 ns per pair, lists a third to a half of that, and less than signatures at every size. */
cog_method method_for_links(const struct sparse_matrix vectors[2], double recall) {
    return lists_or_exact(vectors, recall, 25);
}

/* Measured on 388 million pairs of documents: the exact join takes 5 ns per pair. */
cog_method method_for_pairs_across(const struct sparse_matrix vectors[2], double recall) {
    return lists_or_exact(vectors, recall, 5);
}

cog_method method_for_search(bool (*may_answer)(const void *context,
                                                const struct search_method *method),
                             const void *context) {
    const struct search_method *method, *best = NULL;
    cog_method chosen = COG_METHOD_AUTO;
    for (int i = COG_METHOD_AUTO + 1; (method = method_of((cog_method)i)); i++)
        if (may_answer(context, method) &&
            (!best || method->is_chosen_unmeasured || !best->is_chosen_unmeasured)) {
            best = method;
            chosen = (cog_method)i;
        }
    return chosen;
}
