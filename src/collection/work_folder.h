/* A work folder: the sets of a collection's documents, kept on disk after the job that made them. A
 * stopped job can be resumed, and another threshold needs no new reading of the documents.
 *
 * The folder has four files: `sets` (vector/set_file.h), `rows` and `rejects` (the bad records),
 * which only grow, and `state`, a container (docs/format.md) with the settings of the sets, their
 * input files, and the valid sizes of the other files. `state` is replaced after the others are on
 * disk, so after a stop at any moment it describes valid contents. A new folder gets it first, so a
 * folder with files but no state is known to belong to somebody else. A folder is locked while it
 * is open. */
#pragma once

#include "store/settings.h"

/* The progress of reading. Collections are read one after the other. */
struct work_progress {
    uint64_t collection; /* the number of the current collection */
    uint64_t records;    /* records of the current collection read so far */
    uint64_t first_row;  /* the first row of the current collection */
    uint64_t rows;       /* of all collections so far */
    uint64_t set_bytes;  /* of `sets` */
    uint64_t bad_records;
    uint64_t reject_bytes; /* of `rejects` */
    bool is_complete;      /* all collections are read */
};

struct work_folder {
    char *path;
    int lock, sets, rows, rejects; /* descriptors */
    struct settings made_by;
    struct work_progress progress; /* as stored in `state`; zeros in a new folder */
    uint64_t next_ns;              /* time from which a checkpoint is due */
};

/* Creates the folder if it does not exist. row_bytes: size of a row in `rows`. COG_ERR_USAGE if the
 * folder was made differently, if it holds other files, or if reading is not complete and `resume`
 * is false. */
cog_status work_folder_open(const char *path, const struct settings *made_by, size_t row_bytes,
                            bool resume, struct work_folder **folder, cog_error *error);
/* Accepts NULL. */
void work_folder_close(struct work_folder *folder);
/* Whether enough time has passed since the last commit. */
bool work_folder_is_due(const struct work_folder *folder);
/* Syncs the files and makes the progress visible. */
cog_status work_folder_commit(struct work_folder *folder, const struct work_progress *progress,
                              cog_error *error);
/* The path of a file in the folder; free() it. NULL if out of memory. */
char *work_folder_file(const struct work_folder *folder, const char *name);
