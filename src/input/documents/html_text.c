#include "input/documents/html_text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/strings.h"
#include "input/documents/html_entity.h"
#include "input/documents/text_bytes.h"

struct page {
    const char *at, *end;
    char *out, *out_start;
    char gap; /* what stands before the next character: 0, a space or a line end */
};

enum { ELEMENT_BYTES = 12 };

/* Elements that nobody reads, with their contents. */
static const char *const dropped[] = {"iframe", "noembed", "noframes", "noscript",
                                      "script", "style",   "svg",      "template"};

/* Elements that begin and end a line. */
static const char *const blocks[] = {
    "address", "article", "aside",  "blockquote", "body",     "br",     "button",   "caption",
    "dd",      "details", "dialog", "div",        "dl",       "dt",     "fieldset", "figcaption",
    "figure",  "footer",  "form",   "h1",         "h2",       "h3",     "h4",       "h5",
    "h6",      "head",    "header", "hr",         "html",     "legend", "li",       "main",
    "menu",    "nav",     "ol",     "option",     "p",        "pre",    "section",  "select",
    "summary", "table",   "tbody",  "td",         "textarea", "tfoot",  "th",       "thead",
    "title",   "tr",      "ul"};

static bool is_white(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static int by_name(const void *key, const void *element) {
    return strcmp(key, *(const char *const *)element);
}

#define IS_AMONG(name, list)                                                                       \
    (bsearch(name, list, sizeof(list) / sizeof *(list), sizeof *(list), by_name) != NULL)

/* The name at `at` in lower case; empty if it is longer than any that matters. */
static void element_name(const char *at, const char *end, char name[ELEMENT_BYTES + 1]) {
    size_t size = 0;
    while (at + size < end && !is_white(at[size]) && !is_one_of(at[size], "/>"))
        size++;
    if (size > ELEMENT_BYTES)
        size = 0;
    for (size_t i = 0; i < size; i++)
        name[i] = is_letter(at[i]) ? (char)(at[i] | 32) : at[i];
    name[size] = 0;
}

/* Behind the '>' of the tag in which `at` is. Quotes count behind an equals sign only. */
static const char *tag_end(const char *at, const char *end) {
    bool value = false;
    for (; at < end; at++) {
        if (*at == '>')
            return at + 1;
        if (value && (*at == '"' || *at == '\'')) {
            const char *close = memchr(at + 1, *at, (size_t)(end - at - 1));
            if (!close)
                return end;
            at = close;
            value = false;
        } else {
            value = *at == '=' || (value && is_white(*at));
        }
    }
    return end;
}

/* Behind the end tag of a dropped element. */
static const char *element_end(const char *at, const char *end, const char *name) {
    size_t size = strlen(name);
    while (at < end && (at = memchr(at, '<', (size_t)(end - at)))) {
        const char *behind = at + 2 + size;
        if (behind < end && at[1] == '/' && strncasecmp(at + 2, name, size) == 0 &&
            (is_white(*behind) || *behind == '/' || *behind == '>'))
            return tag_end(behind, end);
        at++;
    }
    return end;
}

static void skip_behind(struct page *page, const char *mark) {
    const char *found = memmem(page->at, (size_t)(page->end - page->at), mark, strlen(mark));
    page->at = found ? found + strlen(mark) : page->end;
}

/* At '<' and a name, which may have a slash before it. */
static void skip_element(struct page *page, bool closes) {
    char name[ELEMENT_BYTES + 1];
    element_name(page->at + 1 + closes, page->end, name);
    page->at = tag_end(page->at + 1, page->end);
    bool is_empty = page->at[-1] == '>' && page->at[-2] == '/';
    if (!closes && !is_empty && IS_AMONG(name, dropped)) {
        page->at = element_end(page->at, page->end, name);
        page->gap = page->gap ? page->gap : ' ';
    } else if (IS_AMONG(name, blocks)) {
        page->gap = '\n';
    }
}

/* At '<': false if it is a character of the text. */
static bool skip_markup(struct page *page) {
    const char *at = page->at;
    size_t left = (size_t)(page->end - at);
    if (left > 1 && is_letter(at[1]))
        skip_element(page, false);
    else if (left > 2 && at[1] == '/' && is_letter(at[2]))
        skip_element(page, true);
    else if (left > 3 && memcmp(at, "<!--", 4) == 0)
        skip_behind(page, "-->");
    else if (left > 1 && is_one_of(at[1], "!?/"))
        skip_behind(page, ">");
    else
        return false;
    return true;
}

static void add_gap(struct page *page) {
    if (page->gap && page->out > page->out_start)
        *page->out++ = page->gap;
    page->gap = 0;
}

/* The character or reference at `at`. */
static void take_character(struct page *page) {
    unsigned code = (unsigned char)*page->at;
    size_t size = 0;
    if (code == '&')
        size = html_entity_decode(view_of(page->at, (size_t)(page->end - page->at)), &code);
    bool white = code < 0x80 ? is_white((char)code) : size && code == 0xa0;
    if (white) {
        page->gap = page->gap ? page->gap : ' ';
    } else {
        add_gap(page);
        if (size)
            page->out += utf8_encode(code, page->out);
        else
            *page->out++ = *page->at;
    }
    page->at += size ? size : 1;
}

bool html_text(struct bytes_view bytes, struct buffer *out, struct bytes_view *text) {
    buffer_reset(out);
    if (!buffer_reserve(out, bytes.size + 1))
        return false;
    struct page page = {bytes.data, bytes.data + bytes.size, out->data, out->data, 0};
    while (page.at < page.end)
        if (*page.at != '<' || !skip_markup(&page))
            take_character(&page);
    out->size = (size_t)(page.out - page.out_start);
    *text = buffer_view(out);
    return true;
}
