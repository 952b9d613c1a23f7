/* What two documents share, for people: the similarities, the longest passages, and both texts with
 * what is shared marked, in colour on a terminal and by [[ ]] otherwise. */
#pragma once

#include "cognate.h"

/* To standard output. The measure comes first. */
void print_overlap(const cog_overlap *overlap, cog_measure measure);
