/* How rows of signatures crowd around some of them, as measured: what the model of windows wants.
 */
#pragma once

#include "plan/recall_model.h"

enum { CROWD_ROWS = 64 };

/* window_crowd on average over the rows of `first` that stand at these places, at least one, among
 * the rows of `second`, NULL inside one collection. Where `shared`, windows hold rows of both
 * collections; else those of the larger crowd. O(count * rows). */
cog_status row_crowd(const struct signatures_view *first, const struct signatures_view *second,
                     bool shared, const uint32_t *places, size_t count,
                     double crowd[WINDOW_PREFIX_MAX + 1], cog_error *error);
