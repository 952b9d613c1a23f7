/* Links against known ones: how many are right, how many of the known ones are there, and how often
 * the first choice is right. */
#ifndef COGNATE_EVALUATE_LINK_SCORES_H
#define COGNATE_EVALUATE_LINK_SCORES_H

#include "base/buffer.h"
#include "base/error.h"

struct link_gold;
cog_status link_gold_create(struct link_gold **gold, cog_error *error);
void link_gold_free(struct link_gold *gold);

/* Known links. A source may have several partners; a link that comes twice counts once. */
cog_status link_gold_add(struct link_gold *gold, struct bytes_view from, struct bytes_view to,
                         cog_error *error);
/* Those of a file of two columns: source id TAB target id, escaped as results are. */
cog_status link_gold_read(struct link_gold *gold, const char *path, cog_error *error);
/* Leaves out known links whose documents are not there: ids by hash_bytes, sorted. Returns how
 * many. */
size_t link_gold_keep(struct link_gold *gold, const uint64_t *from, size_t from_count,
                      const uint64_t *to, size_t to_count);

/* After all known links: one link of the result; or, with is_first, the first choice for a source
 * document. */
cog_status link_gold_take(struct link_gold *gold, struct bytes_view from, struct bytes_view to,
                          double score, bool is_first, cog_error *error);
/* The links of a file that cognate link wrote (from, to, similarity, score): a source's first
 * choice is its link of the highest score. */
cog_status link_gold_take_file(struct link_gold *gold, const char *path, cog_error *error);
/* Of what has been taken. */
void link_gold_scores(struct link_gold *gold, cog_link_scores *scores);

#endif
