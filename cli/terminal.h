/* What people see on standard error: the progress of a job and messages. */
#pragma once

#include "cognate.h"

/* Prints a message, with a flag in brackets unless that is NULL. Control characters are escaped,
 * because ids and paths in a message may hold what a terminal would obey. */
void print_message(const char *text, const char *flag);
/* cog_progress_callback and announce. context: a bool, whether progress is shown. */
bool show_progress(void *context, const cog_progress *progress);
void announce_message(void *context, const char *text);
void clear_progress(void);
