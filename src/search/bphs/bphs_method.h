/* The descriptor of the method bphs (search/method.h), and the numbers of its knobs. */
#pragma once

#include "search/method.h"

enum bphs_knob { BPHS_BLOCKS, BPHS_CHOOSE };

extern const struct search_method bphs_method;
