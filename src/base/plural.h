/* Messages that count things: "1 document has", "2 documents have". */
#ifndef COGNATE_BASE_PLURAL_H
#define COGNATE_BASE_PLURAL_H

#include <stdint.h>

static inline const char *plural(uint64_t count, const char *one, const char *many) {
    return count == 1 ? one : many;
}

#endif
