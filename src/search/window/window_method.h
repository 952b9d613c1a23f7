/* The descriptor of the method window (search/method.h), and the numbers of its knobs. */
#pragma once

#include "search/method.h"

enum window_knob { WINDOW_TABLES, WINDOW_ROWS, WINDOW_CHUNK, WINDOW_SHARED };

extern const struct search_method window_method;
