/* Folding through ICU: the definition that the fast tables are made from and have to agree with.
 * Folded text is NFKC_Casefold of the text after three characters have been replaced: the
 * typographic single quotation marks U+2018 and U+2019 by the apostrophe that they stand for inside
 * words, and the zero-width space (which NFKC_Casefold would drop, joining two words) by a space.
 */
#pragma once

#include <unicode/umachine.h>
#include <unicode/unorm2.h>

#include "base/buffer.h"
#include "base/error.h"

/* The longest stretch that is folded in one piece: ICU counts in 32 bits. Longer ones are cut. */
enum { STRETCH_MAX_BYTES = 1 << 28 };

struct unicode_folder {
    const UNormalizer2 *normalizer;
    UChar *source, *folded; /* UTF-16; folded has folded_size units after unicode_fold */
    size_t source_capacity, folded_capacity;
    int32_t folded_size;
};

cog_status unicode_folder_init(struct unicode_folder *folder, cog_error *error);
void unicode_folder_release(struct unicode_folder *folder);
/* Folds valid UTF-8 of at most STRETCH_MAX_BYTES. */
cog_status unicode_fold(struct unicode_folder *folder, struct bytes_view text, cog_error *error);
/* Appends UTF-16 as UTF-8. */
cog_status unicode_append_utf8(const UChar *units, size_t count, struct buffer *buffer,
                               cog_error *error);
