#include "index/line_table.h"

#include "base/cpu.h"
#include "base/memory.h"
#include "index/line_scan_loop.h"

enum {
    FILTER_BITS = 32,
    HEADER_BITS_MIN = 4,
    HEADER_BITS_MAX = 31,
    BYTES_PERCENT_MAX = 115 /* of the plain keys */
};

size_t line_scan_portable(const struct line_table *table, const uint32_t *buckets, size_t count,
                          uint32_t filter, unsigned radius_bits, struct line_ahead ahead,
                          struct line_hit *hits) {
    return line_scan_loop(table, buckets, count, filter, radius_bits, ahead, hits);
}

static line_scan *choose_scan(void) {
    switch (cpu_best_level()) {
#if defined(__x86_64__)
    case CPU_AVX512:
        return line_scan_avx512;
    case CPU_AVX2:
        return line_scan_avx2;
    case CPU_POPCNT:
        return line_scan_popcnt;
#endif
    default:
        return line_scan_portable;
    }
}

static void set_header(struct line_table *table, unsigned header_bits) {
    table->header_bits = header_bits;
    table->rest_bits = table->key_bits - header_bits - FILTER_BITS;
    table->slots = (unsigned)((table->bucket_bytes - LINE_TRAILER_BYTES) * 8 /
                              (table->rest_bits + FILTER_BITS));
}

/* rests: bit i of the run is bit i % 8 of byte i / 8. The bucket was zero before. */
static void put_rest(const struct line_table *table, uint8_t *bucket, unsigned slot,
                     short_key rest) {
    uint8_t *rests = bucket + 4 * table->slots;
    unsigned first = slot * table->rest_bits, end = first + table->rest_bits;
    for (unsigned byte = first / 8; byte * 8 < end; byte++)
        rests[byte] |=
            (uint8_t)(byte * 8 >= first ? rest >> (byte * 8 - first) : rest << (first - byte * 8));
}

static short_key get_rest(const struct line_table *table, const uint8_t *bucket, unsigned slot) {
    const uint8_t *rests = bucket + 4 * table->slots;
    unsigned first = slot * table->rest_bits, end = first + table->rest_bits;
    short_key rest = 0;
    for (unsigned byte = first / 8; byte * 8 < end; byte++) {
        short_key bits = rests[byte];
        rest |= byte * 8 >= first ? bits << (byte * 8 - first) : bits >> (first - byte * 8);
    }
    return rest & (((short_key)1 << table->rest_bits) - 1);
}

short_key line_key(const struct line_table *table, size_t bucket, unsigned slot) {
    const uint8_t *line = line_bucket(table, bucket);
    uint32_t filter;
    memcpy(&filter, line + 4 * slot, sizeof filter);
    short_key low = get_rest(table, line, slot) << FILTER_BITS | filter;
    short_key header = (short_key)bucket << (table->rest_bits + FILTER_BITS);
    return (header | low) << (128 - table->key_bits);
}

static size_t run_end(const struct key_array *keys, size_t begin, unsigned header_bits) {
    uint64_t header = short_key_prefix(short_key_at(keys->keys, keys->words, begin), header_bits);
    size_t end = begin + 1;
    while (end < keys->count &&
           short_key_prefix(short_key_at(keys->keys, keys->words, end), header_bits) == header)
        end++;
    return end;
}

static void fill_bucket(struct line_table *table, const struct key_array *keys, size_t begin,
                        size_t end, size_t *overflow_used) {
    short_key first = short_key_at(keys->keys, keys->words, begin);
    uint8_t *bucket = line_bucket(table, short_key_prefix(first, table->header_bits));
    size_t inside = end - begin < table->slots ? end - begin : table->slots;
    for (unsigned slot = 0; slot < inside; slot++) {
        short_key key = short_key_at(keys->keys, keys->words, begin + slot);
        uint32_t filter = line_filter(table, key);
        memcpy(bucket + 4 * slot, &filter, sizeof filter);
        short_key rest = key >> (128 - table->key_bits) >> FILTER_BITS;
        put_rest(table, bucket, slot, rest & (((short_key)1 << table->rest_bits) - 1));
    }
    bucket[table->bucket_bytes - 1] = (uint8_t)inside;
    if (end - begin > inside) {
        uint32_t place = (uint32_t)*overflow_used;
        memcpy(bucket + table->bucket_bytes - LINE_TRAILER_BYTES, &place, sizeof place);
        uint64_t *record = table->overflow + place;
        record[0] = end - begin - inside;
        memcpy(record + 1, keys->keys + (begin + inside) * keys->words,
               record[0] * keys->words * sizeof *record);
        *overflow_used += 1 + record[0] * keys->words;
    }
}

static void fill_ranks(struct line_table *table, const struct key_array *keys) {
    size_t buckets = (size_t)1 << table->header_bits, bucket = 0;
    for (size_t i = 0; i < keys->count; i++) {
        short_key key = short_key_at(keys->keys, keys->words, i);
        for (uint64_t header = short_key_prefix(key, table->header_bits); bucket <= header;)
            table->ranks[bucket++] = (uint32_t)i;
    }
    while (bucket < buckets)
        table->ranks[bucket++] = (uint32_t)keys->count;
}

