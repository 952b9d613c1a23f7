#include "input/parallel/wiki_languages.h"

#include <string.h>

static bool is_small(char c) {
    return c >= 'a' && c <= 'z';
}

size_t wiki_language_code(const char *target, size_t size) {
    static const char simple[] = "simple";
    const char *colon = size ? memchr(target, ':', size) : NULL;
    size_t length = colon ? (size_t)(colon - target) : 0, letters = 0;
    if (length == sizeof simple - 1 && memcmp(target, simple, length) == 0)
        return length;
    while (letters < length && is_small(target[letters]))
        letters++;
    if (letters < 2 || letters > 3)
        return 0;
    for (size_t i = letters; i < length; i++) {
        bool hyphen = target[i] == '-' && i + 1 < length && is_small(target[i + 1]);
        if (!is_small(target[i]) && !hyphen)
            return 0;
    }
    return length;
}

/* Titles in a dump have the entities of XML, and none inside of others. */
bool wiki_title(struct bytes_view raw, struct buffer *title) {
    static const struct {
        const char *name;
        char character;
    } entities[] = {
        {"&amp;", '&'}, {"&quot;", '"'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&apos;", '\''}};
    buffer_reset(title);
    if (!buffer_reserve(title, raw.size + 1))
        return false;
    for (size_t i = 0; i < raw.size; i++) {
        char character = raw.data[i] == '_' ? ' ' : raw.data[i];
        for (size_t e = 0; e < sizeof entities / sizeof *entities; e++) {
            size_t length = strlen(entities[e].name);
            if (raw.size - i >= length && memcmp(raw.data + i, entities[e].name, length) == 0) {
                character = entities[e].character;
                i += length - 1;
                break;
            }
        }
        if (character != ' ' || (title->size && title->data[title->size - 1] != ' '))
            title->data[title->size++] = character;
    }
    while (title->size && title->data[title->size - 1] == ' ')
        title->size--;
    /* The first letter of a title is a capital one; small ones beyond ASCII are not written so. */
    if (title->size && is_small(title->data[0]))
        title->data[0] = (char)(title->data[0] - 'a' + 'A');
    return title->size > 0;
}

bool wiki_language_link_next(struct wiki_language_links *links, struct bytes_view *code,
                             struct bytes_view *title) {
    enum { MAX_TITLE_BYTES = 1024 };
    struct bytes_view *rest = &links->rest;
    for (;;) {
        const char *open = rest->size ? memmem(rest->data, rest->size, "[[", 2) : NULL;
        if (!open)
            return false;
        size_t left = rest->size - (size_t)(open + 2 - rest->data);
        *rest = view_of(open + 2, left);
        size_t length = wiki_language_code(rest->data, left < 32 ? left : 32);
        if (!length)
            continue;
        size_t limit = left < MAX_TITLE_BYTES ? left : (size_t)MAX_TITLE_BYTES;
        const char *close = memmem(rest->data, limit, "]]", 2);
        if (!close)
            continue;
        *code = view_of(rest->data, length);
        const char *name = rest->data + length + 1;
        struct bytes_view raw = view_of(name, (size_t)(close - name));
        const char *end = raw.size ? memchr(raw.data, '|', raw.size) : NULL;
        raw.size = end ? (size_t)(end - raw.data) : raw.size;
        end = raw.size ? memchr(raw.data, '#', raw.size) : NULL;
        raw.size = end ? (size_t)(end - raw.data) : raw.size;
        *rest = view_of(close + 2, (size_t)(rest->data + rest->size - (close + 2)));
        if (!wiki_title(raw, &links->title))
            continue;
        *title = buffer_view(&links->title);
        return true;
    }
}
