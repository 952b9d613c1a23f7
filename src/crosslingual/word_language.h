/* The language of a list of words, and whether two columns of words are the other way round. */
#pragma once

#include "base/word_table.h"
#include "text/analyzer.h"

/* A guess from words all over the table; empty where that is not reliable. */
void word_language(const struct word_table *words, char code[LANGUAGE_CODE_BYTES]);

/* The languages of two columns against those that they should have (any code): true where one is
 * the other's and none its own. */
bool word_columns_exchanged(const char *first, const char *second, const char *first_wanted,
                            const char *second_wanted);
