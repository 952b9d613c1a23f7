/* What two texts share, as Jaccard and containment see it: the sizes of their sets of terms, and
 * the spans, which are runs of terms that follow each other in both texts.
 *
 * In: the terms of two texts with their places. Out: counts, spans (the longest first), and marks:
 * the stretches of each text that consist of shared terms. Spans of the first text never overlap in
 * their terms; every shared term of either text lies in a span. If a term occurs repeatedly in the
 * other text, at most SPAN_OCCURRENCES of its places are tried for the longest run. That keeps the
 * time linear in the texts (sorting of spans aside). Memory: about 30 bytes per term in addition to
 * the lists. */
#pragma once

#include "text/analyzer.h"

enum { SPAN_OCCURRENCES = 16 };

/* Zero-initialise; shared_spans_free releases. */
struct shared_spans {
    size_t terms[2]; /* distinct terms of each text */
    size_t shared;   /* distinct terms that both have */
    bool by_words;   /* the terms are words of short texts */
    cog_shared_span *spans;
    size_t count, capacity;
    struct text_marks {
        cog_text_span *items; /* in the order of the text, not touching each other */
        size_t count, capacity;
    } marks[2];
};

/* The lists have places. Short texts, if the lists were made for them, are compared by their words
 * (struct term_list). */
cog_status shared_spans_find(const struct term_list lists[2], struct shared_spans *shared,
                             cog_error *error);
void shared_spans_free(struct shared_spans *shared);
