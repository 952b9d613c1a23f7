/* The one merge of a folder that may be under way: its lock, and the file that it writes.
 *
 * A merge holds the lock of the folder only while it chooses segments and while it puts the new one
 * in their place. In between, the file `merging`, locked by the merging process, keeps other merges
 * away and tells writers of the index that `merging.cog` is not the rest of a merge that was
 * killed.
 */
#pragma once

#include "base/error.h"

/* Takes the lock; *lock is -1 after an error. COG_ERR_BUSY: another merge has it. */
cog_status merging_lock(const char *folder, int *lock, cog_error *error);
/* Deletes the files of the merge and gives the lock back; a lock of -1 is none. */
void merging_unlock(const char *folder, int lock);
/* Path of the new segment until it is put in place; free() it. NULL when memory is out. */
char *merging_path(const char *folder);

/* Whether a file of the folder belongs to a merge. */
bool merging_owns(const char *name);
