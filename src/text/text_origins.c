#include "text/text_origins.h"

#include <stdlib.h>
#include <unicode/utf16.h>

#include "base/memory.h"
#include "base/strings.h"

cog_status text_origins_create(struct text_origins **origins, cog_error *error) {
    struct text_origins *created;
    TAKE_ZEROED(created, 1, "places of tokens", error);
    cog_status status = unicode_folder_init(&created->folder, error);
    return HAND_OUT(status, created, text_origins_free, origins);
}

void text_origins_free(struct text_origins *origins) {
    if (!origins)
        return;
    unicode_folder_release(&origins->folder);
    FREE(origins->items, origins->places, origins);
}

static cog_status begin_piece(struct text_origins *origins, size_t folded_size, cog_error *error) {
    origins->count = 0;
    GROW(origins->items, origins->capacity, folded_size, "places of tokens", error);
    return COG_OK;
}

/* piece[begin .. end) has become `folded` bytes or units, of at most folded_size in all. */
static void add_stretch(struct text_origins *origins, size_t begin, size_t end, size_t folded,
                        size_t folded_size) {
    for (; folded > 0 && origins->count < folded_size; folded--)
        origins->items[origins->count++] = (struct text_origin){(uint32_t)begin, (uint32_t)end};
}

cog_status text_origins_by_table(struct text_origins *origins, const struct fold_table *table,
                                 const struct text_kernels *kernels, struct bytes_view piece,
                                 size_t folded_size, cog_error *error) {
    TRY(begin_piece(origins, folded_size, error));
    for (size_t i = 0; i < piece.size;) {
        char out[FOLD_GROWTH * 4 + 2 * TEXT_BLOCK_BYTES];
        size_t bytes = 1, folded = 1;
        if ((unsigned char)piece.data[i] >= 0x80) {
            uint32_t c;
            bytes = utf8_decode(piece.data + i, piece.size - i, &c);
            fold_text(table, kernels, piece.data + i, bytes, out, &folded);
        }
        add_stretch(origins, i, i + bytes, folded, folded_size);
        i += bytes;
    }
    add_stretch(origins, 0, piece.size, folded_size, folded_size);
    return COG_OK;
}

/* The end of the stretch that begins at `begin`. */
static size_t stretch_end(const struct text_origins *origins, struct bytes_view piece,
                          size_t begin) {
    uint32_t c;
    size_t end = begin + utf8_decode(piece.data + begin, piece.size - begin, &c);
    while (end < piece.size && (unsigned char)piece.data[end] >= 0x80) {
        size_t bytes = utf8_decode(piece.data + end, piece.size - end, &c);
        if (unicode_folds_apart(&origins->folder, (UChar32)c))
            break;
        end += bytes;
    }
    return end;
}

cog_status text_origins_by_icu(struct text_origins *origins, struct bytes_view piece,
                               size_t folded_size, cog_error *error) {
    TRY(begin_piece(origins, folded_size, error));
    for (size_t i = 0; i < piece.size;) {
        size_t end = stretch_end(origins, piece, i), folded = 1;
        if (end > i + 1) {
            TRY(unicode_fold(&origins->folder, view_of(piece.data + i, end - i), error));
            folded = (size_t)origins->folder.folded_size;
        }
        add_stretch(origins, i, end, folded, folded_size);
        i = end;
    }
    add_stretch(origins, 0, piece.size, folded_size, folded_size);
    return COG_OK;
}

struct bytes_view text_origins_view(const struct text_origins *origins, struct bytes_view piece,
                                    size_t begin, size_t end) {
    size_t first = origins->items[begin].begin, last = origins->items[end - 1].end;
    return view_of(piece.data + first, last - first);
}

cog_status text_origins_keep(struct text_origins *origins, size_t offset, const UChar *units,
                             cog_error *error) {
    for (size_t i = 0; i < origins->count;) {
        const struct text_origin origin = origins->items[i];
        size_t bytes = 1;
        UChar32 c = 0;
        if (units)
            U16_NEXT(units, i, origins->count, c);
        else
            i++;
        if (units)
            bytes = (size_t)U8_LENGTH(c);
        GROW(origins->places, origins->place_capacity, origins->place_count + bytes,
             "places of characters", error);
        for (; bytes > 0; bytes--)
            origins->places[origins->place_count++] =
                (struct text_place){offset + origin.begin, offset + origin.end};
    }
    return COG_OK;
}
