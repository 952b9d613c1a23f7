#include "jobs/evaluate/wiki_gold.h"

#include <string.h>

#include "base/hash.h"
#include "base/io/compression.h"
#include "input/parallel/wiki_languages.h"

static cog_status check_languages(const struct wiki_gold *gold, const char *const dumps[2],
                                  cog_error *error) {
    for (int side = 0; side < 2; side++)
        if (!gold->pages[side].language[0])
            return error_set(
                error, COG_ERR_INPUT,
                "%s: the dump does not state its language (xml:lang of <mediawiki>, or "
                "<dbname>): use the dump as the wiki provides it",
                dumps[side]);
    return strcmp(gold->pages[0].language, gold->pages[1].language) != 0
               ? COG_OK
               : error_set(error, COG_ERR_INPUT,
                           "%s and %s are in the same language (%s): use dumps in two languages",
                           dumps[0], dumps[1], gold->pages[0].language);
}

cog_status wiki_gold_open(struct wiki_gold *gold, const char *table, const char *const dumps[2],
                          cog_error *error) {
    TRY(wiki_pages_read(&gold->pages[0], dumps[0], error));
    TRY(wiki_pages_read(&gold->pages[1], dumps[1], error));
    TRY(check_languages(gold, dumps, error));
    return wiki_langlinks_open(&gold->links, table, error);
}

cog_status wiki_gold_next(struct wiki_gold *gold, uint64_t *from, uint64_t *to, bool *end,
                          cog_error *error) {
    for (;;) {
        struct langlink link;
        uint64_t ends[2];
        TRY(wiki_langlinks_next(&gold->links, &link, end, error));
        if (*end)
            return COG_OK;
        int other = view_is(link.code, gold->pages[1].language);
        if (!view_is(link.code, gold->pages[other].language) ||
            !wiki_pages_find(&gold->pages[!other], link.page, &ends[!other]) ||
            !wiki_title(link.title, &gold->title))
            continue;
        ends[other] = hash_bytes(gold->title.data, gold->title.size);
        *from = wiki_pages_resolve(&gold->pages[0], ends[0]);
        *to = wiki_pages_resolve(&gold->pages[1], ends[1]);
        return COG_OK;
    }
}

void wiki_gold_close(struct wiki_gold *gold) {
    wiki_pages_free(&gold->pages[0]);
    wiki_pages_free(&gold->pages[1]);
    wiki_langlinks_close(&gold->links);
    buffer_free(&gold->title);
}
