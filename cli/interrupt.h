/* Ctrl-C, SIGTERM and a closed terminal: the first signal asks the job to stop, and unfinished
 * outputs are deleted in any case. */
#pragma once

#include <stdbool.h>

/* From now on; before any other thread is started. */
void interrupts_watch(void);
bool was_interrupted(void);
/* 143 after SIGTERM, else 130. */
int interrupted_exit_code(void);
