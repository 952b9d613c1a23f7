/* Detects the language of a text from its beginning, with CLD2. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads at most this much of the text. */
enum { DETECT_BYTES = 2048 };

/* The ISO 639 code of the language of valid UTF-8 (a constant), or "" if the guess is not reliable.
 */
const char *language_detect(const char *text, size_t size);

/* The version of CLD2's tables (a constant). */
const char *language_detector_version(void);

#ifdef __cplusplus
}
#endif
