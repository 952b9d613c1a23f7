/* The options of all commands. Each option is defined once, here or in the list of knobs
 * (methods.h); parsing, help, man pages and completion are made from that definition. A command
 * lists the options that it takes and may replace the help text of an option. */
#pragma once

#include "cognate.h"

enum option_group {
    GROUP_RESULT,
    GROUP_MATCH,
    GROUP_METHOD,
    GROUP_ACROSS,
    GROUP_INPUT,
    GROUP_TERMS,
    GROUP_SIGNATURE,
    GROUP_TRAINING,
    GROUP_RUN,
    GROUP_KNOBS, /* of a method: each method has its own heading */
};

enum option_kind {
    KIND_PLAIN, /* a switch, a number or a word */
    KIND_READ,  /* a path that is read */
    KIND_WRITE, /* a path that is written */
};

/* One row per option: identifier, long name, letter, group, kind, argument (NULL: a switch),
 * choices separated by '|' (NULL: free), help. Help lists options in this order, by group. */
#define OPTIONS(X)                                                                                 \
    X(OUTPUT, "output", 'o', RESULT, WRITE, "FILE", NULL,                                          \
      "file for the result; .gz, .bz2, .xz and .zst compress")                                     \
    X(FORMAT, "format", 0, RESULT, PLAIN, "FORMAT", "tsv|jsonl|npy",                               \
      "format of the result (default: tsv)")                                                       \
    X(CLUSTERS, "clusters", 0, RESULT, WRITE, "FILE", NULL,                                        \
      "write the clusters with ids and similarities")                                              \
    X(REJECTS, "rejects", 0, RESULT, WRITE, "FILE", NULL, "write bad records here, unchanged")     \
    X(REMOVED, "removed", 0, RESULT, WRITE, "FILE", NULL,                                          \
      "write what is removed: id, kept twin, similarity, reason")                                  \
    X(REPORT, "report", 0, RESULT, WRITE, "FILE", NULL,                                            \
      "write an HTML page to review what is removed and why")                                      \
    X(VERDICTS, "verdicts", 0, RESULT, READ, "FILE", NULL,                                         \
      "apply the decisions exported from the page of --report")                                    \
    X(KEEP, "keep", 0, RESULT, PLAIN, "WHICH", NULL,                                               \
      "which one is kept: longest (default), first, last, field:NAME or field:NAME:min")           \
    X(WORK, "work", 0, RUN, PLAIN, "DIR", NULL,                                                    \
      "keep intermediate results here, for --resume or another threshold")                         \
    X(RESUME, "resume", 0, RUN, PLAIN, NULL, NULL, "continue a stopped job with this --work")      \
    X(MARK, "mark", 0, RESULT, PLAIN, "FIELD", NULL,                                               \
      "write all documents, each with cluster and verdict in this field")                          \
    X(DRY_RUN, "dry-run", 0, RESULT, PLAIN, NULL, NULL, "only print what would be removed")        \
    X(IDS, "ids", 0, RESULT, WRITE, "FILE", NULL, "also write the ids of the rows, one per line")  \
    X(REMOVED_IDS, "ids", 0, INPUT, READ, "FILE", NULL,                                            \
      "read the ids from this file, one per line, escaped as in results; - is standard input")     \
    X(UPSERT, "upsert", 0, INPUT, PLAIN, NULL, NULL, "replace documents whose id exists already")  \
    X(UNLESS_SIMILAR, "unless-similar", 0, INPUT, PLAIN, "S", NULL,                                \
      "do not add documents with a match at this similarity; print the matches")                   \
    X(WAIT, "wait", 0, RUN, PLAIN, "SECONDS", NULL,                                                \
      "wait for another process that is changing the index (default: 0)")                          \
    X(JSON, "json", 0, RESULT, PLAIN, NULL, NULL, "print a JSON object")                           \
    X(MARGINS, "margins", 0, RESULT, WRITE, "FILE", NULL,                                          \
      "also write the margins, the sums behind the bits (float32 .npy; older name: --weights)")    \
    X(SAVE_STATISTICS, "save-statistics", 0, RESULT, WRITE, "FILE", NULL,                          \
      "save the collection's term statistics")                                                     \
    X(ONE_TO_ONE, "one-to-one", 0, RESULT, PLAIN, NULL, NULL, "link each document at most once")   \
    X(GOLD, "gold", 0, RESULT, READ, "FILE", NULL, "known links: print precision and recall")      \
    X(CALIBRATION, "calibration", 0, RESULT, WRITE, "FILE", NULL,                                  \
      "write stated and true probabilities in bins, as CSV or .svg")                               \
    X(FROM_PAGES, "from-pages", 0, RESULT, READ, "FILE", NULL,                                     \
      "MediaWiki dump of the source language, for --gold langlinks.sql")                           \
    X(TO_PAGES, "to-pages", 0, RESULT, READ, "FILE", NULL,                                         \
      "MediaWiki dump of the target language, for --gold langlinks.sql")                           \
    X(CURVE, "curve", 0, RESULT, WRITE, "FILE", NULL,                                              \
      "write precision and recall by probability, as CSV or .svg")                                 \
    X(SENTENCES, "sentences", 0, RESULT, PLAIN, NULL, NULL,                                        \
      "print sentence pairs instead of links")                                                     \
    X(SENTENCE_THRESHOLD, "sentence-threshold", 0, RESULT, PLAIN, "S", NULL,                       \
      "least score of a sentence pair (default: 0.5)")                                             \
    X(EXPLAIN, "explain", 0, RESULT, PLAIN, "ID", NULL,                                            \
      "print which words link this document of --from")                                            \
    X(NO_VECTORS, "no-vectors", 0, RESULT, PLAIN, NULL, NULL,                                      \
      "do not keep the vectors: a smaller index whose similarities are estimates")                 \
    X(AGAINST, "against", 0, MATCH, READ, "IN", NULL,                                              \
      "second collection: this input and those after it")                                          \
    X(MEASURE, "measure", 0, MATCH, PLAIN, "NAME", "cosine|jaccard|containment",                   \
      "cosine of weighted terms, or Jaccard or containment of term sets")                          \
    X(THRESHOLD, "threshold", 't', MATCH, PLAIN, "S", NULL,                                        \
      "least similarity of a match, 0 to 1 (default: 0.8)")                                        \
    X(RADIUS, "radius", 0, MATCH, PLAIN, "BITS", NULL, "signatures: greatest distance of a match") \
    X(NEIGHBOURS, "neighbours", 'k', MATCH, PLAIN, "N", NULL,                                      \
      "number of neighbours per query (default: 10)")                                              \
    X(GROUPING, "grouping", 0, MATCH, PLAIN, "HOW", "representative|connected",                    \
      "every member near its representative, or chains of similar pairs (default: "                \
      "representative)")                                                                           \
    X(FIRST, "first", 0, MATCH, PLAIN, NULL, NULL,                                                 \
      "psm and bphs: stop at any one row within the radius")                                       \
    X(NO_VERIFY, "no-verify", 0, MATCH, PLAIN, NULL, NULL,                                         \
      "list estimates from signatures instead of true similarities")                               \
    X(QUERIES, "queries", 0, MATCH, READ, "FILE", NULL,                                            \
      "only neighbours of these queries, one per line, escaped as in results; - is standard "      \
      "input")                                                                                     \
    X(MIN_URLS, "min-urls", 0, MATCH, PLAIN, "N", NULL,                                            \
      "leave out queries with fewer URLs (default: 6)")                                            \
    X(PRECISION, "precision", 0, MATCH, PLAIN, "P", NULL,                                          \
      "wanted share of right links (default: 0.98)")                                               \
    X(METHOD, "method", 0, METHOD, PLAIN, "NAME", NULL, "how matches are found (default: auto)")   \
    X(RECALL, "recall", 0, METHOD, PLAIN, "R", NULL,                                               \
      "share of true matches to find (default: 0.95); 1: all")                                     \
    X(MEASURE_RECALL, "measure-recall", 0, METHOD, PLAIN, NULL, NULL,                              \
      "measure the recall on 100 queries instead of reporting that of the build")                  \
    X(QUERY_MARGINS, "margins", 0, METHOD, READ, "FILE", NULL,                                     \
      "margins of the queries' signatures (float32 .npy; older name: --weights)")                  \
    X(CANDIDATES, "candidates", 0, METHOD, PLAIN, "N", NULL,                                       \
      "candidates per document (default: 30)")                                                     \
    X(HUBS, "hubs", 0, METHOD, PLAIN, "N", NULL,                                                   \
      "neighbours in the hubness correction; 0: none (default: 10)")                               \
    X(SAMPLE, "sample", 0, METHOD, PLAIN, "N", NULL,                                               \
      "number of documents to compare with each other (default: 1064)")                            \
    X(SEEDS, "seeds", 0, METHOD, PLAIN, "N", NULL, "seeds to average over (default: 10)")          \
    X(FROM, "from", 0, ACROSS, READ, "IN", NULL, "documents in the source language")               \
    X(TO, "to", 0, ACROSS, READ, "IN", NULL, "documents in the target language")                   \
    X(FROM_LANG, "from", 0, ACROSS, PLAIN, "LANG", NULL, "source language, such as de")            \
    X(TO_LANG, "to", 0, ACROSS, PLAIN, "LANG", NULL, "target language, such as en")                \
    X(LEXICON, "lexicon", 0, ACROSS, READ, "FILE", NULL,                                           \
      "translations of words, made by cognate lexicon")                                            \
    X(PROBABILITY, "probability", 0, ACROSS, PLAIN, "P", "to-given-from|from-given-to",            \
      "which probabilities to project by (default: to-given-from)")                                \
    X(UNKNOWN, "unknown", 0, ACROSS, PLAIN, "DO", "keep|drop",                                     \
      "words without a translation (default: keep)")                                               \
    X(LINKERS, "linkers", 0, ACROSS, PLAIN, "LIST", NULL,                                          \
      "letters between parts of compounds (default: s,es,n,en,e)")                                 \
    X(INPUT_FORMAT, "input-format", 0, INPUT, PLAIN, "FORMAT",                                     \
      "auto|txt|jsonl|csv|tsv|wikixml|lett|querylog|warc|wet|npy",                                 \
      "format of the input (default: auto, by extension)")                                         \
    X(LINES, "lines", 0, INPUT, PLAIN, NULL, NULL, "txt: each line is a document")                 \
    X(TEXT_FIELD, "text-field", 0, INPUT, PLAIN, "NAME", NULL,                                     \
      "field of the text in jsonl, csv, tsv (default: text)")                                      \
    X(ID_FIELD, "id-field", 0, INPUT, PLAIN, "NAME", NULL,                                         \
      "field of the id in jsonl, csv, tsv (default: id)")                                          \
    X(LANG_FIELD, "lang-field", 0, INPUT, PLAIN, "NAME", NULL,                                     \
      "field of the language in jsonl, csv, tsv (default: lang)")                                  \
    X(DELIMITER, "delimiter", 0, INPUT, PLAIN, "C", NULL,                                          \
      "csv, tsv: field separator, \\t for a tab (default: , in csv, \\t in tsv)")                  \
    X(NO_HEADER, "no-header", 0, INPUT, PLAIN, NULL, NULL,                                         \
      "csv, tsv: no header row; fields are named by their numbers, from 1")                        \
    X(STRICT, "strict", 0, INPUT, PLAIN, NULL, NULL,                                               \
      "stop at the first bad record instead of skipping it")                                       \
    X(PAIRS_FORMAT, "pairs-format", 0, INPUT, PLAIN, "FORMAT", "auto|tsv|text|tmx|po",             \
      "format of the parallel text (default: by extension)")                                       \
    X(TABLE_FORMAT, "table-format", 0, INPUT, PLAIN, "FORMAT",                                     \
      "auto|tsv|moses|giza|fast-align|berkeley|bicleaner|bitextor",                                \
      "format of the table (default: by its first line)")                                          \
    X(STATISTICS, "statistics", 0, TERMS, READ, "FILE", NULL,                                      \
      "use these term statistics instead of the collection's own")                                 \
    X(TOKENS, "tokens", 0, TERMS, PLAIN, "KIND", "words|regex|chars|code",                         \
      "Unicode words, runs of \\w as in Python, characters, or source code")                       \
    X(NGRAM, "ngram", 0, TERMS, PLAIN, "N", NULL, "consecutive tokens per term (code: 5)")         \
    X(LANG, "lang", 0, TERMS, PLAIN, "CODE", NULL,                                                 \
      "language of documents without one: code, auto or none")                                     \
    X(STEM, "stem", 0, TERMS, PLAIN, "YES", "yes|no", "reduce words to their stems")               \
    X(STOP_WORDS, "stop-words", 0, TERMS, PLAIN, "DO", "drop|keep", "what to do with stop words")  \
    X(WEIGHTING, "weighting", 0, TERMS, PLAIN, "SCHEME", "bm25|tfidf|tf|binary",                   \
      "weights of terms")                                                                          \
    X(K1, "k1", 0, TERMS, PLAIN, "X", NULL,                                                        \
      "BM25: saturation of the term frequency (default: 1.2)")                                     \
    X(B, "b", 0, TERMS, PLAIN, "X", NULL,                                                          \
      "BM25: influence of the document length (default: 0.75)")                                    \
    X(MIN_FREQUENCY, "min-frequency", 0, TERMS, PLAIN, "N", NULL,                                  \
      "bm25, tfidf: drop terms with fewer occurrences in the collection (default: 1)")             \
    X(SIGNATURE, "signature", 0, SIGNATURE, PLAIN, "KIND", "rp|simhash|topsig|minhash",            \
      "kind of signature (default: rp)")                                                           \
    X(BITS, "bits", 0, SIGNATURE, PLAIN, "N", NULL, "bits per signature (default: 1024)")          \
    X(SEED, "seed", 0, SIGNATURE, PLAIN, "N", NULL, "seed of everything random (default: 0)")      \
    X(GAUSSIAN, "gaussian", 0, SIGNATURE, PLAIN, NULL, NULL,                                       \
      "rp: Gaussian values instead of random signs")                                               \
    X(DENSITY, "density", 0, SIGNATURE, PLAIN, "X", NULL,                                          \
      "topsig: share of a term's positions that are +1, and that are -1 (default: 1/6)")           \
    X(VALUE_BITS, "value-bits", 0, SIGNATURE, PLAIN, "N", NULL,                                    \
      "minhash: bits kept of each value (default: 32)")                                            \
    X(MODEL1, "model1", 0, TRAINING, PLAIN, "N", NULL, "iterations of IBM Model 1 (default: 5)")   \
    X(AGREE, "agree", 0, TRAINING, PLAIN, "N", NULL,                                               \
      "iterations with positions and agreement of both directions (default: 5)")                   \
    X(DIAGONAL, "diagonal", 0, TRAINING, PLAIN, "X", NULL,                                         \
      "how strongly word order is preserved (default: 4)")                                         \
    X(NULL, "null", 0, TRAINING, PLAIN, "P", NULL,                                                 \
      "probability that a word has no counterpart (default: 0.08)")                                \
    X(MIN_COUNT, "min-count", 0, TRAINING, PLAIN, "N", NULL,                                       \
      "do not learn words with fewer occurrences (default: 2)")                                    \
    X(MAX_WORDS, "max-words", 0, TRAINING, PLAIN, "N", NULL,                                       \
      "skip sentences with more words (default: 70)")                                              \
    X(ENTRIES, "entries", 0, TRAINING, PLAIN, "N", NULL,                                           \
      "keep the N best translations per word (default: 15)")                                       \
    X(MASS, "mass", 0, TRAINING, PLAIN, "P", NULL,                                                 \
      "keep translations up to this share of the probability (default: 0.95)")                     \
    X(THREADS, "threads", 0, RUN, PLAIN, "N", NULL, "threads to use (default: all processors)")    \
    X(MEMORY, "memory", 0, RUN, PLAIN, "SIZE", NULL,                                               \
      "memory budget, such as 800M or 4G (default: none)")                                         \
    X(STATS, "stats", 0, RUN, WRITE, "FILE", NULL,                                                 \
      "write settings, counts and times as a "                                                     \
      "JSON object")                                                                               \
    X(QUIET, "quiet", 'q', RUN, PLAIN, NULL, NULL, "no progress, notices or summary")              \
    X(HELP, "help", 'h', RUN, PLAIN, NULL, NULL, "show the short help")                            \
    X(HELP_ALL, "help-all", 0, RUN, PLAIN, NULL, NULL, "show every option")                        \
    X(VERSION, "version", 0, RUN, PLAIN, NULL, NULL, "show the version")

