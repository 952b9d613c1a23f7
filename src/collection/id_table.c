#include "collection/id_table.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/hash_table.h"
#include "base/memory.h"

/* A slot stores 32 bits of the hash next to the row, so most mismatches do not read the id. */
struct id_slot {
    uint32_t tag;
    uint32_t row; /* plus 1; 0 is an empty slot */
};

struct id_table {
    struct id_slot *slots;
    size_t slot_count, used; /* slot_count is a power of two */
};

enum { FIRST_ID_SLOTS = 1024 };

cog_status id_table_create(struct id_table **result, cog_error *error) {
    struct id_table *table;
    TAKE_ZEROED(table, 1, "ids", error);
    table->slot_count = FIRST_ID_SLOTS;
    cog_status status = TAKEN_ZEROED(table->slots, FIRST_ID_SLOTS, "ids", error);
    return HAND_OUT(status, table, id_table_free, result);
}

void id_table_free(struct id_table *table) {
    if (!table)
        return;
    FREE(table->slots, table);
}

static void place(struct id_slot *slots, size_t slot_count, uint64_t hash, struct id_slot slot) {
    size_t at;
    HASH_PROBE(at, hash, slot_count, !slots[at].row);
    slots[at] = slot;
}

static uint64_t id_hash(struct bytes_view id) {
    return hash_bytes(id.data, id.size);
}

static cog_status grow(struct id_table *table, id_of_row *id_of, const void *context,
                       cog_error *error) {
    size_t wanted = table->slot_count * 2;
    struct id_slot *slots;
    TAKE_ZEROED(slots, wanted, "ids", error);
    for (size_t i = 0; i < table->slot_count; i++)
        if (table->slots[i].row)
            place(slots, wanted, id_hash(id_of(context, table->slots[i].row - 1)), table->slots[i]);
    free(table->slots);
    table->slots = slots;
    table->slot_count = wanted;
    return COG_OK;
}

static bool find(const struct id_table *table, struct bytes_view id, uint64_t hash,
                 id_of_row *id_of, const void *context, uint32_t *row) {
    uint32_t tag = (uint32_t)(hash >> 32);
    size_t at;
    HASH_PROBE(at, hash, table->slot_count,
               !table->slots[at].row ||
                   (table->slots[at].tag == tag &&
                    view_equals(id, id_of(context, table->slots[at].row - 1))));
    if (!table->slots[at].row)
        return false;
    *row = table->slots[at].row - 1;
    return true;
}

bool id_table_find(const struct id_table *table, struct bytes_view id, id_of_row *id_of,
                   const void *context, uint32_t *row) {
    return find(table, id, id_hash(id), id_of, context, row);
}

cog_status id_table_add(struct id_table *table, struct bytes_view id, uint32_t row,
                        id_of_row *id_of, const void *context, bool *added, uint32_t *existing,
                        cog_error *error) {
    if (table->used * 2 >= table->slot_count)
        TRY(grow(table, id_of, context, error));
    uint64_t hash = id_hash(id);
    *added = !find(table, id, hash, id_of, context, existing);
    if (!*added)
        return COG_OK;
    place(table->slots, table->slot_count, hash, (struct id_slot){(uint32_t)(hash >> 32), row + 1});
    table->used++;
    return COG_OK;
}

uint64_t id_table_memory_bytes(const struct id_table *table) {
    return table ? table->slot_count * sizeof *table->slots : 0;
}
