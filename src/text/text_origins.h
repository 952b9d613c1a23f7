/* Where folded text came from: for each byte of text that was folded by table, or each UTF-16 unit
 * of text that ICU folded, the bytes of the text that it was made of.
 *
 * A text scanner keeps them only if the places of tokens are wanted. They are found after folding:
 * the text is folded once more, one stretch after the other, a stretch being a character or a few
 * that fold together (a letter with its accents). Folding itself stays as fast as it is. Costs
 * about 4 ns per byte of English, 100 ns per character that ICU folds, and 8 bytes of memory per
 * folded byte of the piece at hand. */
#pragma once

#include "text/text_scanner.h"

/* Bytes of the piece of text that was folded last. */
struct text_origin {
    uint32_t begin, end;
};

struct text_origins {
    struct text_origin *items; /* of each folded byte or unit of that piece */
    size_t count, capacity;
    struct text_place *places; /* text_origins_keep: of the bytes of a whole folded text */
    size_t place_count, place_capacity;
    struct unicode_folder folder; /* scratch */
};
cog_status text_origins_create(struct text_origins **origins, cog_error *error);
/* Accepts NULL. */
void text_origins_free(struct text_origins *origins);

/* Of a piece without hard characters that the table folds to folded_size bytes. */
cog_status text_origins_by_table(struct text_origins *origins, const struct fold_table *table,
                                 const struct text_kernels *kernels, struct bytes_view piece,
                                 size_t folded_size, cog_error *error);
/* Of a piece that ICU folds to folded_size units. */
cog_status text_origins_by_icu(struct text_origins *origins, struct bytes_view piece,
                               size_t folded_size, cog_error *error);

/* What folded[begin .. end) of the piece, begin < end, was made of. */
struct bytes_view text_origins_view(const struct text_origins *origins, struct bytes_view piece,
                                    size_t begin, size_t end);

/* Appends the origins of the piece, which begins at `offset` of the text, to `places`, one per
 * folded byte. units: those that ICU folded the piece to; NULL: the table folded it. */
cog_status text_origins_keep(struct text_origins *origins, size_t offset, const UChar *units,
                             cog_error *error);
