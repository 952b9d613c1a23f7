#include "job/link_candidates.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/threads.h"
#include "index/flat.h"
#include "signature/signer.h"

enum { ROWS_A_PIECE = 64 };

/* ---- Signatures of the vectors --------------------------------------------------------------- */

struct row_signing {
    const struct sparse_matrix *matrix;
    const struct signer *signer;
    struct signer_workspace **workspaces; /* one a worker */
    uint64_t **hashes;                    /* of a row's columns; one a worker */
    uint8_t *signatures;
    size_t stride_bytes;
};

static cog_status sign_rows(void *context, unsigned worker, size_t begin, size_t end,
                            cog_error *error) {
    (void)error;
    const struct row_signing *signing = context;
    const struct sparse_matrix *matrix = signing->matrix;
    uint64_t *hashes = signing->hashes[worker];
    for (size_t row = begin; row < end; row++) {
        uint64_t first = matrix->offsets[row];
        size_t count = (size_t)(matrix->offsets[row + 1] - first);
        for (size_t i = 0; i < count; i++)
            hashes[i] = hash_mix((uint64_t)matrix->columns[first + i] + 1);
        struct weighted_terms terms = {hashes, matrix->values + first, count};
        signer_sign(signing->signer, signing->workspaces[worker], &terms,
                    signing->signatures + row * signing->stride_bytes, NULL);
    }
    return COG_OK;
}

static size_t longest_row(const struct sparse_matrix *matrix) {
    uint64_t longest = 0;
    for (size_t row = 0; row < matrix->rows; row++) {
        uint64_t count = matrix->offsets[row + 1] - matrix->offsets[row];
        longest = count > longest ? count : longest;
    }
    return (size_t)longest;
}

static void row_signing_free(struct row_signing *signing, unsigned threads) {
    for (unsigned i = 0; signing->workspaces && i < threads; i++)
        signer_workspace_free(signing->workspaces[i]);
    for (unsigned i = 0; signing->hashes && i < threads; i++)
        free(signing->hashes[i]);
    free(signing->workspaces);
    free(signing->hashes);
}

static cog_status row_signing_init(struct row_signing *signing, unsigned threads,
                                   cog_error *error) {
    size_t longest = longest_row(signing->matrix);
    signing->signatures = memory_zeroed_array(signing->matrix->rows, signing->stride_bytes);
    signing->workspaces = memory_zeroed_array(threads, sizeof(void *));
    signing->hashes = memory_zeroed_array(threads, sizeof(void *));
    if (!signing->signatures || !signing->workspaces || !signing->hashes)
        return error_memory(error, signing->matrix->rows * signing->stride_bytes, "signatures");
    cog_status status = COG_OK;
    for (unsigned i = 0; i < threads && status == COG_OK; i++) {
        signing->hashes[i] = memory_array(longest, sizeof **signing->hashes);
        if (!signing->hashes[i])
            return error_memory(error, longest * sizeof **signing->hashes, "signatures");
        status = signer_workspace_create(signing->signer, &signing->workspaces[i], error);
    }
    return status;
}

/* The signatures are the caller's to free, whatever the status. */
static cog_status sign_side(const struct sparse_matrix *matrix, const struct signer *signer,
                            unsigned threads, struct signatures_view *view, cog_error *error) {
    unsigned bits = signer_options(signer)->bits;
    struct row_signing signing = {
        .matrix = matrix, .signer = signer, .stride_bytes = signature_stride_bytes(bits)};
    cog_status status = row_signing_init(&signing, threads, error);
    if (status == COG_OK)
        status = parallel_for(threads, matrix->rows, ROWS_A_PIECE, sign_rows, &signing, error);
    row_signing_free(&signing, threads);
    *view = (struct signatures_view){signing.signatures, matrix->rows, bits, signing.stride_bytes};
    return status;
}

/* ---- True cosines of what the signatures propose --------------------------------------------- */

struct rescoring {
    const struct sparse_matrix *queries, *collection;
    const struct flat_results *proposed;
    struct cosine_neighbours *neighbours;
};

