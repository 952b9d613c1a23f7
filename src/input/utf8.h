/* Whether bytes are valid UTF-8, at many bytes a cycle; callable from C. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

bool utf8_is_valid(const char *data, size_t size);

#ifdef __cplusplus
}
#endif
