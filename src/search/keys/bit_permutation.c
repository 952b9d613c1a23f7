#include "search/keys/bit_permutation.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/threads.h"
#include "hamming/hamming.h"

enum { BLOCK = 64, GRAIN_BLOCKS = 16 };

cog_status bit_permutation_create(struct bit_permutation *permutation, unsigned bits, uint64_t seed,
                                  uint64_t table, cog_error *error) {
    permutation->bits = bits;
    TAKE(permutation->order, bits, "a permutation", error);
    struct random random = random_seeded(hash_pair(seed, table));
    for (unsigned i = 0; i < bits; i++) {
        unsigned j = (unsigned)random_below(&random, i + 1);
        permutation->order[i] = permutation->order[j];
        permutation->order[j] = (uint16_t)i;
    }
    return COG_OK;
}

void bit_permutation_free(struct bit_permutation *permutation) {
    free(permutation->order);
    *permutation = (struct bit_permutation){0};
}

static uint64_t row_word(const uint8_t *row, size_t word) {
    uint64_t value;
    memcpy(&value, row + word * 8, sizeof value);
    return __builtin_bswap64(value);
}

struct gather {
    const struct row_space *space;
    const struct bit_permutation *permutations;
    struct key_array *tables;
    size_t table_count, row_count, words;
};

/* planes[i] holds bit i of up to 64 rows from `first` on; returns their number. */
static size_t make_planes(const struct gather *gather, size_t first, uint64_t *planes) {
    const size_t left = gather->row_count - first, count = left < BLOCK ? left : BLOCK;
    for (size_t w = 0; w < gather->words; w++) {
        for (size_t r = 0; r < BLOCK; r++)
            planes[w * BLOCK + r] =
                r < count ? row_word(row_space_row(gather->space, first + r), w) : 0;
        transpose_bits(planes + w * BLOCK);
    }
    return count;
}

/* keys[r]: the bits from `first_bit` on of permuted row r of a block, zeros after the last. */
static void permuted_word(const struct bit_permutation *permutation, const uint64_t *planes,
                          unsigned first_bit, uint64_t *keys) {
    for (unsigned i = 0; i < BLOCK; i++) {
        const unsigned bit = first_bit + i;
        keys[i] = bit < permutation->bits ? planes[permutation->order[bit]] : 0;
    }
    transpose_bits(keys);
}

static cog_status gather_blocks(void *context, unsigned worker, size_t begin, size_t end,
                                cog_error *error) {
    (void)worker;
    (void)error;
    const struct gather *gather = context;
    uint64_t planes[HAMMING_MAX_BITS], keys[BLOCK];
    for (size_t block = begin; block < end; block++) {
        const size_t first = block * BLOCK, count = make_planes(gather, first, planes);
        for (size_t t = 0; t < gather->table_count; t++) {
            permuted_word(&gather->permutations[t], planes, 0, keys);
            memcpy(gather->tables[t].keys + first, keys, count * sizeof *keys);
            for (size_t r = 0; r < count; r++)
                gather->tables[t].rows[first + r] = (uint32_t)(first + r);
        }
    }
    return COG_OK;
}

cog_status permuted_keys_gather(const struct row_space *space,
                                const struct bit_permutation *permutations, size_t table_count,
                                unsigned threads, struct key_array *tables, cog_error *error) {
    struct gather gather = {.space = space,
                            .permutations = permutations,
                            .tables = tables,
                            .table_count = table_count,
                            .row_count = row_space_count(space),
                            .words = hamming_words(space->first->bits)};
    size_t blocks = gather.row_count / BLOCK + (gather.row_count % BLOCK != 0);
    return parallel_for(threads, blocks, GRAIN_BLOCKS, gather_blocks, &gather, error);
}

/* ---- Whole rows ------------------------------------------------------------------------------ */

struct row_gather {
    struct gather gather;
    uint8_t *permuted;
};

/* Word w of the permuted rows of a block. */
static void store_word(const struct row_gather *rows, size_t table, size_t word, size_t first,
                       size_t count, const uint64_t *keys) {
    const size_t row_bytes = rows->gather.permutations[table].bits / 8;
    const size_t left = row_bytes - word * 8, bytes = left < 8 ? left : 8;
    uint8_t *to = rows->permuted + (table * rows->gather.row_count + first) * row_bytes + word * 8;
    for (size_t r = 0; r < count; r++) {
        uint64_t value = __builtin_bswap64(keys[r]);
        memcpy(to + r * row_bytes, &value, bytes);
    }
}

