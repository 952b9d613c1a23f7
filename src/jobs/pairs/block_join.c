#include "jobs/pairs/block_join.h"

#include <stdlib.h>

#include "base/memory.h"
#include "hamming/hamming.h"
#include "join/cosine/cosine_join.h"

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* How places are divided into blocks of about block_bytes, at least one row each. */
struct block_cutting {
    size_t count;
    uint64_t block_bytes;
    uint64_t (*bytes)(const void *context, size_t place); /* memory of a place */
    const void *context;
    const size_t *inside; /* ends that no block crosses; may be NULL */
};

/* free() *ends. */
static cog_status blocks_cut(const struct block_cutting *cutting, size_t **ends,
                             size_t *block_count, cog_error *error) {
    const size_t *inside = cutting->inside;
    uint64_t held = 0;
    size_t capacity = 0, blocks = 0;
    for (size_t place = 0; place < cutting->count; place++) {
        const uint64_t more = cutting->bytes(cutting->context, place);
        const bool at_end = inside && place == *inside;
        if (at_end)
            inside++;
        if (place > 0 && (at_end || held + more > cutting->block_bytes)) {
            GROW(*ends, capacity, blocks + 2, "blocks", error);
            (*ends)[blocks++] = place;
            held = 0;
        }
        held += more;
    }
    GROW(*ends, capacity, blocks + 1, "blocks", error);
    if (cutting->count)
        (*ends)[blocks++] = cutting->count;
    *block_count = blocks;
    return COG_OK;
}

struct costed_rows {
    const struct block_rows *rows;
    struct block_costs costs;
};

static uint64_t row_bytes(const void *context, size_t place) {
    const struct costed_rows *costed = context;
    const uint64_t *offsets = costed->rows->store->offsets;
    const uint32_t row = costed->rows->numbers[place];
    return (offsets[row + 1] - offsets[row]) * costed->costs.entry_bytes + costed->costs.row_bytes;
}

static uint64_t side_bytes(const struct block_join *join, size_t side) {
    const struct costed_rows costed = {&join->sides[side], join->costs};
    uint64_t bytes = 0;
    for (size_t place = 0; place < costed.rows->count; place++)
        bytes += row_bytes(&costed, place);
    return bytes;
}

uint64_t block_join_bytes(const struct block_join *join) {
    return side_bytes(join, 0) + (join->self ? 0 : side_bytes(join, 1));
}

static cog_status cut_side(struct block_join *join, size_t side, uint64_t block_bytes,
                           const size_t *inside, cog_error *error) {
    struct block_rows *rows = &join->sides[side];
    const struct costed_rows costed = {rows, join->costs};
    const struct block_cutting cutting = {rows->count, block_bytes, row_bytes, &costed, inside};
    return blocks_cut(&cutting, &rows->ends, &rows->block_count, error);
}

/* A collection in a single block gets all the memory. */
static cog_status cut_self(struct block_join *join, cog_error *error) {
    const uint64_t all = side_bytes(join, 0), memory = join->memory_bytes;
    const uint64_t second = join->small_second ? memory / 4 : memory / 2;
    TRY(cut_side(join, 0, all <= memory ? all + 1 : memory - second, NULL, error));
    join->sides[1] = join->sides[0];
    if (!join->small_second || join->sides[0].block_count < 2)
        return COG_OK;
    join->sides[1].ends = NULL;
    return cut_side(join, 1, second, join->sides[0].ends, error);
}

/* With two sides, memory that a small one does not need goes to the other. */
static cog_status cut_blocks(struct block_join *join, cog_error *error) {
    if (join->self)
        return cut_self(join, error);
    const uint64_t first = side_bytes(join, 0), second = side_bytes(join, 1);
    const uint64_t memory = join->memory_bytes,
                   share = join->small_second ? memory / 4 : memory / 2;
    TRY(cut_side(join, 0, second < share ? memory - second : memory - share, NULL, error));
    return cut_side(join, 1, first < memory - share ? memory - first : share, NULL, error);
}

static void unload(struct loaded_block *block) {
    sparse_matrix_free(&block->vectors);
    FREE((void *)block->signatures.data, block->margins, block->lengths);
    *block = (struct loaded_block){0};
}

static bool wants_signatures(const struct block_join *join) {
    return join->method && !(join->method->needs & NEEDS_VECTORS) && !join->method->joins_whole;
}

