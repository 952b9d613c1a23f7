/* Verdicts: a person's decisions about a result of dedup, made in the report or by hand, one JSON
 * object per line:
 *
 *     {"verdict": "keep", "id": "x", "row": 7}        x is the survivor of its cluster
 *     {"verdict": "different", "a": "x", "a_row": 7, "b": "y", "b_row": 9}
 *                                                     not duplicates: y stays
 *     {"verdict": "duplicate", "a": "x", "a_row": 7, "b": "y", "b_row": 9}
 *                                                     duplicates: y is removed, x stays
 *
 * Ids identify documents. Rows (document numbers from 0) only distinguish equal ids and may be
 * omitted; other keys are ignored. In: a file and a result. Out: the result with the decisions
 * applied. Linear in the number of rows and verdicts. */
#pragma once

#include "jobs/dedup/duplicate_rows.h"
#include "run/report.h"

struct verdicts;

/* Reads a file, compressed or not, or standard input for "-". An invalid line is an error that
 * names the line. Free with verdicts_free. */
cog_status verdicts_read(const char *path, struct verdicts **verdicts, cog_error *error);
/* Accepts NULL. */
void verdicts_free(struct verdicts *verdicts);
size_t verdicts_count(const struct verdicts *verdicts);

/* Returns the similarity of two rows, and whether their sets of n-grams are equal. */
typedef cog_status duplicate_similarity(void *context, uint32_t a, uint32_t b, float *similarity,
                                        bool *identical, cog_error *error);

/* Applies the verdicts in order.
 *
 * keep: all members of the cluster point to the new survivor; a row removed for a reference is
 * kept. different: if the two are in one cluster, the one that is not its survivor leaves the
 * cluster and is kept (b, if neither is). duplicate: a becomes the survivor of its cluster, and b
 * joins it, with its own cluster if b is the survivor of one.
 *
 * A later verdict that removes what an earlier one keeps, or that contradicts it about the same two
 * documents, wins. The report has notices about this, about documents that do not exist, and about
 * members whose similarity to a chosen survivor is below the threshold; the first ten of each kind
 * are named. Clusters are renumbered. `similarity` is called for each row that is now represented
 * by another row. */
cog_status verdicts_apply(const struct verdicts *verdicts, struct duplicate_rows *rows,
                          duplicate_similarity *similarity, void *context, cog_report *report,
                          cog_error *error);
