/* Terms of n characters each: windows over the folded text, white space runs as one space. */
#pragma once

#include "text/analyzer.h"

/* Every run of white space becomes one space, at the ends nothing; in place. */
void char_terms_squeeze(struct buffer *folded);
/* Adds every n neighbouring characters; all of them where there are fewer, nothing where there are
 * none. */
cog_status char_terms_add(struct bytes_view folded, unsigned n, struct term_list *list,
                          cog_error *error);
