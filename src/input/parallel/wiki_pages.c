#include "input/parallel/wiki_pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/strings.h"
#include "input/parallel/line_source.h"
#include "input/parallel/wiki_languages.h"
#include "input/parallel/xml_source.h"

/* Redirects to redirects are mistakes that a wiki mends: a few steps are enough, and circles end.
 */
enum { REDIRECT_STEPS = 4, FIELD_BYTES = 2048 };

struct page_parser {
    struct wiki_pages *pages;
    XML_Parser xml;
    unsigned depth;      /* of open elements */
    unsigned page_depth; /* of the page that is open; 0: none */
    struct buffer title, number, space, database, target, normal;
    struct buffer *text; /* receives character data, or NULL */
    bool has_number, is_redirect;
    cog_status status;
    cog_error *error;
};

static void open_text(struct page_parser *parser, struct buffer *buffer) {
    buffer_reset(buffer);
    parser->text = buffer;
}

static const char *attribute(const XML_Char **attributes, const char *name) {
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

static void take_language(struct page_parser *parser, const char *code) {
    if (code && strlen(code) < sizeof parser->pages->language)
        memcpy(parser->pages->language, code, strlen(code) + 1);
}

static void start_page(struct page_parser *parser) {
    parser->page_depth = parser->depth;
    parser->has_number = parser->is_redirect = false;
    buffer_reset(&parser->title);
    buffer_reset(&parser->space);
}

static void take_redirect(struct page_parser *parser, const char *title) {
    buffer_reset(&parser->target);
    parser->is_redirect = title && buffer_append_text(&parser->target, title);
}

static void XMLCALL on_start(void *context, const XML_Char *name, const XML_Char **attributes) {
    struct page_parser *parser = context;
    parser->text = NULL;
    parser->depth++;
    if (parser->depth == 1)
        take_language(parser, attribute(attributes, "xml:lang"));
    if (strcmp(name, "dbname") == 0)
        open_text(parser, &parser->database);
    if (strcmp(name, "page") == 0)
        start_page(parser);
    if (!parser->page_depth || parser->depth != parser->page_depth + 1)
        return;
    if (strcmp(name, "title") == 0)
        open_text(parser, &parser->title);
    else if (strcmp(name, "ns") == 0)
        open_text(parser, &parser->space);
    else if (strcmp(name, "id") == 0 && !parser->has_number)
        open_text(parser, &parser->number);
    else if (strcmp(name, "redirect") == 0)
        take_redirect(parser, attribute(attributes, "title"));
}

static void XMLCALL on_text(void *context, const XML_Char *text, int size) {
    struct page_parser *parser = context;
    if (parser->text && parser->text->size < FIELD_BYTES &&
        !buffer_append(parser->text, text, (size_t)size))
        parser->status = error_memory(parser->error, (size_t)size, "a wiki page");
}

static bool parse_number(const struct buffer *text, uint64_t *number) {
    *number = 0;
    for (size_t i = 0; i < text->size; i++) {
        if (text->data[i] < '0' || text->data[i] > '9' || *number > (UINT64_MAX - 9) / 10)
            return false;
        *number = *number * 10 + (uint64_t)(text->data[i] - '0');
    }
    return text->size > 0;
}

/* The target of a redirect without its section. */
static uint64_t target_hash(struct page_parser *parser) {
    struct bytes_view target = buffer_view(&parser->target);
    const char *section = target.size ? memchr(target.data, '#', target.size) : NULL;
    target.size = section ? (size_t)(section - target.data) : target.size;
    return wiki_title(target, &parser->normal)
               ? hash_bytes(parser->normal.data, parser->normal.size)
               : 0;
}

static cog_status add_page(struct page_parser *parser, cog_error *error) {
    struct wiki_pages *pages = parser->pages;
    bool article =
        parser->space.size == 0 || (parser->space.size == 1 && parser->space.data[0] == '0');
    uint64_t number, title = hash_bytes(parser->title.data, parser->title.size);
    if (!article || parser->title.size == 0)
        return COG_OK;
    if (parser->has_number && parse_number(&parser->number, &number)) {
        GROW(pages->pages, pages->page_capacity, pages->page_count + 1, "wiki pages", error);
        pages->pages[pages->page_count++] = (struct wiki_numbered){number, title};
    }
    if (parser->is_redirect) {
        GROW(pages->redirects, pages->redirect_capacity, pages->redirect_count + 1, "wiki pages",
             error);
        pages->redirects[pages->redirect_count++] =
            (struct wiki_redirect){title, target_hash(parser)};
    }
    return COG_OK;
}

static void XMLCALL on_end(void *context, const XML_Char *name) {
    static const char suffix[] = "wiki";
    struct page_parser *parser = context;
    if (parser->text == &parser->number)
        parser->has_number = true;
    if (parser->text == &parser->database && !parser->pages->language[0] &&
        parser->database.size > sizeof suffix - 1 &&
        parser->database.size < sizeof parser->pages->language &&
        memcmp(parser->database.data + parser->database.size - 4, suffix, 4) == 0)
        memcpy(parser->pages->language, parser->database.data, parser->database.size - 4);
    parser->text = NULL;
    if (parser->page_depth == parser->depth && strcmp(name, "page") == 0) {
        parser->page_depth = 0;
        THEN(parser->status, add_page(parser, parser->error));
    }
    parser->depth--;
}

static cog_status parse_file(struct page_parser *parser, const char *path, cog_error *error) {
    struct byte_source bytes = {.descriptor = -1};
    bool done = false;
    parser->status = byte_source_open_path(&bytes, path, error);
    while (parser->status == COG_OK && !done) {
        cog_status status =
            xml_source_parse_next(parser->xml, &bytes, "not the XML of a wiki dump", &done, error);
        THEN(parser->status, status);
    }
    byte_source_free(&bytes);
    return parser->status;
}

static int by_number(const void *x, const void *y) {
    const struct wiki_numbered *a = x, *b = y;
    return a->number != b->number ? ORDER(a->number, b->number) : ORDER(a->title, b->title);
}

static int by_title(const void *x, const void *y) {
    const struct wiki_redirect *a = x, *b = y;
    return a->from != b->from ? ORDER(a->from, b->from) : ORDER(a->to, b->to);
}

cog_status wiki_pages_read(struct wiki_pages *pages, const char *path, cog_error *error) {
    struct page_parser parser = {.pages = pages, .xml = XML_ParserCreate(NULL), .error = error};
    if (!parser.xml)
        return error_memory(error, sizeof parser, "a wiki dump");
    XML_SetUserData(parser.xml, &parser);
    XML_SetElementHandler(parser.xml, on_start, on_end);
    XML_SetCharacterDataHandler(parser.xml, on_text);
    cog_status status = parse_file(&parser, path, error);
    XML_ParserFree(parser.xml);
    buffer_free(&parser.title);
    buffer_free(&parser.number);
    buffer_free(&parser.space);
    buffer_free(&parser.database);
    buffer_free(&parser.target);
    buffer_free(&parser.normal);
    if (pages->page_count)
        qsort(pages->pages, pages->page_count, sizeof *pages->pages, by_number);
    if (pages->redirect_count)
        qsort(pages->redirects, pages->redirect_count, sizeof *pages->redirects, by_title);
    return status;
}

void wiki_pages_free(struct wiki_pages *pages) {
    FREE(pages->pages, pages->redirects);
    *pages = (struct wiki_pages){0};
}

bool wiki_pages_find(const struct wiki_pages *pages, uint64_t number, uint64_t *title) {
    size_t at;
    FIND_FIRST_NOT(at, 0, pages->page_count, pages->pages[at].number < number);
    if (at == pages->page_count || pages->pages[at].number != number)
        return false;
    *title = pages->pages[at].title;
    return true;
}

uint64_t wiki_pages_resolve(const struct wiki_pages *pages, uint64_t title) {
    for (int step = 0; step < REDIRECT_STEPS; step++) {
        size_t at;
        FIND_FIRST_NOT(at, 0, pages->redirect_count, pages->redirects[at].from < title);
        if (at == pages->redirect_count || pages->redirects[at].from != title)
            break;
        title = pages->redirects[at].to;
    }
    return title;
}
