#include "jobs/search/set_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/threads.h"
#include "plan/sampled_truth.h"
#include "run/job.h"

/* Upper bound on the relative error of a similarity rounded to a float. */
#define FLOAT_ROUNDING 1e-7
/* Bounds computed in doubles are widened by this share. */
#define BOUND_ROUNDING 1e-9

cog_status set_question_take(const cog_index *index, const cog_search_options *options,
                             struct set_question *question, cog_error *error) {
    if (options->threshold != 0)
        TRY(check_share(options->threshold, "threshold", error));
    if (options->radius_bits != COG_RADIUS_NONE)
        return error_about(error, COG_ERR_USAGE, "radius_bits",
                           "an index by jaccard or containment has no signatures: give a threshold "
                           "in place of a radius");
    if ((options->method != COG_METHOD_AUTO && options->method != COG_METHOD_EXACT) ||
        options->knobs.given)
        return error_about(error, COG_ERR_USAGE, "method",
                           "an index by jaccard or containment is searched exactly: leave the "
                           "method out");
    if (!options->verify)
        return error_about(error, COG_ERR_USAGE, "verify",
                           "an index by jaccard or containment has no estimates: similarities are "
                           "the true ones");
    if (options->first && options->threshold == 0)
        return error_about(error, COG_ERR_USAGE, "first",
                           "the first document needs a threshold: give one");
    if (options->k == 0 && options->threshold == 0)
        return error_set(error, COG_ERR_USAGE, "nothing to look for: give k or a threshold");
    *question = (struct set_question){
        .measure = {index->measure == COG_MEASURE_CONTAINMENT, options->threshold},
        .k = options->k,
        .first = options->first};
    return COG_OK;
}

void set_search_free(struct set_search *search) {
    set_bag_free(&search->bag);
    loaded_sets_free(&search->loaded);
    candidates_free(&search->candidates);
    FREE(search->hits, search->lists, search->order);
    *search = (struct set_search){0};
}

/* ---- Hits ------------------------------------------------------------------------------------ */

static bool is_worse(const struct match *a, const struct match *b) {
    return a->similarity < b->similarity || (a->similarity == b->similarity && a->b > b->b);
}

/* The hits are a heap with the worst first; puts `hit` at `at` or below. */
static void sink(struct match *hits, size_t count, size_t at, struct match hit) {
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_worse(&hits[child + 1], &hits[child]))
            child++;
        if (!is_worse(&hits[child], &hit))
            break;
        hits[at] = hits[child];
    }
    hits[at] = hit;
}

static cog_status add_hit(struct set_search *search, size_t k, uint64_t row, double similarity,
                          cog_error *error) {
    const struct match hit = {.b = (uint32_t)row, .similarity = (float)similarity};
    if (k && search->count == k) {
        if (is_worse(&search->hits[0], &hit))
            sink(search->hits, k, 0, hit);
        return COG_OK;
    }
    GROW(search->hits, search->hit_capacity, search->count + 1, "hits", error);
    search->hits[search->count++] = hit;
    if (search->count == k)
        for (size_t at = k / 2; at-- > 0;)
            sink(search->hits, k, at, search->hits[at]);
    return COG_OK;
}

/* ---- One segment ----------------------------------------------------------------------------- */

/* A query's members (terms or words) in a segment. */
struct walk {
    struct set_search *search;
    const struct set_question *question;
    const struct document_set *query;
    const struct segment *segment;
    const struct manifest_entry *entry;
    uint64_t first_row;
    const uint64_t *members;
    size_t size;
    bool of_words, is_done;
    bool has_twin;           /* in an earlier segment; only an equal document precedes it */
    struct set_measure need; /* the minimum for a document to be a hit */
};

static cog_status damaged_lists(const struct walk *walk, cog_error *error) {
    return error_set(error, COG_ERR_FORMAT,
                     "%s: posting lists are damaged; restore the folder from a copy, or build "
                     "the index again",
                     walk->segment->container.path);
}

/* Sets the minimum to the threshold, or to the k-th best so far. */
static void raise_need(struct walk *walk) {
    const struct set_search *search = walk->search;
    if (walk->question->k == 0 || search->count < walk->question->k)
        return;
    const double least = (double)search->hits[0].similarity * (1 - FLOAT_ROUNDING);
    if (least > walk->need.threshold)
        walk->need.threshold = least;
}

