#include "join/equal_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

struct hashed_row {
    uint64_t hash;
    uint32_t row;
    uint32_t leader; /* first row of the group */
};

static size_t row_count(const struct row_bytes *source, uint32_t row) {
    return (size_t)(source->offsets[row + 1] - source->offsets[row]);
}

static uint64_t row_hash(const struct row_bytes *source, uint32_t row) {
    size_t count = row_count(source, row);
    uint64_t hash = hash_bytes(source->first + source->offsets[row], count * 4);
    if (source->second)
        hash = hash_pair(
            hash, hash_bytes((const char *)source->second + source->offsets[row] * 4, count * 4));
    return source->numbers ? hash_pair(hash, source->numbers[row]) : hash;
}

static bool rows_equal(const struct row_bytes *source, uint32_t a, uint32_t b) {
    size_t count = row_count(source, a);
    uint64_t at_a = source->offsets[a], at_b = source->offsets[b];
    if (row_count(source, b) != count ||
        memcmp(source->first + at_a, source->first + at_b, count * 4))
        return false;
    const char *second = source->second;
    if (second && memcmp(second + at_a * 4, second + at_b * 4, count * 4))
        return false;
    return !source->numbers || source->numbers[a] == source->numbers[b];
}

static int by_hash(const void *x, const void *y) {
    const struct hashed_row *p = x, *q = y;
    return p->hash != q->hash ? ORDER(p->hash, q->hash) : ORDER(p->row, q->row);
}

static int by_leader(const void *x, const void *y) {
    const struct hashed_row *p = x, *q = y;
    return p->leader != q->leader ? ORDER(p->leader, q->leader) : ORDER(p->row, q->row);
}

/* Rows with equal hashes but different content start a new group at the first difference. Grouping
 * only saves work: equal rows that it separates are compared like any other pair. */
static void find_leaders(const struct row_bytes *source, struct hashed_row *hashed, size_t count) {
    qsort(hashed, count, sizeof *hashed, by_hash);
    for (size_t i = 0; i < count; i++) {
        bool joins = i > 0 && hashed[i].hash == hashed[i - 1].hash &&
                     rows_equal(source, hashed[i - 1].row, hashed[i].row);
        hashed[i].leader = joins ? hashed[i - 1].leader : hashed[i].row;
    }
    qsort(hashed, count, sizeof *hashed, by_leader);
}

/* Peak memory of building the groups, which is at least what they keep. */
static size_t equal_rows_memory_bytes(size_t rows) {
    return rows * (sizeof(struct hashed_row) + sizeof(size_t) + sizeof(uint32_t)) + sizeof(size_t);
}

cog_status equal_rows_build(const struct row_bytes *source, struct equal_rows *groups,
                            cog_error *error) {
    size_t rows = source->rows, count = 0;
    struct hashed_row *hashed = memory_array(rows + 1, sizeof *hashed);
    groups->rows = memory_array(rows + 1, sizeof *groups->rows);
    groups->offsets = memory_array(rows + 1, sizeof *groups->offsets);
    if (!hashed || !groups->rows || !groups->offsets) {
        free(hashed);
        equal_rows_free(groups);
        return error_memory(error, equal_rows_memory_bytes(rows), "groups of equal rows");
    }
    for (size_t r = 0; r < rows; r++)
        if (row_count(source, (uint32_t)r) > 0)
            hashed[count++] = (struct hashed_row){row_hash(source, (uint32_t)r), (uint32_t)r, 0};
    find_leaders(source, hashed, count);
    groups->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (hashed[i].row == hashed[i].leader)
            groups->offsets[groups->count++] = i;
        groups->rows[i] = hashed[i].row;
    }
    groups->offsets[groups->count] = count;
    free(hashed);
    return COG_OK;
}

