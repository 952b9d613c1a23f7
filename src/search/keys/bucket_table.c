#include "search/keys/bucket_table.h"

#include "base/cpu.h"
#include "base/memory.h"
#include "search/keys/bucket_scan_loop.h"

enum {
    FILTER_BITS = 32,
    SLOTS_MAX = 15 /* what the trailer can count */
};

size_t bucket_scan_portable(const struct bucket_table *table, const struct bucket_probes *probes,
                            unsigned radius_bits, struct bucket_ahead ahead,
                            struct bucket_hit *hits) {
    return bucket_scan_loop(table, probes, radius_bits, ahead, hits, bucket_slots_near_each);
}

static bucket_scan *const scans[CPU_LEVEL_COUNT] =
    CPU_TABLE(bucket_scan_portable, bucket_scan_popcnt, bucket_scan_avx2, bucket_scan_avx512,
              bucket_scan_portable);

static void set_shape(struct bucket_table *table, unsigned header_bits, size_t bucket_bytes) {
    table->bucket_bytes = bucket_bytes;
    table->header_bits = header_bits;
    table->rest_bits = table->key_bits - header_bits - FILTER_BITS;
    size_t slots =
        (table->bucket_bytes - BUCKET_TRAILER_BYTES) * 8 / (table->rest_bits + FILTER_BITS);
    table->slots = slots < SLOTS_MAX ? (unsigned)slots : SLOTS_MAX;
}

/* Packs a rest: bit i of the packed bits is bit i % 8 of byte i / 8. The bucket is zero before. */
static void put_rest(const struct bucket_table *table, uint8_t *bucket, unsigned slot,
                     short_key rest) {
    uint8_t *rests = bucket + 4 * table->slots;
    unsigned first = slot * table->rest_bits, end = first + table->rest_bits;
    for (unsigned byte = first / 8; byte * 8 < end; byte++)
        rests[byte] |=
            (uint8_t)(byte * 8 >= first ? rest >> (byte * 8 - first) : rest << (first - byte * 8));
}

static short_key get_rest(const struct bucket_table *table, const uint8_t *bucket, unsigned slot) {
    unsigned start = 4 * table->slots, first = slot * table->rest_bits;
    short_key rest = 0;
    for (unsigned i = first / 8; i * 8 < first + table->rest_bits; i++) {
        short_key bits = bucket[start + i];
        rest |= i * 8 >= first ? bits << (i * 8 - first) : bits >> (first - i * 8);
    }
    return rest & (((short_key)1 << table->rest_bits) - 1);
}

/* The rest of a 64-bit key: one load that does not leave the bucket. */
static inline uint64_t get_rest_64(const struct bucket_table *table, const uint8_t *bucket,
                                   unsigned slot) {
    unsigned start = 4 * table->slots, first = slot * table->rest_bits;
    unsigned byte = start + first / 8, last = (unsigned)table->bucket_bytes - 8;
    byte = byte < last ? byte : last;
    uint64_t word;
    memcpy(&word, bucket + byte, sizeof word);
    return word >> (first - (byte - start) * 8) & (((uint64_t)1 << table->rest_bits) - 1);
}

/* The whole key in a slot of `line`. `bucket` is the bucket that the key belongs to: that of the
 * line, or for a guest its neighbour. */
static inline short_key key_in_slot(const struct bucket_table *table, const uint8_t *line,
                                    unsigned slot, size_t bucket) {
    uint32_t filter;
    memcpy(&filter, line + 4 * slot, sizeof filter);
    if (table->key_bits == 64) { /* without 128-bit arithmetic */
        uint64_t key = (uint64_t)bucket << table->rest_bits | get_rest_64(table, line, slot);
        return (short_key)(key << FILTER_BITS | filter) << 64;
    }
    short_key low = get_rest(table, line, slot) << FILTER_BITS | filter;
    short_key header = (short_key)bucket << (table->rest_bits + FILTER_BITS);
    return (header | low) << (128 - table->key_bits);
}

static void put_key(const struct bucket_table *table, uint8_t *line, unsigned slot, short_key key) {
    uint32_t filter = bucket_filter(table, key);
    memcpy(line + 4 * slot, &filter, sizeof filter);
    short_key rest = key >> (128 - table->key_bits) >> FILTER_BITS;
    put_rest(table, line, slot, rest & (((short_key)1 << table->rest_bits) - 1));
}

/* The keys of one bucket and where they are stored. */
struct bucket_run {
    size_t begin, end; /* among all keys */
    size_t inside, guests;
};

