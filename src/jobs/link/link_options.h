/* Options of links: checks, and what follows from them. */
#pragma once

#include "base/error.h"

/* COG_ERR_USAGE if a pointer is NULL or a value is out of range. */
cog_status projection_options_check(const cog_projection_options *options, cog_error *error);
cog_status link_options_check(const cog_link_options *options, cog_error *error);

/* The neighbours of a document of each side that the decision looks at. */
void link_options_wanted(const cog_link_options *options, size_t wanted[2]);
/* The links of a source document that are listed, unless they are one-to-one. */
size_t link_options_listed(const cog_link_options *options);
