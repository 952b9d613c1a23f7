/* Files and folders that are not finished: each has a name of its own beside its target, and all of
 * them stand in a list, so that a program that must end at once still leaves nothing behind
 * (cog_abandon_outputs). */
#pragma once

#include "base/error.h"

struct temporary;

/* A new file beside `target`, named after it; *descriptor can be read and written. */
cog_status temporary_file_create(const char *target, struct temporary **temporary, int *descriptor,
                                 cog_error *error);
/* A new folder beside `target`, named after it. */
cog_status temporary_folder_create(const char *target, struct temporary **temporary,
                                   cog_error *error);
/* A new folder under its last name; *temporary is NULL where there is one already. */
cog_status temporary_folder_claim(const char *path, struct temporary **temporary, cog_error *error);
const char *temporary_path(const struct temporary *temporary);
/* It is finished, under its own name or another: forgets it. Accepts NULL. */
void temporary_keep(struct temporary *temporary);
/* Deletes the file, or the folder with all that is in it. Accepts NULL. */
void temporary_remove(struct temporary *temporary);
