/* Links between the languages of a wiki, as pages carried them before a database took them over:
 * [[de:Titel]] names the page's German partner. They say nothing about the page itself and stay out
 * of its text; [[:de:Titel]] is an ordinary link. */
#pragma once

#include "base/memory.h"

/* The length of the language code that the target of a link starts with, before its colon; 0 where
 * the link is of another kind. A code is two or three small letters, perhaps with more behind
 * hyphens (zh-min-nan), or "simple". */
size_t wiki_language_code(const char *target, size_t size);

/* A title as a wiki has it: entities decoded, one blank for underscores and blanks, a capital first
 * letter. False where nothing is left, or memory ran out. */
bool wiki_title(struct bytes_view raw, struct buffer *title);

/* Walks over the language links of a <page> element as it stands in the dump. */
struct wiki_language_links {
    struct bytes_view rest; /* of the page */
    struct buffer title; /* as the linked wiki has it: entities decoded, blanks for underscores */
};
/* The next link, or false at the end. Both views are valid until the next call; a link for which
 * memory ran out is left out. Free links->title at the end. */
bool wiki_language_link_next(struct wiki_language_links *links, struct bytes_view *code,
                             struct bytes_view *title);