static cog_status load(struct block_join *join, size_t slot, size_t side, size_t number,
                       cog_error *error) {
    struct loaded_block *block = &join->loaded[slot];
    struct block_rows *rows = &join->sides[side];
    if (block->number == number + 1)
        return COG_OK;
    unload(block);
    block->number = number + 1;
    block->first = number ? rows->ends[number - 1] : 0;
    block->count = rows->ends[number] - block->first;
    if (wants_signatures(join)) {
        TRY(row_store_signatures(rows->store, block->first, block->count, &block->signatures,
                                 &block->margins, error));
        if (!join->join.verify)
            return COG_OK;
    }
    return row_store_vectors(rows->store, rows->numbers + block->first, block->count,
                             &block->vectors, error);
}

void block_join_free(struct block_join *join) {
    unload(&join->loaded[0]);
    unload(&join->loaded[1]);
    if (join->sides[1].ends != join->sides[0].ends)
        free(join->sides[1].ends);
    free(join->sides[0].ends);
    cog_report_free(join->block_report);
}

/* ---- From places in blocks to rows ----------------------------------------------------------- */

/* Processes the pairs of two blocks: verifies them if the method requires it, then passes them to
 * the sorter. */
struct block_sink {
    struct block_join *join;
    const struct loaded_block *blocks[2];
    const struct block_rows *rows[2];
    struct pair_check check;
    bool verify, exchanged;
};

static cog_status deliver_groups(const struct block_sink *sink, const struct match *pair,
                                 cog_error *error) {
    const size_t a = sink->blocks[0]->first + pair->a, b = sink->blocks[1]->first + pair->b;
    const struct equal_rows *x = sink->rows[0]->groups, *y = sink->rows[1]->groups;
    struct match_list matches = {0};
    cog_status status = COG_OK;
    enum { AT_ONCE = 4096 };
    for (size_t i = x->offsets[a]; i < x->offsets[a + 1] && status == COG_OK; i++)
        for (size_t j = y->offsets[b]; j < y->offsets[b + 1] && status == COG_OK; j++) {
            const uint32_t p = x->rows[i], q = y->rows[j];
            const bool swap = sink->join->self && q < p;
            status = match_list_add(
                &matches,
                (struct match){swap ? q : p, swap ? p : q, pair->distance, pair->similarity},
                error);
            if (matches.count < AT_ONCE)
                continue;
            THEN(status,
                 match_sorter_add(sink->join->results, matches.items, matches.count, error));
            matches.count = 0;
        }
    THEN(status, match_sorter_add(sink->join->results, matches.items, matches.count, error));
    match_list_free(&matches);
    return status;
}

static void name_rows(const struct block_sink *sink, struct match *items, size_t count) {
    const unsigned bits = sink->join->join.bits;
    for (size_t i = 0; i < count; i++) {
        uint32_t a = sink->rows[0]->numbers[sink->blocks[0]->first + items[i].a];
        uint32_t b = sink->rows[1]->numbers[sink->blocks[1]->first + items[i].b];
        items[i].a = sink->exchanged ? b : a;
        items[i].b = sink->exchanged ? a : b;
        if (!sink->verify)
            items[i].similarity = (float)hamming_cosine(items[i].distance, bits);
    }
}

/* A match_sieve.keep: no match stays in the method's list. */
static cog_status take_batch(void *context, struct match *items, size_t *count, cog_error *error) {
    struct block_sink *sink = context;
    size_t kept = *count;
    cog_status status = COG_OK;
    *count = 0;
    if (sink->rows[0]->groups) {
        for (size_t i = 0; i < kept && status == COG_OK; i++)
            status = deliver_groups(sink, &items[i], error);
        return status;
    }
    __atomic_fetch_add(&sink->join->candidates, kept, __ATOMIC_RELAXED);
    if (sink->verify) {
        TRY(pair_check_keep(&sink->check, items, &kept, error));
    }
    name_rows(sink, items, kept);
    return match_sorter_add(sink->join->results, items, kept, error);
}

static struct block_sink sink_of(struct block_join *join, size_t first, size_t second) {
    return (struct block_sink){
        .join = join,
        .blocks = {&join->loaded[first], &join->loaded[second]},
        .rows = {&join->sides[first], &join->sides[second]},
        .verify = join->join.verify,
        .exchanged = first > second,
        .check = {.vectors = {&join->loaded[first].vectors, &join->loaded[second].vectors},
                  .threshold = join->join.threshold,
                  .threads = join->join.threads,
                  .scattered = join->method && join->method->plan_join != NULL}};
}

/* ---- Block against block --------------------------------------------------------------------- */

static struct method_rows rows_of(const struct loaded_block *block) {
    return (struct method_rows){.signatures = block->signatures.data ? &block->signatures : NULL,
                                .margins = block->margins,
                                .vectors = block->vectors.offsets ? &block->vectors : NULL};
}

