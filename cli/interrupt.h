/* Ctrl-C and its like: the first asks the job to stop, and what is not finished is taken away in
 * any case. */
#pragma once

#include <stdbool.h>

/* From now on; before any other thread is started. */
void interrupts_watch(void);
bool was_interrupted(void);
