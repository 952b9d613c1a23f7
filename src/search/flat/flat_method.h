/* The descriptor of the method flat (search/method.h): every row is compared. */
#pragma once

#include "search/method.h"

extern const struct search_method flat_method;
