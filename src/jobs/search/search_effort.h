/* How much a search by signatures looks at: steps from little to much, of which a sample of the
 * queries finds the first that reaches the wanted recall. */
#pragma once

#include "cognate.h"

struct search_effort {
    size_t candidates;      /* rows that signatures propose, for true cosines to choose from */
    unsigned expand, admit; /* slices */
    size_t probes;          /* slices, where weights are known */
    double share;           /* of the rows whose columns are read */
    unsigned columns;
    size_t distances; /* true distances, of slices and columns */
};

/* The step's effort for k neighbours; false beyond the last step of the method, or where everything
 * is looked at anyway. */
bool search_effort_of(cog_method method, unsigned step, size_t k, size_t rows,
                      struct search_effort *effort);
/* The step that is usual for a recall, where no sample can be taken. */
unsigned search_effort_usual(cog_method method, double recall);
