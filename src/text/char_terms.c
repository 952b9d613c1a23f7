#include "text/char_terms.h"

#include "base/hash.h"
#include "base/strings.h"
#include "text/term_writer.h"

/* The bytes of the white space of other than ASCII at text[0 .. left), 0 if there is none. Folding
 * leaves these: U+0085, U+1680, U+2028, U+2029. */
static size_t wide_white_bytes(const char *text, size_t left) {
    uint32_t c;
    size_t bytes = utf8_decode(text, left, &c);
    return c == 0x85 || c == 0x1680 || c == 0x2028 || c == 0x2029 ? bytes : 0;
}

void char_terms_squeeze(struct buffer *folded) {
    char *data = folded->data;
    size_t out = 0;
    bool after_white = true;
    for (size_t i = 0; i < folded->size; i++) {
        unsigned char byte = (unsigned char)data[i];
        bool white = byte == ' ' || (byte >= '\t' && byte <= '\r');
        if (byte == 0xc2 || byte == 0xe1 || byte == 0xe2) {
            size_t bytes = wide_white_bytes(data + i, folded->size - i);
            white = bytes > 0;
            i += white ? bytes - 1 : 0;
        }
        data[out] = white ? ' ' : (char)byte;
        out += !(white && after_white);
        after_white = white;
    }
    folded->size = out && after_white ? out - 1 : out;
}

static size_t next_start(struct bytes_view text, size_t at) {
    do
        at++;
    while (at < text.size && !utf8_is_start(text.data[at]));
    return at;
}

cog_status char_terms_add(struct bytes_view folded, unsigned n, struct term_list *list,
                          cog_error *error) {
    size_t begin = 0, end = 0;
    for (unsigned i = 0; i < n && end < folded.size; i++)
        end = next_start(folded, end);
    if (end == 0)
        return COG_OK;
    cog_status status = term_list_reserve(list, folded.size - end + 1, error);
    while (status == COG_OK) {
        struct bytes_view term = view_of(folded.data + begin, end - begin);
        uint64_t hash = hash_bytes(term.data, term.size);
        if (list->want_strings)
            status = term_list_add(list, hash, term, error);
        else
            list->hashes[list->count++] = hash;
        if (end == folded.size)
            break;
        begin = next_start(folded, begin);
        end = next_start(folded, end);
    }
    return status;
}