/* Plans two neighbours, whose keys start at `begin`. */
static void plan_pair(const struct bucket_table *table, const struct key_array *keys, size_t pair,
                      size_t begin, struct bucket_run runs[2]) {
    for (unsigned side = 0; side < 2; side++) {
        size_t end = begin;
        while (end < keys->count && short_key_prefix(short_key_at(keys->keys, keys->words, end),
                                                     table->header_bits) == (pair * 2 + side))
            end++;
        size_t count = end - begin;
        runs[side] =
            (struct bucket_run){begin, end, count < table->slots ? count : table->slots, 0};
        begin = end;
    }
    for (unsigned side = 0; side < 2; side++) {
        size_t over = runs[side].end - runs[side].begin - runs[side].inside;
        size_t room = table->slots - runs[1 - side].inside;
        runs[side].guests = over < room ? over : room;
    }
}

static size_t recorded(const struct bucket_run *run) {
    return run->end - run->begin - run->inside - run->guests;
}

static void fill_bucket(struct bucket_table *table, const struct key_array *keys, size_t bucket,
                        const struct bucket_run *run, size_t *overflow_used) {
    uint8_t *own = bucket_at(table, bucket), *neighbour = bucket_at(table, bucket ^ 1);
    size_t at = run->begin;
    if (table->ranks)
        table->ranks[bucket] = (uint32_t)run->begin;
    for (unsigned slot = 0; slot < run->inside; slot++, at++)
        put_key(table, own, slot, short_key_at(keys->keys, keys->words, at));
    for (unsigned guest = 0; guest < run->guests; guest++, at++)
        put_key(table, neighbour, table->slots - 1 - guest,
                short_key_at(keys->keys, keys->words, at));
    own[table->bucket_bytes - 1] |= (uint8_t)run->inside;
    neighbour[table->bucket_bytes - 1] |= (uint8_t)(run->guests << 4);
    own[table->bucket_bytes - BUCKET_TRAILER_BYTES] =
        (uint8_t)((run->guests > 0 ? BUCKET_SPILLED : 0) | (at < run->end ? BUCKET_RECORDED : 0));
    if (at < run->end) {
        uint64_t *record = table->overflow + *overflow_used;
        record[0] = (uint64_t)bucket << 32 | (run->end - at);
        memcpy(record + 1, keys->keys + at * keys->words,
               (run->end - at) * keys->words * sizeof *record);
        *overflow_used += 1 + (run->end - at) * keys->words;
    }
}

static size_t count_overflow_words(const struct bucket_table *table, const struct key_array *keys) {
    size_t words = 0, begin = 0;
    for (size_t pair = 0; begin < keys->count; pair++) {
        struct bucket_run runs[2];
        plan_pair(table, keys, pair, begin, runs);
        for (unsigned side = 0; side < 2; side++)
            if (recorded(&runs[side]) > 0)
                words += 1 + recorded(&runs[side]) * keys->words;
        begin = runs[1].end;
    }
    return words;
}

size_t bucket_group_count(const struct bucket_table *table) {
    size_t buckets = (size_t)1 << table->header_bits, in_group = 1 << BUCKET_GROUP_BITS;
    return (buckets + in_group - 1) / in_group + 1;
}

unsigned bucket_header_most(size_t keys) {
    unsigned log = keys > 1 ? 63 - (unsigned)__builtin_clzll(keys) : 0;
    return log < 1 ? 1 : log < BUCKET_HEADER_BITS_MAX ? log : BUCKET_HEADER_BITS_MAX;
}

/* Takes the longest header, and then the largest buckets, that the limit has room for. If the
 * overflow then exceeds the limit, tries smaller buckets, then a header one bit shorter; a skewed
 * collection exceeds the limit anyway. */
static void choose_layout(struct bucket_table *table, const struct key_array *keys,
                          struct bucket_limits limits) {
    size_t least = table->key_bits, step = least / 4;
    size_t limit_bytes = table->count * (least / 8) * limits.bytes_percent / 100;
    unsigned header = limits.header_bits_max < limits.header_bits_min ? limits.header_bits_max
                                                                      : limits.header_bits_min;
    while (header < limits.header_bits_max && least << (header + 1) <= limit_bytes)
        header++;
    for (unsigned tries = 0; tries < 2; tries++, header--) {
        size_t bytes = least;
        while (bytes + step < 2 * least && (bytes + step) << header <= limit_bytes)
            bytes += step;
        for (; bytes >= least; bytes -= step) {
            set_shape(table, header, bytes);
            table->overflow_words = count_overflow_words(table, keys);
            if (bucket_table_bytes(table) <= limit_bytes || header <= limits.header_bits_min)
                return;
        }
    }
}

