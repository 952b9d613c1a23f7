/* A work folder: the sets of a collection's documents, kept on disk beyond the job that made them,
 * so that a job that was stopped goes on, and another threshold needs no reading of the documents.
 *
 * The folder has four files: `sets` (vector/set_file.h), `rows` and `rejects` (the bad records),
 * which only grow, and `state`, a container (docs/format.md) that says how the sets were made, from
 * which files, and how much of the other files counts. `state` is replaced after the others are on
 * disk: after a stop at any moment it describes what is there. A new folder gets it first, so that
 * a folder with files and without a state is known to be somebody else's. A folder is locked while
 * it is open.
 */
#pragma once

#include "store/settings.h"

/* How far reading has come. Collections are read one after the other. */
struct work_progress {
    uint64_t collection; /* the number of the one that is being read */
    uint64_t records;    /* of it that have been read */
    uint64_t first_row;  /* its first row */
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
    struct work_progress progress; /* as `state` has it; zeros in a new folder */
    uint64_t next_ns;              /* a checkpoint is due from then on */
};

/* Makes the folder if there is none. row_bytes: of a row in `rows`. COG_ERR_USAGE if it was made
 * differently, if it holds other files, or if reading is not complete and `resume` is false. */
cog_status work_folder_open(const char *path, const struct settings *made_by, size_t row_bytes,
                            bool resume, struct work_folder **folder, cog_error *error);
/* Accepts NULL. */
void work_folder_close(struct work_folder *folder);
/* Whether enough time has passed since the last commit. */
bool work_folder_is_due(const struct work_folder *folder);
/* Syncs the files and makes the progress visible. */
cog_status work_folder_commit(struct work_folder *folder, const struct work_progress *progress,
                              cog_error *error);
/* The path of a file in the folder; free() it. NULL if memory ran out. */
char *work_folder_file(const struct work_folder *folder, const char *name);