enum option_id {
#define X(id, name, letter, group, kind, argument, choices, help) OPTION_##id,
    OPTIONS(X)
#undef X
        OPTION_COUNT
};

struct option {
    const char *name;
    char letter;
    enum option_group group;
    enum option_kind kind;
    const char *argument, *choices, *help;
};

enum { MAX_OPTIONS = 160 }; /* options and knobs */

/* A set of options as an array of identifiers that ends with OPTION_COUNT. */
typedef const enum option_id *option_set;

/* A text that replaces the help, or the choices, of an option in one command. */
struct option_text {
    enum option_id id;
    const char *text;
};

struct command;

/* The parsed command line: values by option ("" for a switch, NULL if absent), and the words that
 * are not options. */
struct arguments {
    const struct command *command;
    const char *name; /* of the command, with the action */
    const char *values[MAX_OPTIONS];
    const char **words;
    size_t word_count;
    int *word_places;        /* position of each word on the command line */
    int places[MAX_OPTIONS]; /* position of each option */
    size_t first_count;      /* words before --against; all of them if it is absent */
};

/* Options and knobs by number, 0 to option_total() - 1. */
int option_total(void);
const struct option *option_at(int id);
bool command_takes(const struct command *command, int id);
/* The help text and the choices of an option in this command. */
const char *option_help(const struct command *command, int id);
const char *option_choices(const struct command *command, int id);
/* The option or knob of the command by the first `length` bytes of `name` (older names are known
 * too), or by its letter; -1 if the command has none. */
