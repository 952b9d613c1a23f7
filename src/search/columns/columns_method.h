/* The descriptor of the method columns (search/method.h). */
#pragma once

#include "search/method.h"

extern const struct search_method columns_method;
