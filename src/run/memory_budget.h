/* The memory that a job expects to need, told before it starts. */
#pragma once

#include "base/error.h"

/* What a job has beside its documents: program, dictionaries, buffers. */
enum { MEMORY_BASE_BYTES = 40 << 20 };

/* Bytes for each byte of text where documents stay in memory as distinct terms with frequencies and
 * as vectors, as measured and rounded up. */
enum { MEMORY_OF_TERMS = 3 };

/* About how much statistics of that much text take: terms grow as its power of 0.7, n-grams (size
 * above 1) are nearly all distinct. */
double memory_of_statistics(double text_bytes, unsigned ngram);

/* The same of documents of two languages, in bytes each byte of text: a term of the one language is
 * several of the other. */
enum { MEMORY_OF_PROJECTION = 5 };

/* About how much parallel text takes while a lexicon learns from it, most of it pairs of words that
 * meet in a sentence, which grow as its power of 0.75. With MEMORY_BASE_BYTES above the peaks of
 * 1.5, 3, 6, 10, 13, 19, 26 and 39 MB of debates (German and English, options as they are by
 * themselves) by 78, 67, 53, 18, 1, 23, 20 and 36%: tables grow by doubling. Fewer words a sentence
 * or rarer words left out take much less. */
double memory_of_parallel_text(double text_bytes);

/* COG_ERR_MEMORY where the budget is less. */
cog_status memory_budget_keep(double needed_bytes, const cog_run_options *run, cog_error *error);
/* Reports the need before a job starts. */
void memory_budget_announce(double needed_bytes, const cog_run_options *run, cog_report *report);
/* The same; COG_ERR_MEMORY where the budget is less. */
cog_status memory_budget_check(double needed_bytes, const cog_run_options *run, cog_report *report,
                               cog_error *error);
