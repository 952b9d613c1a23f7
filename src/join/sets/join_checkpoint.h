/* Checkpoints of a set join (set_join.h): the progress of a job that stops while counting, sorting
 * or joining, for the next job of the same question.
 *
 * A checkpoint is a file of numbers and arrays in a work folder (docs/format.md), always replaced
 * as a whole. It contains a key, a hash of the question and the sets. A file with a different key,
 * or a damaged one, is ignored, because the stage can start again. Checkpoints are written between
 * parts of a stage, so rarely that they take a twentieth of the time. */
#pragma once

#include "store/container.h"
#include "vector/set_file.h"

/* Location of the checkpoints; the strings are borrowed. */
struct join_folder {
    const char *folder, *name; /* files are called NAME-PART */
    uint64_t interval_ns;      /* minimum time between two checkpoints */
    uint64_t part_bytes;       /* bytes of sets after which a checkpoint may be written */
};
struct join_folder join_folder_in(const char *folder, const char *name);

struct join_checkpoints {
    const struct join_folder *work; /* NULL: none are written */
    uint64_t key, next_ns;
};
void join_checkpoints_begin(struct join_checkpoints *checkpoints, const struct join_folder *work,
                            uint64_t key);
/* Whether enough time has passed since the last checkpoint. */
bool join_checkpoints_are_due(const struct join_checkpoints *checkpoints);
/* The end of the part of the rows that begins at `begin`; the last row if no checkpoints are
 * written. */
size_t join_checkpoints_part_end(const struct join_checkpoints *checkpoints,
                                 const struct set_file *file, size_t begin);

/* An array of a checkpoint; at most 16 per checkpoint. */
struct checkpoint_array {
    const void *data;
    size_t size_bytes;
};
cog_status join_checkpoint_save(struct join_checkpoints *checkpoints, const char *part,
                                const uint64_t *numbers, size_t number_count,
                                const struct checkpoint_array *arrays, size_t array_count,
                                cog_error *error);
/* False if there is no valid checkpoint. container_close *saved. */
bool join_checkpoint_open(const struct join_checkpoints *checkpoints, const char *part,
                          uint64_t *numbers, size_t number_count, struct container *saved);
/* The size of an array; 0 if there is none. */
size_t join_checkpoint_size(const struct container *saved, size_t array);
/* Copies an array; false if it has a different size. */
bool join_checkpoint_copy(const struct container *saved, size_t array, void *to, size_t size_bytes);
/* Removes the checkpoint, if any. */
void join_checkpoint_remove(const struct join_checkpoints *checkpoints, const char *part);

/* Opens or creates a file that grows from checkpoint to checkpoint. free() its path. */
cog_status join_checkpoint_file(const struct join_checkpoints *checkpoints, const char *part,
                                int *descriptor, char **path, cog_error *error);
