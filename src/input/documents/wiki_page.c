#include "input/documents/wiki_page.h"

#include <expat.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Pages of fewer bytes are parsed to see whether their text is shorter than the limit of a stub. */
enum { SHORT_PAGE_BYTES = 4096, STUB_TEXT_BYTES = 200 };

struct wiki_page_parser {
    XML_Parser expat;
    struct buffer title, markup;
    struct buffer *target; /* receives character data, or NULL */
    bool out_of_memory;
    struct wiki_stripper stripper;
};

struct wiki_page_parser *wiki_page_parser_create(void) {
    struct wiki_page_parser *parser = calloc(1, sizeof *parser);
    if (parser)
        parser->expat = XML_ParserCreate("UTF-8");
    if (!parser || !parser->expat) {
        free(parser);
        return NULL;
    }
    return parser;
}

void wiki_page_parser_free(struct wiki_page_parser *parser) {
    if (!parser)
        return;
    XML_ParserFree(parser->expat);
    buffer_free(&parser->title);
    buffer_free(&parser->markup);
    wiki_stripper_free(&parser->stripper);
    free(parser);
}

static void XMLCALL start_element(void *context, const XML_Char *name,
                                  const XML_Char **attributes) {
    (void)attributes;
    struct wiki_page_parser *parser = context;
    parser->target = NULL;
    if (strcmp(name, "title") == 0)
        parser->target = &parser->title;
    else if (strcmp(name, "text") == 0)
        parser->target = &parser->markup;
    if (parser->target)
        buffer_reset(parser->target);
}

static void XMLCALL end_element(void *context, const XML_Char *name) {
    (void)name;
    ((struct wiki_page_parser *)context)->target = NULL;
}

static void XMLCALL character_data(void *context, const XML_Char *data, int size) {
    struct wiki_page_parser *parser = context;
    if (parser->target && !buffer_append(parser->target, data, (size_t)size))
        parser->out_of_memory = true;
}

static enum parse_result parse_xml(struct wiki_page_parser *parser, struct bytes_view page,
                                   const char **problem) {
    XML_ParserReset(parser->expat, "UTF-8");
    XML_SetUserData(parser->expat, parser);
    XML_SetElementHandler(parser->expat, start_element, end_element);
    XML_SetCharacterDataHandler(parser->expat, character_data);
    buffer_reset(&parser->title);
    buffer_reset(&parser->markup);
    parser->target = NULL;
    parser->out_of_memory = false;
    enum XML_Status status = XML_STATUS_OK;
    while (status == XML_STATUS_OK && page.size) {
        int piece = page.size > INT_MAX / 4 ? INT_MAX / 4 : (int)page.size;
        status = XML_Parse(parser->expat, page.data, piece, (size_t)piece == page.size);
        page = view_of(page.data + piece, page.size - (size_t)piece);
    }
    enum XML_Error code = XML_GetErrorCode(parser->expat);
    if (parser->out_of_memory || (status != XML_STATUS_OK && code == XML_ERROR_NO_MEMORY))
        return PARSE_OUT_OF_MEMORY;
    *problem = status == XML_STATUS_OK ? NULL : XML_ErrorString(code);
    return *problem ? PARSE_BAD : PARSE_OK;
}

enum parse_result wiki_page_parse(struct wiki_page_parser *parser, struct bytes_view page,
                                  struct bytes_view namespaces, struct bytes_view *title,
                                  struct bytes_view *text, const char **problem) {
    enum parse_result result = parse_xml(parser, page, problem);
    if (result != PARSE_OK)
        return result;
    *title = buffer_view(&parser->title);
    if (title->size == 0) {
        *problem = "a page without a title";
        return PARSE_BAD;
    }
    struct bytes_view markup =
        view_of(parser->markup.data ? parser->markup.data : "", parser->markup.size);
    return wiki_strip(&parser->stripper, markup, namespaces, text) ? PARSE_OK : PARSE_OUT_OF_MEMORY;
}

