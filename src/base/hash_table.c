#include "base/hash_table.h"

#include "base/memory.h"

size_t hash_slots(size_t count, size_t least) {
    size_t slots = least;
    while (slots / 2 < count)
        slots *= 2;
    return slots;
}

cog_status hash_set_init(struct hash_set *set, size_t most, const char *what, cog_error *error) {
    set->slot_count = hash_slots(most, 64);
    return TAKEN_ZEROED(set->slots, set->slot_count, what, error);
}

static size_t find_slot(const struct hash_set *set, uint64_t hash) {
    size_t at;
    HASH_PROBE(at, hash, set->slot_count, !set->slots[at] || set->slots[at] == hash);
    return at;
}

bool hash_set_add(struct hash_set *set, uint64_t hash) {
    hash = hash ? hash : 1;
    size_t at = find_slot(set, hash);
    bool is_new = !set->slots[at];
    set->slots[at] = hash;
    return is_new;
}

bool hash_set_has(const struct hash_set *set, uint64_t hash) {
    hash = hash ? hash : 1;
    return set->slots && set->slots[find_slot(set, hash)];
}

void hash_set_free(struct hash_set *set) {
    free(set->slots);
    *set = (struct hash_set){0};
}