cog_status equal_rows_none(const struct row_bytes *source, struct equal_rows *groups,
                           cog_error *error) {
    TAKE(groups->rows, source->rows + 1, "rows", error);
    TAKE(groups->offsets, source->rows + 1, "rows", error);
    groups->count = 0;
    for (uint32_t row = 0; row < source->rows; row++)
        if (row_count(source, row) > 0) {
            groups->offsets[groups->count] = groups->count;
            groups->rows[groups->count++] = row;
        }
    groups->offsets[groups->count] = groups->count;
    return COG_OK;
}

/* ---- Rows that are not in memory ------------------------------------------------------------- */

struct row_key row_key_of(uint32_t row, const uint32_t *columns, const float *values,
                          size_t count) {
    const XXH128_hash_t x = XXH3_128bits(columns, count * sizeof *columns);
    const XXH128_hash_t y = XXH3_128bits(values, count * sizeof *values);
    struct row_key key = {.row = row};
    if (count) {
        key.bits[0] = hash_pair(x.low64, y.low64) | 1;
        key.bits[1] = hash_pair(x.high64, y.high64);
    }
    return key;
}

static int by_key(const void *x, const void *y) {
    const struct row_key *p = x, *q = y;
    for (int i = 0; i < 2; i++)
        if (p->bits[i] != q->bits[i])
            return p->bits[i] < q->bits[i] ? -1 : 1;
    return ORDER(p->row, q->row);
}

static int by_key_leader(const void *x, const void *y) {
    const struct row_key *p = x, *q = y;
    return p->leader != q->leader ? ORDER(p->leader, q->leader) : ORDER(p->row, q->row);
}

cog_status equal_rows_of_keys(struct row_key *keys, size_t rows, struct equal_rows *groups,
                              cog_error *error) {
    size_t count = 0;
    for (size_t i = 0; i < rows; i++)
        if (keys[i].bits[0])
            keys[count++] = keys[i];
    qsort(keys, count, sizeof *keys, by_key);
    for (size_t i = 0; i < count; i++) {
        const bool joins = i > 0 && keys[i].bits[0] == keys[i - 1].bits[0] &&
                           keys[i].bits[1] == keys[i - 1].bits[1];
        keys[i].leader = joins ? keys[i - 1].leader : keys[i].row;
    }
    qsort(keys, count, sizeof *keys, by_key_leader);
    TAKE(groups->rows, count + 1, "groups of equal rows", error);
    TAKE(groups->offsets, count + 1, "groups of equal rows", error);
    groups->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (keys[i].row == keys[i].leader)
            groups->offsets[groups->count++] = i;
        groups->rows[i] = keys[i].row;
    }
    groups->offsets[groups->count] = count;
    return COG_OK;
}

void equal_rows_free(struct equal_rows *groups) {
    FREE(groups->offsets, groups->rows);
    *groups = (struct equal_rows){0};
}

cog_status equal_rows_match(const struct equal_rows *a_groups, size_t a,
                            const struct equal_rows *b_groups, size_t b, bool ordered,
                            double similarity, struct match_list *matches, cog_error *error) {
    cog_status status = COG_OK;
    for (size_t i = a_groups->offsets[a]; i < a_groups->offsets[a + 1]; i++)
        for (size_t j = b_groups->offsets[b]; j < b_groups->offsets[b + 1]; j++) {
            uint32_t row_a = a_groups->rows[i], row_b = b_groups->rows[j];
            bool swap = ordered && row_b < row_a;
            struct match match = {.a = swap ? row_b : row_a,
                                  .b = swap ? row_a : row_b,
                                  .similarity = (float)similarity};
            if ((status = match_list_add(matches, match, error)) != COG_OK)
                return status;
        }
    return status;
}

cog_status equal_rows_match_within(const struct equal_rows *groups, size_t group, double similarity,
                                   struct match_list *matches, cog_error *error) {
    cog_status status = COG_OK;
    size_t end = groups->offsets[group + 1];
    for (size_t i = groups->offsets[group]; i < end; i++)
        for (size_t j = i + 1; j < end; j++) {
            struct match match = {
                .a = groups->rows[i], .b = groups->rows[j], .similarity = (float)similarity};
            if ((status = match_list_add(matches, match, error)) != COG_OK)
                return status;
        }
    return status;
}
