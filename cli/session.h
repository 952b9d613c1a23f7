/* What people see on standard error: the progress of a job and messages. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

/* Prints text with its control characters escaped, except those in `allowed`: a terminal would obey
 * them. */
void print_escaped(const char *text, size_t size, const char *allowed, FILE *stream);
void clear_progress(void);
/* Of the monotonic clock. */
double seconds_since(const struct timespec *start);
