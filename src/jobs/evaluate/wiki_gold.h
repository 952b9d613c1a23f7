/* Known links of a wiki: the rows of its table of language links, joined with the pages of both
 * dumps. In: three files. Out: pairs of title hashes, with redirects followed. The table may belong
 * to either wiki, as a page has no link to its own language. */
#pragma once

#include "input/parallel/wiki_langlinks.h"
#include "input/parallel/wiki_pages.h"

/* Zero-initialise; wiki_gold_close releases. */
struct wiki_gold {
    struct wiki_pages pages[2];
    struct wiki_langlinks links;
    struct buffer title;
};

/* Names that end so, before the suffix of a compressed file, are tables. */
#define WIKI_TABLE_ENDING ".sql"

/* dumps: of the source language and of the target language. Paths are borrowed. */
cog_status wiki_gold_open(struct wiki_gold *gold, const char *table, const char *const dumps[2],
                          cog_error *error);
/* The next link between articles of the two wikis; sets *end if there is none. */
cog_status wiki_gold_next(struct wiki_gold *gold, uint64_t *from, uint64_t *to, bool *end,
                          cog_error *error);
void wiki_gold_close(struct wiki_gold *gold);
