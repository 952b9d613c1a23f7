/* What the first bytes of a file show: its format if its name does not, or a format that is not
 * read here. */
#pragma once

#include "base/error.h"
#include "base/memory.h"
#include "input/input_files.h"

/* The number of bytes that a guess looks at. */
enum { FIRST_BYTES = 64 };

/* The part of the first bytes that a guess depends on: at most FIRST_BYTES, without a byte order
 * mark and white space. */
struct bytes_view first_bytes_of(struct bytes_view bytes);

/* Whether more bytes may change the guess. `whole_lines`: a line of text is enough, because its
 * writer waits for an answer. */
bool first_bytes_may_change(struct bytes_view bytes, bool whole_lines);
/* Sets format, lines and is_array of a file whose format is unknown. Without a known beginning each
 * line is a document. */
void first_bytes_guess(struct input_file *file, struct bytes_view bytes);

/* Whether more bytes may turn these into the beginning of a Parquet file. */
bool first_bytes_may_be_parquet(struct bytes_view bytes);
/* Refuses formats that people take for one of ours. */
cog_status first_bytes_check(const struct input_file *file, struct bytes_view bytes,
                             cog_error *error);
