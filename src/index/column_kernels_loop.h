/* The kernels of columns, in the widest vectors of the level that they are compiled for: included
 * once for each level, which names its table COLUMN_KERNELS. */
#include "index/bit_columns.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
enum { LANES = 8 };
#elif defined(__AVX2__)
enum { LANES = 4 };
#else
enum { LANES = 2 };
#endif
typedef uint64_t vector __attribute__((vector_size(8 * LANES)));

static inline vector load(const uint64_t *words) {
    vector loaded;
    memcpy(&loaded, words, sizeof loaded);
    return loaded;
}

static inline void store(uint64_t *words, vector stored) {
    memcpy(words, &stored, sizeof stored);
}

/* a + b + c: the sum stays in a, the carry is returned. */
static inline vector full_add(vector *a, vector b, vector c) {
#if defined(__AVX512F__)
    enum { ODD = 0x96, MOST = 0xe8 }; /* truth tables */
    vector carry = (vector)_mm512_ternarylogic_epi64((__m512i)*a, (__m512i)b, (__m512i)c, MOST);
    *a = (vector)_mm512_ternarylogic_epi64((__m512i)*a, (__m512i)b, (__m512i)c, ODD);
#else
    vector half = *a ^ b, carry = (*a & b) | (half & c);
    *a = half ^ c;
#endif
    return carry;
}

/* Adds a sum of 4 bits to the planes, or makes it their content, carrying as far as they go. */
static inline void add_sum(const vector sum[4], uint64_t *words, const struct column_planes *planes,
                           bool fresh) {
    vector carry = {0};
    for (unsigned p = 0; p < planes->count; p++, words += planes->stride) {
        vector plane = fresh ? (vector){0} : load(words);
        carry = full_add(&plane, p < 4 ? sum[p] : (vector){0}, carry);
        store(words, plane);
    }
}

static void add_columns(const uint64_t *const *columns, const uint64_t *flips,
                        const uint64_t *const *next, size_t words,
                        const struct column_planes *planes, bool fresh) {
    for (size_t at = 0; at < words; at += LANES) {
        vector rows[COLUMN_GROUP], twos[7], fours[3];
        for (unsigned c = 0; c < COLUMN_GROUP; c++) {
            rows[c] = load(columns[c] + at) ^ flips[c];
            __builtin_prefetch(next[c] + at, 0, 1);
        }
        for (unsigned i = 0; i < 7; i++)
            twos[i] = full_add(&rows[0], rows[1 + 2 * i], rows[2 + 2 * i]);
        for (unsigned i = 0; i < 3; i++)
            fours[i] = full_add(&twos[0], twos[1 + 2 * i], twos[2 + 2 * i]);
        vector eights = full_add(&fours[0], fours[1], fours[2]);
        add_sum((const vector[]){rows[0], twos[0], fours[0], eights}, planes->words + at, planes,
                fresh);
    }
}

/* Bits of the rows whose counts are the threshold or less. */
static inline vector rows_within(const struct column_planes *planes, size_t at,
                                 unsigned threshold) {
    vector less = {0}, equal = ~less;
    for (unsigned p = planes->count; p-- > 0;) {
        vector plane = load(planes->words + p * planes->stride + at);
        vector reaches = (vector){0} - (threshold >> p & 1); /* all bits or none */
        less |= equal & ~plane & reaches;
        equal &= ~(plane ^ reaches);
    }
    return less | equal;
}

static uint64_t count_rows(const struct column_planes *planes, size_t words, unsigned threshold) {
    uint64_t count = 0;
    for (size_t at = 0; at < words; at += LANES) {
        vector rows = rows_within(planes, at, threshold);
        for (unsigned lane = 0; lane < LANES; lane++)
            count += (unsigned)__builtin_popcountll(rows[lane]);
    }
    return count;
}

static size_t select_rows(const struct column_planes *planes, size_t words, unsigned threshold,
                          size_t first_row, uint32_t *rows, size_t capacity) {
    size_t found = 0;
    for (size_t at = 0; at < words; at += LANES) {
        vector within = rows_within(planes, at, threshold);
        uint64_t any = 0;
        for (unsigned lane = 0; lane < LANES; lane++)
            any |= within[lane];
        for (unsigned lane = 0; lane < LANES && any; lane++)
            for (uint64_t rest = within[lane]; rest; rest &= rest - 1) {
                if (found == capacity)
                    return found;
                rows[found++] =
                    (uint32_t)(first_row + (at + lane) * 64 + (size_t)__builtin_ctzll(rest));
            }
    }
    return found;
}

const struct column_kernels COLUMN_KERNELS = {add_columns, count_rows, select_rows};
