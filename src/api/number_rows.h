/* Checks of what callers hand to the steps of links. */
#pragma once

#include "jobs/link/link_candidates.h"

/* 0 or 1. */
cog_status link_side_check(int side, cog_error *error);
/* count + 1 numbers from 0 on that never fall. */
cog_status offsets_check(const int64_t *offsets, size_t count, const char *name, cog_error *error);
cog_status number_rows_check(const cog_number_rows *rows, const char *name, cog_error *error);
/* Entries as cog_link_vectors makes them as a matrix with columns up to the largest; the caller
 * frees it, also after an error. */
cog_status vectors_take(const cog_number_rows *rows, const char *name, struct sparse_matrix *matrix,
                        cog_error *error);
/* Gives both the larger number of columns. */
void vectors_share_columns(struct sparse_matrix sides[2]);
/* Checks the options, whose method must be one that links are found by in steps. */
cog_status link_search_take(const cog_link_options *options, struct link_search *search,
                            cog_error *error);
/* The first k neighbours of each row; the caller frees them by cosine_topk_free, also after an
 * error. */
cog_status neighbours_take(const cog_link_neighbours *given, uint64_t others, size_t k,
                           struct cosine_neighbours *own, cog_error *error);
