#include "text/unicode_fold.h"

#include <stdlib.h>
#include <unicode/uchar.h>
#include <unicode/ustring.h>
#include <unicode/utf16.h>

#include "base/memory.h"

cog_status unicode_folder_init(struct unicode_folder *folder, cog_error *error) {
    UErrorCode code = U_ZERO_ERROR;
    *folder = (struct unicode_folder){.normalizer = unorm2_getNFKCCasefoldInstance(&code)};
    if (U_FAILURE(code))
        return error_set(error, COG_ERR_IO,
                         "ICU has no NFKC_Casefold data (%s); install its data package",
                         u_errorName(code));
    return COG_OK;
}

void unicode_folder_release(struct unicode_folder *folder) {
    free(folder->source);
    free(folder->folded);
}

static void replace_marks(UChar *units, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        if (units[i] == 0x2018 || units[i] == 0x2019)
            units[i] = '\'';
        else if (units[i] == 0x200b)
            units[i] = ' ';
    }
}

/* What may stand in a run that normalisation sorts as a whole: combining marks, what it drops
 * between them, and the halfwidth marks that it makes combining. */
static bool is_mark(UChar32 c) {
    return (U_GET_GC_MASK(c) & U_GC_M_MASK) || c == 0xff9e || c == 0xff9f ||
           u_hasBinaryProperty(c, UCHAR_DEFAULT_IGNORABLE_CODE_POINT);
}

/* Drops the marks of a run behind the first MARKS_MAX: sorting a run takes quadratic time, and no
 * letter of any language has as many. Returns the units that are left. */
static int32_t limit_marks(UChar *units, int32_t count) {
    enum { MARKS_MAX = 64 };
    bool any = false;
    for (int32_t i = 0; i < count && !any; i += MARKS_MAX) { /* a long run covers one of these */
        UChar32 c;
        U16_GET(units, 0, i, count, c);
        any = is_mark(c);
    }
    int32_t out = 0, marks = 0;
    for (int32_t i = 0; any && i < count;) {
        int32_t begin = i;
        UChar32 c;
        U16_NEXT(units, i, count, c);
        marks = is_mark(c) ? marks + i - begin : 0;
        for (; begin < i && marks <= MARKS_MAX; begin++)
            units[out++] = units[begin];
    }
    return any ? out : count;
}

cog_status unicode_fold(struct unicode_folder *folder, struct bytes_view text, cog_error *error) {
    /* UTF-16 has never more units than UTF-8 has bytes. */
    if (!memory_grow((void **)&folder->source, &folder->source_capacity, text.size + 1,
                     sizeof(UChar)))
        return error_memory(error, text.size * sizeof(UChar), "text to fold");
    UErrorCode code = U_ZERO_ERROR;
    int32_t count = 0;
    u_strFromUTF8WithSub(folder->source, (int32_t)text.size + 1, &count, text.data,
                         (int32_t)text.size, 0xfffd, NULL, &code);
    if (U_FAILURE(code))
        return error_set(error, COG_ERR_INPUT, "text is not UTF-8 (%s)", u_errorName(code));
    replace_marks(folder->source, count);
    count = limit_marks(folder->source, count);
    size_t room = (size_t)count + (size_t)count / 8 + 32;
    for (;;) {
        if (!memory_grow((void **)&folder->folded, &folder->folded_capacity, room, sizeof(UChar)))
            return error_memory(error, room * sizeof(UChar), "folded text");
        code = U_ZERO_ERROR;
        int32_t limit =
            folder->folded_capacity < INT32_MAX ? (int32_t)folder->folded_capacity : INT32_MAX;
        folder->folded_size = unorm2_normalize(folder->normalizer, folder->source, count,
                                               folder->folded, limit, &code);
        if (code != U_BUFFER_OVERFLOW_ERROR)
            break;
        room = (size_t)folder->folded_size + 1;
    }
    if (U_FAILURE(code))
        return error_set(error, COG_ERR_INPUT, "text cannot be folded (%s)", u_errorName(code));
    return COG_OK;
}

cog_status unicode_append_utf8(const UChar *units, size_t count, struct buffer *buffer,
                               cog_error *error) {
    if (!buffer_reserve(buffer, 3 * count + 1))
        return error_memory(error, 3 * count + 1, "folded text");
    UErrorCode code = U_ZERO_ERROR;
    int32_t size = 0;
    u_strToUTF8WithSub(buffer->data + buffer->size, (int32_t)(3 * count + 1), &size, units,
                       (int32_t)count, 0xfffd, NULL, &code);
    if (U_FAILURE(code))
        return error_set(error, COG_ERR_INPUT, "text cannot be folded (%s)", u_errorName(code));
    buffer->size += (size_t)size;
    return COG_OK;
}