int find_option(const struct command *command, const char *name, size_t length);
int find_letter(const struct command *command, char letter);

/* Parses argv[first ..] by the options of arguments->command. False after printing what is wrong.
 */
bool arguments_parse(struct arguments *arguments, int argc, char **argv, int first);
/* The first word of argv[first ..] that is neither an option of any command nor its argument; NULL
 * if there is none. It is the first of the words that arguments_parse finds. */
const char *first_word(int argc, char *const *argv, int first);
void arguments_free(struct arguments *arguments);

bool has_option(const struct arguments *arguments, enum option_id id);
/* The number of the choice, or `otherwise` if the option is absent. */
int choice_option(const struct arguments *arguments, enum option_id id, int otherwise);
/* Leave *value unchanged if the option is absent; false after printing what is wrong. */
bool number_option(const struct arguments *arguments, enum option_id id, uint64_t lowest,
                   uint64_t highest, uint64_t *value);
bool unsigned_option(const struct arguments *arguments, enum option_id id, unsigned lowest,
                     unsigned highest, unsigned *value);
bool real_option(const struct arguments *arguments, enum option_id id, double lowest,
                 double highest, double *value);
bool size_option(const struct arguments *arguments, enum option_id id, uint64_t *bytes);
bool parse_number(const struct arguments *arguments, const char *name, const char *text,
                  uint64_t lowest, uint64_t highest, uint64_t *value);
