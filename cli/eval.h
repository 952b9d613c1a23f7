/* Parts of cognate eval that have a file of their own. */
#ifndef COGNATE_CLI_EVAL_H
#define COGNATE_CLI_EVAL_H

#include "options.h"

int evaluate_neighbours(const struct arguments *arguments);

#endif
