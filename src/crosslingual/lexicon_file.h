/* A lexicon as a file (docs/format.md, kind `lexi`). */
#pragma once

#include "crosslingual/lexicon.h"

cog_status lexicon_save(const struct lexicon *lexicon, const char *path, cog_error *error);
/* Reads and verifies the whole file into a zeroed lexicon. */
cog_status lexicon_load(const char *path, struct lexicon *lexicon, cog_error *error);
/* The same on bytes in memory; name stands in messages. */
cog_status lexicon_load_memory(const char *name, const void *data, size_t size,
                               struct lexicon *lexicon, cog_error *error);
