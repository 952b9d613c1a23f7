/* The descriptor of the method slices (search/method.h), and the numbers of its knobs. */
#pragma once

#include "search/method.h"

enum slices_knob { SLICES_WIDTH, SLICES_EXPAND, SLICES_ADMIT };

extern const struct search_method slices_method;
