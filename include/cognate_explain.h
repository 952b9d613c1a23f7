/* Why two documents match: the words behind a cosine, the n-grams and passages behind a Jaccard
 * coefficient or a containment. cognate.h includes this header. */
#ifndef COGNATE_EXPLAIN_H
#define COGNATE_EXPLAIN_H

#ifndef COGNATE_H
#error "include cognate.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A word of a source document and the word of a target document that it was matched with. */
typedef struct cog_word_match {
    const char *from, *to; /* owned by the links and their lexicon */
    size_t from_size, to_size;
    double probability; /* of the translation; 1 for a word that stands for itself */
    double share;       /* of the cosine; all shares sum to 1 */
} cog_word_match;

/* The words that two documents of one language have in common, by their ids in `documents`, or the
 * second in `against` if that is not NULL; ids NULL: the first document of each. Weights are
 * those of cog_pairs_find. The words stand behind the matches: cog_free(*matches) frees both. */
COG_API cog_status cog_pairs_explain(cog_documents *documents, cog_documents *against,
                                     const char *const ids[2], const cog_sign_options *options,
                                     const cog_run_options *run, cog_word_match **matches,
                                     size_t *count, double *cosine, cog_report *report,
                                     cog_error *error);

/* What two documents share by Jaccard or containment: n-grams, and the passages that they make. */
typedef struct cog_overlap cog_overlap;
/* Documents as for cog_pairs_explain: "a" and "b" are the first and the second. terms: those of
 * cog_pairs_options_init for the measure are the ones of cog_dedup. */
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
    double share[2]; /* of the n-grams of a that b has; of those of b that a has */
    bool by_words;   /* the texts are short and compared by Jaccard: words in place of n-grams */
} cog_overlap_summary;
/* Texts without terms share everything if they are equal byte for byte, else nothing. */
COG_API cog_overlap_summary cog_overlap_summarize(const cog_overlap *overlap);
/* The id and the text of a (side 0) or b (side 1); not zero-terminated, owned by the overlap. */
COG_API const char *cog_overlap_id(const cog_overlap *overlap, int side, size_t *size);
COG_API const char *cog_overlap_text(const cog_overlap *overlap, int side, size_t *size);

/* A run of n-grams that follow each other in both texts; bytes of a's text and of b's. */
typedef struct cog_shared_span {
    size_t begin[2], end[2];
    size_t terms; /* n-grams */
} cog_shared_span;
/* The longest first. Spans of a have no n-gram in common; what b repeats is a span of its own. */
COG_API size_t cog_overlap_span_count(const cog_overlap *overlap);
/* A span of zeros if index is not below the count. */
COG_API cog_shared_span cog_overlap_span(const cog_overlap *overlap, size_t index);

typedef struct cog_text_span {
    size_t begin, end; /* bytes */
} cog_text_span;
/* All that is shared of the text of a (side 0) or b (side 1), in its order, for marking it. */
COG_API size_t cog_overlap_mark_count(const cog_overlap *overlap, int side);
COG_API cog_text_span cog_overlap_mark(const cog_overlap *overlap, int side, size_t index);

/* TSV: a row per span, with its bytes of a and of b, its n-grams and its text in a. JSONL: one
 * object with the summary and the spans. "-" is standard output. */
COG_API cog_status cog_overlap_write(const cog_overlap *overlap, cog_output_format format,
                                     const char *path, cog_error *error);

#ifdef __cplusplus
}
#endif

#endif
