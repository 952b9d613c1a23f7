/* The descriptor of the method psm (search/method.h), and the numbers of its knobs. */
#pragma once

#include "search/method.h"

enum psm_knob { PSM_HEADER, PSM_FLIPS };

extern const struct search_method psm_method;
