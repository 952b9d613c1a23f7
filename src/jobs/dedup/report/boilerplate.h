/* Boilerplate: the text of n-grams that many documents share, for messages and reports. The join
 * knows n-grams only as members of sets; this reads the input again and finds their words.
 *
 * In: n-grams, each with the number of a record that has it. Out: for each n-gram a passage of
 * about PASSAGE_CHARACTERS characters around it. The passage extends over the run of given n-grams
 * that follow each other there, and, if that is short, over what stands around it. N-grams of one
 * run have one passage.
 *
 * Costs a reading of the input up to the last of the records; only these records are parsed.
 * Memory: the texts of the records, and the terms of one of them. */
#pragma once

#include "collection/ingest.h"

enum { PASSAGE_CHARACTERS = 80 };

struct boilerplate_ngram {
    uint64_t member; /* member_of_hash of the term */
    uint64_t record; /* number of a record of the input that has it */
};

/* Zero-initialise; boilerplate_free releases. */
struct boilerplate {
    struct passage {
        /* The n-gram that the passage was made for: this one, or an earlier one whose run has this
         * one too. */
        size_t ngram;
        size_t begin, size; /* in `texts`; size 0: the record does not have the n-gram */
        /* The run of given n-grams: bytes of the passage. It may go on before and behind. */
        size_t run_begin, run_end;
    } * passages; /* of each n-gram */
    size_t count;
    struct buffer texts; /* white space as single spaces */
};

/* terms: how the members were made. The n-grams that matter most come first. Reads `documents` from
 * the beginning: if they may come through a pipe, ingest_keep_pipes before the first reading. */
cog_status boilerplate_read(struct boilerplate *boilerplate, cog_documents *documents,
                            const struct term_options *terms,
                            const struct boilerplate_ngram *ngrams, size_t count, struct job *job,
                            cog_error *error);
void boilerplate_free(struct boilerplate *boilerplate);

/* The passage of an n-gram, and its run alone. Owned by the boilerplate. */
struct bytes_view boilerplate_passage(const struct boilerplate *boilerplate, size_t ngram);
struct bytes_view boilerplate_run(const struct boilerplate *boilerplate, size_t ngram);
