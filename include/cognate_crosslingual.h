/* Across languages: lexicons, and the links between documents and their translations. cognate.h
 * includes this header.
 *
 * A lexicon is trained on parallel text or made of a table. Linking projects the documents of one
 * side through it and finds for each its best partner on the other side. */
#ifndef COGNATE_CROSSLINGUAL_H
#define COGNATE_CROSSLINGUAL_H

#ifndef COGNATE_H
#error "include cognate.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A word-translation table from one language to another: p(to | from) and p(from | to). Its words
 * are terms as documents have them. */
typedef struct cog_lexicon cog_lexicon;

typedef enum cog_pair_format {
    COG_PAIRS_AUTO, /* by extension: .tmx, .po, .txt or the source language's code; else tsv */
    COG_PAIRS_TSV,  /* from TAB to */
    COG_PAIRS_TEXT, /* two files, line by line; paths are taken two by two */
    COG_PAIRS_TMX,
    COG_PAIRS_PO,
} cog_pair_format;

typedef struct cog_lexicon_options {
    const char *from, *to;  /* ISO 639-1; needed */
    cog_term_options terms; /* of both languages; its lang is not looked at */
    /* Of each word the best max_entries translations are kept, or fewer if those have this share
     * (mass) of the probability. */
    unsigned max_entries;
    double mass;
    /* Training: */
    cog_pair_format format;
    unsigned model1_iterations, agreement_iterations;
    double null_probability; /* that a word has no counterpart */
    double diagonal;         /* how strongly words keep to their place in the sentence; 0: not */
    unsigned min_count;      /* rarer words are not learnt */
    unsigned max_words;      /* longer sentences are left out */
    uint64_t reserved[4];
} cog_lexicon_options;
COG_API void cog_lexicon_options_init(cog_lexicon_options *options);

/* From parallel text: IBM Model 1, then alignment by agreement of both directions. The same table
 * for any number of threads. */
COG_API cog_status cog_lexicon_train(const char *const *paths, size_t path_count,
                                     const cog_lexicon_options *options, const cog_run_options *run,
                                     cog_lexicon **lexicon, cog_report *report, cog_error *error);
