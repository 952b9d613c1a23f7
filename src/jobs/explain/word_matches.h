/* The order in which an explanation lists its words. */
#pragma once

#include "cognate.h"

/* By share, the largest first, then by the bytes of the words. */
void word_matches_sort(cog_word_match *matches, size_t count);
