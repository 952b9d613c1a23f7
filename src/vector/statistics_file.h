/* Statistics as a file (docs/format.md, kind `stat`): collected here, used for later batches and on
 * other machines. Settings record how the terms were made; they are the caller's to compare. */
#pragma once

#include "store/settings.h"
#include "vector/statistics.h"

cog_status statistics_save(const struct statistics *statistics, const struct settings *settings,
                           const char *path, cog_error *error);
/* Reads and verifies the whole file. settings must be zeroed; the caller frees both. */
cog_status statistics_load(const char *path, struct statistics **statistics,
                           struct settings *settings, cog_error *error);
