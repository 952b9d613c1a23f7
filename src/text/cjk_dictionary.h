/* Cuts Chinese and Japanese text into words with ICU's dictionary, several times faster than ICU
 * does.
 *
 * In: a run of ideographs and kana. Out: where its words end. As in ICU, the result is the
 * lowest-cost segmentation into dictionary words. The dictionary is read from ICU's data into a
 * hash table of prefixes, once per process, after enough such text has been seen (50 ms, 8 MB). A
 * self-check compares the result with ICU's; if they differ, as they might with a later release of
 * ICU, this dictionary is not used. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cjk_dictionary;

/* The longest run, in characters. */
enum { CJK_RUN_LETTERS = 1024 };

/* Whether the character is an ideograph or kana that folding leaves as it is. */
static inline bool cjk_is_letter(uint32_t c) {
    return (c >= 0x4e00 && c <= 0x9fff) || (c >= 0x3041 && c <= 0x3096) ||
           (c >= 0x30a1 && c <= 0x30fa) || c == 0x30fc || (c >= 0x3400 && c <= 0x4dbf);
}

/* NULL if ICU has no such dictionary, memory ran out, or the self-check failed. Thread-safe. */
const struct cjk_dictionary *cjk_dictionary_get(void);

/* Cuts up to CJK_RUN_LETTERS characters into words; ends[i] is the end of word i. Returns the
 * number of words. */
size_t cjk_dictionary_cut(const struct cjk_dictionary *dictionary, const uint16_t *letters,
                          size_t count, uint16_t ends[CJK_RUN_LETTERS]);

#ifdef __cplusplus
}
#endif