static void fill_buckets(struct bucket_table *table, const struct key_array *keys) {
    size_t used = 0, begin = 0;
    for (size_t pair = 0; pair < (size_t)1 << table->header_bits >> 1; pair++) {
        if (pair % (1 << (BUCKET_GROUP_BITS - 1)) == 0)
            table->group_starts[pair >> (BUCKET_GROUP_BITS - 1)] = (uint32_t)used;
        struct bucket_run runs[2];
        plan_pair(table, keys, pair, begin, runs);
        fill_bucket(table, keys, 2 * pair, &runs[0], &used);
        fill_bucket(table, keys, 2 * pair + 1, &runs[1], &used);
        begin = runs[1].end;
    }
    table->group_starts[bucket_group_count(table) - 1] = (uint32_t)used;
}

cog_status bucket_table_build(struct bucket_table *table, const struct key_array *keys,
                              struct bucket_limits limits, bool with_ranks, cog_error *error) {
    *table = (struct bucket_table){.key_bits = keys->words * 64, .words = keys->words};
    table->count = keys->count;
    table->scan = scans[cpu_best_level()];
    choose_layout(table, keys, limits);
    size_t buckets = (size_t)1 << table->header_bits;
    table->buckets = memory_large(buckets * table->bucket_bytes);
    table->overflow = memory_large(table->overflow_words * sizeof *table->overflow);
    table->group_starts = memory_large(bucket_group_count(table) * sizeof *table->group_starts);
    if (with_ranks)
        table->ranks = memory_large(buckets * sizeof *table->ranks);
    if (!table->buckets || !table->overflow || !table->group_starts ||
        (with_ranks && !table->ranks) || table->overflow_words > UINT32_MAX) {
        bucket_table_free(table);
        return error_memory(error, buckets * table->bucket_bytes, "a table of signatures");
    }
    fill_buckets(table, keys);
    return COG_OK;
}

void bucket_table_free(struct bucket_table *table) {
    memory_large_free(table->buckets, table->bucket_bytes << table->header_bits);
    memory_large_free(table->overflow, table->overflow_words * sizeof *table->overflow);
    memory_large_free(table->group_starts, bucket_group_count(table) * sizeof *table->group_starts);
    memory_large_free(table->ranks, sizeof *table->ranks << table->header_bits);
    *table = (struct bucket_table){0};
}

size_t bucket_table_bytes(const struct bucket_table *table) {
    return (table->bucket_bytes << table->header_bits) +
           table->overflow_words * sizeof *table->overflow +
           bucket_group_count(table) * sizeof *table->group_starts;
}

bool bucket_table_restore(struct bucket_table *table, unsigned key_bits, uint64_t header_bits,
                          uint64_t bucket_bytes, uint64_t count, uint64_t overflow_words) {
    *table = (struct bucket_table){.key_bits = key_bits, .words = key_bits / 64};
    if (header_bits < 1 || header_bits > BUCKET_HEADER_BITS_MAX || bucket_bytes < key_bits ||
        bucket_bytes >= 2 * key_bits || count > SHORT_KEY_ROWS_MAX || overflow_words > UINT32_MAX)
        return false;
    table->count = (size_t)count;
    table->overflow_words = (size_t)overflow_words;
    table->scan = scans[cpu_best_level()];
    set_shape(table, (unsigned)header_bits, (size_t)bucket_bytes);
    return true;
}

/* The record of a bucket; sets *count to its number of keys. NULL in a damaged file that has none,
 * or one that runs past the end. */
static const uint64_t *find_record(const struct bucket_table *table, uint32_t bucket,
                                   uint32_t *count) {
    size_t place = table->group_starts[bucket >> BUCKET_GROUP_BITS];
    while (place < table->overflow_words) {
        const uint64_t *record = table->overflow + place;
        size_t words = (size_t)(uint32_t)record[0] * table->words;
        if (words >= table->overflow_words - place)
            break;
        if (record[0] >> 32 == bucket) {
            *count = (uint32_t)record[0];
            return record;
        }
        place += 1 + words;
    }
    *count = 0;
    return NULL;
}

static inline unsigned filter_distance(const uint8_t *line, unsigned slot, uint32_t filter) {
    uint32_t stored;
    memcpy(&stored, line + 4 * slot, sizeof stored);
    return short_key_popcount(stored ^ filter);
}