/* Tables of other tools. Wrong directions and sums are corrected and told as notices. */
typedef enum cog_table_format {
    COG_TABLE_AUTO,
    COG_TABLE_TSV,        /* from, to, and perhaps p(to | from) */
    COG_TABLE_MOSES,      /* lex.f2e: to from p(to | from) */
    COG_TABLE_GIZA,       /* t3.final with its two vocabularies behind it, or actual.ti.final */
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
/* The languages' codes; owned by the lexicon. */
COG_API const char *cog_lexicon_from(const cog_lexicon *lexicon);
COG_API const char *cog_lexicon_to(const cog_lexicon *lexicon);
/* Of words, translations and probabilities: indexes remember it. */
COG_API uint64_t cog_lexicon_checksum(const cog_lexicon *lexicon);
COG_API size_t cog_lexicon_words(const cog_lexicon *lexicon);
COG_API size_t cog_lexicon_entries(const cog_lexicon *lexicon);

typedef struct cog_translation {
    const char *from, *to; /* terms; owned by the lexicon */
    size_t from_size, to_size;
    double to_given_from, from_given_to; /* 0 where pruned in that direction */
} cog_translation;
/* The translations of the words of a text in the source language, the best of each first; a word
 * that is not there is split into ones that are, with `linkers` as cog_projection_options has them.
 * Free *translations with cog_free. */
COG_API cog_status cog_lexicon_translate(const cog_lexicon *lexicon, const char *text,
                                         size_t text_size, const char *linkers,
                                         cog_translation **translations, size_t *count,
                                         cog_error *error);

/* How documents of the source language become vectors over the terms of the target language. */
typedef struct cog_projection_options {
    bool source_given_target; /* project by p(from | to), as the paper does */
    bool keep_unknown;        /* words that cannot be translated stand for themselves */
    const char *linkers;      /* between the parts of compounds, with commas; nothing always may */
    double k1, b;             /* BM25 */
    uint64_t reserved[4];
} cog_projection_options;
COG_API void cog_projection_options_init(cog_projection_options *options);

/* Documents of the lexicon's source language in place of documents of its target language:
 * cog_sign, cog_sign_rows, cog_statistics_collect, cog_index_build, cog_index_add, cog_index_search
 * and cog_index_answer then take these documents as vectors over terms of the target language, with
 * expected frequencies; other jobs refuse them. A document that names the target language as its
 * own is taken as it is, and one of a third language is an error. The terms that a job is asked for
 * must be made as the lexicon's words are (words of the same n-grams and stems, in the target
 * language or "auto"); stop words may be left out. options may be NULL; its k1 and b do not count.
 * The lexicon is borrowed until the documents are closed.
 *
 * An index remembers the lexicons of its documents (cog_index_lexicon). Documents and queries of a
 * language that it has a lexicon for must come with the same one. */
COG_API cog_status cog_documents_project(cog_documents *documents, const cog_lexicon *lexicon,
                                         const cog_projection_options *options, cog_error *error);
/* The same for the texts that a searcher is asked for: those of the source language, or that name
 * no language. NULL: no longer. The lexicon is borrowed by the searcher. */
COG_API cog_status cog_searcher_project(cog_searcher *searcher, const cog_lexicon *lexicon,
                                        const cog_projection_options *options, cog_error *error);
/* How documents of another language were projected into an index, `number` counting from 0; false
 * after the last. *from is the code of that language; *record has the language of the index, the
 * checksum of the lexicon and the options, such as "en 03fd9c1e5a7b2468 to-given-from keep s,es,n".
 * Both belong to the index, until it changes. */
COG_API bool cog_index_lexicon(const cog_index *index, size_t number, const char **from,
                               const char **record);

/* All pairs between two collections of different languages: cog_pairs_find with the documents of
 * `from` projected by the lexicon. The measure is the cosine; terms and weights are those of the
 * lexicon and the projection, and of options->sign only the signature counts. */
COG_API cog_status cog_pairs_find_across(cog_documents *from, cog_documents *to,
                                         const cog_lexicon *lexicon,
                                         const cog_projection_options *projection,
                                         const cog_pairs_options *options,
                                         const cog_run_options *run, cog_pairs **pairs,
                                         cog_report *report, cog_error *error);
/* Below the threshold of one language: this one is meant for translations. */
#define COG_THRESHOLD_ACROSS 0.35

typedef struct cog_link_options {
    bool one_to_one;   /* greedily by score, each document once; else the best of each */
    bool calibrated;   /* keep links by the precision below; else by the threshold */
    double threshold;  /* of the cosine; without calibrated */
    cog_method method; /* exact; lists; or flat, slices, lsh or window, signatures with true cosines
                        * after; auto: by size */
    unsigned bits;     /* of the signatures */
    double recall;     /* that lists, hash tables and windows are planned for */
    cog_knobs knobs;   /* of the method; with AUTO none */
    unsigned candidates; /* looked at for each source document */
    /* The score is twice the cosine, less the mean cosine of each document to its hub_neighbours
     * nearest ones; 0: the score is the cosine. Partners are chosen by the same formula with the
     * two nearest. */
    unsigned hub_neighbours;
    cog_projection_options projection;
    double precision;      /* wanted share of right links among those that are kept; how likely a
                            * link is to be right is estimated from the collections, and a link
                            * that is more likely wrong than right is never kept */
    uint64_t per_document; /* if nonzero, list this number of best links of each source document,
                            * whatever their probability; not with one_to_one */
    uint64_t reserved[2];
} cog_link_options;
COG_API void cog_link_options_init(cog_link_options *options);

typedef struct cog_links cog_links;
/* The partners of the documents of `from` among those of `to`, whose languages are the lexicon's.
 * The lexicon is borrowed for the links' life. */
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
    double probability; /* that the link is right, as this run estimates it */
} cog_link_item;
/* In the order of the source documents. An item of zeros if index is not below the count. */
COG_API cog_link_item cog_links_item(const cog_links *links, size_t index);
/* The position in the input of a row of `from` (side 0) or `to` (side 1). */
COG_API uint64_t cog_links_position(const cog_links *links, int side, uint32_t row);
/* Columns from, to (int64), similarity, score, probability (double); with ids also from_id, to_id
 * (string). */
COG_API cog_status cog_links_to_arrow(const cog_links *links, bool ids,
                                      struct ArrowArrayStream *stream, cog_error *error);
/* TSV: from, to, similarity, score, probability; "-" is standard output. */
COG_API cog_status cog_links_write(const cog_links *links, cog_output_format format,
                                   const char *path, cog_error *error);