/* Adds the pairs of rows within the groups of a block. */
static cog_status match_within_groups(struct block_join *join, cog_error *error) {
    const struct loaded_block *block = &join->loaded[0];
    const struct equal_rows *groups = join->sides[0].groups;
    struct match_list matches = {0};
    cog_status status = COG_OK;
    for (size_t i = 0; groups && i < block->count && status == COG_OK; i++) {
        const size_t group = block->first + i;
        if (groups->offsets[group + 1] - groups->offsets[group] < 2)
            continue;
        const double dot = sparse_row_dot(&block->vectors, i, &block->vectors, i);
        if (dot >= join->join.threshold)
            status = equal_rows_match_within(groups, group, dot, &matches, error);
        THEN(status, match_sorter_add(join->results, matches.items, matches.count, error));
        matches.count = 0;
    }
    match_list_free(&matches);
    return status;
}

/* Adds the method's counts for two blocks to the totals. A comparison within a collection counts
 * for both rows, unless another call compares them in reverse order. */
static void add_counts(struct block_join *join, size_t queries, bool of_both) {
    const cog_report *report = join->block_report;
    const double table_bytes = cog_report_number(report, "table_bytes");
    join->reported_candidates += cog_report_number(report, "candidates");
    join->comparisons += cog_report_number(report, "comparisons");
    join->comparisons_of_queries +=
        cog_report_number(report, "comparisons_a_query") * (double)queries * (of_both ? 2 : 1);
    join->table_bytes = table_bytes > join->table_bytes ? table_bytes : join->table_bytes;
}

/* Joins the blocks in these slots; the same slot twice joins a block with itself. */
static cog_status join_slots(struct block_join *join, size_t first, size_t second,
                             cog_error *error) {
    struct block_sink sink = sink_of(join, first, second);
    const struct match_sieve sieve = {take_batch, &sink};
    struct match_list none = {.sieve = &sieve};
    struct method_join call = join->join;
    call.first = rows_of(&join->loaded[first]);
    call.second = first == second ? (struct method_rows){0} : rows_of(&join->loaded[second]);
    call.first.margins_per_row = call.second.margins_per_row =
        join->sides[0].store->margins_per_row;
    call.report = join->block_report;
    call.kept_lengths = &join->loaded[first].lengths;
    cog_status status = join->method->join(&call, &none, error);
    add_counts(join, join->loaded[first].count,
               join->self && first != second && !call.directed_out);
    join->join.is_exact_out = call.is_exact_out;
    match_list_free(&none);
    return status;
}

static cog_status join_two(struct block_join *join, cog_error *error) {
    TRY(join_slots(join, 0, 1, error));
    return join->self && join->join.directed_out ? join_slots(join, 1, 0, error) : COG_OK;
}

/* In a self-join, a block is joined with itself and the blocks after it. */
static size_t first_partner(const struct block_join *join, size_t block) {
    size_t partner = 0;
    while (join->self && join->sides[1].ends[partner] <= join->sides[0].ends[block] &&
           ++partner < join->sides[1].block_count)
        ;
    return partner;
}

cog_status block_join_run(struct block_join *join, cog_error *error) {
    cog_status status = cog_report_create(&join->block_report, error);
    join->join.is_exact_out = join->method->needs & NEEDS_VECTORS;
    THEN(status, cut_blocks(join, error));
    for (size_t i = 0; i < join->sides[0].block_count && status == COG_OK; i++) {
        status = load(join, 0, 0, i, error);
        if (join->self) {
            THEN(status, join_slots(join, 0, 0, error));
            THEN(status, match_within_groups(join, error));
        }
        for (size_t j = first_partner(join, i); j < join->sides[1].block_count && status == COG_OK;
             j++) {
            status = load(join, 1, 1, j, error);
            THEN(status, join_two(join, error));
        }
    }
    return status;
}

void block_join_report(const struct block_join *join) {
    cog_report *report = join->task->report;
    const size_t queries = join->sides[0].count;
    const bool counted = !(join->method->needs & NEEDS_VECTORS) && !join->method->plan_join;
    report_number(report, "candidates",
                  counted ? (double)join->candidates : join->reported_candidates);
    report_number(report, "comparisons", join->comparisons);
    if (counted)
        report_number(report, "radius_bits", cog_report_number(join->block_report, "radius_bits"));
    if (join->method->plan_join) {
        report_number(report, "comparisons_a_query",
                      queries ? join->comparisons_of_queries / (double)queries : 0);
        report_number(report, "table_bytes", join->table_bytes);
    }
    report_number(
        report, "blocks",
        (double)(join->sides[0].block_count + (join->self ? 0 : join->sides[1].block_count)));
}

/* ---- Candidates ------------------------------------------------------------------------------ */

enum { CHECKED_AT_ONCE = 1 << 15 };

/* Verifies the candidates of items[0..count) whose b is in block `second`; loads it if there are
 * any. */
