/* Small questions about single bytes. */
#pragma once

#include <stdbool.h>
#include <string.h>

/* Zero is in no set. */
static inline bool is_one_of(char c, const char *set) {
    return c && strchr(set, c);
}
