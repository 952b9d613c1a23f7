/* Ids in lines of output: tab, newline, carriage return and backslash are escaped. */
#ifndef COGNATE_JOB_ESCAPE_H
#define COGNATE_JOB_ESCAPE_H

#include "base/buffer.h"

bool escape_append(struct buffer *buffer, struct bytes_view text);

#endif
