/* The options of all commands, defined once: help, man page, shell completion and parsing come from
 * here. */
#pragma once

#include "cognate.h"

/* One line an option: identifier, long name, short name, argument (NULL: a switch), choices
 * separated by
 * '|' (NULL: free), help. The order is that of the help. */
#define OPTIONS(X)                                                                                 \
    X(OUTPUT, "output", 'o', "FILE", NULL,                                                         \
      "where the result goes; - is standard output, results in NAME.gz or NAME.zst are "           \
      "compressed")                                                                                \
    X(IDS, "ids", 0, "FILE", NULL, "also write the ids of the rows, a line each")                  \
    X(REMOVED_IDS, "ids", 0, "FILE", NULL,                                                         \
      "remove: the ids are in this file, a line each as results write them; - is standard input")  \
    X(WEIGHTS, "weights", 0, "FILE", NULL, "also write the sums behind the bits (float32 .npy)")   \
    X(STATISTICS, "statistics", 0, "FILE", NULL,                                                   \
      "use the term statistics of this file in place of the collection's own")                     \
    X(SAVE_STATISTICS, "save-statistics", 0, "FILE", NULL,                                         \
      "keep the collection's term statistics in this file")                                        \
    X(FORMAT, "format", 0, "FORMAT", "tsv|jsonl|npy",                                              \
      "format of the result, of dedup its clusters (tsv)")                                         \
    X(CLUSTERS, "clusters", 0, "FILE", NULL,                                                       \
      "write the clusters: cluster, id, representative, similarity, kept")                         \
    X(REJECTS, "rejects", 0, "FILE", NULL, "write bad records as they stand")                      \
    X(AGAINST, "against", 0, "IN", NULL,                                                           \
      "compare with this second collection; inputs that follow belong to it")                      \
    X(MEASURE, "measure", 0, "NAME", "cosine|jaccard", "what similarity is")                       \
    X(THRESHOLD, "threshold", 't', "S", NULL,                                                      \
      "least similarity of a match (0.8; related 0.7; link: by scores)")                           \
    X(RADIUS, "radius", 0, "BITS", NULL, "signatures: greatest distance of a match")               \
    X(NEIGHBOURS, "neighbours", 'k', "N", NULL, "how many neighbours of each query (10)")          \
    X(METHOD, "method", 0, "NAME", "auto|exact|lists|flat|lsh|window",                             \
      "exact: true measures of vectors and sets, lists: the same with bounds for the recall; "     \
      "flat: all signatures, lsh: hash tables, window: "                                           \
      "sorted windows of them, then true measures")                                                \
    X(KEY_BITS, "key-bits", 0, "K", NULL, "lsh: bits of a key (chosen)")                           \
    X(TABLES, "tables", 0, "L", NULL,                                                              \
      "lsh: tables, or bands of minhash values; window: permutations (chosen)")                    \
    X(BAND_VALUES, "band-values", 0, "R", NULL, "lsh: minhash values of a band (chosen)")          \
    X(FLIPS, "flips", 0, "F", NULL, "lsh: extra keys a table, with flipped bits (chosen)")         \
    X(FLIP_MODE, "flip-mode", 0, "HOW", "across|distance|random|none",                             \
      "lsh: flip the likeliest bits of all tables, those of each key nearest to zero, or random "  \
      "ones (across)")                                                                             \
    X(FLIP_SIDE, "flip-side", 0, "WHICH", "query|both",                                            \
      "lsh: flip bits of queries only, or of rows in the tables as well (query)")                  \
    X(WINDOW, "window", 0, "B", NULL, "window: rows of a window (chosen)")                         \
    X(CHUNK, "chunk", 0, "M", NULL, "window: rows that a thread takes at a time (chosen)")         \
    X(SHARED_WINDOW, "shared-window", 0, NULL, NULL,                                               \
      "window: two collections share the rows of a window, as published")                          \
    X(MIN_URLS, "min-urls", 0, "N", NULL, "leave out queries with fewer clicked URLs (6)")         \
    X(RECALL, "recall", 0, "R", NULL, "share of the true pairs to aim for (0.95; link: 0.99)")     \
    X(NO_VERIFY, "no-verify", 0, NULL, NULL, "list the estimates of the signatures as they are")   \
    X(KEEP, "keep", 0, "WHICH", "longest|first", "which document of a cluster stays (longest)")    \
    X(GROUPING, "grouping", 0, "HOW", "representative|connected",                                  \
      "members near their representative, or chained by similar pairs (representative)")           \
    X(SAMPLE, "sample", 0, "N", NULL, "how many documents are compared with each other (1064)")    \
    X(SEEDS, "seeds", 0, "N", NULL, "how many seeds are averaged over (10)")                       \
    X(INPUT_FORMAT, "input-format", 0, "FORMAT",                                                   \
      "auto|txt|jsonl|csv|tsv|wikixml|lett|querylog|npy",                                          \
      "format of the input (auto: by extension)")                                                  \
    X(LINES, "lines", 0, NULL, NULL, "txt: each line is a document")                               \
    X(TEXT_FIELD, "text-field", 0, "NAME", NULL, "field that holds the text (text)")               \
    X(ID_FIELD, "id-field", 0, "NAME", NULL, "field that holds the id (id)")                       \
    X(LANG_FIELD, "lang-field", 0, "NAME", NULL, "field that holds the language (lang)")           \
    X(STRICT, "strict", 0, NULL, NULL, "end at the first bad record instead of skipping it")       \
    X(TOKENS, "tokens", 0, "KIND", "words|regex|chars",                                            \
      "Unicode words, runs of \\w as Python has it, or characters")                                \
    X(NGRAM, "ngram", 0, "N", NULL, "consecutive tokens that make a term")                         \
    X(LANG, "lang", 0, "CODE", NULL,                                                               \
      "language of documents that do not name theirs: ISO 639-1, auto, or none (auto)")            \
    X(STEM, "stem", 0, "YES", "yes|no", "reduce words to their stems")                             \
    X(STOP_WORDS, "stop-words", 0, "DO", "drop|keep", "what to do with stop words")                \
    X(WEIGHTING, "weighting", 0, "SCHEME", "bm25|tfidf|tf|binary", "weights of the terms")         \
    X(K1, "k1", 0, "X", NULL, "BM25: saturation of the term frequency (1.2)")                      \
    X(B, "b", 0, "X", NULL, "BM25: influence of the document's length (0.75)")                     \
    X(MIN_FREQUENCY, "min-frequency", 0, "N", NULL,                                                \
      "drop terms that occur fewer times in the collection (bm25 and tfidf 2, else 1; indexes 1)") \
    X(SIGNATURE, "signature", 0, "KIND", "rp|simhash|topsig|minhash", "kind of signature")         \
    X(BITS, "bits", 0, "N", NULL, "width of a signature")                                          \
    X(SEED, "seed", 0, "N", NULL, "seed of everything random (0)")                                 \
    X(GAUSSIAN, "gaussian", 0, NULL, NULL, "rp: Gaussian values in place of random signs")         \
    X(DENSITY, "density", 0, "X", NULL,                                                            \
      "topsig: share of a term's positions that are +1, and as many -1 (1/6)")                     \
    X(VALUE_BITS, "value-bits", 0, "N", NULL,                                                      \
      "minhash: bits kept of each value (32; pairs by distances 1)")                               \
    X(FROM, "from", 0, "LANG|IN", NULL, "lexicon: source language; link: documents of that side")  \
    X(TO, "to", 0, "LANG|IN", NULL, "lexicon: target language; link: documents of that side")      \
    X(PAIRS_FORMAT, "pairs-format", 0, "FORMAT", "auto|tsv|text|tmx|po",                           \
      "format of the parallel text (auto: by extension)")                                          \
    X(TABLE_FORMAT, "table-format", 0, "FORMAT",                                                   \
      "auto|tsv|moses|giza|fast-align|berkeley|bicleaner|bitextor",                                \
      "convert: format of the table (auto: by its first line)")                                    \
    X(MODEL1, "model1", 0, "N", NULL, "iterations of Model 1 (5)")                                 \
    X(AGREE, "agree", 0, "N", NULL, "iterations with position and agreement (5)")                  \
    X(DIAGONAL, "diagonal", 0, "X", NULL, "how strongly words keep their place (4)")               \
    X(NULL, "null", 0, "P", NULL, "probability that a word has no counterpart (0.08)")             \
    X(MIN_COUNT, "min-count", 0, "N", NULL, "do not learn words that are rarer (2)")               \
    X(MAX_WORDS, "max-words", 0, "N", NULL, "leave out longer sentences (70)")                     \
    X(ENTRIES, "entries", 0, "N", NULL, "keep the N best translations of a word (15)")             \
    X(MASS, "mass", 0, "P", NULL, "keep translations up to this share of the mass (0.95)")         \
    X(SEARCH_METHOD, "method", 0, "NAME", "auto|exact|flat|slices|columns|psm|bphs",               \
      "exact: true cosines of all; flat: all signatures; slices, columns, psm, bphs: of an index") \
    X(LINK_METHOD, "method", 0, "NAME", "auto|exact|lists|flat|slices|lsh|window",                 \
      "exact: true cosines of all; lists: by their rarest terms; flat, slices, lsh, window: "      \
      "signatures propose (auto: by size)")                                                        \
    X(INDEX_METHOD, "method", 0, "NAME", "auto|flat|slices|columns|psm|bphs",                      \
      "flat: signatures alone; slices, columns: with them (auto: by the number of rows); "         \
      "psm, bphs: tables of 64 or 128 bits for --radius")                                          \
    X(SLICE_BITS, "slice-bits", 0, "W", NULL, "width of the slices (by the number of rows)")       \
    X(EXPAND, "expand", 0, "I", NULL,                                                              \
      "slices: read lists of values up to I bits away (by --recall)")                              \
    X(ADMIT, "admit", 0, "J", NULL,                                                                \
      "slices: lists beyond J bits bring no new candidates (as --expand)")                         \
    X(INDEX_RADIUS, "radius", 0, "BITS", NULL, "psm, bphs: the radius that will be asked for (3)") \
    X(HEADER, "header", 0, "T", NULL,                                                              \
      "psm: bits of a key that address the table (by the number of rows)")                         \
    X(BLOCKS, "blocks", 0, "G", NULL, "bphs: blocks of a key (radius + 2)")                        \
    X(CHOOSE, "choose", 0, "G", NULL, "bphs: blocks that address a table (2)")                     \
    X(PSM_FLIPS, "flips", 0, "K", NULL,                                                            \
      "psm: flips of each query, the most probable ones (by --recall)")                            \
    X(FIRST, "first", 0, NULL, NULL, "psm, bphs: one row within the radius is enough")             \
    X(QUERY_WEIGHTS, "weights", 0, "FILE", NULL,                                                   \
      "sums behind the bits of the queries, of an index its rows (float32 .npy)")                  \
    X(SEARCH_RECALL, "recall", 0, "R", NULL,                                                       \
      "share of the true neighbours to aim for (0.95); 1: certified exact answers")                \
    X(LEAST, "threshold", 't', "S", NULL,                                                          \
      "all at or above this similarity in place of the nearest")                                   \
    X(NO_VECTORS, "no-vectors", 0, NULL, NULL,                                                     \
      "do not keep the vectors; similarities are then estimates")                                  \
    X(LEXICON, "lexicon", 0, "FILE", NULL, "word-translation table, from cognate lexicon")         \
    X(ONE_TO_ONE, "one-to-one", 0, NULL, NULL, "each document once, the best scores first")        \
    X(GOLD, "gold", 0, "FILE", NULL, "known links (two ids a line): print how many are found")     \
    X(CANDIDATES, "candidates", 0, "N", NULL, "candidates looked at for each document (30)")       \
    X(HUBS, "hubs", 0, "N", NULL, "neighbours in the hubness correction; 0: none (10)")            \
    X(PROBABILITY, "probability", 0, "P", "to-given-from|from-given-to",                           \
      "which of the lexicon's probabilities projects (to-given-from)")                             \
    X(UNKNOWN, "unknown", 0, "DO", "keep|drop", "words that cannot be translated (keep)")          \
    X(SENTENCES, "sentences", 0, NULL, NULL, "print the sentence pairs of linked documents")       \
    X(SENTENCE_THRESHOLD, "sentence-threshold", 0, "S", NULL,                                      \
      "least cosine of a sentence pair (0.5)")                                                     \
    X(EXPLAIN, "explain", 0, "ID", NULL, "print which words link this document of --from")         \
    X(LINKERS, "linkers", 0, "LIST", NULL,                                                         \
      "what may link the parts of compounds, with commas (s,es,n,en,e)")                           \
    X(THREADS, "threads", 0, "N", NULL, "threads to use (all processors)")                         \
    X(MEMORY, "memory", 0, "SIZE", NULL, "memory budget, such as 800M or 4G (none)")               \
    X(STATS, "stats", 0, "FILE", NULL, "write what was done as a JSON object")                     \
    X(QUIET, "quiet", 'q', NULL, NULL, "no progress and no notices")                               \
    X(HELP, "help", 'h', NULL, NULL, "show this help")                                             \
    X(VERSION, "version", 0, NULL, NULL, "show the version")

