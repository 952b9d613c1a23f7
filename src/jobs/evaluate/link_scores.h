/* Links against known ones: how many are right, how many of the known ones are there, and how often
 * the first choice is right. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"

struct link_gold;
cog_status link_gold_create(struct link_gold **gold, cog_error *error);
void link_gold_free(struct link_gold *gold);
/* More memory than this is COG_ERR_MEMORY; 0: as much as there is. */
void link_gold_limit(struct link_gold *gold, uint64_t memory_bytes);

/* Known links. A source may have several partners; a link that comes twice counts once. */
cog_status link_gold_add(struct link_gold *gold, struct bytes_view from, struct bytes_view to,
                         cog_error *error);
/* Those of a file of two columns: source id TAB target id, escaped as results are. */
cog_status link_gold_read(struct link_gold *gold, const char *path, cog_error *error);

/* The documents that there are: ids by hash_bytes, sorted, of the source and the target side. */
struct link_ids {
    const uint64_t *ids[2];
    size_t counts[2];
};
/* As link_gold_read. An id that its side does not have is taken as the title of a wiki page where
 * its side has that: lists of language links write titles with underscores. */
cog_status link_gold_read_titles(struct link_gold *gold, const char *path,
                                 const struct link_ids *documents, cog_error *error);
/* Leaves out known links whose documents are not there, and tells how many. COG_ERR_INPUT where
 * none is left: the message says what `path` has in place of them. */
cog_status link_gold_keep(struct link_gold *gold, const struct link_ids *documents,
                          const char *path, uint64_t *absent, cog_error *error);

/* After all known links: one link of the result; or, with is_first, the first choice for a source
 * document. */
cog_status link_gold_take(struct link_gold *gold, struct bytes_view from, struct bytes_view to,
                          double score, bool is_first, cog_error *error);
/* The links of a file that cognate link wrote (from, to, similarity, score): a source's first
 * choice is its link of the highest score. */
cog_status link_gold_take_file(struct link_gold *gold, const char *path, cog_error *error);
/* COG_ERR_INPUT where `path` had no known links, or none for any source of the links taken. */
cog_status link_gold_check(struct link_gold *gold, const char *path, cog_error *error);
/* Of what has been taken. */
void link_gold_scores(struct link_gold *gold, cog_link_scores *scores);
