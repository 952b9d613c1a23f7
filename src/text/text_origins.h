/* Origins: maps each byte of text folded by table, or each UTF-16 unit of text folded by ICU, to
 * the bytes of the original text that it was made from.
 *
 * A text scanner keeps origins only if the places of tokens are wanted. They are computed after
 * folding, by folding the text again stretch by stretch; a stretch is a character or a few that
 * fold together (a letter with its accents). So folding itself stays as fast. Costs about 4 ns per
 * byte of English, 100 ns per character that ICU folds, and 8 bytes of memory per folded byte of
 * the current piece. */
#pragma once

#include "text/text_scanner.h"

/* A range of bytes in the piece of text that was folded last. */
struct text_origin {
    uint32_t begin, end;
};

struct text_origins {
    struct text_origin *items; /* one per folded byte or unit of that piece */
    size_t count, capacity;
    struct text_place *places; /* text_origins_keep: of the bytes of a whole folded text */
    size_t place_count, place_capacity;
    struct unicode_folder folder; /* scratch */
};
cog_status text_origins_create(struct text_origins **origins, cog_error *error);
/* Accepts NULL. */
void text_origins_free(struct text_origins *origins);

/* For a piece without hard characters that the table folds to folded_size bytes. */
cog_status text_origins_by_table(struct text_origins *origins, const struct fold_table *table,
                                 const struct text_kernels *kernels, struct bytes_view piece,
                                 size_t folded_size, cog_error *error);
/* For a piece that ICU folds to folded_size units. */
cog_status text_origins_by_icu(struct text_origins *origins, struct bytes_view piece,
                               size_t folded_size, cog_error *error);

/* The text that folded[begin .. end) of the piece was made from; begin < end. */
struct bytes_view text_origins_view(const struct text_origins *origins, struct bytes_view piece,
                                    size_t begin, size_t end);

/* Appends the origins of the piece, which begins at `offset` of the text, to `places`, one per
 * folded byte. `units` is the piece as folded by ICU; NULL if the table folded it. */
cog_status text_origins_keep(struct text_origins *origins, size_t offset, const UChar *units,
                             cog_error *error);