typedef struct cog_link_scores {
    uint64_t known, links, right;  /* known links, links found, those that are known */
    uint64_t judged;               /* links found of source documents that have known links */
    uint64_t absent;               /* known links between documents that are not there: left out */
    double precision, recall;      /* of the links found */
    double recall_at_1;            /* known links that are their source's first choice */
    double recall_at_precision_99; /* recall of the best links, as many as are 99% right */
} cog_link_scores;
/* Against known links: a file of source id TAB target id, or a MediaWiki dump (.xml) of either
 * language whose pages name their partners: [[de:Titel]]. */
COG_API cog_status cog_links_score(const cog_links *links, const char *gold_path,
                                   cog_link_scores *scores, cog_error *error);

/* Two collections in one space without links between them: to compare and explain. */
COG_API cog_status cog_links_prepare(cog_documents *from, cog_documents *to,
                                     const cog_lexicon *lexicon,
                                     const cog_projection_options *options,
                                     const cog_run_options *run, cog_links **links,
                                     cog_report *report, cog_error *error);
/* The row of a document of `from` (side 0) or `to` (side 1) by its id; false if there is none. */
COG_API bool cog_links_find(const cog_links *links, int side, const char *id, size_t id_size,
                            uint32_t *row);
/* 0 if there is no such row. */
COG_API double cog_links_cosine(const cog_links *links, uint32_t from_row, uint32_t to_row);

/* Why two documents resemble each other, the largest shares first. Free *matches with cog_free. */
COG_API cog_status cog_links_explain(const cog_links *links, uint32_t from_row, uint32_t to_row,
                                     cog_word_match **matches, size_t *count, cog_error *error);

typedef enum cog_sentence_format {
    COG_SENTENCES_AUTO, /* TMX if the path ends in .tmx (or .tmx.gz, ...), else TSV */
    COG_SENTENCES_TSV,  /* from, to, similarity, from_id, to_id, score */
    COG_SENTENCES_JSONL,
    COG_SENTENCES_TMX, /* 1.4; similarity, score and ids are properties of a unit */
} cog_sentence_format;

typedef struct cog_sentence_options {
    double threshold; /* least score: the cosine, half of its lead over the next best of both
                         sentences, and 0.4 of the mean cosine of the pairs around it */
    cog_sentence_format format;
    uint64_t reserved[4]; /* zero */
} cog_sentence_options;
COG_API void cog_sentence_options_init(cog_sentence_options *options);

/* Sentence pairs from the linked documents, which are read again. Sentences are aligned link by
 * link; two neighbouring ones may have one partner, and no sentence has two. Each pair of texts is
 * written once. Time is linear in the sentences of a document. */
COG_API cog_status cog_links_sentences(const cog_links *links, cog_documents *from,
                                       cog_documents *to, const cog_sentence_options *options,
                                       const char *path, const cog_run_options *run,
                                       cog_report *report, cog_error *error);

/* The links of a file that cog_links_write wrote, against a file of source id TAB target id. */
COG_API cog_status cog_evaluate_link_file(const char *found, const char *gold_path,
                                          const cog_run_options *run, cog_link_scores *scores,
                                          cog_error *error);
/* The same, and whether the probabilities of the links are true. Both files are CSV, or a picture
 * if the name ends in .svg; NULL: none; "-" is standard output. Calibration has a line for each bin
 * of the probability that has links: from, to, links, right, stated (mean probability), true (share
 * of right links), low, high (its 95% interval). The curve has a line for each probability,
 * falling, of the links that have at least that: probability, links, right, precision, recall,
 * stated. */
COG_API cog_status cog_evaluate_link_probabilities(const char *found, const char *gold_path,
                                                   const char *calibration_path,
                                                   const char *curve_path,
                                                   const cog_run_options *run,
                                                   cog_link_scores *scores, cog_error *error);

/* The same against the language links of a wiki, as the table langlinks of its database has them
 * (dewiki-latest-langlinks.sql.gz). The table names pages by number: from_pages and to_pages are
 * the MediaWiki dumps of both languages, which say the titles of these numbers and which titles are
 * redirects. The links that are judged have titles for ids, as links between dumps do; the table
 * may be of either language. */
COG_API cog_status cog_evaluate_wiki_links(const char *found, const char *langlinks_path,
                                           const char *from_pages, const char *to_pages,
                                           const char *calibration_path, const char *curve_path,
                                           const cog_run_options *run, cog_link_scores *scores,
                                           cog_error *error);

#ifdef __cplusplus
}
#endif

#endif
