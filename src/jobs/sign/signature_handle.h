/* What stands behind cog_signatures: rows of a file or of the caller's memory. */
#pragma once

#include "input/npy.h"

struct cog_signatures {
    struct npy_signatures file; /* in memory: only its copy and view are used */
};

const struct signatures_view *signatures_view_of(const cog_signatures *signatures);
