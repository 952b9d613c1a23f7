/* One <page> element of a MediaWiki dump: whether it is an article, its title and its text. */
#pragma once

#include "input/documents/text_bytes.h"
#include "input/documents/wiki_markup.h"

/* Reads the names that a dump's <siteinfo> gives to files, categories and media, for wiki_strip.
 * False if memory ran out. */
bool wiki_namespaces_read(struct bytes_view opening, struct buffer *namespaces);
/* Removes a leading <?xml ...?>, if there is one. */
void wiki_drop_declaration(struct buffer *opening);

enum wiki_verdict { WIKI_ARTICLE, WIKI_REDIRECT, WIKI_OTHER_NAMESPACE, WIKI_STUB };

struct wiki_page_parser;

/* NULL when memory ran out. */
struct wiki_page_parser *wiki_page_parser_create(void);
void wiki_page_parser_free(struct wiki_page_parser *parser);

/* Title and plain text of the page's last revision, valid until the next call. On PARSE_BAD,
 * *problem is set to the reason (a constant). */
enum parse_result wiki_page_parse(struct wiki_page_parser *parser, struct bytes_view page,
                                  struct bytes_view namespaces, struct bytes_view *title,
                                  struct bytes_view *text, const char **problem);

/* Classifies the page by its bytes; only short pages are parsed, to measure their text. A page that
 * cannot be parsed counts as an article, so that wiki_page_parse reports its fault. */
enum parse_result wiki_page_judge(struct wiki_page_parser *parser, struct bytes_view page,
                                  struct bytes_view namespaces, enum wiki_verdict *verdict);
