/* The articles of a MediaWiki dump by number, and its redirects: converts the numbers and titles of
 * a langlinks table to document ids. Titles are kept as hashes of the titles used as document ids,
 * so each article or redirect takes 16 bytes. The dump is streamed. */
#pragma once

#include "base/error.h"
#include "base/memory.h"

/* Zero-initialise; wiki_pages_free releases. */
struct wiki_pages {
    char
        language[32]; /* of <mediawiki xml:lang="..."> or, without it, of <dbname>; "" if neither */
    struct wiki_numbered {
        uint64_t number, title;
    } * pages; /* by number; redirects too */
    struct wiki_redirect {
        uint64_t from, to;
    } * redirects; /* titles, by `from` */
    size_t page_count, page_capacity, redirect_count, redirect_capacity;
};

/* Reads the pages of the article namespace from a dump, compressed or not, in any encoding that XML
 * declares. */
cog_status wiki_pages_read(struct wiki_pages *pages, const char *path, cog_error *error);
void wiki_pages_free(struct wiki_pages *pages);

/* The title of a page, or false if no article has that number. */
bool wiki_pages_find(const struct wiki_pages *pages, uint64_t number, uint64_t *title);
/* Follows redirects: the title of the article, or the title itself if it is no redirect. */
uint64_t wiki_pages_resolve(const struct wiki_pages *pages, uint64_t title);
