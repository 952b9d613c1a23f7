#include "search/psm/psm_chunks.h"

#include "base/memory.h"
#include "search/hits/query_order.h"
#include "search/psm/psm_search.h"

struct chunk_job {
    const struct psm_chunks *chunks;
    struct psm_queries queries;
    struct psm_search search;
    struct psm_learned *learned; /* NULL: nothing is to be learned any more */
    uint32_t *open;              /* queries that take part */
    size_t count;                /* of them */
};

/* Removes the queries that have a hit from `first_hit` on; hits come in the order of the queries.
 */
static size_t without_hits(uint32_t *open, size_t count, const struct short_hits *hits,
                           size_t first_hit) {
    size_t left = 0, next = first_hit;
    for (size_t i = 0; i < count; i++)
        if (next < hits->count && hits->items[next].query == open[i])
            next++;
        else
            open[left++] = open[i];
    return left;
}

/* From the first chunk. */
static cog_status learn(struct chunk_job *job, const struct psm_index *index,
                        const struct signatures_view *chunk, cog_error *error) {
    struct psm_learned *learned = job->learned;
    struct psm_lesson lesson = {.index = index,
                                .stored = chunk,
                                .asked = &job->queries.signatures,
                                .asked_weights = job->queries.weights,
                                .radius_bits = job->search.radius_bits};
    if (!learned)
        return COG_OK;
    job->learned = NULL;
    cog_status status = psm_learn(&lesson, job->search.threads, learned, error);
    job->queries.volatility = &learned->volatility;
    return status == COG_OK ? psm_learned_bound(learned, &job->queries, index->table.header_bits,
                                                job->search.radius_bits, job->chunks->recall,
                                                &job->search.penalty_bound, error)
                            : status;
}

static cog_status search_chunk(struct chunk_job *job, size_t first_row, struct short_hits *hits,
                               cog_error *error) {
    struct signatures_view chunk =
        signatures_part(job->chunks->stored, first_row, job->chunks->chunk_rows);
    struct psm_index index;
    cog_status status = psm_build(&index, &chunk, job->chunks->limits, job->search.threads, error);
    if (status != COG_OK)
        return status;
    size_t before = hits->count;
    status = learn(job, &index, &chunk, error);
    THEN(status, psm_search_list(&index, &job->queries, &job->search,
                                 (struct psm_list){job->open, job->count}, hits, error));
    if (status == COG_OK && job->search.first_only)
        job->count = without_hits(job->open, job->count, hits, before);
    for (size_t i = before; i < hits->count; i++)
        hits->items[i].row += (uint32_t)first_row;
    psm_free(&index);
    return status;
}

cog_status psm_search_chunks(const struct psm_chunks *chunks, const struct psm_queries *queries,
                             const struct psm_search *search, struct short_hits *hits,
                             cog_error *error) {
    const struct signatures_view *stored = chunks->stored;
    struct chunk_job job = {chunks, *queries, *search, NULL, NULL, queries->signatures.rows};
    size_t before = hits->count;
    struct query_order order;
    cog_status status = psm_check_queries(queries, search, stored->bits, error);
    THEN(status, query_order_init(&order, &queries->signatures, search->threads, error));
    if (status != COG_OK)
        return status;
    struct psm_learned *learned = chunks->recall > 0 ? memory_array(1, sizeof *learned) : NULL;
    job.learned = learned;
    status = chunks->recall > 0 && !learned
                 ? error_memory(error, sizeof *learned, "what psm learns")
                 : query_order_by(&order, 0, search->threads, error);
    job.open = order.ordered.rows;
    for (size_t first = 0; first < stored->rows && job.count > 0 && status == COG_OK;
         first += chunks->chunk_rows)
        status = search_chunk(&job, first, hits, error);
    query_order_free(&order);
    free(learned);
    return status == COG_OK ? short_hits_sort(hits, before, search->threads, error) : status;
}