static cog_status check_pairs(struct block_join *join, size_t second, const struct match *items,
                              size_t count, cog_error *error) {
    const struct block_rows *rows = &join->sides[1];
    const size_t begin = second ? rows->ends[second - 1] : 0, end = rows->ends[second];
    struct match *batch;
    size_t waiting = 0;
    cog_status status = COG_OK;
    TAKE(batch, CHECKED_AT_ONCE, "candidates", error);
    for (size_t i = 0; i <= count && status == COG_OK; i++) {
        const bool last = i == count;
        const size_t b = last ? end : join->places[1][items[i].b];
        if (b >= begin && b < end) {
            batch[waiting] = items[i];
            batch[waiting].a = join->places[0][items[i].a] - (uint32_t)join->loaded[0].first;
            batch[waiting++].b = (uint32_t)(b - begin);
        }
        if (waiting == 0 || (!last && waiting < CHECKED_AT_ONCE))
            continue;
        status = load(join, 1, 1, second, error);
        struct block_sink sink = sink_of(join, 0, 1);
        struct match_list list = {.items = batch, .count = waiting};
        THEN(status, pair_check_run(&sink.check, &list, error));
        if (status == COG_OK) {
            name_rows(&sink, batch, list.count);
            status = match_sorter_add(join->results, batch, list.count, error);
        }
        waiting = 0;
    }
    free(batch);
    return status;
}

cog_status block_join_check(struct block_join *join, const struct match_list *candidates,
                            cog_error *error) {
    size_t at = 0;
    cog_status status = cut_blocks(join, error);
    for (size_t i = 0; i < join->sides[0].block_count && status == COG_OK; i++) {
        size_t end = at;
        while (end < candidates->count &&
               join->places[0][candidates->items[end].a] < join->sides[0].ends[i])
            end++;
        if (end == at)
            continue;
        status = load(join, 0, 0, i, error);
        for (size_t j = join->self ? i : 0; j < join->sides[1].block_count && status == COG_OK; j++)
            status = check_pairs(join, j, candidates->items + at, end - at, error);
        match_list_release(candidates, end);
        at = end;
    }
    return status;
}

/* ---- Matches of a sample --------------------------------------------------------------------- */

static cog_status add_sampled(const struct block_join *join, const struct loaded_block *block,
                              size_t first, const struct match_list *found,
                              struct match_list *matches, cog_error *error) {
    const struct block_rows *rows = &join->sides[join->self ? 0 : 1];
    cog_status status = COG_OK;
    for (size_t i = 0; i < found->count && status == COG_OK; i++) {
        struct match match = found->items[i];
        match.a += (uint32_t)first;
        match.b = rows->numbers[block->first + match.b];
        status = match_list_add(matches, match, error);
    }
    return status;
}

/* Joins the sampled rows from `first` on, which are in memory, with all blocks. */
static cog_status join_sampled(struct block_join *join, const struct sparse_matrix *sample,
                               size_t first, struct match_list *matches, cog_error *error) {
    const size_t side = join->self ? 0 : 1;
    cog_status status = COG_OK;
    for (size_t i = 0; i < join->sides[side].block_count && status == COG_OK; i++) {
        struct match_list found = {0};
        const struct join_options options = {.threshold = join->join.threshold,
                                             .threads = join->join.threads,
                                             .max_matches = matches->limit,
                                             .memory_bytes = join->join.list_bytes};
        status = load(join, 1, side, i, error);
        THEN(status, cosine_join(sample, &join->loaded[1].vectors, &options, &found, error));
        THEN(status, add_sampled(join, &join->loaded[1], first, &found, matches, error));
        match_list_free(&found);
    }
    return status;
}

cog_status block_join_sample(struct block_join *join, const uint32_t *rows, size_t count,
                             struct match_list *matches, cog_error *error) {
    const struct block_rows sample = {.store = join->sides[0].store, .numbers = rows};
    const struct costed_rows costed = {&sample, join->costs};
    size_t *ends = NULL, parts = 0, first = 0;
    const struct block_cutting cutting = {count, join->memory_bytes / 2, row_bytes, &costed, NULL};
    cog_status status = cut_side(join, join->self ? 0 : 1, join->memory_bytes / 2, NULL, error);
    THEN(status, blocks_cut(&cutting, &ends, &parts, error));
    for (size_t i = 0; i < parts && status == COG_OK; i++) {
        struct sparse_matrix vectors = {0};
        status =
            row_store_vectors(join->sides[0].store, rows + first, ends[i] - first, &vectors, error);
        THEN(status, join_sampled(join, &vectors, first, matches, error));
        sparse_matrix_free(&vectors);
        first = ends[i];
    }
    free(ends);
    if (status == COG_OK)
        match_list_sort(matches);
    return status;
}