/* Whether a document of this size may match, given an upper bound on the shared members. */
static bool may_match(const struct walk *walk, size_t size, size_t shared) {
    const double t = walk->need.threshold;
    const double smaller = (double)(size < walk->size ? size : walk->size);
    const double least =
        walk->need.containment ? t * smaller : t / (1 + t) * ((double)walk->size + (double)size);
    return shared > 0 && (double)shared >= least * (1 - BOUND_ROUNDING);
}

static cog_status compare(struct walk *walk, uint32_t row, cog_error *error) {
    struct set_search *search = walk->search;
    struct document_set set;
    search->compared++;
    if (!segment_sets_load(&walk->segment->sets, row, &search->loaded, &set))
        return segment_damaged_row(walk->segment, row, error);
    const double similarity = document_set_similarity(&walk->need, walk->query, &set);
    if (similarity <= 0 || similarity < walk->need.threshold)
        return COG_OK;
    if (walk->question->earliest) {
        search->twin = (struct set_twin){walk->first_row + row, similarity, false};
        return COG_OK;
    }
    walk->is_done = walk->question->first;
    TRY(add_hit(search, walk->question->k, walk->first_row + row, similarity, error));
    raise_need(walk);
    return COG_OK;
}

/* Processes a document that shares the member at a place of the query. */
static cog_status meet(struct walk *walk, size_t place, uint64_t entry, cog_error *error) {
    const uint32_t row = member_entry_row(entry);
    if (row >= walk->segment->rows)
        return damaged_lists(walk, error);
    const struct set_row *sizes = &walk->segment->sets.rows[row];
    const struct document_set *query = walk->query;
    size_t size = walk->of_words ? sizes->words : sizes->terms;
    const bool is_text = sizes->terms + sizes->words == 0;
    if (is_text != document_set_is_text(query) ||
        (walk->of_words && sizes->terms > 0 && query->term_count > 0))
        return COG_OK;
    size = is_text ? 1 : size;
    /* The lower bound of the member's place in the document's own order. */
    const uint64_t other_place =
        ((uint64_t)member_entry_class(entry) * size + MEMBER_LIST_CLASSES - 1) /
        MEMBER_LIST_CLASSES;
    const size_t mine = walk->size - place, others = size - (size_t)other_place;
    bool is_new = false;
    if (other_place >= size || !may_match(walk, size, mine < others ? mine : others) ||
        (walk->question->earliest && walk->first_row + row >= walk->search->twin.row) ||
        (walk->entry->removed_count && manifest_is_removed(walk->entry, row)))
        return COG_OK;
    TRY(candidates_add(&walk->search->candidates, row, &is_new, error));
    return is_new ? compare(walk, row, error) : COG_OK;
}

/* Finds the lists of all members, prefetching the next ones. */
static cog_status find_lists(struct walk *walk, const struct member_lists *lists,
                             cog_error *error) {
    enum { TOGETHER = 256 };
    struct set_search *search = walk->search;
    GROW(search->lists, search->list_capacity, walk->size, "a query", error);
    GROW(search->order, search->order_capacity, walk->size, "a query", error);
    for (size_t begin = 0; begin < walk->size; begin += TOGETHER) {
        const size_t left = walk->size - begin,
                     end = left < TOGETHER ? walk->size : begin + TOGETHER;
        for (size_t i = begin; i < end; i++)
            member_lists_prefetch(lists, walk->members[i]);
        for (size_t i = begin; i < end; i++)
            member_lists_prefetch_entries(lists, walk->members[i]);
        for (size_t i = begin; i < end; i++)
            search->lists[i] = member_lists_find(lists, walk->members[i]);
    }
    return COG_OK;
}

/* Orders the members as the segment does: by length of lists, then by member (already ascending).
 */
static void order_members(struct walk *walk) {
    enum { COUNTED = 256 }; /* few lists are longer */
    const struct member_list *lists = walk->search->lists;
    uint64_t *order = walk->search->order;
    size_t starts[COUNTED + 1] = {0};
    for (size_t i = 0; i < walk->size; i++)
        starts[(lists[i].count < COUNTED ? lists[i].count : COUNTED - 1) + 1]++;
    for (size_t i = 0; i < COUNTED; i++)
        starts[i + 1] += starts[i];
    for (size_t i = 0; i < walk->size; i++)
        order[starts[lists[i].count < COUNTED ? lists[i].count : COUNTED - 1]++] =
            lists[i].count << 32 | i;
    const size_t longer = starts[COUNTED - 2];
    if (walk->size - longer > 1)
        qsort(order + longer, walk->size - longer, sizeof *order, compare_u64);
}

