#include "search/hits/nearby_rows.h"

#include <string.h>

#include "base/memory.h"
#include "hamming/hamming.h"

enum {
    BLOCK_ROWS = 16,    /* compared at once: the block of a hit, and the two next to it */
    PATIENCE = 8,       /* consecutive looks without a find that end the search */
    FIRST_PATIENCE = 4, /* before the first find: rows may have no order */
    BLOCKS_MAX = 192,
};

/* What has been found, and where it was looked for. */
struct looking {
    const struct signatures_view *signatures;
    const uint8_t *query;
    struct neighbour *hits;
    size_t count, k;
    uint32_t blocks[BLOCKS_MAX]; /* that were compared */
    size_t block_count, compared;
};

static bool was_compared(const struct looking *looking, size_t block) {
    bool found = false;
    for (size_t i = 0; i < looking->block_count; i++)
        found |= looking->blocks[i] == block;
    return found;
}

/* Puts a row among the hits if it is near enough and none of them yet. Returns its place, else k.
 */
static size_t take_hit(struct looking *looking, struct neighbour hit) {
    struct neighbour *hits = looking->hits;
    size_t low;
    FIND_FIRST_NOT(low, 0, looking->count, neighbour_compare(&hits[low], &hit) < 0);
    bool known = low < looking->count && hits[low].row == hit.row;
    if (known || low == looking->k)
        return looking->k;
    looking->count += looking->count < looking->k;
    memmove(hits + low + 1, hits + low, (looking->count - low - 1) * sizeof *hits);
    hits[low] = hit;
    return low;
}

/* Returns the first place that a new hit has taken, k for none. */
static size_t compare_block(struct looking *looking, size_t block) {
    const struct signatures_view *signatures = looking->signatures;
    size_t begin = block * BLOCK_ROWS, count = signatures->rows - begin, first = looking->k;
    uint16_t distances[BLOCK_ROWS];
    count = count < BLOCK_ROWS ? count : BLOCK_ROWS;
    hamming_scan(signatures, looking->query, begin, count, distances);
    looking->blocks[looking->block_count++] = (uint32_t)block;
    looking->compared += count;
    for (size_t i = 0; i < count; i++) {
        if (looking->count == looking->k && distances[i] > looking->hits[looking->k - 1].distance)
            continue;
        size_t place = take_hit(looking, (struct neighbour){(uint32_t)(begin + i), distances[i]});
        first = place < first ? place : first;
    }
    return first;
}

/* As compare_block, for the blocks around a row that have not been compared. */
static size_t look_around(struct looking *looking, size_t row) {
    size_t blocks = (looking->signatures->rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
    size_t own = row / BLOCK_ROWS, end = own + 2 < blocks ? own + 2 : blocks, first = looking->k;
    for (size_t block = own - (own > 0); block < end; block++)
        if (looking->block_count < BLOCKS_MAX && !was_compared(looking, block)) {
            size_t place = compare_block(looking, block);
            first = place < first ? place : first;
        }
    return first;
}

size_t nearby_rows_find(const struct signatures_view *signatures, const uint8_t *query,
                        struct neighbour *hits, size_t count, size_t k, size_t *compared) {
    struct looking looking = {
        .signatures = signatures, .query = query, .hits = hits, .count = count, .k = k};
    size_t in_vain = 0, next = 0, patience = FIRST_PATIENCE;
    while (next < looking.count && in_vain < patience) {
        size_t blocks_before = looking.block_count;
        size_t place = look_around(&looking, hits[next].row);
        if (place < k) {
            in_vain = 0;
            patience = PATIENCE;
        } else {
            in_vain += looking.block_count > blocks_before;
        }
        next = place <= next ? place : next + 1;
    }
    *compared += looking.compared;
    return looking.count;
}