static const char *find(struct bytes_view bytes, const char *needle) {
    return bytes.size ? memmem(bytes.data, bytes.size, needle, strlen(needle)) : NULL;
}

bool wiki_namespaces_read(struct bytes_view opening, struct buffer *namespaces) {
    static const char tag[] = "<namespace key=\"";
    const char *end = opening.data + opening.size, *at;
    buffer_reset(namespaces);
    while ((at = find(opening, tag))) {
        opening = view_of(at + sizeof tag - 1, (size_t)(end - at) - (sizeof tag - 1));
        const char *close = opening.size ? memchr(opening.data, '>', opening.size) : NULL;
        const char *stop = close ? memchr(close, '<', (size_t)(end - close)) : NULL;
        if (!stop)
            break;
        bool dropped = view_begins_with(opening, "6\"") || view_begins_with(opening, "14\"") ||
                       view_begins_with(opening, "-2\"");
        if (dropped && close[-1] != '/' &&
            !wiki_namespace_add(namespaces, view_of(close + 1, (size_t)(stop - close - 1))))
            return false;
    }
    return true;
}

void wiki_drop_declaration(struct buffer *opening) {
    struct bytes_view bytes = buffer_view(opening);
    const char *end = view_begins_with(bytes, "<?xml") ? find(bytes, "?>") : NULL;
    if (!end)
        return;
    opening->size -= (size_t)(end + 2 - opening->data);
    memmove(opening->data, end + 2, opening->size);
}

/* {{stub}}, {{stub|...}}, {{Physics-stub}}: the name of a template that starts at `at`. */
static bool is_stub_template(const char *at, const char *end) {
    const char *name_end = at;
    while (name_end < end && name_end - at < 100 && *name_end != '}' && *name_end != '|' &&
           *name_end != '{' && *name_end != '\n')
        name_end++;
    while (at < name_end && (*at == ' ' || *at == '_'))
        at++;
    while (name_end > at && (name_end[-1] == ' ' || name_end[-1] == '_'))
        name_end--;
    size_t size = (size_t)(name_end - at);
    if (size < 4 || strncasecmp(name_end - 4, "stub", 4) != 0)
        return false;
    return size == 4 || name_end[-5] == '-';
}

static bool has_stub_template(struct bytes_view page) {
    const char *at = page.data, *end = page.data + page.size;
    while ((at = memchr(at, '{', (size_t)(end - at)))) {
        if (end - at > 2 && at[1] == '{' && is_stub_template(at + 2, end))
            return true;
        at++;
    }
    return false;
}

static bool is_redirect(struct bytes_view head, struct bytes_view page) {
    if (find(head, "<redirect"))
        return true;
    size_t rest = page.size - head.size;
    const char *text = page.data + head.size, *close = rest ? memchr(text, '>', rest) : NULL;
    return close && page.data + page.size - close > 9 &&
           strncasecmp(close + 1, "#REDIRECT", 9) == 0;
}

enum parse_result wiki_page_judge(struct wiki_page_parser *parser, struct bytes_view page,
                                  struct bytes_view namespaces, enum wiki_verdict *verdict) {
    const char *text = find(page, "<text");
    struct bytes_view head = view_of(page.data, text ? (size_t)(text - page.data) : page.size);
    *verdict = WIKI_ARTICLE;
    if (find(head, "<ns>") && !find(head, "<ns>0</ns>"))
        *verdict = WIKI_OTHER_NAMESPACE;
    else if (is_redirect(head, page))
        *verdict = WIKI_REDIRECT;
    else if (has_stub_template(page))
        *verdict = WIKI_STUB;
    if (*verdict != WIKI_ARTICLE || page.size >= SHORT_PAGE_BYTES)
        return PARSE_OK;
    struct bytes_view title, plain;
    const char *problem;
    enum parse_result result = wiki_page_parse(parser, page, namespaces, &title, &plain, &problem);
    if (result == PARSE_OK && plain.size < STUB_TEXT_BYTES)
        *verdict = WIKI_STUB;
    return result == PARSE_OUT_OF_MEMORY ? result : PARSE_OK;
}
