/* Language links in wiki pages, as used before a database held them: [[de:Titel]] names the page's
 * German counterpart. They are not part of the page's text; [[:de:Titel]] is an ordinary link. */
#pragma once

#include "base/memory.h"

/* The length of the language code before the colon of a link's target; 0 if the link is of another
 * kind. A code is two or three lower-case letters, possibly followed by hyphenated parts
 * (zh-min-nan), or "simple". */
size_t wiki_language_code(const char *target, size_t size);

/* Normalises a title as a wiki does: decodes entities, turns runs of underscores and blanks into
 * one blank, and capitalises the first letter. False if nothing is left or memory ran out. */
bool wiki_title(struct bytes_view raw, struct buffer *title);

/* Iterates over the language links of a <page> element of a dump. */
struct wiki_language_links {
    struct bytes_view rest; /* of the page */
    struct buffer
        title; /* normalised as in the linked wiki: entities decoded, blanks for underscores */
};
/* The next link, or false at the end. Both views are valid until the next call. A link is skipped
 * if memory runs out. Free links->title at the end. */
bool wiki_language_link_next(struct wiki_language_links *links, struct bytes_view *code,
                             struct bytes_view *title);
