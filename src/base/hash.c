#include "base/hash.h"

struct random random_seeded(uint64_t seed) {
    struct random random;
    for (int i = 0; i < 4; i++)
        random.state[i] = hash_sequence(seed, (uint64_t)i);
    return random;
}
