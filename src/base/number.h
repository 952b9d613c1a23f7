/* Numbers as text with a point, whatever locale the program has set. */
#pragma once

#include <locale.h>

#include "base/buffer.h"

/* The locale "C", for formatting between two calls of uselocale; 0 where memory was out. */
locale_t number_locale(void);

/* Reads a field that is a number from end to end, and not a NaN. */
bool number_parse(struct bytes_view field, double *number);
