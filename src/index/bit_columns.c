#include "index/bit_columns.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"

/* ---- Building -------------------------------------------------------------------------------- */

enum { UNIT_ROWS = 64 * COLUMN_VECTOR_WORDS };

struct build {
    const struct signatures_view *signatures;
    uint64_t *words;
    size_t column_words;
};

/* Bit c of word r, both from the highest or first, becomes bit r of word c: halves are exchanged,
 * then quarters, and so on. */
static void transpose_words(uint64_t words[64]) {
    uint64_t mask = 0x00000000ffffffffu;
    for (unsigned step = 32; step > 0; step /= 2, mask ^= mask << step)
        for (unsigned i = 0; i < 64; i = ((i | step) + 1) & ~step) {
            uint64_t change = (words[i] ^ words[i | step] >> step) & mask;
            words[i] ^= change;
            words[i | step] ^= change << step;
        }
}

/* The word of a row that begins at a bit, a multiple of 64. Rows count down, so that the first is
 * the lowest bit of the transposed word. */
static void load_words(const struct signatures_view *signatures, size_t first_row, unsigned bit,
                       uint64_t words[64]) {
    for (size_t i = 0; i < 64; i++) {
        uint64_t word = 0;
        if (first_row + i < signatures->rows)
            memcpy(&word, signature_row(signatures, first_row + i) + bit / 8, sizeof word);
        words[63 - i] = __builtin_bswap64(word);
    }
}

static cog_status transpose_units(void *context, unsigned worker, size_t begin, size_t end,
                                  cog_error *error) {
    (void)worker;
    (void)error;
    const struct build *build = context;
    unsigned bits = build->signatures->bits;
    uint64_t words[COLUMN_VECTOR_WORDS][64];
    for (size_t unit = begin; unit < end; unit++)
        for (unsigned bit = 0; bit < bits; bit += 64) {
            for (size_t i = 0; i < COLUMN_VECTOR_WORDS; i++) {
                load_words(build->signatures, unit * UNIT_ROWS + i * 64, bit, words[i]);
                transpose_words(words[i]);
            }
            for (unsigned c = 0; c < 64 && bit + c < bits; c++) {
                uint64_t *column = build->words + (bit + c) * build->column_words;
                for (size_t i = 0; i < COLUMN_VECTOR_WORDS; i++)
                    column[unit * COLUMN_VECTOR_WORDS + i] = words[i][c];
            }
        }
    return COG_OK;
}

cog_status bit_columns_build(struct bit_columns *columns, const struct signatures_view *signatures,
                             unsigned threads, cog_error *error) {
    *columns = (struct bit_columns){{NULL, signatures->rows, signatures->bits}, NULL};
    columns->words = memory_large(columns_size_bytes(&columns->view));
    if (!columns->words)
        return error_memory(error, columns_size_bytes(&columns->view), "columns of bits");
    columns->view.words = columns->words;
    struct build build = {signatures, columns->words, column_words(signatures->rows)};
    return parallel_for(threads_resolve(threads), build.column_words / COLUMN_VECTOR_WORDS, 64,
                        transpose_units, &build, error);
}

void bit_columns_free(struct bit_columns *columns) {
    if (columns->words)
        memory_large_free(columns->words, columns_size_bytes(&columns->view));
    *columns = (struct bit_columns){0};
}

cog_status columns_check(const struct columns_view *view, const struct signatures_view *signatures,
                         cog_error *error) {
    size_t words = column_words(view->rows);
    for (size_t first = 0; first < words * 64; first += 64)
        for (unsigned bit = 0; bit < view->bits; bit += 64) {
            uint64_t expected[64];
            load_words(signatures, first, bit, expected);
            transpose_words(expected);
            for (unsigned c = 0; c < 64 && bit + c < view->bits; c++)
                if (view->words[(bit + c) * words + first / 64] != expected[c])
                    return error_set_at(error, COG_ERR_FORMAT, first,
                                        "the columns of rows %zu to %zu are not those of their "
                                        "signatures; build the index again",
                                        first, first + 63);
        }
    return COG_OK;
}