/* The index of `value` among '|'-separated choices, or -1. */
int find_choice(const char *choices, const char *value);

/* Prints the choice of this number. */
void print_choice(enum option_id id, int number);

/* The known name nearest to a misspelt word, by the number of letters inserted, deleted, changed or
 * swapped with the next. */
struct suggestion {
    size_t limit;     /* bytes of the word that count; 0: all */
    const char *name; /* NULL: nothing is near */
    unsigned distance;
};
/* Takes `name` if it is nearer to the word than earlier names and near enough: at most one mistake
 * plus one per four letters, or the word is a prefix of the name. */
void suggest(struct suggestion *best, const char *word, const char *name);

/* Prints "cognate COMMAND: message" and a hint at the help. Always false. */
bool usage_error(const struct arguments *arguments, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* If an option of the set was given, prints why it has no effect here and returns false. */
bool refuse_options(const struct arguments *arguments, option_set set, const char *why);

/* The library's methods and knobs as options. A command names the methods that it offers
 * (command.methods) and what it does with them (command.knobs); their knobs are then options of the
 * command, for parsing, help and completion alike. */

/* A knob as an option. Its identifier is OPTION_COUNT plus its number. Two methods may have knobs
 * of one name. */
struct knob {
    struct option option;
    const cog_knob *own;
    cog_method method;
};
int knob_count(void);
const struct knob *knob_at(int number);

/* The method that --method names; auto if it is absent. */
cog_method method_option(const struct arguments *arguments);
/* One line about it. */
const char *method_help(cog_method method);
bool has_knob(const struct arguments *arguments, const char *name);
/* Sets the knobs that were given and have one of these uses (COG_KNOB_*). Refuses knobs of another
 * method than the one that --method names; false after printing what is wrong. */
bool take_knobs(const struct arguments *arguments, unsigned uses, cog_knobs *knobs);
