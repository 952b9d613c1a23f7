#include "join/equal_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

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

static int by_key(const void *x, const void *y) {
    const struct row_key *p = x, *q = y;
    for (int i = 0; i < 2; i++)
        if (p->bits[i] != q->bits[i])
            return ORDER(p->bits[i], q->bits[i]);
    return ORDER(p->row, q->row);
}

static int by_leader(const void *x, const void *y) {
    const struct row_key *p = x, *q = y;
    return p->leader != q->leader ? ORDER(p->leader, q->leader) : ORDER(p->row, q->row);
}

/* Sets each leader to the first row of the key's group. Rows with equal keys but different content
 * (if there is a source) start a new group at the first difference. Grouping only saves work: equal
 * rows that it separates are compared like any other pair. */
static void find_leaders(const struct row_bytes *source, struct row_key *keys, size_t count) {
    qsort(keys, count, sizeof *keys, by_key);
    for (size_t i = 0; i < count; i++) {
        bool joins = i > 0 && keys[i].bits[0] == keys[i - 1].bits[0] &&
                     keys[i].bits[1] == keys[i - 1].bits[1] &&
                     (!source || rows_equal(source, keys[i - 1].row, keys[i].row));
        keys[i].leader = joins ? keys[i - 1].leader : keys[i].row;
    }
}

static cog_status make_groups(const struct row_bytes *source, struct row_key *keys, size_t count,
                              struct equal_rows *groups, cog_error *error) {
    TAKE(groups->rows, count + 1, "groups of equal rows", error);
    TAKE(groups->offsets, count + 1, "groups of equal rows", error);
    find_leaders(source, keys, count);
    qsort(keys, count, sizeof *keys, by_leader);
    groups->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (keys[i].row == keys[i].leader)
            groups->offsets[groups->count++] = i;
        groups->rows[i] = keys[i].row;
    }
    groups->offsets[groups->count] = count;
    return COG_OK;
}

cog_status equal_rows_build(const struct row_bytes *source, struct equal_rows *groups,
                            cog_error *error) {
    size_t count = 0;
    struct row_key *keys;
    TAKE(keys, source->rows + 1, "groups of equal rows", error);
    for (uint32_t row = 0; row < source->rows; row++)
        if (row_count(source, row) > 0)
            keys[count++] = (struct row_key){.bits = {row_hash(source, row)}, .row = row};
    cog_status status = make_groups(source, keys, count, groups, error);
    free(keys);
    if (status != COG_OK)
        equal_rows_free(groups);
    return status;
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

cog_status equal_rows_of_keys(struct row_key *keys, size_t rows, struct equal_rows *groups,
                              cog_error *error) {
    size_t count = 0;
    for (size_t i = 0; i < rows; i++)
        if (keys[i].bits[0])
            keys[count++] = keys[i];
    return make_groups(NULL, keys, count, groups, error);
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
