/* Explains why two documents match: by cosine the words, by Jaccard or containment the n-grams and
 * passages that both have. cognate.h includes this header. */
#ifndef COGNATE_EXPLAIN_H
#define COGNATE_EXPLAIN_H

#ifndef COGNATE_H
#error "include cognate.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A word of a source document and the word of a target document that it matches. */
typedef struct cog_word_match {
    const char *from, *to; /* owned by the links and their lexicon */
    size_t from_size, to_size;
    double probability; /* of the translation; 1 for a word that matches itself */
    double share;       /* share of the cosine; shares sum to 1 */
} cog_word_match;

/* Lists the words that two documents of one language have in common. ids[0] is a document of
 * `documents`, ids[1] one of `against` or, if that is NULL, of `documents`; ids NULL: the first
 * document of each. Weights are those of cog_pairs_find. Words and matches are one allocation: free
 * it with cog_free(*matches). */
COG_API cog_status cog_pairs_explain(cog_documents *documents, cog_documents *against,
                                     const char *const ids[2], const cog_sign_options *options,
                                     const cog_run_options *run, cog_word_match **matches,
                                     size_t *count, double *cosine, cog_report *report,
                                     cog_error *error);

/* What two documents share by Jaccard or containment: n-grams, and the passages that these form. */
typedef struct cog_overlap cog_overlap;
/* Documents are chosen as in cog_pairs_explain; "a" is the first, "b" the second. With the terms of
 * cog_pairs_options_init for the measure, n-grams are those that cog_dedup compares. */
COG_API cog_status cog_pairs_overlap(cog_documents *documents, cog_documents *against,
                                     const char *const ids[2], cog_measure measure,
                                     const cog_term_options *terms, const cog_run_options *run,
                                     cog_overlap **overlap, cog_report *report, cog_error *error);
COG_API void cog_overlap_free(cog_overlap *overlap);

typedef struct cog_overlap_summary {
    size_t terms[2];   /* distinct n-grams of a and of b */
    size_t shared;     /* distinct n-grams that both have */
    double similarity; /* by the measure */
    double jaccard, containment;
    double share[2]; /* share of the n-grams of a that b has, and the reverse */
    bool by_words;   /* the texts are short and compared by words, as Jaccard does */
} cog_overlap_summary;
/* Texts without terms share everything if they are equal byte for byte, otherwise nothing. */
COG_API cog_overlap_summary cog_overlap_summarize(const cog_overlap *overlap);
/* The id and the text of a (side 0) or b (side 1); not zero-terminated, owned by the overlap. */
COG_API const char *cog_overlap_id(const cog_overlap *overlap, int side, size_t *size);
COG_API const char *cog_overlap_text(const cog_overlap *overlap, int side, size_t *size);

/* A run of n-grams that are consecutive in both texts, as byte ranges of a and of b. */
typedef struct cog_shared_span {
    size_t begin[2], end[2];
    size_t terms; /* n-grams */
} cog_shared_span;
/* Spans, longest first. Spans of a do not share n-grams; a passage that b repeats is a span for
 * each repetition. */
COG_API size_t cog_overlap_span_count(const cog_overlap *overlap);
/* A span of zeros if index is not below the count. */
COG_API cog_shared_span cog_overlap_span(const cog_overlap *overlap, size_t index);

typedef struct cog_text_span {
    size_t begin, end; /* bytes */
} cog_text_span;
/* Everything that the text of a (side 0) or b (side 1) shares, in text order, for highlighting. */
COG_API size_t cog_overlap_mark_count(const cog_overlap *overlap, int side);
COG_API cog_text_span cog_overlap_mark(const cog_overlap *overlap, int side, size_t index);

/* Writes the overlap. TSV: one row per span, with its bytes in a and in b, its n-grams and its text
 * in a. JSONL: one object with the summary and the spans. "-" is standard output. */
COG_API cog_status cog_overlap_write(const cog_overlap *overlap, cog_output_format format,
                                     const char *path, cog_error *error);

#ifdef __cplusplus
}
#endif

#endif
