/* The kernels of columns, in the widest vectors of the level that they are compiled for: included
 * once for each level, which names its table COLUMN_KERNELS. */
#include "search/columns/bit_columns.h"

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

/* Adds a sum of 4 bits to the planes, carrying as far as they go. */
static inline void add_sum(const vector sum[4], vector *planes, unsigned plane_count) {
    vector carry = {0};
    for (unsigned p = 0; p < plane_count; p++)
        carry = full_add(&planes[p], p < 4 ? sum[p] : (vector){0}, carry);
}

/* The sum of COLUMN_SUM bits in each place. */
static inline void sum_rows(vector rows[COLUMN_SUM], vector sum[4]) {
    vector twos[7], fours[3];
    for (unsigned i = 0; i < 7; i++)
        twos[i] = full_add(&rows[0], rows[1 + 2 * i], rows[2 + 2 * i]);
    for (unsigned i = 0; i < 3; i++)
        fours[i] = full_add(&twos[0], twos[1 + 2 * i], twos[2 + 2 * i]);
    sum[3] = full_add(&fours[0], fours[1], fours[2]);
    sum[2] = fours[0];
    sum[1] = twos[0];
    sum[0] = rows[0];
}

static inline void count_lanes(const uint64_t *group, const uint64_t *ahead,
                               const struct column_reading *reading, vector *planes) {
    unsigned first = 0;
    vector rows[COLUMN_SUM], sum[4];
    for (; first + COLUMN_SUM <= reading->count; first += COLUMN_SUM) {
        for (unsigned c = 0; c < COLUMN_SUM; c++) {
            rows[c] = load(group + reading->words[first + c]) ^ reading->flips[first + c];
            __builtin_prefetch(ahead + reading->words[first + c], 0, 1);
        }
        sum_rows(rows, sum);
        add_sum(sum, planes, reading->planes);
    }
    if (first == reading->count)
        return;
    for (unsigned c = 0; c < COLUMN_SUM; c++)
        rows[c] = first + c < reading->count
                      ? load(group + reading->words[first + c]) ^ reading->flips[first + c]
                      : (vector){0};
    sum_rows(rows, sum);
    add_sum(sum, planes, reading->planes);
}

static void count_group(const uint64_t *group, const uint64_t *ahead,
                        const struct column_reading *reading, uint64_t *planes) {
    for (size_t at = 0; at < COLUMN_GROUP_WORDS; at += LANES) {
        vector sums[COLUMN_PLANES_MAX] = {0};
        count_lanes(group + at, ahead + at, reading, sums);
        for (unsigned p = 0; p < reading->planes; p++)
            store(planes + p * COLUMN_GROUP_WORDS + at, sums[p]);
    }
}

/* Bits of the rows whose counts are the threshold or less. */
static inline vector rows_within(const uint64_t *planes, unsigned plane_count, unsigned threshold) {
    vector less = {0}, equal = ~less;
    for (unsigned p = plane_count; p-- > 0;) {
        vector plane = load(planes + p * COLUMN_GROUP_WORDS);
        vector reaches = (vector){0} - (threshold >> p & 1); /* all bits or none */
        less |= equal & ~plane & reaches;
        equal &= ~(plane ^ reaches);
    }
    return less | equal;
}

static unsigned count_within(const uint64_t *planes, unsigned plane_count, unsigned threshold) {
    unsigned count = 0;
    for (size_t at = 0; at < COLUMN_GROUP_WORDS; at += LANES) {
        vector rows = rows_within(planes + at, plane_count, threshold);
#if defined(__AVX512VPOPCNTDQ__)
        count += (unsigned)_mm512_reduce_add_epi64(_mm512_popcnt_epi64((__m512i)rows));
#else
        for (unsigned lane = 0; lane < LANES; lane++)
            count += (unsigned)__builtin_popcountll(rows[lane]);
#endif
    }
    return count;
}

static size_t select_rows(const uint64_t *planes, unsigned plane_count, unsigned threshold,
                          uint32_t first, uint32_t *places, size_t capacity) {
    uint64_t words[COLUMN_GROUP_WORDS]; /* that are not empty, so that no branch asks which are */
    uint32_t firsts[COLUMN_GROUP_WORDS], word_count = 0;
    size_t found = 0;
    for (uint32_t at = 0; at < COLUMN_GROUP_WORDS; at += LANES) {
        vector within = rows_within(planes + at, plane_count, threshold);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            words[word_count] = within[lane];
            firsts[word_count] = first + (at + lane) * 64;
            word_count += within[lane] != 0;
        }
    }
    for (uint32_t word = 0; word < word_count; word++)
        for (uint64_t rest = words[word]; rest; rest &= rest - 1) {
            if (found == capacity)
                return found;
            places[found++] = firsts[word] + (uint32_t)__builtin_ctzll(rest);
        }
    return found;
}

/* ---- Scores of clusters ---------------------------------------------------------------------- */

static inline int32_t dot_product(const uint8_t *shares, const int8_t *weights, size_t size) {
#if defined(__AVX512BW__)
    enum { FITTING = 8 * 64 }; /* bytes whose products a sum of 16 bits holds */
    const __m512i low = _mm512_set1_epi8(CLUSTER_SHARE_MAX), ones = _mm512_set1_epi16(1);
    __m512i sum = _mm512_setzero_si512();
    for (size_t first = 0; first < size; first += FITTING) {
        __m512i pairs = _mm512_setzero_si512();
        for (size_t i = first; i < size && i < first + FITTING; i += 64) {
            __m512i both = _mm512_loadu_si512(shares + i);
            __m512i high = _mm512_and_si512(_mm512_srli_epi16(both, 4), low);
            pairs =
                _mm512_add_epi16(pairs, _mm512_maddubs_epi16(_mm512_and_si512(both, low),
                                                             _mm512_loadu_si512(weights + 2 * i)));
            pairs = _mm512_add_epi16(
                pairs, _mm512_maddubs_epi16(high, _mm512_loadu_si512(weights + 2 * i + 64)));
        }
        sum = _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, ones));
    }
    return _mm512_reduce_add_epi32(sum);
#else
    int32_t sum = 0;
    for (size_t first = 0; first < size; first += 64)
        for (size_t i = first; i < first + 64; i++)
            sum += (shares[i] & CLUSTER_SHARE_MAX) * weights[first + i] +
                   (shares[i] >> 4) * weights[first + i + 64];
    return sum;
#endif
}

static void score_clusters(const uint8_t *shares, const int8_t *weights, size_t stride,
                           size_t clusters, int32_t *scores) {
    for (size_t i = 0; i < clusters; i++)
        scores[i] = dot_product(shares + i * stride, weights, stride);
}

const struct column_kernels COLUMN_KERNELS = {count_group, count_within, select_rows,
                                              score_clusters};