enum option_id {
#define X(id, name, letter, argument, choices, help) OPTION_##id,
    OPTIONS(X)
#undef X
        OPTION_COUNT
};

struct option_spec {
    const char *name;
    char letter;
    const char *argument;
    const char *choices;
    const char *help;
};
extern const struct option_spec option_specs[OPTION_COUNT];

/* What was given on the command line: values by option ("" for a switch, NULL where absent), and
 * the words that are not options. */
struct arguments {
    const char *command;
    const char *values[OPTION_COUNT];
    const char **words;
    size_t word_count;
    int *word_places;         /* where each word stood on the command line */
    int places[OPTION_COUNT]; /* where each option stood */
    size_t first_count;       /* words before --against; all of them where it is absent */
};

/* A set of options as an array of identifiers that ends with OPTION_COUNT. */
typedef const enum option_id *option_set;

/* Parses argv[first ..]; only options of the sets are taken. False after printing what is wrong. */
bool arguments_parse(struct arguments *arguments, const option_set *sets, int argc, char **argv,
                     int first);
/* The first word of argv[first ..] that is neither an option of any command nor its argument; NULL
 * where there is none. It is the first of the words that arguments_parse gives. */
const char *first_word(int argc, char **argv, int first);
void arguments_free(struct arguments *arguments);

bool has_option(const struct arguments *arguments, enum option_id id);
/* The number of the choice, or `otherwise` where the option is absent. */
int choice_option(const struct arguments *arguments, enum option_id id, int otherwise);
/* Leave *value as it is where the option is absent; false after printing what is wrong. */
bool number_option(const struct arguments *arguments, enum option_id id, uint64_t lowest,
                   uint64_t highest, uint64_t *value);
bool real_option(const struct arguments *arguments, enum option_id id, double lowest,
                 double highest, double *value);
bool size_option(const struct arguments *arguments, enum option_id id, uint64_t *bytes);

/* Prints "cognate COMMAND: message" and a hint at the help. Always false. */
bool usage_error(const struct arguments *arguments, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
