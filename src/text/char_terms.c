#include "text/char_terms.h"

#include "base/hash.h"
#include "text/code_point.h"
#include "text/term_writer.h"

/* The bytes of the white space at text[0 .. left), 0 if there is none. Folding leaves these of
 * Unicode's White_Space: the ASCII ones, U+0085, U+1680, U+2028, U+2029. */
static size_t white_bytes(const char *text, size_t left) {
    unsigned char lead = (unsigned char)text[0];
    if (lead < 0x80)
        return lead == ' ' || (lead >= '\t' && lead <= '\r');
    if (lead != 0xc2 && lead != 0xe1 && lead != 0xe2)
        return 0;
    uint32_t c;
    size_t bytes = utf8_decode(text, left, &c);
    return c == 0x85 || c == 0x1680 || c == 0x2028 || c == 0x2029 ? bytes : 0;
}

void char_terms_squeeze(struct buffer *folded) {
    size_t out = 0;
    for (size_t i = 0; i < folded->size;) {
        size_t white = white_bytes(folded->data + i, folded->size - i);
        if (!white) {
            folded->data[out++] = folded->data[i++];
            continue;
        }
        if (out && folded->data[out - 1] != ' ')
            folded->data[out++] = ' ';
        i += white;
    }
    folded->size = out && folded->data[out - 1] == ' ' ? out - 1 : out;
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
    cog_status status = term_list_reserve(list, folded.size - end + 1, error);
    while (status == COG_OK && begin < end) {
        struct bytes_view term = view_of(folded.data + begin, end - begin);
        status = term_list_add(list, hash_bytes(term.data, term.size), term, error);
        if (end == folded.size)
            break;
        begin = next_start(folded, begin);
        end = next_start(folded, end);
    }
    return status;
}
