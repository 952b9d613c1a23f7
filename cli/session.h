/* What people see on standard error: the progress of a job and messages. */
#pragma once

#include "cognate.h"

#include <stdbool.h>
#include <stdio.h>

/* Prints text with its control characters escaped, but for those in `allowed`: it may hold what a
 * terminal would obey. */
void print_escaped(const char *text, size_t size, const char *allowed, FILE *stream);
/* Prints a message, with a flag in brackets unless that is NULL. Control characters are
 * escaped. */
void print_message(const char *text, const char *flag);
/* cog_progress_callback and announce. context: a bool, whether progress is shown. */
bool show_progress(void *context, const cog_progress *progress);
void announce_message(void *context, const char *text);
void clear_progress(void);

/* Ctrl-C, SIGTERM and a closed terminal: the first signal asks the job to stop, and unfinished
 * outputs are deleted in any case. */

/* From now on; before any other thread is started. */
void interrupts_watch(void);
bool was_interrupted(void);
/* 143 after SIGTERM, else 130. */
int interrupted_exit_code(void);
