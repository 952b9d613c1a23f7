/* Fuzzes MediaWiki dumps, and the input as markup by itself. */
#include "input/documents/wiki_markup.h"
#include "read_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_bytes(INPUT_WIKIXML, false, data, size);
    struct wiki_stripper stripper = {0};
    struct bytes_view markup = view_of(size ? (const char *)data : "", size), text;
    demand(wiki_strip(&stripper, markup, view_of("", 0), &text));
    demand(text.size <= size);
    demand(!utf8_is_valid(markup.data, size) || utf8_is_valid(text.data, text.size));
    wiki_stripper_free(&stripper);
    return 0;
}
