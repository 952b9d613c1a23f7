#include "search/columns/bit_columns.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"

unsigned column_step(unsigned bits) {
    unsigned step = (bits * 618 + 999) / 1000;
    for (;; step++) {
        unsigned a = bits, b = step;
        while (b) {
            unsigned rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            return step;
    }
}

/* ---- Building -------------------------------------------------------------------------------- */

struct build {
    const struct signatures_view *signatures;
    const uint32_t *order;
    uint64_t *words;
};

/* The word that begins at a bit, a multiple of 64, of the 64 rows from a place of the order on.
 * Rows count down, so that the first is the lowest bit of the transposed word. */
static void load_words(const struct signatures_view *signatures, const uint32_t *order,
                       size_t first, unsigned bit, uint64_t words[64]) {
    for (size_t i = 0; i < 64; i++) {
        uint64_t word = 0;
        if (order[first + i] != CLUSTER_NO_ROW)
            memcpy(&word, signature_row(signatures, order[first + i]) + bit / 8, sizeof word);
        words[63 - i] = __builtin_bswap64(word);
    }
}

/* All columns of one group, by bit. */
static void transpose_group(const struct signatures_view *signatures, const uint32_t *order,
                            size_t group, uint64_t *columns) {
    unsigned bits = signatures->bits;
    for (unsigned bit = 0; bit < bits; bit += 64)
        for (size_t i = 0; i < COLUMN_GROUP_WORDS; i++) {
            uint64_t words[64];
            load_words(signatures, order, group * COLUMN_GROUP_ROWS + i * 64, bit, words);
            transpose_bits(words);
            for (unsigned c = 0; c < 64 && bit + c < bits; c++)
                columns[(bit + c) * COLUMN_GROUP_WORDS + i] = words[c];
        }
}

static void fill_group(const struct signatures_view *signatures, const uint32_t *order,
                       size_t group, uint64_t *scratch, uint64_t *words) {
    size_t step = column_step(signatures->bits);
    transpose_group(signatures, order, group, scratch);
    for (size_t column = 0; column < signatures->bits; column++)
        memcpy(words + column * COLUMN_GROUP_WORDS,
               scratch + column * step % signatures->bits * COLUMN_GROUP_WORDS,
               COLUMN_GROUP_WORDS * sizeof *words);
}

static cog_status fill_groups(void *context, unsigned worker, size_t begin, size_t end,
                              cog_error *error) {
    (void)worker;
    const struct build *build = context;
    unsigned bits = build->signatures->bits;
    uint64_t *scratch;
    TAKE(scratch, bits * COLUMN_GROUP_WORDS, "columns of a group", error);
    for (size_t group = begin; group < end; group++)
        fill_group(build->signatures, build->order, group, scratch,
                   build->words + group * bits * COLUMN_GROUP_WORDS);
    free(scratch);
    return COG_OK;
}

cog_status bit_columns_build(struct bit_columns *columns, const struct signatures_view *signatures,
                             unsigned threads, cog_error *error) {
    *columns = (struct bit_columns){0};
    TRY(row_clusters_build(&columns->clusters, signatures, threads, error));
    size_t groups = columns->clusters.view.groups;
    size_t size_bytes = columns_size_bytes(groups, signatures->bits);
    columns->words = memory_large(size_bytes);
    if (!columns->words)
        return error_memory(error, size_bytes, "columns of bits");
    columns->view = (struct columns_view){columns->words, columns->clusters.view};
    struct build build = {signatures, columns->clusters.order, columns->words};
    return parallel_for(threads_resolve(threads), groups, 64, fill_groups, &build, error);
}

void bit_columns_free(struct bit_columns *columns) {
    const struct clusters_view *clusters = &columns->clusters.view;
    if (columns->words)
        memory_large_free(columns->words, columns_size_bytes(clusters->groups, clusters->bits));
    row_clusters_free(&columns->clusters);
    *columns = (struct bit_columns){0};
}

cog_status columns_check(const struct columns_view *view, const struct signatures_view *signatures,
                         cog_error *error) {
    size_t group_words = (size_t)signatures->bits * COLUMN_GROUP_WORDS;
    TRY(row_clusters_check(&view->clusters, signatures, error));
    uint64_t *scratch;
    TAKE(scratch, 2 * group_words, "columns of a group", error);
    cog_status status = COG_OK;
    for (size_t group = 0; group < view->clusters.groups && status == COG_OK; group++) {
        uint64_t *expected = scratch + group_words;
        fill_group(signatures, view->clusters.order, group, scratch, expected);
        if (memcmp(view->words + group * group_words, expected, group_words * 8) != 0)
            status = error_set_at(error, COG_ERR_FORMAT, group,
                                  "group %zu of the columns is not that of its signatures; build "
                                  "the index again",
                                  group);
    }
    free(scratch);
    return status;
}
