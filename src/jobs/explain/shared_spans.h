/* The overlap of two texts by Jaccard and containment: the sizes of their sets of terms, and the
 * spans, which are runs of consecutive terms in both texts.
 *
 * In: the terms of two texts with their places. Out: counts, spans (longest first), and marks: the
 * parts of each text that consist of shared terms. Spans do not overlap in the terms of the first
 * text, and every shared term of either text is in a span. If a term repeats in the other text, at
 * most SPAN_OCCURRENCES of its places are tried for the longest run, so the time is linear in the
 * texts (apart from sorting spans). Memory: about 30 bytes per term in addition to the lists. */
#pragma once

#include "text/analyzer.h"

enum { SPAN_OCCURRENCES = 16 };

/* Zero-initialise; shared_spans_free releases. */
struct shared_spans {
    size_t terms[2]; /* distinct terms of each text */
    size_t shared;   /* distinct terms of both texts */
    bool by_words;   /* the terms are words of short texts */
    cog_shared_span *spans;
    size_t count, capacity;
    struct text_marks {
        cog_text_span *items; /* in the order of the text, not adjacent */
        size_t count, capacity;
    } marks[2];
};

/* The lists must have places. Short texts, if the lists were made for them, are compared by words
 * (struct term_list). */
cog_status shared_spans_find(const struct term_list lists[2], struct shared_spans *shared,
                             cog_error *error);
void shared_spans_free(struct shared_spans *shared);
