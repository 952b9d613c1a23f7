/* The lock of a folder for its single running merge, and the file that the merge writes.
 *
 * A merge holds the folder's own lock only while it chooses segments and while it replaces them by
 * the new one. In between, the file `merging`, locked by the merging process, excludes other merges
 * and shows writers of the index that `merging.cog` is not left from a killed merge. */
#pragma once

#include "base/error.h"

/* Segments of one tier are of about equal size; `factor` of them are as large as one of the next.
 */
unsigned merging_tier(uint64_t rows, unsigned factor);

/* Takes the lock; *lock is -1 after an error. COG_ERR_BUSY if another merge has it. */
cog_status merging_lock(const char *folder, int *lock, cog_error *error);
/* Deletes the files of the merge and releases the lock; -1 is no lock. */
void merging_unlock(const char *folder, int lock);
/* Path of the new segment until it is in place; free() it. NULL if out of memory. */
char *merging_path(const char *folder);

/* Whether a file of the folder belongs to a merge. */
bool merging_owns(const char *name);
