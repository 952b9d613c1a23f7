/* The sentence pairs of two linked documents. In: the sentences' vectors. Out: pairs of a sentence
 * (or two adjacent ones, if the other language needs two sentences for one) of each document, no
 * sentence twice.
 *
 * A pair is judged by more than its cosine:
 *
 *     score = cosine + 0.5 * lead + 0.4 * support
 *
 * The lead is the cosine minus the next best of both sentences; 0 if one of them prefers another or
 * two sentences are joined. The support is the mean cosine of the pairs one to three sentences
 * before and after that are at the same distance in the target (0 for a sentence without such a
 * pair). Translations usually keep the order of their sentences, so the neighbours of a right pair
 * are pairs themselves. Within a translated passage a pair is accepted even if its words are few or
 * unknown; an isolated pair needs evidence from its words.
 *
 * 1. The best chain of cells (jobs/link/sentences/sentence_chain.h) is the alignment of a
 * translation. Its pairs are kept if their score reaches the threshold.
 *
 * 2. The remaining sentences, left because passages have moved or the documents are not
 * translations, are paired by cosine, largest first, and kept by the same rule.
 *
 * Time is linear in the sentences, apart from a logarithmic factor. */
#pragma once

#include "jobs/link/sentences/sentence_cells.h"

struct sentence_pair {
    struct sentence_cell cell;
    float score;
};

/* Scratch memory of one thread. Zero-initialise, then sentence_pairing_init; sentence_pairing_free
 * releases. */
struct sentence_pairing {
    struct sentence_finder finder;
    struct sentence_cells singles, cells; /* of one sentence each; and including joined ones */
    float *likeness[2];                   /* by side and sentence: cosine with the next sentence */
    struct sentence_rivals {
        float best, second;
    } * rivals[2];               /* by side and sentence: its two largest cosines */
    float *gains;                /* by cell */
    uint32_t *partners[2];       /* by side and sentence: its pair, or none */
    struct sentence_pair *pairs; /* the result, by source sentence */
    size_t count;
    size_t likeness_capacity[2], rival_capacity[2], gain_capacity, partner_capacity[2],
        pair_capacity;
};
cog_status sentence_pairing_init(struct sentence_pairing *pairing, uint32_t column_count,
                                 cog_error *error);
void sentence_pairing_free(struct sentence_pairing *pairing);

/* Stores the pairs in pairing->pairs. `all` as in sentence_cells_find. */
cog_status sentence_pairs_find(struct sentence_pairing *pairing, const struct sentence_sides *sides,
                               double threshold, bool all, cog_error *error);
