/* Parts of cognate eval that have a file of their own. */
#pragma once

#include "options.h"

int evaluate_neighbours(const struct arguments *arguments);
