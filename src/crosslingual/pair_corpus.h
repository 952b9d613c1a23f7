/* Parallel text as numbers: the terms of every sentence pair, made by the same analyzer as the
 * terms of documents, and the vocabulary of both sides.
 *
 * In: a reader of sentence pairs. Out: word numbers, 4 bytes per term, and the words. */
#pragma once

#include "base/word_table.h"
#include "input/parallel/pair_reader.h"
#include "run/job.h"
#include "text/analyzer.h"

/* The side of one language. Sentence s is words[ends[s - 1] .. ends[s]). A word too rare to be
 * learnt is WORD_NONE, so that the others keep their positions. */
struct pair_side {
    struct word_table vocabulary;
    uint32_t *words;
    uint64_t *ends;
    size_t word_capacity, end_capacity;
};

/* Zero-initialise; pair_corpus_free releases. */
struct pair_corpus {
    struct pair_side from, to;
    size_t count;             /* sentence pairs */
    uint64_t too_long, empty; /* pairs left out */
    uint64_t reading_bytes;   /* of analyzers and batches, during reading */
};

struct pair_corpus_options {
    struct term_options from, to;
    unsigned max_words; /* longer sentences (in terms) are left out */
    unsigned min_count; /* rarer words are not learnt */
    struct job *job;
};

/* Reads all sentence pairs; progress counts pairs. COG_ERR_MEMORY as soon as the corpus exceeds the
 * job's budget. */
cog_status pair_corpus_read(struct pair_corpus *corpus, struct pair_reader *reader,
                            const struct pair_corpus_options *options, cog_error *error);
void pair_corpus_free(struct pair_corpus *corpus);
/* COG_ERR_MEMORY if corpus and reading take the whole budget. *left receives the rest of it, or 0
 * without a budget. */
cog_status pair_corpus_check_budget(const struct pair_corpus *corpus, const struct job *job,
                                    uint64_t *left, cog_error *error);
/* Approximate peak memory of reading `text_bytes` of text. */
double pair_corpus_predicted_bytes(double text_bytes, unsigned threads);

static inline uint64_t pair_side_begin(const struct pair_side *side, size_t sentence) {
    return sentence ? side->ends[sentence - 1] : 0;
}
