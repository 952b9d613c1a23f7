/* Checks the options of links, and derives values from them. */
#pragma once

#include "base/error.h"

/* COG_ERR_USAGE if a pointer is NULL or a value is out of range. */
cog_status projection_options_check(const cog_projection_options *options, cog_error *error);
cog_status link_options_check(const cog_link_options *options, cog_error *error);

/* The number of neighbours per document of each side that the decision needs. */
void link_options_wanted(const cog_link_options *options, size_t wanted[2]);
/* The number of links listed per source document, unless they are one-to-one. */
size_t link_options_listed(const cog_link_options *options);
