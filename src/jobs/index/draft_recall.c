/* Measures the recall of a new segment while it is built. A sample of its rows is used as queries,
 * each excluding itself, with every effort of every method that has tables in the segment. True
 * neighbours are by vectors, or by signatures if there are no vectors.
 *
 * The 500 queries cost as much as 500 exhaustive searches of the segment; 10 and 100 neighbours are
 * counted (plan/recall_measures.h). */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "collection/row_signer.h"
#include "jobs/index/draft_recall.h"
#include "jobs/index/index_draft.h"
#include "jobs/index/index_weights.h"
#include "plan/effort_choice.h"
#include "plan/method_choice.h"
#include "plan/sampled_truth.h"
#include "search/hits/graded_query.h"

/* ---- True neighbours ------------------------------------------------------------------------- */

/* An index of only the draft, with the draft's statistics, which are borrowed. */
struct alone {
    struct manifest_entry entry;
    cog_index index;
};

static void alone_init(struct alone *alone, const cog_index *index, struct segment_draft *draft) {
    *alone = (struct alone){.entry = {.rows = draft->segment.rows}, .index = *index};
    alone->index.folder = NULL;
    alone->index.weights = NULL;
    alone->index.parts = (struct index_segments){.manifest = {.entries = &alone->entry, .count = 1},
                                                 .segments = &draft->segment,
                                                 .rows = draft->segment.rows};
}

static cog_status search_vectors(struct measuring *own, const struct sparse_matrix *vectors,
                                 cog_error *error) {
    struct method_search asked = {
        .k = RECALL_NEIGHBOURS_MAX + 1, .recall = 1, .threads = own->threads};
    struct sparse_matrix queries = {0};
    cog_status status = sparse_matrix_select(vectors, own->sample, own->count, &queries)
                            ? COG_OK
                            : error_memory(error, own->count, "a sample of vectors");
    asked.rows.vectors = vectors;
    asked.queries.vectors = &queries;
    THEN(status, method_of(method_exhaustive(true))->search(NULL, &asked, &own->truth, error));
    sparse_matrix_free(&queries);
    return status;
}

/* If the draft has vectors, there is room for their weights. */
static cog_status weigh_draft(const cog_index *index, struct segment_draft *draft,
                              struct measuring *own, cog_error *error) {
    struct alone alone;
    struct sparse_matrix vectors = draft->segment.vectors;
    alone_init(&alone, index, draft);
    if (!draft->weights)
        TAKE(draft->own_weights, vectors.offsets[vectors.rows] + 1, "weights", error);
    vectors.values = draft->weights ? draft->weights : draft->own_weights;
    TRY(index_weights_create(1, &alone.index.weights, error));
    cog_status status = index_weigh_part(&alone.index, 0, own->threads, vectors.values, error);
    THEN(status, search_vectors(own, &vectors, error));
    index_weights_free(alone.index.weights);
    return status;
}

static cog_status find_truth(const cog_index *index, struct segment_draft *draft,
                             struct measuring *own, cog_error *error) {
    if (own->of_cosines)
        return weigh_draft(index, draft, own, error);
    struct method_search asked = {.rows = {.signatures = &draft->segment.signatures},
                                  .queries = {.signatures = &own->signatures},
                                  .k = RECALL_NEIGHBOURS_MAX + 1,
                                  .recall = 1,
                                  .threads = own->threads};
    return method_of(method_exhaustive(false))->search(NULL, &asked, &own->truth, error);
}

/* ---- Queries --------------------------------------------------------------------------------- */

/* Reads the documents of the sample from the vectors of the draft. */
static cog_status read_sample(const cog_index *index, struct segment_draft *draft,
                              const struct measuring *own, struct corpus *corpus,
                              cog_error *error) {
    struct alone alone;
    struct part_bags bags = {0};
    struct bag_view bag;
    alone_init(&alone, index, draft);
    cog_status status = part_bags_open(&bags, &alone.index, 0, error);
    for (size_t i = 0; i < own->count && status == COG_OK; i++) {
        status = part_bags_read(&bags, own->sample[i], &bag, error);
        THEN(status, corpus_add_bag(corpus, &bag, error));
    }
    part_bags_close(&bags);
    return status;
}