static int by_similarity(const void *x, const void *y) {
    const struct cosine_neighbour *a = x, *b = y;
    if (a->similarity != b->similarity)
        return a->similarity > b->similarity ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static cog_status rescore_rows(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    (void)worker;
    (void)error;
    const struct rescoring *rescoring = context;
    const struct sparse_matrix *a = rescoring->queries, *b = rescoring->collection;
    for (size_t row = begin; row < end; row++) {
        struct cosine_neighbour *items =
            rescoring->neighbours->items + row * rescoring->neighbours->k;
        uint32_t kept = 0;
        uint64_t i = a->offsets[row];
        for (size_t p = rescoring->proposed->offsets[row];
             p < rescoring->proposed->offsets[row + 1]; p++) {
            uint32_t other = rescoring->proposed->items[p].row;
            uint64_t j = b->offsets[other];
            double cosine = sparse_dot(a->columns + i, a->values + i, a->offsets[row + 1] - i,
                                       b->columns + j, b->values + j, b->offsets[other + 1] - j);
            if (cosine > 0)
                items[kept++] = (struct cosine_neighbour){other, (float)cosine};
        }
        if (kept)
            qsort(items, kept, sizeof *items, by_similarity);
        rescoring->neighbours->counts[row] = kept;
    }
    return COG_OK;
}

static cog_status rescore(const struct link_space *space, int side, size_t k,
                          const struct flat_results *proposed, struct cosine_neighbours *neighbours,
                          cog_error *error) {
    size_t rows = space->vectors[side].rows;
    *neighbours = (struct cosine_neighbours){.queries = rows, .k = k};
    neighbours->counts = memory_zeroed_array(rows, sizeof *neighbours->counts);
    neighbours->items = memory_array(rows * k, sizeof *neighbours->items);
    if (!neighbours->counts || !neighbours->items)
        return error_memory(error, rows * k * sizeof *neighbours->items, "candidates");
    struct rescoring rescoring = {&space->vectors[side], &space->vectors[!side], proposed,
                                  neighbours};
    return parallel_for(space->threads, rows, ROWS_A_PIECE, rescore_rows, &rescoring, error);
}

/* Nearest by signature, then by cosine. */
static cog_status propose(const struct link_space *space, const struct signatures_view *views,
                          int side, size_t k, struct cosine_neighbours *neighbours,
                          cog_error *error) {
    struct flat_results proposed = {0};
    cog_status status =
        flat_search_topk(&views[!side], &views[side], k, space->threads, &proposed, error);
    if (status == COG_OK)
        status = rescore(space, side, k, &proposed, neighbours, error);
    flat_results_free(&proposed);
    return status;
}

static cog_status find_by_signatures(const struct link_space *space, size_t k, size_t back,
                                     unsigned bits, struct cosine_neighbours *forward,
                                     struct cosine_neighbours *backward, cog_error *error) {
    struct signature_options options;
    struct signer *signer = NULL;
    struct signatures_view views[2] = {{0}, {0}};
    signature_options_init(&options, SIGNATURE_RP);
    options.bits = bits;
    cog_status status = signer_create(&options, &signer, error);
    for (int i = 0; i < 2 && status == COG_OK; i++)
        status = sign_side(&space->vectors[i], signer, space->threads, &views[i], error);
    if (status == COG_OK)
        status = propose(space, views, 0, k, forward, error);
    if (status == COG_OK && back)
        status = propose(space, views, 1, back, backward, error);
    free((void *)views[0].data);
    free((void *)views[1].data);
    signer_free(signer);
    return status;
}

cog_status link_candidates_find(const struct link_space *space, size_t k, size_t back,
                                unsigned bits, struct cosine_neighbours *forward,
                                struct cosine_neighbours *backward, cog_error *error) {
    const struct sparse_matrix *from = &space->vectors[0], *to = &space->vectors[1];
    if (bits)
        return find_by_signatures(space, k, back, bits, forward, backward, error);
    cog_status status = cosine_topk(from, to, k, space->threads, forward, error);
    if (status == COG_OK && back)
        status = cosine_topk(to, from, back, space->threads, backward, error);
    return status;
}
