/* Verdicts: what a person decided about a result of dedup, in the report or by hand, one JSON
 * object per line:
 *
 *     {"verdict": "keep", "id": "x", "row": 7}        x is the survivor of its cluster
 *     {"verdict": "different", "a": "x", "a_row": 7, "b": "y", "b_row": 9}
 *                                                     not duplicates: y stays
 *     {"verdict": "duplicate", "a": "x", "a_row": 7, "b": "y", "b_row": 9}
 *                                                     duplicates: y goes, x stays
 *
 * Ids name documents. Rows, numbers of documents from 0, decide only between equal ids and may be
 * left out; other keys are ignored. In: a file and a result. Out: the result as the person wants
 * it. Linear in the number of rows and verdicts. */
#pragma once

#include "jobs/dedup/duplicate_rows.h"
#include "run/report.h"

struct verdicts;

/* Reads a file, compressed or not, or standard input for "-". A line that is no verdict is an error
 * that names it. Free with verdicts_free. */
cog_status verdicts_read(const char *path, struct verdicts **verdicts, cog_error *error);
/* Accepts NULL. */
void verdicts_free(struct verdicts *verdicts);
size_t verdicts_count(const struct verdicts *verdicts);

/* The similarity of two rows, and whether their sets of n-grams are the same. */
typedef cog_status duplicate_similarity(void *context, uint32_t a, uint32_t b, float *similarity,
                                        bool *identical, cog_error *error);

/* Applies the verdicts in their order.
 *
 * keep: all members of the cluster point to the new survivor. A row that was removed for a
 * reference stays. different: if the two are in one cluster, the one that is not its survivor
 * leaves the cluster and stays (b, if neither is). duplicate: a becomes the survivor of its
 * cluster, and b joins it, with its own cluster if b is the survivor of one.
 *
 * A later verdict that removes what an earlier one keeps, or that says the contrary about the same
 * two documents, wins. That, documents that are not there, and members whose similarity to a chosen
 * survivor is below the threshold are notices in the report, the first ten of each kind. Clusters
 * are numbered anew. `similarity` is called for each row that another row is kept for now. */
cog_status verdicts_apply(const struct verdicts *verdicts, struct duplicate_rows *rows,
                          duplicate_similarity *similarity, void *context, cog_report *report,
                          cog_error *error);
