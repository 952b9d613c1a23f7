/* Why two documents are linked: which word matched which, and what it adds to the cosine. */
#include <stdlib.h>

#include "base/memory.h"
#include "jobs/explain/word_matches.h"
#include "jobs/link/link_job.h"

struct explaining {
    const struct link_space *space;
    uint32_t rows[2];
    struct column_sums sums; /* tf* of the source document */
    double cosine;
    cog_word_match *items;
    size_t count, capacity;
};

/* The value of a column in a row; 0 where the row has none. */
static double value_of(const struct sparse_matrix *matrix, uint32_t row, uint32_t column) {
    uint64_t low = matrix->offsets[row], high = matrix->offsets[row + 1];
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (matrix->columns[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < matrix->offsets[row + 1] && matrix->columns[low] == column;
    return found ? (double)matrix->values[low] : 0;
}

/* A source term as the lexicon has it, or as it stands in the text. */
static struct bytes_view source_word(const struct link_space *space, uint64_t hash) {
    uint32_t word = word_table_find(&space->lexicon->from, hash);
    if (word != WORD_NONE)
        return word_table_string(&space->lexicon->from, word);
    word = word_table_find(&space->unknown.strings, hash);
    return word != WORD_NONE ? word_table_string(&space->unknown.strings, word) : view_of("", 0);
}

static cog_status add_match(struct explaining *work, struct bytes_view from, struct bytes_view to,
                            double probability, double share, cog_error *error) {
    if (!memory_grow((void **)&work->items, &work->capacity, work->count + 1, sizeof *work->items))
        return error_memory(error, work->count * sizeof *work->items, "an explanation");
    work->items[work->count++] = (cog_word_match){.from = from.data,
                                                  .to = to.data,
                                                  .from_size = from.size,
                                                  .to_size = to.size,
                                                  .probability = probability,
                                                  .share = share};
    return COG_OK;
}

/* What source term `s` adds by its translation to a column that both documents have; a column's
 * part of the cosine is divided as the source terms divide its tf*. */
static cog_status explain_term(struct explaining *work, uint64_t hash, uint32_t frequency,
                               cog_error *error) {
    const struct link_space *space = work->space;
    const struct projection *projection = space->projection;
    uint32_t source = term_numbers_find(projection->sources, hash);
    cog_status status = COG_OK;
    for (uint64_t i = projection->offsets[source];
         i < projection->offsets[source + 1] && status == COG_OK; i++) {
        const struct projected_term *term = &projection->terms[i];
        double product = value_of(&space->vectors[0], work->rows[0], term->column) *
                         value_of(&space->vectors[1], work->rows[1], term->column);
        if (product <= 0)
            continue;
        double part = (double)term->weight * frequency / work->sums.sums[term->column];
        struct bytes_view from = source_word(space, hash), to = from;
        uint32_t word =
            word_table_find(&space->lexicon->to, projection->target_hashes[term->column]);
        if (word != WORD_NONE)
            to = word_table_string(&space->lexicon->to, word);
        status =
            add_match(work, from, to, (double)term->weight, product * part / work->cosine, error);
    }
    return status;
}

double cog_links_cosine(const cog_links *links, uint32_t from_row, uint32_t to_row) {
    return sparse_row_dot(&links->space.vectors[0], from_row, &links->space.vectors[1], to_row);
}

cog_status cog_links_explain(const cog_links *links, uint32_t from_row, uint32_t to_row,
                             cog_word_match **matches, size_t *count, cog_error *error) {
    const struct link_space *space = &links->space;
    struct explaining work = {.space = space, .rows = {from_row, to_row}};
    if (from_row >= space->vectors[0].rows || to_row >= space->vectors[1].rows)
        return error_set(error, COG_ERR_USAGE, "no document has row %u or %u", from_row, to_row);
    struct bag_view bag = corpus_bag(&space->corpora[0], from_row);
    work.cosine = cog_links_cosine(links, from_row, to_row);
    cog_status status =
        column_sums_init(&work.sums, term_numbers_count(space->projection->targets), error);
    THEN(status, projection_add(space->projection, &bag, &work.sums, error));
    for (size_t i = 0; i < bag.count && work.cosine > 0 && status == COG_OK; i++)
        status = explain_term(&work, bag.hashes[i], bag.frequencies[i], error);
    column_sums_free(&work.sums);
    if (status != COG_OK) {
        free(work.items);
        return status;
    }
    word_matches_sort(work.items, work.count);
    *matches = work.items;
    *count = work.count;
    return COG_OK;
}
