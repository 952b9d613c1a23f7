/* Splits a text into sentences by ICU's rules for its language; a line end also ends a sentence.
 * Sentences are views into the text, which is borrowed. One per thread. */
#pragma once

#include "base/error.h"
#include "base/memory.h"

struct sentence_splitter;
/* language: ISO 639-1. */
cog_status sentence_splitter_create(const char *language, struct sentence_splitter **splitter,
                                    cog_error *error);
void sentence_splitter_free(struct sentence_splitter *splitter);

/* text must be valid UTF-8 and is borrowed until the last sentence has been taken. */
cog_status sentence_splitter_start(struct sentence_splitter *splitter, struct bytes_view text,
                                   cog_error *error);
/* The next sentence without surrounding white space; false after the last one. */
bool sentence_splitter_next(struct sentence_splitter *splitter, struct bytes_view *sentence);
