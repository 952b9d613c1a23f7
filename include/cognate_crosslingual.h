/* Across languages: lexicons, and links between documents and their translations. cognate.h
 * includes this header.
 *
 * A lexicon is trained on parallel text or made from a table. Linking projects the documents of one
 * side through the lexicon and finds the best partner of each on the other side. */
#ifndef COGNATE_CROSSLINGUAL_H
#define COGNATE_CROSSLINGUAL_H

#ifndef COGNATE_H
#error "include cognate.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A table of word translations from one language to another, with p(to | from) and p(from | to).
 * Its words are analysed in the same way as those of documents. */
typedef struct cog_lexicon cog_lexicon;

typedef enum cog_pair_format {
    COG_PAIRS_AUTO, /* by extension: .tmx, .po, .txt or the source language's code; else tsv */
    COG_PAIRS_TSV,  /* from TAB to */
    COG_PAIRS_TEXT, /* two files with corresponding lines; paths are taken in pairs */
    COG_PAIRS_TMX,
    COG_PAIRS_PO,
} cog_pair_format;

typedef struct cog_lexicon_options {
    const char *from, *to;  /* ISO 639-1; required */
    cog_term_options terms; /* of both languages; its `lang` is ignored */
    /* Per word, the best translations are kept until their probabilities sum to `mass`, at most
     * max_entries of them. */
    unsigned max_entries;
    double mass;
    /* Training: */
    cog_pair_format format;
    unsigned model1_iterations, agreement_iterations;
    double null_probability; /* of a word without a counterpart */
    double diagonal;         /* how strongly word order is preserved; 0: not at all */
    unsigned min_count;      /* rarer words are not learned */
    unsigned max_words;      /* longer sentences are skipped */
    uint64_t reserved[4];
} cog_lexicon_options;
COG_API void cog_lexicon_options_init(cog_lexicon_options *options);

/* Trains a lexicon on parallel text: IBM Model 1, then alignment by agreement of both directions.
 * The table does not depend on the number of threads. */
COG_API cog_status cog_lexicon_train(const char *const *paths, size_t path_count,
                                     const cog_lexicon_options *options, const cog_run_options *run,
                                     cog_lexicon **lexicon, cog_report *report, cog_error *error);
/* Formats of translation tables of other tools. Reversed directions and wrong sums are corrected,
 * with a notice. */
typedef enum cog_table_format {
    COG_TABLE_AUTO,
    COG_TABLE_TSV,        /* from, to, optionally p(to | from) */
    COG_TABLE_MOSES,      /* lex.f2e: to from p(to | from) */
    COG_TABLE_GIZA,       /* t3.final followed by its two vocabularies, or actual.ti.final */
    COG_TABLE_FAST_ALIGN, /* -p: from to log p(to | from) */
    COG_TABLE_BERKELEY,   /* parameters as text */
    COG_TABLE_BICLEANER,  /* as Moses */
    COG_TABLE_BITEXTOR,   /* a header of two languages, then pairs */
} cog_table_format;
COG_API cog_status cog_lexicon_convert(const char *const *paths, size_t path_count,
                                       cog_table_format format, const cog_lexicon_options *options,
                                       cog_lexicon **lexicon, cog_report *report, cog_error *error);
COG_API cog_status cog_lexicon_save(const cog_lexicon *lexicon, const char *path, cog_error *error);
COG_API cog_status cog_lexicon_open(const char *path, cog_lexicon **lexicon, cog_error *error);
COG_API void cog_lexicon_free(cog_lexicon *lexicon);
/* The language codes; owned by the lexicon. */
COG_API const char *cog_lexicon_from(const cog_lexicon *lexicon);
COG_API const char *cog_lexicon_to(const cog_lexicon *lexicon);
/* A checksum of words, translations and probabilities, which indexes record. */
COG_API uint64_t cog_lexicon_checksum(const cog_lexicon *lexicon);
COG_API size_t cog_lexicon_words(const cog_lexicon *lexicon);
COG_API size_t cog_lexicon_entries(const cog_lexicon *lexicon);

typedef struct cog_translation {
    const char *from, *to; /* terms; owned by the lexicon */
    size_t from_size, to_size;
    double to_given_from, from_given_to; /* 0 if pruned in that direction */
} cog_translation;
/* Translates each word of a text in the source language, the best translation of each word first. A
 * word that the lexicon does not have is split into words that it has; `linkers` as in
 * cog_projection_options. Free *translations with cog_free. */
COG_API cog_status cog_lexicon_translate(const cog_lexicon *lexicon, const char *text,
                                         size_t text_size, const char *linkers,
                                         cog_translation **translations, size_t *count,
                                         cog_error *error);

/* How documents of the source language become vectors over the terms of the target language. */
typedef struct cog_projection_options {
    bool source_given_target; /* project by p(from | to), as the paper does */
    bool keep_unknown;        /* untranslatable words stand for themselves */
    const char *linkers;      /* letters between parts of compounds, comma-separated; no letters are
                                 always allowed */
    double k1, b;             /* BM25 */
    uint64_t reserved[4];
} cog_projection_options;
COG_API void cog_projection_options_init(cog_projection_options *options);

