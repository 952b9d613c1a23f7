/* Inputs whose records go to one output: it has the header, the format and the framing of the first
 * file, so all files must have the same. */
#pragma once

#include "input/input_files.h"

/* Rejects a file whose records cannot stand behind those of `first`. The first record of both must
 * have been read. */
cog_status one_form_check(const struct input_file *file, const struct input_file *first,
                          cog_error *error);

/* Reads tables and JSON up to the first record, so that what their beginnings show is found before
 * any work: a missing column, a column that the job wants to add, and, if `is_one_output`, files of
 * different form. Pipes are left for the pass that reads them. */
cog_status one_form_look_ahead(const struct input_files *inputs, bool is_one_output,
                               cog_error *error);
