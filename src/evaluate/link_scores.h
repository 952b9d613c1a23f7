/* Links against known ones: how many are right, how many of the known ones are there, and how often
 * the first choice is right. */
#ifndef COGNATE_EVALUATE_LINK_SCORES_H
#define COGNATE_EVALUATE_LINK_SCORES_H

#include "base/buffer.h"
#include "base/error.h"

struct link_gold;
/* A file of two columns: source id TAB target id. A source may have several partners. */
cog_status link_gold_open(const char *path, struct link_gold **gold, cog_error *error);
void link_gold_free(struct link_gold *gold);

/* One link of the result; or, with is_first, the first choice for a source document. */
cog_status link_gold_take(struct link_gold *gold, struct bytes_view from, struct bytes_view to,
                          double score, bool is_first, cog_error *error);
/* Of what has been taken. */
void link_gold_scores(struct link_gold *gold, cog_link_scores *scores);

#endif
