/* The descriptor of the method flat (search/method.h). */
#pragma once

#include "search/method.h"

extern const struct search_method flat_method;
