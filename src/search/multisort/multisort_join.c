#include "search/multisort/multisort_join.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/io/files.h"
#include "base/io/output.h"
#include "base/memory.h"
#include "base/threads.h"
#include "search/keys/key_set.h"
#include "search/multisort/multisort_pairs.h"

/* ---- Signatures in a scratch file ------------------------------------------------------------ */

/* Signatures on disk in parts that fit a memory budget, cut by some of their bits: rows that agree
 * in those bits are in one part. */
struct scratch_parts {
    const struct signatures_view *views; /* borrowed; rows are numbered through */
    unsigned view_count;
    size_t rows;
    size_t part_rows; /* that fit the budget */
    size_t buffer_bytes;
    int descriptor;
};

/* Takes over a part's keys, which are in the order of their rows. */
typedef cog_status scratch_part_use(void *context, struct key_array *keys, cog_error *error);

enum { DIGIT_BITS_MAX = 12, BUFFER_BYTES_MIN = 4096 };

static const char scratch_name[] = "a scratch file in TMPDIR";

/* A record is the words of the key, then the row. */
static size_t record_bytes(unsigned key_bits) {
    return key_bits / 8 + sizeof(uint32_t);
}

/* The number of rows that can be joined within this memory: sorting holds keys and rows twice. */
static size_t scratch_rows_within(size_t memory_bytes, unsigned key_bits) {
    return memory_bytes / (2 * record_bytes(key_bits) + sizeof(uint32_t));
}

/* Takes the space on disk at once. */
static cog_status scratch_parts_open(struct scratch_parts *parts,
                                     const struct signatures_view *views, unsigned view_count,
                                     size_t memory_bytes, cog_error *error) {
    *parts = (struct scratch_parts){.views = views, .view_count = view_count, .descriptor = -1};
    for (unsigned v = 0; v < view_count; v++)
        parts->rows += views[v].rows;
    parts->buffer_bytes = memory_bytes / 4;
    parts->part_rows = scratch_rows_within(memory_bytes - parts->buffer_bytes, views->bits);
    TRY(scratch_file_open(&parts->descriptor, error));
    errno = posix_fallocate(parts->descriptor, 0, (off_t)(parts->rows * record_bytes(views->bits)));
    return errno ? error_system(error, "take space for", scratch_name) : COG_OK;
}

static void scratch_parts_close(struct scratch_parts *parts) {
    if (parts->descriptor >= 0)
        close(parts->descriptor);
    parts->descriptor = -1;
}

/* How a pass cuts the rows: the part of each digit, the place of each part in the file, and its
 * buffer. */
struct cut {
    unsigned bit, width;
    uint32_t part_of[1 << DIGIT_BITS_MAX];
    size_t starts[(1 << DIGIT_BITS_MAX) + 1]; /* first row of each part */
    size_t written[1 << DIGIT_BITS_MAX];      /* rows of each part that are on disk */
    size_t buffered[1 << DIGIT_BITS_MAX];
    size_t count;
    char *buffers;
    size_t buffer_records;
};

static unsigned digit_of(const struct cut *cut, short_key key) {
    return (unsigned)((key << cut->bit) >> (128 - cut->width));
}

/* Joins neighbouring digits into parts of at most part_rows. */
static cog_status plan_cut(const struct scratch_parts *parts, struct cut *cut, cog_error *error) {
    size_t *counts;
    TAKE_ZEROED(counts, (size_t)1 << cut->width, "the parts of a join", error);
    for (unsigned v = 0; v < parts->view_count; v++)
        for (size_t row = 0; row < parts->views[v].rows; row++)
            counts[digit_of(cut, short_key_of_row(&parts->views[v], row))]++;
    size_t in_part = 0, most = 0;
    cut->count = 1;
    cut->starts[0] = 0;
    cut->starts[1] = 0;
    for (size_t digit = 0; digit < (size_t)1 << cut->width; digit++) {
        if (in_part > 0 && in_part + counts[digit] > parts->part_rows) {
            in_part = 0;
            cut->count++;
            cut->starts[cut->count] = cut->starts[cut->count - 1];
        }
        cut->part_of[digit] = (uint32_t)(cut->count - 1);
        in_part += counts[digit];
        most = counts[digit] > most ? counts[digit] : most;
        cut->starts[cut->count] += counts[digit];
    }
    free(counts);
    if (most > parts->part_rows)
        return error_set(error, COG_ERR_MEMORY,
                         "%zu rows are too alike to be joined in parts of %zu: allow more memory",
                         most, parts->part_rows);
    return COG_OK;
}

