/* Word-translation tables for jobs: the handle of the public API, and the terms that go with it. */
#pragma once

#include "crosslingual/lexicon.h"

struct cog_lexicon {
    struct lexicon table;
};

/* The terms of documents of one side, as the lexicon's words were made. */
cog_status lexicon_terms(const struct lexicon *lexicon, bool of_from, struct term_options *terms,
                         cog_error *error);