/* Projects documents of the lexicon's source language into its target language. cog_sign,
 * cog_sign_rows, cog_statistics_collect, cog_index_build, cog_index_add, cog_index_search and
 * cog_index_answer then use these documents as vectors over terms of the target language, with
 * expected frequencies; other jobs refuse them. A document marked as the target language is used as
 * it is; one marked as a third language is an error.
 *
 * The terms of the job must be made like the lexicon's words (words of the same n-grams and stems,
 * in the target language or "auto"); stop words may be dropped. `options` may be NULL; its k1 and b
 * are ignored. The lexicon is borrowed until the documents are closed.
 *
 * An index records the lexicons of its documents (cog_index_lexicon). Documents and queries of a
 * language for which it has a lexicon must come with the same lexicon. */
COG_API cog_status cog_documents_project(cog_documents *documents, const cog_lexicon *lexicon,
                                         const cog_projection_options *options, cog_error *error);
/* Projects the texts that a searcher receives: texts in the source language, or without a language.
 * NULL: stop projecting. The lexicon is borrowed by the searcher. */
COG_API cog_status cog_searcher_project(cog_searcher *searcher, const cog_lexicon *lexicon,
                                        const cog_projection_options *options, cog_error *error);
/* How documents of another language were projected into an index; `number` counts from 0; false
 * after the last. *from is the code of that language. *record has the language of the index, the
 * checksum of the lexicon and the options, such as "en 03fd9c1e5a7b2468 to-given-from keep s,es,n".
 * Both belong to the index, until it changes. */
COG_API bool cog_index_lexicon(const cog_index *index, size_t number, const char **from,
                               const char **record);

/* Finds all pairs between two collections of different languages: cog_pairs_find with the documents
 * of `from` projected by the lexicon. The measure is the cosine. Terms and weights are those of the
 * lexicon and the projection; of options->sign only the signature is used. */
COG_API cog_status cog_pairs_find_across(cog_documents *from, cog_documents *to,
                                         const cog_lexicon *lexicon,
                                         const cog_projection_options *projection,
                                         const cog_pairs_options *options,
                                         const cog_run_options *run, cog_pairs **pairs,
                                         cog_report *report, cog_error *error);
/* The default threshold for translations; it is lower than within a language. */
#define COG_THRESHOLD_ACROSS 0.35

typedef struct cog_link_options {
    bool one_to_one;   /* each document is linked at most once, greedily by score; otherwise each
                          source document gets its best partner */
    bool calibrated;   /* keep links by `precision`; otherwise by `threshold` */
    double threshold;  /* least cosine; used if not calibrated */
    cog_method method; /* exact; lists; or flat, slices, lsh, window: signatures, then true cosines;
                          auto: by size */
    unsigned bits;     /* of the signatures */
    double recall;     /* for which lists, hash tables and windows are planned */
    cog_knobs knobs;   /* of the method; with AUTO none */
    unsigned candidates; /* partners considered per source document */
    /* The score is twice the cosine, minus the mean cosine of each of the two documents to its
     * hub_neighbours nearest ones; 0: the score is the cosine. Partners are chosen by the same
     * formula with the two nearest. */
    unsigned hub_neighbours;
    cog_projection_options projection;
    double precision; /* wanted share of right links among the kept ones. The probability of each
                         link is estimated from the collections; a link that is more likely wrong
                         than right is never kept */
    uint64_t per_document; /* if nonzero, list this number of best links per source document,
                              whatever their probability; not with one_to_one */
    uint64_t reserved[2];
} cog_link_options;
COG_API void cog_link_options_init(cog_link_options *options);

typedef struct cog_links cog_links;
/* Links documents of `from` to their partners among the documents of `to`; their languages are
 * those of the lexicon, which is borrowed for the life of the links. */
COG_API cog_status cog_link(cog_documents *from, cog_documents *to, const cog_lexicon *lexicon,
                            const cog_link_options *options, const cog_run_options *run,
                            cog_links **links, cog_report *report, cog_error *error);
COG_API void cog_links_free(cog_links *links);
COG_API size_t cog_links_count(const cog_links *links);

typedef struct cog_link_item {
    const char *from, *to; /* ids; owned by the links */
    size_t from_size, to_size;
    uint32_t from_row, to_row;
    double similarity, score;
    double probability; /* that the link is right, as estimated by this run */
} cog_link_item;
/* Links are in the order of the source documents. An item of zeros if index is not below the count.
 */
COG_API cog_link_item cog_links_item(const cog_links *links, size_t index);
/* The position in the input of a row of `from` (side 0) or `to` (side 1). */
COG_API uint64_t cog_links_position(const cog_links *links, int side, uint32_t row);
/* Columns from, to (int64), similarity, score, probability (double); if `ids`, also from_id, to_id
 * (string). */