static cog_status write_buffer(const struct scratch_parts *parts, struct cut *cut, size_t part,
                               cog_error *error) {
    size_t record = record_bytes(parts->views->bits);
    size_t at = (cut->starts[part] + cut->written[part]) * record;
    size_t count = cut->buffered[part];
    cut->written[part] += count;
    cut->buffered[part] = 0;
    return descriptor_write_at(parts->descriptor,
                               cut->buffers + part * cut->buffer_records * record, count * record,
                               at, scratch_name, error);
}

static cog_status write_parts(const struct scratch_parts *parts, struct cut *cut,
                              cog_error *error) {
    size_t record = record_bytes(parts->views->bits), key_bytes = record - sizeof(uint32_t);
    uint32_t number = 0;
    for (unsigned v = 0; v < parts->view_count; v++)
        for (size_t row = 0; row < parts->views[v].rows; row++, number++) {
            short_key key = short_key_of_row(&parts->views[v], row);
            size_t part = cut->part_of[digit_of(cut, key)];
            size_t place = part * cut->buffer_records + cut->buffered[part]++;
            uint64_t words[2] = {(uint64_t)(key >> 64), (uint64_t)key};
            memcpy(cut->buffers + place * record, words, key_bytes);
            memcpy(cut->buffers + place * record + key_bytes, &number, sizeof number);
            if (cut->buffered[part] == cut->buffer_records)
                TRY(write_buffer(parts, cut, part, error));
        }
    for (size_t part = 0; part < cut->count; part++)
        TRY(write_buffer(parts, cut, part, error));
    return COG_OK;
}

/* Reads a part through the (then idle) write buffers. */
static cog_status read_part(const struct scratch_parts *parts, const struct cut *cut, size_t part,
                            struct key_array *keys, cog_error *error) {
    unsigned words = parts->views->bits / 64;
    size_t record = record_bytes(parts->views->bits), key_bytes = record - sizeof(uint32_t);
    size_t count = cut->starts[part + 1] - cut->starts[part];
    size_t at_once = cut->count * cut->buffer_records;
    cog_status status = key_array_init(keys, count, words, true, error);
    for (size_t done = 0; done < count && status == COG_OK; done += at_once) {
        size_t now = count - done < at_once ? count - done : at_once;
        status = descriptor_read_at(parts->descriptor, cut->buffers, now * record,
                                    (cut->starts[part] + done) * record, scratch_name, error);
        for (size_t i = 0; i < now && status == COG_OK; i++) {
            memcpy(keys->keys + (done + i) * words, cut->buffers + i * record, key_bytes);
            memcpy(keys->rows + done + i, cut->buffers + i * record + key_bytes,
                   sizeof *keys->rows);
        }
    }
    if (status != COG_OK)
        key_array_free(keys);
    return status;
}

static cog_status visit(struct scratch_parts *parts, struct cut *cut, scratch_part_use *use,
                        void *context, cog_error *error) {
    TRY(plan_cut(parts, cut, error));
    size_t record = record_bytes(parts->views->bits);
    size_t each = parts->buffer_bytes / cut->count;
    cut->buffer_records = (each < BUFFER_BYTES_MIN ? BUFFER_BYTES_MIN : each) / record;
    TAKE(cut->buffers, cut->count * cut->buffer_records * record, "the parts of a join", error);
    cog_status status = write_parts(parts, cut, error);
    for (size_t part = 0; part < cut->count && status == COG_OK; part++) {
        struct key_array keys;
        if (cut->starts[part + 1] - cut->starts[part] < 2)
            continue;
        status = read_part(parts, cut, part, &keys, error);
        THEN(status, use(context, &keys, error));
    }
    free(cut->buffers);
    return status;
}

/* Cuts all rows by up to `width` bits from `bit` on and visits every part with at least two rows.
 * COG_ERR_MEMORY if more rows agree in all these bits than fit. */
