/* Messages that count things: "1 document has", "2 documents have". */
#pragma once

#include <stdint.h>

static inline const char *plural(uint64_t count, const char *one, const char *many) {
    return count == 1 ? one : many;
}