COG_API cog_status cog_links_to_arrow(const cog_links *links, bool ids,
                                      struct ArrowArrayStream *stream, cog_error *error);
/* TSV: from, to, similarity, score, probability; "-" is standard output. */
COG_API cog_status cog_links_write(const cog_links *links, cog_output_format format,
                                   const char *path, cog_error *error);

typedef struct cog_link_scores {
    uint64_t known, links, right; /* known links, found links, found links that are known */
    uint64_t judged;              /* found links whose source document has a known link */
    uint64_t absent; /* known links between documents that are not there; not counted otherwise */
    double precision, recall; /* of the found links */
    double recall_at_1;       /* share of known links that are the first choice of their source */
    double recall_at_precision_99; /* recall of the longest list of best links that is 99% right */
} cog_link_scores;
/* Compares with known links: a file of source id TAB target id, or a MediaWiki dump (.xml) of
 * either language whose pages name their partners: [[de:Titel]]. */
COG_API cog_status cog_links_score(const cog_links *links, const char *gold_path,
                                   cog_link_scores *scores, cog_error *error);

/* Projects two collections into one space without linking them, for the functions below. */
COG_API cog_status cog_links_prepare(cog_documents *from, cog_documents *to,
                                     const cog_lexicon *lexicon,
                                     const cog_projection_options *options,
                                     const cog_run_options *run, cog_links **links,
                                     cog_report *report, cog_error *error);
/* The row of a document of `from` (side 0) or `to` (side 1) by its id; false if there is none. */
COG_API bool cog_links_find(const cog_links *links, int side, const char *id, size_t id_size,
                            uint32_t *row);
/* The cosine of two documents; 0 if there is no such row. */
COG_API double cog_links_cosine(const cog_links *links, uint32_t from_row, uint32_t to_row);

/* Lists the word matches behind the cosine of two documents, the largest shares first. Free
 * *matches with cog_free. */
COG_API cog_status cog_links_explain(const cog_links *links, uint32_t from_row, uint32_t to_row,
                                     cog_word_match **matches, size_t *count, cog_error *error);

typedef enum cog_sentence_format {
    COG_SENTENCES_AUTO, /* TMX if the path ends in .tmx (or .tmx.gz, ...), else TSV */
    COG_SENTENCES_TSV,  /* from, to, similarity, from_id, to_id, score */
    COG_SENTENCES_JSONL,
    COG_SENTENCES_TMX, /* 1.4; similarity, score and ids are properties of a unit */
} cog_sentence_format;

typedef struct cog_sentence_options {
    double threshold; /* least score; the score sums the cosine, half of its lead over the next best
                         of both sentences, and 0.4 of the mean cosine of the pairs around it */
    cog_sentence_format format;
    uint64_t reserved[4]; /* zero */
} cog_sentence_options;
COG_API void cog_sentence_options_init(cog_sentence_options *options);

/* Extracts sentence pairs from the linked documents, which are read again. Sentences are aligned
 * link by link. Two adjacent sentences may be aligned with one; no sentence has two partners. Each
 * pair of texts is written once. Time is linear in the sentences of a document. */
COG_API cog_status cog_links_sentences(const cog_links *links, cog_documents *from,
                                       cog_documents *to, const cog_sentence_options *options,
                                       const char *path, const cog_run_options *run,
                                       cog_report *report, cog_error *error);

/* Scores a file written by cog_links_write against a file of source id TAB target id. */
COG_API cog_status cog_evaluate_link_file(const char *found, const char *gold_path,
                                          const cog_run_options *run, cog_link_scores *scores,
                                          cog_error *error);
/* Scores a file of links and checks whether their stated probabilities are true. Both outputs are
 * CSV, or a picture if the name ends in .svg; NULL: not written; "-" is standard output.
 * Calibration has one line per bin of the probability that has links: from, to, links, right,
 * stated (mean probability), true (share of right links), low, high (its 95% interval). The curve
 * has one line per probability, descending, for the links with at least that probability:
 * probability, links, right, precision, recall, stated. */
COG_API cog_status cog_evaluate_link_probabilities(const char *found, const char *gold_path,
                                                   const char *calibration_path,
                                                   const char *curve_path,
                                                   const cog_run_options *run,
                                                   cog_link_scores *scores, cog_error *error);

/* cog_evaluate_link_probabilities against the language links of a wiki, from the table `langlinks`
 * of its database (dewiki-latest-langlinks.sql.gz); the table may be of either language. It names
 * pages by number: from_pages and to_pages are the MediaWiki dumps of both languages, which give
 * the titles of the numbers and the redirects. The ids of the scored links must be titles, as in
 * links between dumps. */
COG_API cog_status cog_evaluate_wiki_links(const char *found, const char *langlinks_path,
                                           const char *from_pages, const char *to_pages,
                                           const char *calibration_path, const char *curve_path,
                                           const cog_run_options *run, cog_link_scores *scores,
                                           cog_error *error);

#ifdef __cplusplus
}
#endif

#endif