static cog_status sign_margins(const cog_index *index, const struct signable_rows *rows,
                               struct measuring *own, cog_error *error) {
    unsigned bits = own->segment->signatures.bits;
    struct signatures_view again = {0};
    cog_status status = corpus_sign(rows, &index->sign, index->statistics->counts, own->threads,
                                    &again, own->margins, bits, error);
    free((void *)again.data);
    return status;
}

/* Signs the sample, with margins if they are known. */
static cog_status sign_sample(const cog_index *index, const struct corpus *corpus,
                              const float *margins, struct segment_draft *draft,
                              struct measuring *own, cog_error *error) {
    size_t bits = own->segment->signatures.bits;
    TRY(sample_signatures(&own->segment->signatures, own->sample, own->count, &own->signatures,
                          error));
    if (!corpus && !margins && !index->has_vectors)
        return COG_OK;
    TAKE(own->margins, own->count * bits, "a sample of margins", error);
    for (size_t i = 0; margins && i < own->count; i++)
        memcpy(own->margins + i * bits, margins + (size_t)own->sample[i] * bits,
               bits * sizeof *margins);
    if (margins)
        return COG_OK;
    struct signable_rows rows = {.corpus = corpus, .numbers = own->sample, .count = own->count};
    if (corpus)
        return sign_margins(index, &rows, own, error);
    struct corpus sample = {0};
    cog_status status = read_sample(index, draft, own, &sample, error);
    rows = (struct signable_rows){.corpus = &sample, .count = own->count};
    THEN(status, sign_margins(index, &rows, own, error));
    corpus_free(&sample);
    return status;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

size_t measuring_others(const struct hit_lists *lists, size_t query, uint32_t itself, size_t k,
                        struct match *copy) {
    size_t count = 0;
    for (size_t i = lists->offsets[query]; i < lists->offsets[query + 1] && count < k; i++)
        if (lists->items[i].b != itself)
            copy[count++] = lists->items[i];
    return count;
}

static int by_row(const void *x, const void *y) {
    const struct match *a = x, *b = y;
    return ORDER(a->b, b->b);
}

/* The number of true neighbours among the candidates, whose cosines would be computed. */
static size_t count_proposed(struct match *truth, size_t count, const struct match *found,
                             size_t found_count) {
    size_t hits = 0;
    if (count)
        qsort(truth, count, sizeof *truth, by_row);
    for (size_t i = 0; i < found_count && count; i++)
        hits += bsearch(&found[i], truth, count, sizeof *truth, by_row) != NULL;
    return hits;
}

/* Counts the queries of the sample from `first` on. */
static cog_status count_lists(const struct measuring *own, const struct hit_lists *found,
                              size_t first, size_t queries, size_t k, size_t most,
                              struct share_tally *tally, cog_error *error) {
    struct match truth[RECALL_NEIGHBOURS_MAX], *others;
    TAKE(others, most + 1, "a sample of neighbours", error);
    for (size_t i = 0; i < queries; i++) {
        size_t count = measuring_others(&own->truth, first + i, own->sample[first + i], k, truth);
        size_t found_count = measuring_others(found, i, own->sample[first + i], most, others);
        if (own->of_cosines)
            share_tally_add(tally, count_proposed(truth, count, others, found_count), count);
        else
            recall_count_nearest(truth, count, others, found_count, RECALL_BY_DISTANCE, tally);
    }
    free(others);
    return COG_OK;
}

size_t measuring_at_once(const struct measuring *own, size_t first, size_t list) {
    enum { MOST_HITS = 1 << 20 };
    size_t left = own->count - first, most = MOST_HITS / (list + 1) + 1;
    return left < most ? left : most;
}

static cog_status measure_queries(const struct measuring *own, const struct search_method *method,
                                  uint32_t flags, uint32_t k, unsigned effort, size_t *first,
                                  struct share_tally *tally, cog_error *error) {
    const cog_knobs none = {0};
    struct hit_lists found = {0};
    const bool has_margins = flags & RECALL_WITH_MARGINS,
               is_graded = own->of_cosines && has_margins;
    size_t candidates = recall_candidates(k, effort), most = own->of_cosines ? candidates : k;
    size_t proposed = is_graded ? recall_proposed(candidates) : most;
    size_t count = measuring_at_once(own, *first, proposed);
    const struct signatures_view *all = &own->signatures;
    const struct signatures_view queries = {signature_row(all, *first), count, all->bits,
                                            all->stride_bytes};
    struct method_search asked = {
        .rows = {.signatures = &own->segment->signatures},
        .queries = {.signatures = &queries,
                    .margins = has_margins ? own->margins + *first * all->bits : NULL},
        .k = proposed + 1,
        .effort = effort,
        .candidates = proposed > candidates ? proposed : candidates,
        .knobs = &none,
        .threads = own->threads};
    cog_status status = method->search(segment_tables(own->segment, method), &asked, &found, error);
    if (status == COG_OK && is_graded)
        status = hits_keep_graded(&found, &asked.rows, &asked.queries, 0, candidates + 1,
                                  own->threads, error);
    THEN(status, count_lists(own, &found, *first, count, k, most, tally, error));
    hit_lists_free(&found);
    *first += count;
    return status;
}

static cog_status measure_effort(const struct measuring *own, const struct search_method *method,
                                 uint32_t flags, uint32_t k, unsigned effort,
                                 struct share_tally *tally, cog_error *error) {
    cog_status status = COG_OK;
    for (size_t first = 0; first < own->count && status == COG_OK;)
        status = measure_queries(own, method, flags, k, effort, &first, tally, error);
    return status;
}

/* Entries per row, on average; 0 if signatures decide. */
static double row_terms(const struct measuring *own) {
    const size_t rows = own->segment->rows;
    return own->of_cosines ? (double)own->segment->vectors.offsets[rows] / (double)rows : 0;
}

unsigned measuring_steps(const struct measuring *own, const struct search_method *method,
                         uint32_t flags, uint32_t k) {
    const struct effort_question question = {.rows = own->segment->rows,
                                             .queries = 1,
                                             .k = k,
                                             .bits = own->signatures.bits,
                                             .row_terms = row_terms(own),
                                             .of_cosines = own->of_cosines};
    unsigned steps = 0;
    while (steps < method->effort_steps &&
           !(own->of_cosines && recall_candidates(k, steps) > own->segment->rows / 2) &&
           !effort_is_hopeless(&question, method, steps, flags & RECALL_WITH_MARGINS))
        steps++;
    return steps;
}

cog_status measuring_add(struct measuring *own, const struct search_method *method, uint32_t flags,
                         uint32_t k, unsigned effort, const struct share_tally *tally,
                         cog_error *error) {
    GROW(own->items, own->item_capacity, own->item_count + 1, "measures of recall", error);
    own->items[own->item_count++] = recall_measure_of(method->name, flags, k, effort, tally);
    return COG_OK;
}

/* Measures efforts from the smallest on, until nearly nothing is missed. */
static cog_status measure_steps(struct measuring *own, const struct search_method *method,
                                uint32_t flags, uint32_t k, cog_error *error) {
    unsigned steps = measuring_steps(own, method, flags, k);
    for (unsigned effort = 0; effort < steps; effort++) {
        struct share_tally tally = {0};
        TRY(measure_effort(own, method, flags, k, effort, &tally, error));
        if (tally.units == 0)
            return COG_OK;
        TRY(measuring_add(own, method, flags, k, effort, &tally, error));
        if ((double)tally.hits >= RECALL_NEARLY_ALL * (double)tally.trials)
            return COG_OK;
    }
    return COG_OK;
}

static cog_status measure_method(struct measuring *own, const struct search_method *method,
                                 cog_error *error) {
    uint32_t flags = own->of_cosines ? RECALL_OF_COSINES : 0;
    bool by_margins = own->margins && (own->of_cosines || method->needs & PREFERS_QUERY_MARGINS);
    cog_status status = COG_OK;
    if (!(method->answers & COG_ANSWERS_NEAREST) || strlen(method->name) > RECALL_NAME_BYTES)
        return COG_OK;
    for (uint32_t k = 1; status == COG_OK && (k = recall_measured_k(k)); k++) {
        status = measure_steps(own, method, flags, k, error);
        if (status == COG_OK && by_margins)
            status = measure_steps(own, method, flags | RECALL_WITH_MARGINS, k, error);
    }
    return status;
}

/* ---- Useless tables -------------------------------------------------------------------------- */

static bool is_useful(const struct measuring *own, const struct search_method *method) {
    const struct recall_measures measures = {own->items, own->item_count};
    cog_search_options usual;
    cog_search_options_init(&usual);
    const struct effort_question question = {.rows = own->segment->rows,
                                             .queries = 1,
                                             .k = usual.k,
                                             .bits = own->segment->signatures.bits,
                                             .recall = usual.recall,
                                             .row_terms = row_terms(own),
                                             .of_cosines = own->of_cosines,
                                             .has_margins = own->margins != NULL};
    struct effort_choice choice, other;
    if (!effort_choose(&question, &measures, method, &choice) ||
        (own->of_cosines && effort_exhaustive_ns(&question) <= choice.query_ns))
        return false;
    return !effort_choose(&question, &measures, method_of(method_exhaustive(false)), &other) ||
           choice.query_ns < other.query_ns;
}

/* If auto chose the tables and a usual search would not use them, drops them and their measures. */
static void drop_useless_tables(const cog_index *index, struct measuring *own,
                                struct segment *segment) {
    const char *name = "auto";
    settings_get_text(&index->parts.manifest.settings, "index method", &name);
    if (segment->table_count == 0 || method_named(name) != COG_METHOD_AUTO ||
        is_useful(own, segment->tables[0].method))
        return;
    const struct search_method *method = segment->tables[0].method;
    size_t kept = 0;
    for (size_t i = 0; i < own->item_count; i++)
        if (strncmp(own->items[i].method, method->name, RECALL_NAME_BYTES) != 0)
            own->items[kept++] = own->items[i];
    own->item_count = kept;
    method_release(method, segment->tables[0].data);
    segment->table_count = 0;
}

cog_status draft_measure_recall(const cog_index *index, const struct corpus *corpus,
                                const float *margins, unsigned threads, struct segment_draft *draft,
                                cog_error *error) {
    struct segment *segment = &draft->segment;
    struct measuring own = {
        .segment = segment, .of_cosines = index->has_vectors, .threads = threads};
    if (index->is_unmeasured || segment->rows < EFFORT_ROWS_MIN ||
        (!own.of_cosines && segment->table_count == 0))
        return COG_OK;
    own.count = sample_rows(segment->rows, RECALL_SAMPLE_ROWS, 0, own.sample);
    cog_status status = sign_sample(index, corpus, margins, draft, &own, error);
    THEN(status, find_truth(index, draft, &own, error));
    for (unsigned i = 0; i < segment->table_count && status == COG_OK; i++)
        status = measure_method(&own, segment->tables[i].method, error);
    if (status == COG_OK && own.of_cosines)
        status = measure_flat(&own, error);
    if (status == COG_OK)
        drop_useless_tables(index, &own, segment);
    hit_lists_free(&own.truth);
    free(draft->own_weights);
    draft->own_weights = NULL;
    free((void *)own.signatures.data);
    free(own.margins);
    draft->memory.recall = own.items;
    segment->recall = (struct recall_measures){own.items, status == COG_OK ? own.item_count : 0};
    return status;
}