/* The last class of places at which a document can share its first member. */
static unsigned last_class(double threshold) {
    const double last = MEMBER_LIST_CLASSES * (1 - threshold) + 1e-6;
    return last < MEMBER_LIST_CLASSES - 1 ? (unsigned)last : MEMBER_LIST_CLASSES - 1;
}

static cog_status read_lists(struct walk *walk, cog_error *error) {
    struct set_search *search = walk->search;
    double least_for = -1;
    uint64_t least = 0;
    for (size_t place = 0; place < walk->size && !walk->is_done; place++) {
        const struct member_list *list = &search->lists[(uint32_t)search->order[place]];
        if (walk->need.threshold != least_for) {
            least_for = walk->need.threshold;
            least = set_least_overlap(&walk->need, walk->size);
        }
        /* After its prefix, a query can only be the larger of the two, by containment. */
        const bool in_prefix = walk->size - place >= least;
        if (!in_prefix && !walk->need.containment)
            return COG_OK;
        const uint64_t count = in_prefix && walk->need.containment
                                   ? list->count
                                   : member_list_upto(list, last_class(walk->need.threshold));
        search->postings += count;
        for (uint64_t i = 0; i < count && !walk->is_done; i++)
            TRY(meet(walk, place, list->entries[i], error));
    }
    return COG_OK;
}

/* ---- Equal documents ------------------------------------------------------------------------- */

static bool are_equal(const struct document_set *a, const struct document_set *b) {
    if (a->term_count != b->term_count || a->word_count != b->word_count)
        return false;
    if (document_set_is_text(a))
        return a->text[0] == b->text[0] && a->text[1] == b->text[1];
    return (a->term_count == 0 ||
            memcmp(a->terms, b->terms, a->term_count * sizeof *a->terms) == 0) &&
           (a->word_count == 0 ||
            memcmp(a->words, b->words, a->word_count * sizeof *a->words) == 0);
}

/* An equal document also has the query's rarest member in the first place. */
static cog_status find_equal(struct walk *walk, cog_error *error) {
    struct set_search *search = walk->search;
    const struct member_list *list = &search->lists[(uint32_t)search->order[0]];
    const uint64_t count = member_list_upto(list, 0);
    const struct document_set *query = walk->query;
    struct document_set set;
    search->postings += count;
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t row = member_entry_row(list->entries[i]);
        if (row >= walk->segment->rows)
            return damaged_lists(walk, error);
        const struct set_row *sizes = &walk->segment->sets.rows[row];
        if (sizes->terms != query->term_count || sizes->words != query->word_count ||
            (walk->entry->removed_count && manifest_is_removed(walk->entry, row)))
            continue;
        search->compared++;
        if (!segment_sets_load(&walk->segment->sets, row, &search->loaded, &set))
            return segment_damaged_row(walk->segment, row, error);
        if (are_equal(query, &set)) {
            search->twin = (struct set_twin){walk->first_row + row, 1, true};
            walk->is_done = true;
            return COG_OK;
        }
    }
    return COG_OK;
}

static cog_status search_lists(struct walk *walk, bool of_words, cog_error *error) {
    const struct document_set *query = walk->query;
    const struct segment_sets *sets = &walk->segment->sets;
    const uint64_t text_member = document_set_text_member(query);
    walk->of_words = of_words;
    walk->members = of_words ? query->words : query->terms;
    walk->size = of_words ? query->word_count : query->term_count;
    if (of_words && document_set_is_text(query)) {
        walk->members = &text_member;
        walk->size = 1;
    }
    const struct member_lists *lists = of_words ? &sets->words : &sets->terms;
    if (walk->size == 0 || lists->count == 0)
        return COG_OK;
    TRY(find_lists(walk, lists, error));
    order_members(walk);
    if (walk->question->earliest && of_words == (query->term_count == 0))
        TRY(find_equal(walk, error));
    return walk->is_done || walk->has_twin ? COG_OK : read_lists(walk, error);
}