static size_t count_overflow_words(const struct line_table *table, const struct key_array *keys) {
    size_t words = 1;
    for (size_t begin = 0, end; begin < keys->count; begin = end) {
        end = run_end(keys, begin, table->header_bits);
        if (end - begin > table->slots)
            words += 1 + (end - begin - table->slots) * keys->words;
    }
    return words;
}

/* The longest header that keeps to BYTES_PERCENT_MAX: first by the buckets alone, then one bit less
 * if the overflow breaks the limit. (Shorter still would not help a skewed collection, only slow
 * it.) */
static void choose_layout(struct line_table *table, const struct key_array *keys,
                          unsigned header_bits_max) {
    table->bucket_bytes = table->key_bits;
    size_t limit_bytes = table->count * (table->key_bits / 8) * BYTES_PERCENT_MAX / 100;
    unsigned longest = header_bits_max < HEADER_BITS_MAX ? header_bits_max : HEADER_BITS_MAX;
    unsigned header = longest < HEADER_BITS_MIN ? longest : HEADER_BITS_MIN;
    while (header < longest && table->bucket_bytes << (header + 1) <= limit_bytes)
        header++;
    set_header(table, header);
    table->overflow_words = count_overflow_words(table, keys);
    if (header > HEADER_BITS_MIN && line_table_bytes(table) > limit_bytes) {
        set_header(table, header - 1);
        table->overflow_words = count_overflow_words(table, keys);
    }
}

cog_status line_table_build(struct line_table *table, const struct key_array *keys,
                            unsigned header_bits_max, bool with_ranks, cog_error *error) {
    *table = (struct line_table){.key_bits = keys->words * 64, .words = keys->words};
    table->count = keys->count;
    table->scan = choose_scan();
    choose_layout(table, keys, header_bits_max);
    size_t buckets = (size_t)1 << table->header_bits;
    table->buckets = memory_large(buckets * table->bucket_bytes);
    table->overflow = memory_zeroed_array(table->overflow_words, sizeof *table->overflow);
    if (with_ranks)
        table->ranks = memory_large(buckets * sizeof *table->ranks);
    if (!table->buckets || !table->overflow || (with_ranks && !table->ranks) ||
        table->overflow_words > UINT32_MAX) {
        line_table_free(table);
        return error_memory(error, buckets * table->bucket_bytes, "a table of signatures");
    }
    size_t used = 1;
    for (size_t begin = 0, end; begin < keys->count; begin = end) {
        end = run_end(keys, begin, table->header_bits);
        fill_bucket(table, keys, begin, end, &used);
    }
    if (with_ranks)
        fill_ranks(table, keys);
    return COG_OK;
}

void line_table_free(struct line_table *table) {
    memory_large_free(table->buckets, table->bucket_bytes << table->header_bits);
    free(table->overflow);
    memory_large_free(table->ranks, sizeof *table->ranks << table->header_bits);
    *table = (struct line_table){0};
}

size_t line_table_bytes(const struct line_table *table) {
    return (table->bucket_bytes << table->header_bits) +
           table->overflow_words * sizeof *table->overflow;
}

size_t line_rank_bytes(const struct line_table *table) {
    return table->ranks ? sizeof *table->ranks << table->header_bits : 0;
}

size_t line_hit_matches(const struct line_table *table, const struct line_hit *hit, short_key query,
                        unsigned radius_bits, uint32_t from, struct line_match *matches,
                        size_t capacity, uint32_t *next) {
    const uint64_t *record = hit->overflow ? table->overflow + hit->overflow : NULL;
    uint32_t end = table->slots + (record ? (uint32_t)record[0] : 0);
    size_t count = 0;
    for (uint32_t order = from; order < end; order++) {
        if (order < table->slots && !(hit->slots >> order & 1))
            continue;
        short_key key = order < table->slots
                            ? line_key(table, hit->bucket, order)
                            : short_key_at(record + 1, table->words, order - table->slots);
        unsigned distance = short_key_distance(key, query);
        if (distance > radius_bits)
            continue;
        if (count == capacity) {
            *next = order;
            return count;
        }
        matches[count++] = (struct line_match){key, hit->bucket, order, distance};
    }
    *next = 0;
    return count;
}

size_t line_find(const struct line_table *table, short_key key) {
    uint32_t bucket = (uint32_t)short_key_prefix(key, table->header_bits);
    struct line_hit hit;
    struct line_match match;
    uint32_t next;
    if (table->scan(table, &bucket, 1, line_filter(table, key), 0, (struct line_ahead){0}, &hit) ==
            0 ||
        line_hit_matches(table, &hit, key, 0, 0, &match, 1, &next) == 0)
        return SIZE_MAX;
    return line_rank(table, bucket, match.order);
}
