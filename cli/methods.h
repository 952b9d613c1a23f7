/* The library's methods and knobs as options. A command names the methods that it offers
 * (command.methods) and what it does with them (command.knobs); their knobs are then options of the
 * command, for parsing, help and completion alike. */
#pragma once

#include "options.h"

/* A knob as an option. Its identifier is OPTION_COUNT plus its number. Two methods may have knobs
 * of one name. */
struct knob {
    struct option option;
    const cog_knob *own;
    cog_method method;
};
int knob_count(void);
const struct knob *knob_at(int number);

/* The method that --method names; auto if it is absent. */
cog_method method_option(const struct arguments *arguments);
/* One line about it. */
const char *method_help(cog_method method);
bool has_knob(const struct arguments *arguments, const char *name);
/* Sets the knobs that were given and have one of these uses (COG_KNOB_*). Refuses knobs of another
 * method than the one that --method names; false after printing what is wrong. */
bool take_knobs(const struct arguments *arguments, unsigned uses, cog_knobs *knobs);