static cog_status run(struct set_search *search, const cog_index *index,
                      const struct set_question *question, const struct document_set *query,
                      cog_error *error) {
    struct walk walk = {
        .search = search, .question = question, .query = query, .need = question->measure};
    search->count = 0;
    search->twin = (struct set_twin){.row = UINT64_MAX};
    for (size_t part = 0; part < index->parts.manifest.count && !walk.is_done; part++) {
        walk.entry = &index->parts.manifest.entries[part];
        walk.segment = &index->parts.segments[part];
        candidates_clear(&search->candidates);
        if (walk.entry->rows > walk.entry->removed_count) {
            TRY(search_lists(&walk, false, error));
            TRY(walk.is_done ? COG_OK : search_lists(&walk, true, error));
        }
        walk.first_row += walk.entry->rows;
        walk.has_twin = search->twin.row != UINT64_MAX;
    }
    return COG_OK;
}

cog_status set_search_run(struct set_search *search, const cog_index *index,
                          const struct set_question *question, const struct bag_view *bag,
                          cog_error *error) {
    TRY(set_bag_read(&search->bag, bag, error));
    TRY(run(search, index, question, &search->bag.set, error));
    hits_sort(search->hits, search->count, HITS_BY_SIMILARITY);
    return COG_OK;
}

cog_status set_search_earliest(struct set_search *search, const cog_index *index,
                               const struct set_measure *measure, const struct document_set *query,
                               struct set_twin *twin, cog_error *error) {
    const struct set_question question = {.measure = *measure, .earliest = true};
    TRY(run(search, index, &question, query, error));
    *twin = search->twin;
    return COG_OK;
}

/* ---- Many queries ---------------------------------------------------------------------------- */

struct asking {
    const cog_index *index;
    struct set_question question;
    const struct corpus *corpus;
    struct set_search *searches; /* one per worker */
    struct hit_sink sink;
};

static cog_status ask(void *context, unsigned worker, size_t begin, size_t end, cog_error *error) {
    struct asking *asking = context;
    struct set_search *search = &asking->searches[worker];
    for (size_t query = begin; query < end; query++) {
        struct bag_view bag = corpus_bag(asking->corpus, query);
        TRY(set_search_run(search, asking->index, &asking->question, &bag, error));
        for (size_t i = 0; i < search->count; i++) {
            struct match hit = search->hits[i];
            hit.a = (uint32_t)query;
            TRY(hit_sink_add(&asking->sink, worker, hit, error));
        }
    }
    return COG_OK;
}

void set_search_report(uint64_t compared, uint64_t postings, cog_report *report) {
    report_exact(report);
    report_text(report, "method", "exact");
    report_number(report, "comparisons", (double)postings);
    report_number(report, "candidates", (double)compared);
}

static void report_search(const struct asking *asking, unsigned threads,
                          const struct hit_lists *lists, cog_report *report) {
    uint64_t compared = 0, postings = 0;
    for (unsigned i = 0; i < threads; i++) {
        compared += asking->searches[i].compared;
        postings += asking->searches[i].postings;
    }
    set_search_report(compared, postings, report);
    report_number(report, "queries", (double)lists->queries);
    report_number(report, "matches", (double)lists->offsets[lists->queries]);
}

cog_status set_search_corpus(const cog_index *index, const cog_search_options *options,
                             const struct corpus *corpus, unsigned threads, struct hit_lists *lists,
                             cog_report *report, cog_error *error) {
    enum { GRAIN = 16 };
    struct asking asking = {.index = index, .corpus = corpus};
    uint64_t start = clock_ns();
    TRY(set_question_take(index, options, &asking.question, error));
    progress_show("searching");
    TAKE_ZEROED(asking.searches, threads, "searches", error);
    cog_status status = hit_sink_init(&asking.sink, threads, error);
    THEN(status, parallel_for(threads, corpus->rows, GRAIN, ask, &asking, error));
    THEN(status, hit_sink_finish(&asking.sink, corpus->rows, HITS_BY_SIMILARITY, lists, error));
    if (status == COG_OK) {
        report_stage(report, "searching", clock_seconds_since(start));
        report_search(&asking, threads, lists, report);
    }
    hit_sink_free(&asking.sink);
    for (unsigned i = 0; i < threads; i++)
        set_search_free(&asking.searches[i]);
    free(asking.searches);
    return status;
}