static cog_status scratch_parts_visit(struct scratch_parts *parts, unsigned bit, unsigned width,
                                      scratch_part_use *use, void *context, cog_error *error) {
    struct cut *cut;
    TAKE_ZEROED(cut, 1, "the parts of a join", error);
    cut->bit = bit;
    cut->width = width < DIGIT_BITS_MAX ? width : DIGIT_BITS_MAX;
    cog_status status = visit(parts, cut, use, context, error);
    free(cut);
    return status;
}

/* ---- The join -------------------------------------------------------------------------------- */

enum {
    STEPS_MAX = 256,
    EXTRA_BLOCKS_MAX = 3,
    RUN_ROWS = 2048,   /* keys of a run that is worked on at once: it and its table fit the cache */
    AGREEING_ROWS = 4, /* average number of keys that may agree in a step by chance */
    ENTRIES_GRAIN = 1 << 16
};

struct multisort {
    const struct multisort_options *options;
    struct hit_sink sink;
    size_t rows, first_rows; /* rows below first_rows are of the first collection */
    bool between;
    unsigned key_bits, blocks, chosen;
    struct pair_step steps[STEPS_MAX];
    unsigned first_blocks[STEPS_MAX]; /* of each step */
    unsigned step_count;
    struct pair_finder *finders; /* one per worker */
};

/* Delivers a pair of rows, unless both are of one collection in a join between two. */
static cog_status deliver(struct multisort *join, unsigned worker, uint32_t x, uint32_t y,
                          uint32_t distance, cog_error *error) {
    uint32_t a = x < y ? x : y, b = x < y ? y : x;
    if (join->between) {
        if ((a < join->first_rows) == (b < join->first_rows))
            return COG_OK;
        b -= (uint32_t)join->first_rows;
    }
    return hit_sink_add(&join->sink, worker, (struct match){a, b, distance, 0}, error);
}

static cog_status deliver_pairs(struct multisort *join, unsigned worker,
                                const struct key_rows *rows, cog_error *error) {
    struct pair_finder *finder = &join->finders[worker];
    cog_status status = COG_OK;
    for (size_t p = 0; p < finder->pair_count; p++) {
        const struct key_pair *pair = &finder->pairs[p];
        size_t u_count, v_count;
        const uint32_t *u = key_rows_of(rows, pair->u, &u_count);
        const uint32_t *v = key_rows_of(rows, pair->v, &v_count);
        for (size_t i = 0; i < u_count && status == COG_OK; i++)
            for (size_t j = 0; j < v_count && status == COG_OK; j++)
                status = deliver(join, worker, u[i], v[j], pair->distance, error);
    }
    finder->pair_count = 0;
    return status;
}

/* One pass over keys whose runs agree in bits of the same block. */
struct join_pass {
    struct multisort *join;
    const struct key_set *set;
    const struct key_array *keys; /* runs, one after the other; ids are positions in set */
    const uint32_t *starts;
    unsigned block;
};

static cog_status join_runs(void *context, unsigned worker, size_t begin, size_t end,
                            cog_error *error) {
    const struct join_pass *pass = context;
    struct multisort *join = pass->join;
    for (size_t run = begin; run < end; run++)
        for (unsigned s = 0; s < join->step_count; s++) {
            if (join->first_blocks[s] != pass->block)
                continue;
            TRY(pair_finder_run(&join->finders[worker], pass->keys, pass->starts[run],
                                pass->starts[run + 1], &join->steps[s], error));
            TRY(deliver_pairs(join, worker, &pass->set->rows, error));
        }
    return COG_OK;
}

static cog_status join_equal(void *context, unsigned worker, size_t begin, size_t end,
                             cog_error *error) {
    const struct join_pass *pass = context;
    for (size_t entry = begin; entry < end; entry++) {
        size_t count;
        const uint32_t *rows = key_rows_of(&pass->set->rows, entry, &count);
        for (size_t i = 0; i < count; i++)
            for (size_t j = i + 1; j < count; j++)
                TRY(deliver(pass->join, worker, rows[i], rows[j], 0, error));
    }
    return COG_OK;
}

/* Bits of a block that cut the whole collection into runs of RUN_ROWS; within one word. */
static unsigned run_bits(const struct multisort *join, unsigned bit) {
    unsigned end = bit;
    while (end < join->key_bits && end / 64 == bit / 64 && end - bit < KEY_PARTITION_BITS_MAX &&
           join->rows >> (end - bit) > RUN_ROWS)
        end++;
    return end > bit ? end - bit : 1;
}

