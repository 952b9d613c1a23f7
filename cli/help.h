/* Help and man pages, made from the definitions of commands, options and methods. */
#pragma once

#include "command.h"

/* The commands, one line each. */
void print_overview(FILE *stream);
/* The help of a command, or of its action (NULL: of the command itself). all: every option, with
 * the whole description; else one screen. */
void print_help(const struct command *command, const struct command *action, bool all,
                FILE *stream);
/* NULL: the page of the program itself. */
void print_man_page(const struct command *command, FILE *stream);
