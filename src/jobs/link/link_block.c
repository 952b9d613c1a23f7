#include "jobs/link/link_block.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "collection/row_signer.h"
#include "join/pair_check.h"
#include "search/flat/flat.h"

bool link_block_has_method(cog_method method) {
    return method == COG_METHOD_EXACT || method == COG_METHOD_FLAT;
}

static cog_status find_exactly(const struct sparse_matrix blocks[2], size_t k, unsigned threads,
                               struct match_list *hits, cog_error *error) {
    struct cosine_neighbours nearest = {0};
    cog_status status = cosine_topk(&blocks[0], &blocks[1], k, threads, &nearest, error);
    for (size_t query = 0; query < nearest.queries && status == COG_OK; query++)
        for (size_t i = 0; i < nearest.counts[query] && status == COG_OK; i++) {
            const struct cosine_neighbour *other = &nearest.items[query * nearest.k + i];
            status = match_list_add(hits,
                                    (struct match){.a = (uint32_t)query,
                                                   .b = other->row,
                                                   .similarity = other->similarity},
                                    error);
        }
    cosine_topk_free(&nearest);
    return status;
}

static cog_status find_by_signatures(const struct sparse_matrix blocks[2],
                                     const struct link_search *search, int side, unsigned threads,
                                     struct match_list *hits, cog_error *error) {
    struct signatures_view views[2] = {{0}};
    struct signature_options signature;
    struct hit_lists lists = {0};
    cog_status status = COG_OK;
    signature_options_init(&signature, SIGNATURE_RP);
    signature.bits = search->options->bits;
    for (int i = 0; i < 2 && status == COG_OK; i++)
        status = vector_sign(&(struct signable_rows){.matrix = &blocks[i], .count = blocks[i].rows},
                             &signature, threads, &views[i], NULL, 0, error);
    THEN(status, flat_search_topk(&views[1], &views[0], link_proposals(search, side), threads,
                                  &lists, error));
    if (status == COG_OK) {
        const struct pair_check check = {.vectors = {&blocks[0], &blocks[1]},
                                         .threshold = -INFINITY, /* keeps all */
                                         .threads = threads};
        hits->count = hits->capacity = lists.offsets[lists.queries];
        hits->items = lists.items;
        lists.items = NULL;
        status = pair_check_run(&check, hits, error);
    }
    hit_lists_free(&lists);
    free((void *)views[0].data);
    free((void *)views[1].data);
    return status;
}

cog_status link_block_nearest(const struct sparse_matrix blocks[2],
                              const struct link_search *search, int side, unsigned threads,
                              struct match_list *hits, cog_error *error) {
    return search->method == COG_METHOD_EXACT
               ? find_exactly(blocks, search->wanted[side], threads, hits, error)
               : find_by_signatures(blocks, search, side, threads, hits, error);
}