static unsigned block_begin(const struct multisort *join, unsigned block) {
    return block * join->key_bits / join->blocks;
}

static unsigned block_run_bits(const struct multisort *join, unsigned block) {
    unsigned width = block_begin(join, block + 1) - block_begin(join, block);
    unsigned wanted = run_bits(join, block_begin(join, block));
    return wanted < width ? wanted : width;
}

/* Reports the pairs whose first equal block is `block`. The set holds every row that may be in one.
 */
static cog_status join_block(struct multisort *join, const struct key_set *set, unsigned block,
                             cog_error *error) {
    unsigned threads = join->options->threads;
    unsigned bit = block_begin(join, block), width = block_run_bits(join, block);
    uint32_t *starts;
    struct key_array runs;
    TAKE(starts, ((size_t)1 << width) + 1, "the runs of a join", error);
    cog_status status = key_array_init(&runs, set->keys.count, set->keys.words, true, error);
    THEN(status, key_partition(&runs, &set->keys, bit, width, starts, threads, error));
    struct join_pass pass = {join, set, &runs, starts, block};
    THEN(status, parallel_for(threads, (size_t)1 << width, 1, join_runs, &pass, error));
    if (status == COG_OK && block == 0)
        status =
            parallel_for(threads, set->rows.entry_count, ENTRIES_GRAIN, join_equal, &pass, error);
    key_array_free(&runs);
    free(starts);
    return status;
}

static cog_status join_in_memory(struct multisort *join, const struct signatures_view *views,
                                 cog_error *error) {
    struct key_array keys;
    struct key_set set;
    unsigned threads = join->options->threads;
    TRY(key_array_init(&keys, join->rows, join->key_bits / 64, true, error));
    cog_status status = key_array_load(&keys, 0, &views[0], threads, error);
    if (status == COG_OK && join->between)
        status = key_array_load(&keys, join->first_rows, &views[1], threads, error);
    if (status != COG_OK) {
        key_array_free(&keys);
        return status;
    }
    TRY(key_set_from(&set, &keys, threads, error));
    for (unsigned block = 0; block <= join->options->radius_bits && status == COG_OK; block++)
        status = join_block(join, &set, block, error);
    key_set_free(&set);
    return status;
}

struct part_context {
    struct multisort *join;
    unsigned block;
};

static cog_status join_part(void *context, struct key_array *keys, cog_error *error) {
    const struct part_context *part = context;
    struct key_set set;
    cog_status status = key_set_from(&set, keys, part->join->options->threads, error);
    THEN(status, join_block(part->join, &set, part->block, error));
    key_set_free(&set);
    return status;
}

static cog_status join_on_disk(struct multisort *join, const struct signatures_view *views,
                               cog_error *error) {
    struct scratch_parts parts;
    cog_status status = scratch_parts_open(&parts, views, join->between ? 2 : 1,
                                           join->options->memory_bytes, error);
    for (unsigned block = 0; block <= join->options->radius_bits && status == COG_OK; block++) {
        struct part_context context = {join, block};
        unsigned bit = block_begin(join, block), width = block_begin(join, block + 1) - bit;
        status = scratch_parts_visit(&parts, bit, width, join_part, &context, error);
    }
    scratch_parts_close(&parts);
    return status;
}

static cog_status keep_step(void *context, const struct pair_step *step, unsigned first_block,
                            cog_error *error) {
    (void)error;
    struct multisort *join = context;
    join->first_blocks[join->step_count] = first_block;
    join->steps[join->step_count++] = *step;
    return COG_OK;
}

/* The fewest blocks whose agreement leaves few keys together by chance. */
static unsigned choose_blocks(const struct multisort *join) {
    unsigned radius = join->options->radius_bits;
    for (unsigned extra = 1; extra < EXTRA_BLOCKS_MAX; extra++) {
        unsigned agreeing_bits = extra * join->key_bits / (radius + extra);
        if (agreeing_bits >= 40 || join->rows >> agreeing_bits < AGREEING_ROWS)
            return radius + extra;
    }
    return radius + EXTRA_BLOCKS_MAX;
}

