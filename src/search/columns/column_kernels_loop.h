/* The kernels of bit columns, in the widest vectors of the level they are compiled for: included
 * once per level, which names its table COLUMN_KERNELS. */
#include "search/columns/bit_columns.h"

#if defined(__AVX2__)
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
    vector half = b ^ c, carry = (b & c) | (half & *a); /* a is known last */
    *a ^= half;
#endif
    return carry;
}

/* How the columns of a block are read. */
enum block_kind {
    BLOCK_AS_IS,   /* all as they are */
    BLOCK_FLIPPED, /* each XORed with its flip */
    BLOCK_LAST,    /* the same, but possibly with fewer columns than a block */
};

/* Where a query reads. A cache line is prefetched once although several vectors make one line. */
struct lane {
    const uint64_t *group, *ahead; /* of the lane */
    const struct column_reading *reading;
    bool fetches;
};

static inline __attribute__((always_inline)) vector
read_column(const struct lane *lane, unsigned column, enum block_kind kind) {
    const struct column_reading *reading = lane->reading;
    if (kind == BLOCK_LAST && column >= reading->count)
        return (vector){0};
    if (lane->fetches)
        __builtin_prefetch(lane->ahead + reading->words[column], 0, 1);
    vector own = load(lane->group + reading->words[column]);
    return kind == BLOCK_AS_IS ? own : own ^ reading->flips[column];
}

/* Adds a block of columns to sums of 4 bits; returns the carry (sixteens). */
static inline __attribute__((always_inline)) vector
add_block(const struct lane *lane, unsigned column, enum block_kind kind, vector sums[4]) {
    vector twos[2], fours[2], eights[2];
    for (unsigned e = 0; e < 2; e++) {
        for (unsigned f = 0; f < 2; f++) {
            for (unsigned t = 0; t < 2; t++, column += 2) {
                vector first = read_column(lane, column, kind);
                twos[t] = full_add(&sums[0], first, read_column(lane, column + 1, kind));
            }
            fours[f] = full_add(&sums[1], twos[0], twos[1]);
        }
        eights[e] = full_add(&sums[2], fours[0], fours[1]);
    }
    return full_add(&sums[3], eights[0], eights[1]);
}

static inline void add_sixteens(vector carry, vector *planes, unsigned plane_count) {
    for (unsigned p = 4; p < plane_count; p++) {
        vector before = planes[p];
        planes[p] = before ^ carry;
        carry &= before;
    }
}

static inline void complement(vector sums[4]) {
    for (unsigned p = 0; p < 4; p++)
        sums[p] = ~sums[p];
}

/* A full adder of complements gives the complements of sum and carry, so columns that are all
 * flipped can be added unflipped to complemented sums. */
static inline __attribute__((always_inline)) void count_lane(const struct lane *lane,
                                                             vector *planes) {
    const struct column_reading *reading = lane->reading;
    unsigned column = 0, plane_count = reading->planes;
    vector sums[4] = {{0}};
    for (; column < reading->plain; column += COLUMN_BLOCK)
        add_sixteens(add_block(lane, column, BLOCK_AS_IS, sums), planes, plane_count);
    complement(sums);
    for (; column < reading->plain + reading->flipped; column += COLUMN_BLOCK)
        add_sixteens(~add_block(lane, column, BLOCK_AS_IS, sums), planes, plane_count);
    complement(sums);
    for (; column + COLUMN_BLOCK <= reading->count; column += COLUMN_BLOCK)
        add_sixteens(add_block(lane, column, BLOCK_FLIPPED, sums), planes, plane_count);
    if (column < reading->count)
        add_sixteens(add_block(lane, column, BLOCK_LAST, sums), planes, plane_count);
    memcpy(planes, sums, sizeof sums);
}

static void count_group(const uint64_t *group, const uint64_t *ahead,
                        const struct column_reading *reading, uint64_t *planes) {
    for (size_t at = 0; at < COLUMN_GROUP_WORDS; at += LANES) {
        vector sums[COLUMN_PLANES_MAX] = {0};
        if (at == 0) /* two copies, so that neither tests for each column */
            count_lane(&(struct lane){group, ahead, reading, true}, sums);
        else
            count_lane(&(struct lane){group + at, ahead, reading, false}, sums);
        for (unsigned p = 0; p < reading->planes; p++)
            store(planes + p * COLUMN_GROUP_WORDS + at, sums[p]);
    }
}

/* The bits of the rows whose counts are at most the threshold. */
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
    uint64_t words[COLUMN_GROUP_WORDS]; /* only non-empty ones, which saves a branch per word */
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

#if defined(__AVX512BW__)
static inline int32_t dot_product(const uint8_t *shares, const int8_t *weights, size_t size) {
    enum { FITTING = 8 * 64 }; /* bytes whose products fit a 16-bit sum */
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
}
#elif defined(__AVX2__)
static inline int32_t dot_product(const uint8_t *shares, const int8_t *weights, size_t size) {
    enum { FITTING = 4 * 64 };
    const __m256i low = _mm256_set1_epi8(CLUSTER_SHARE_MAX), ones = _mm256_set1_epi16(1);
    __m256i sum = _mm256_setzero_si256();
    for (size_t first = 0; first < size; first += FITTING) {
        __m256i pairs = _mm256_setzero_si256();
        for (size_t i = first; i < size && i < first + FITTING; i += 64)
            for (size_t half = 0; half < 64; half += 32) {
                const __m256i both = _mm256_loadu_si256((const __m256i *)(shares + i + half));
                const __m256i *own = (const __m256i *)(weights + 2 * i + half);
                __m256i high = _mm256_and_si256(_mm256_srli_epi16(both, 4), low);
                __m256i least = _mm256_and_si256(both, low);
                pairs =
                    _mm256_add_epi16(pairs, _mm256_maddubs_epi16(least, _mm256_loadu_si256(own)));
                pairs = _mm256_add_epi16(pairs,
                                         _mm256_maddubs_epi16(high, _mm256_loadu_si256(own + 2)));
            }
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, ones));
    }
    __m128i quarter = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    quarter = _mm_add_epi32(quarter, _mm_shuffle_epi32(quarter, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(quarter, _mm_shuffle_epi32(quarter, 0xb1)));
}
#else
static inline int32_t dot_product(const uint8_t *shares, const int8_t *weights, size_t size) {
    int32_t sum = 0;
    for (size_t first = 0; first < size; first += 64)
        for (size_t i = first; i < first + 64; i++)
            sum += (shares[i] & CLUSTER_SHARE_MAX) * weights[first + i] +
                   (shares[i] >> 4) * weights[first + i + 64];
    return sum;
}
#endif

static void score_clusters(const uint8_t *shares, const int8_t *weights, size_t stride,
                           size_t clusters, int32_t *scores) {
    for (size_t i = 0; i < clusters; i++)
        scores[i] = dot_product(shares + i * stride, weights, stride);
}

const struct column_kernels COLUMN_KERNELS = {count_group, count_within, select_rows,
                                              score_clusters};
