/* The language of a text, guessed from its beginning by CLD2. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Looks at no more of the text than this. */
enum { DETECT_BYTES = 2048 };

/* The ISO 639 code of the language of valid UTF-8 (a constant), or "" when the guess is not
 * reliable. */
const char *language_detect(const char *text, size_t size);

/* The version of CLD2's tables (a constant). */
const char *language_detector_version(void);

#ifdef __cplusplus
}
#endif