static cog_status plan(struct multisort *join, cog_error *error) {
    unsigned radius = join->options->radius_bits;
    join->blocks = join->options->blocks ? join->options->blocks : choose_blocks(join);
    if (join->blocks <= radius || join->blocks > radius + EXTRA_BLOCKS_MAX)
        return error_set(error, COG_ERR_USAGE, "%u blocks for radius %u: give %u to %u",
                         join->blocks, radius, radius + 1, radius + EXTRA_BLOCKS_MAX);
    join->chosen = join->blocks - radius;
    struct pair_step base = {.radius_bits = radius};
    base.open = short_key_mask(0, join->key_bits);
    base.open_errors = radius;
    short_key masks[SHORT_KEY_RADIUS_MAX + EXTRA_BLOCKS_MAX];
    pair_blocks(short_key_mask(0, join->key_bits), join->blocks, masks);
    return pair_steps(&base, masks, join->blocks, join->chosen, keep_step, join, error);
}

static cog_status run(struct multisort *join, const struct signatures_view *views,
                      struct match_list *matches, cog_error *error) {
    unsigned threads = threads_resolve(join->options->threads);
    size_t limit = join->options->memory_bytes;
    bool fits = limit == 0 || scratch_rows_within(limit, join->key_bits) >= join->rows;
    cog_status status = hit_sink_init(&join->sink, threads, error);
    THEN(status, TAKEN_ZEROED(join->finders, threads, "the workers of a join", error));
    hit_sink_share(&join->sink, matches);
    THEN(status, fits ? join_in_memory(join, views, error) : join_on_disk(join, views, error));
    THEN(status, hit_sink_pairs(&join->sink, join->key_bits, matches, error));
    for (unsigned worker = 0; join->finders && worker < threads; worker++)
        pair_finder_free(&join->finders[worker]);
    free(join->finders);
    hit_sink_free(&join->sink);
    return status;
}

cog_status multisort_join(const struct signatures_view *first, const struct signatures_view *second,
                          const struct multisort_options *options, struct match_list *matches,
                          cog_error *error) {
    struct signatures_view views[2] = {*first, second ? *second : *first};
    TRY(short_key_check(&views[0], options->radius_bits, error));
    TRY(short_key_check(&views[1], options->radius_bits, error));
    size_t rows = views[0].rows + (second ? views[1].rows : 0);
    if (views[0].bits != views[1].bits || rows > SHORT_KEY_ROWS_MAX)
        return error_set(error, COG_ERR_USAGE,
                         "the two collections need the same number of bits (%u and %u) and at "
                         "most %d rows together",
                         views[0].bits, views[1].bits, SHORT_KEY_ROWS_MAX);
    struct multisort *join;
    TAKE_ZEROED(join, 1, "a join", error);
    *join = (struct multisort){.options = options,
                               .rows = rows,
                               .first_rows = views[0].rows,
                               .between = second != NULL,
                               .key_bits = views[0].bits};
    cog_status status = plan(join, error);
    if (status == COG_OK && rows > 0)
        status = run(join, views, matches, error);
    free(join);
    if (status != COG_OK)
        match_list_free(matches);
    return status;
}

enum { LEAST_ROWS = 20000 };

bool multisort_pays(const struct method_join *join) {
    const struct signatures_view *first = join->first.signatures, *second = join_second(join);
    size_t rows = first->rows + (second ? second->rows : 0);
    return (first->bits == 64 || first->bits == 128) && join->radius_bits <= SHORT_KEY_RADIUS_MAX &&
           rows >= LEAST_ROWS;
}

static cog_status join_rows(struct method_join *join, struct match_list *pairs, cog_error *error) {
    const struct multisort_options options = {.radius_bits = join->radius_bits,
                                              .threads = join->threads,
                                              .memory_bytes = join->memory_bytes};
    join->is_exact_out = true;
    return multisort_join(join->first.signatures, join_second(join), &options, pairs, error);
}

const struct search_method multisort_method = {
    .name = "blocks",
    .summary = "short signatures that agree in some blocks of bits",
    .answers = COG_ANSWERS_PAIRS,
    .certain = COG_ANSWERS_PAIRS,
    .bits_min = 64,
    .bits_max = 128,
    .bits_step = 64,
    .join = join_rows,
};