/* The common case: a hit of one slot without guests or record. */
static size_t match_slot(const struct bucket_table *table, const struct bucket_hit *hit,
                         short_key query, unsigned radius_bits, struct bucket_match *match,
                         uint32_t *next) {
    unsigned slot = (unsigned)__builtin_ctz(hit->slots);
    *next = 0;
    if (slot >= table->slots) /* only in a damaged file */
        return 0;
    short_key key = key_in_slot(table, bucket_at(table, hit->bucket), slot, hit->bucket);
    unsigned distance = short_key_distance(key, query);
    *match = (struct bucket_match){key, hit->bucket, slot, distance};
    return distance <= radius_bits;
}

/* The keys of a hit's bucket in the order of bucket_match: own slots, guests of the neighbour, then
 * the record. */
struct hit_keys {
    const struct bucket_table *table;
    const uint8_t *own, *neighbour;
    const uint64_t *record;
    uint32_t bucket, slots, guests_end, end; /* orders: slots, then guests, then recorded keys */
    unsigned passed;                         /* own slots that passed the filter */
};

static inline struct hit_keys keys_of_hit(const struct bucket_table *table,
                                          const struct bucket_hit *hit) {
    const uint32_t slots = table->slots;
    struct hit_keys keys = {.table = table,
                            .own = bucket_at(table, hit->bucket),
                            .neighbour = bucket_at(table, hit->bucket ^ 1),
                            .bucket = hit->bucket,
                            .slots = slots,
                            .passed = hit->slots & ((1u << slots) - 1)};
    uint32_t recorded = 0, guests = 0;
    if (hit->flags & BUCKET_RECORDED)
        keys.record = find_record(table, hit->bucket, &recorded);
    if (hit->flags & BUCKET_SPILLED)
        guests = keys.neighbour[table->bucket_bytes - 1] >> 4;
    keys.guests_end = slots + (guests < slots ? guests : slots);
    keys.end = keys.guests_end + recorded;
    return keys;
}

/* Sets *key to the key at *order, or, if its filter is not within the radius, at the next order;
 * false after the last. */
static inline __attribute__((always_inline)) bool next_key(const struct hit_keys *keys,
                                                           uint32_t filter, unsigned radius_bits,
                                                           uint32_t *order, short_key *key) {
    if (*order < keys->slots) {
        unsigned left = keys->passed >> *order;
        *order = left ? *order + (uint32_t)__builtin_ctz(left) : keys->slots;
        if (left) {
            *key = key_in_slot(keys->table, keys->own, *order, keys->bucket);
            return true;
        }
    }
    for (; *order < keys->guests_end; ++*order) {
        unsigned slot = keys->slots - 1 - (*order - keys->slots);
        if (filter_distance(keys->neighbour, slot, filter) <= radius_bits) {
            *key = key_in_slot(keys->table, keys->neighbour, slot, keys->bucket);
            return true;
        }
    }
    if (*order < keys->end)
        *key = short_key_at(keys->record + 1, keys->table->words, *order - keys->guests_end);
    return *order < keys->end;
}

size_t bucket_hit_matches(const struct bucket_table *table, const struct bucket_hit *hit,
                          short_key query, unsigned radius_bits, uint32_t from,
                          struct bucket_match *matches, uint32_t *next) {
    if (hit->flags == 0 && (hit->slots & (hit->slots - 1)) == 0) /* nearly always */
        return match_slot(table, hit, query, radius_bits, matches, next);
    const struct hit_keys keys = keys_of_hit(table, hit);
    const uint32_t filter = bucket_filter(table, query);
    short_key key;
    size_t count = 0;
    *next = 0;
    for (uint32_t order = from; next_key(&keys, filter, radius_bits, &order, &key); order++) {
        unsigned distance = short_key_distance(key, query);
        if (distance > radius_bits)
            continue;
        if (count == BUCKET_MATCHES_MAX) {
            *next = order;
            return count;
        }
        matches[count++] = (struct bucket_match){key, hit->bucket, order, distance};
    }
    return count;
}

size_t bucket_find(const struct bucket_table *table, short_key key) {
    uint32_t bucket = (uint32_t)short_key_prefix(key, table->header_bits), next;
    uint32_t filter = bucket_filter(table, key);
    struct bucket_probes probes = {&bucket, 1, &filter, 0};
    struct bucket_hit hit;
    struct bucket_match matches[BUCKET_MATCHES_MAX];
    if (table->scan(table, &probes, 0, (struct bucket_ahead){0}, &hit) == 0 ||
        bucket_hit_matches(table, &hit, key, 0, 0, matches, &next) == 0)
        return SIZE_MAX;
    return table->ranks ? bucket_rank(table, &matches[0]) : 0;
}
