/* Completion in the shell. A short script for each shell asks `cognate help complete WORD...` what
 * may replace the last word, so that completion always fits the program. */
#pragma once

#include "command.h"

/* Prints what may replace the last word: lines of value TAB description, and ":files" if it may be
 * a path. The words are those after the program's name. */
void print_candidates(int count, char *const *words);
/* The script for "bash", "zsh" or "fish"; false for another shell. */
bool print_completion(const char *shell, FILE *stream);
