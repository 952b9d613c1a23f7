#include "index/id_buckets.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "index/segment.h"

static uint8_t tag_of(uint64_t hash) {
    return (uint8_t)hash;
}

void id_entry_encode(uint8_t entry[ID_ENTRY_BYTES], uint64_t hash, uint32_t row) {
    entry[0] = tag_of(hash);
    encode_u32(entry + 1, row);
}

static cog_status damaged(const struct segment *segment, cog_error *error) {
    return error_set(error, COG_ERR_FORMAT,
                     "%s: the table of ids is damaged; build the index again, or restore the file",
                     segment->container.path);
}

static bool hash_of_row(const struct segment *segment, size_t row, uint64_t *hash) {
    struct bytes_view id;
    if (!segment_id(segment, row, &id))
        return false;
    *hash = hash_bytes(id.data, id.size);
    return true;
}

/* Leaves in starts[bucket] where the bucket begins. */
static bool count_rows(const struct segment *segment, uint32_t *starts) {
    size_t buckets = id_buckets_count(segment->rows);
    uint64_t hash;
    for (size_t row = 0; row < segment->rows; row++) {
        if (!hash_of_row(segment, row, &hash))
            return false;
        starts[id_bucket_of(hash, buckets) + 1]++;
    }
    for (size_t bucket = 0; bucket < buckets; bucket++)
        starts[bucket + 1] += starts[bucket];
    return true;
}

/* Hashes the ids a second time rather than keep eight bytes for each. */
static void place_rows(const struct segment *segment, struct id_buckets *buckets) {
    size_t count = id_buckets_count(segment->rows);
    uint64_t hash = 0;
    for (size_t row = 0; row < segment->rows; row++) {
        hash_of_row(segment, row, &hash);
        size_t place = buckets->starts[id_bucket_of(hash, count)]++;
        id_entry_encode(buckets->entries + place * ID_ENTRY_BYTES, hash, (uint32_t)row);
    }
    for (size_t bucket = count; bucket > 0; bucket--) /* each start is its bucket's end by now */
        buckets->starts[bucket] = buckets->starts[bucket - 1];
    buckets->starts[0] = 0;
}

cog_status id_buckets_build(const struct segment *segment, struct id_buckets *buckets,
                            cog_error *error) {
    size_t count = id_buckets_count(segment->rows);
    buckets->starts = memory_zeroed_array(count + 1, sizeof *buckets->starts);
    buckets->entries = memory_array(segment->rows + 1, ID_ENTRY_BYTES);
    if (!buckets->starts || !buckets->entries)
        return error_memory(error, segment->rows * ID_ENTRY_BYTES + count * sizeof *buckets->starts,
                            "a table of ids");
    if (!count_rows(segment, buckets->starts))
        return error_set(error, COG_ERR_FORMAT,
                         "%s: the ids are damaged; build the index again, or restore the file",
                         segment->container.path);
    place_rows(segment, buckets);
    return COG_OK;
}

void id_buckets_free(struct id_buckets *buckets) {
    free(buckets->starts);
    free(buckets->entries);
    *buckets = (struct id_buckets){0};
}

cog_status id_buckets_find(const struct id_buckets *buckets, const struct segment *segment,
                           struct bytes_view id, uint64_t *row, cog_error *error) {
    uint64_t hash = hash_bytes(id.data, id.size);
    size_t bucket = id_bucket_of(hash, id_buckets_count(segment->rows));
    uint32_t begin = buckets->starts[bucket], end = buckets->starts[bucket + 1];
    *row = UINT64_MAX;
    if (begin > end || end > segment->rows)
        return damaged(segment, error);
    for (size_t i = begin; i < end; i++) {
        const uint8_t *entry = buckets->entries + i * ID_ENTRY_BYTES;
        struct bytes_view other;
        if (entry[0] != tag_of(hash))
            continue;
        uint32_t candidate = decode_u32(entry + 1);
        if (!segment_id(segment, candidate, &other))
            return damaged(segment, error);
        if (view_equals(id, other)) {
            *row = candidate;
            return COG_OK;
        }
    }
    return COG_OK;
}

static bool bucket_is_right(const struct id_buckets *buckets, const struct segment *segment,
                            size_t bucket) {
    uint32_t begin = buckets->starts[bucket], end = buckets->starts[bucket + 1], last = 0;
    if (begin > end || end > segment->rows)
        return false;
    for (size_t i = begin; i < end; i++) {
        const uint8_t *entry = buckets->entries + i * ID_ENTRY_BYTES;
        uint32_t row = decode_u32(entry + 1);
        uint64_t hash;
        if (!hash_of_row(segment, row, &hash) || entry[0] != tag_of(hash) ||
            id_bucket_of(hash, id_buckets_count(segment->rows)) != bucket ||
            (i > begin && row <= last))
            return false;
        last = row;
    }
    return true;
}

cog_status id_buckets_check(const struct id_buckets *buckets, const struct segment *segment,
                            cog_error *error) {
    size_t count = id_buckets_count(segment->rows);
    bool right = buckets->starts[0] == 0 && buckets->starts[count] == segment->rows;
    for (size_t bucket = 0; bucket < count && right; bucket++)
        right = bucket_is_right(buckets, segment, bucket);
    return right ? COG_OK : damaged(segment, error);
}
