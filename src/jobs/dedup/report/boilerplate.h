/* Boilerplate: the text of n-grams that many documents share, for messages and reports. The join
 * knows n-grams only as members of sets; this reads the input again and finds their words.
 *
 * In: n-grams, each with the number of a record that contains it. Out: for each n-gram a passage of
 * about PASSAGE_CHARACTERS characters around it. The passage covers the run of consecutive given
 * n-grams there and, if that is short, the surrounding text. N-grams of one run share a passage.
 *
 * Costs reading the input up to the last of the records; only these records are parsed. Memory: the
 * texts of the records, and the terms of one of them. */
#pragma once

#include "collection/ingest.h"

enum { PASSAGE_CHARACTERS = 80 };

struct boilerplate_ngram {
    uint64_t member; /* member_of_hash of the term */
    uint64_t record; /* number of a record of the input that contains it */
};

/* Zero-initialise; boilerplate_free releases. */
struct boilerplate {
    struct passage {
        /* The n-gram that the passage was made for: this one, or an earlier one in the same run. */
        size_t ngram;
        size_t begin, size; /* in `texts`; size 0: the record does not have the n-gram */
        /* The run of given n-grams, as bytes of the passage. It may continue beyond the passage. */
        size_t run_begin, run_end;
        bool is_short_word; /* one of the words by which short texts are compared */
    } * passages;           /* by n-gram */
    size_t count;
    struct buffer texts; /* white space as single spaces */
};

/* `terms`: the options that made the members. The most important n-grams come first. Reads
 * `documents` from the beginning: if they may come from a pipe, call ingest_keep_pipes before the
 * first reading. */
cog_status boilerplate_read(struct boilerplate *boilerplate, cog_documents *documents,
                            const struct term_options *terms,
                            const struct boilerplate_ngram *ngrams, size_t count, struct job *job,
                            cog_error *error);
void boilerplate_free(struct boilerplate *boilerplate);

/* The passage of an n-gram, and only its run. Owned by `boilerplate`. */
struct bytes_view boilerplate_passage(const struct boilerplate *boilerplate, size_t ngram);
struct bytes_view boilerplate_run(const struct boilerplate *boilerplate, size_t ngram);