static cog_status gather_rows(void *context, unsigned worker, size_t begin, size_t end,
                              cog_error *error) {
    (void)worker;
    (void)error;
    const struct row_gather *rows = context;
    const struct gather *gather = &rows->gather;
    uint64_t planes[HAMMING_MAX_BITS], keys[BLOCK];
    for (size_t block = begin; block < end; block++) {
        const size_t first = block * BLOCK, count = make_planes(gather, first, planes);
        for (size_t t = 0; t < gather->table_count; t++) {
            const struct bit_permutation *permutation = &gather->permutations[t];
            for (unsigned at = 0; at < permutation->bits; at += BLOCK) {
                permuted_word(permutation, planes, at, keys);
                store_word(rows, t, at / BLOCK, first, count, keys);
            }
        }
    }
    return COG_OK;
}

cog_status permuted_rows_gather(const struct signatures_view *view,
                                const struct bit_permutation *permutations, size_t table_count,
                                unsigned threads, uint8_t *permuted, cog_error *error) {
    const struct row_space space = {view, NULL};
    struct row_gather rows = {.gather = {.space = &space,
                                         .permutations = permutations,
                                         .table_count = table_count,
                                         .row_count = view->rows,
                                         .words = hamming_words(view->bits)},
                              .permuted = permuted};
    size_t blocks = view->rows / BLOCK + (view->rows % BLOCK != 0);
    return parallel_for(threads, blocks, GRAIN_BLOCKS, gather_rows, &rows, error);
}

/* ---- Order among equal keys ------------------------------------------------------------------ */

struct tied_row {
    uint64_t key;
    uint32_t row;
};

struct tie_sort {
    const struct row_space *space;
    const struct bit_permutation *permutation;
    struct tied_row *tied;
    size_t capacity;
};

static int by_key_and_row(const void *x, const void *y) {
    const struct tied_row *p = x, *q = y;
    return p->key != q->key ? ORDER(p->key, q->key) : ORDER(p->row, q->row);
}

static uint64_t permuted_bits(const struct tie_sort *sort, uint32_t row, unsigned first) {
    const uint8_t *signature = row_space_row(sort->space, row);
    const struct bit_permutation *permutation = sort->permutation;
    uint64_t key = 0;
    for (unsigned i = first; i < first + BLOCK; i++)
        key = key << 1 |
              (i < permutation->bits ? signature_bit(signature, permutation->order[i]) : 0);
    return key;
}

/* Rows whose permuted signatures agree before bit `first`. */
static void sort_tied(const struct tie_sort *sort, struct tied_row *tied, size_t count,
                      unsigned first) {
    if (count < 2 || first >= sort->permutation->bits)
        return;
    for (size_t i = 0; i < count; i++)
        tied[i].key = permuted_bits(sort, tied[i].row, first);
    qsort(tied, count, sizeof *tied, by_key_and_row);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && tied[end].key == tied[begin].key; end++)
            ;
        sort_tied(sort, tied + begin, end - begin, first + BLOCK);
    }
}

cog_status permuted_keys_sort(const struct row_space *space,
                              const struct bit_permutation *permutation, unsigned threads,
                              struct key_array *table, cog_error *error) {
    cog_status status = key_sort(table, threads, error);
    struct tie_sort sort = {.space = space, .permutation = permutation};
    for (size_t begin = 0, end; begin < table->count && status == COG_OK; begin = end) {
        for (end = begin + 1; end < table->count && table->keys[end] == table->keys[begin]; end++)
            ;
        size_t count = end - begin;
        if (count < 2)
            continue;
        status = GROWN(sort.tied, sort.capacity, count, "rows with equal keys", error);
        if (status != COG_OK)
            break;
        for (size_t i = 0; i < count; i++)
            sort.tied[i] = (struct tied_row){0, table->rows[begin + i]};
        sort_tied(&sort, sort.tied, count, BLOCK);
        for (size_t i = 0; i < count; i++)
            table->rows[begin + i] = sort.tied[i].row;
    }
    free(sort.tied);
    return status;
}
