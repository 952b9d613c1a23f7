/* What a command is, and what all commands share: options are converted to the library's structs,
 * the job runs with progress and Ctrl-C, and at the end notices, statistics and messages are
 * printed and the exit code is set. */
#pragma once

#include <stdio.h>

#include "options.h"

/* Makes the call only if status is COG_OK. */
#define THEN(status, call) ((status) = (status) == COG_OK ? (call) : (status))

/* Prints what is wrong; COG_ERR_USAGE. */
#define REFUSE(arguments, ...) (usage_error(arguments, __VA_ARGS__), COG_ERR_USAGE)

enum exit_code {
    EXIT_DONE = 0,
    EXIT_NOTHING = 1,
    EXIT_USAGE = 2,
    EXIT_RESOURCES = 3,
};

/* A command that runs: its arguments, and what the job fills. */
struct session {
    const struct arguments *arguments;
    cog_run_options run;
    cog_report *report;
    cog_error error;
    double seconds;     /* of the run, for the summary */
    bool found_nothing; /* the exit code is then 1 */
};

/* A command, or an action of one, such as build of cognate index. A command with actions has
 * neither options nor run: the actions have them. */
struct command {
    const char *name;
    const char *synopsis;    /* what follows the name */
    const char *summary;     /* one line without a stop */
    const char *description; /* paragraphs with an empty line between; the first is short */
    const char *examples;    /* two or more command lines */
    const option_set *sets;  /* ends with NULL */
    option_set usual;        /* options that the short help adds to what every command shows */
    const struct option_text *texts;   /* help texts; ends with a text of NULL; may be NULL */
    const struct option_text *choices; /* the same for choices */
    const char *methods;               /* choices of --method, separated by '|' */
    unsigned knobs;                    /* COG_KNOB_*: which knobs of these methods are options */
    const char *without;               /* knobs that are not options here, separated by '|' */
    const char *see;                   /* names of related commands, separated by spaces */
    /* COG_ERR_USAGE with an empty message: the error has been printed already. */
    cog_status (*run)(struct session *session);
    void (*summarize)(const struct session *session); /* unless --quiet; may be NULL */
    const struct command *actions; /* ends with a name of NULL; NULL if there are none */
};

extern const struct command command_dedup, command_pairs, command_index, command_search,
    command_related, command_lexicon, command_link, command_explain, command_sign, command_eval;
extern const struct command *const commands[]; /* ends with NULL */
const struct command *find_command(const char *name);
const struct command *find_action(const struct command *command, const char *name);

/* Groups of options that several commands take. */
extern const enum option_id input_options[], term_options[], weight_options[], signature_options[],
    pair_options[], projection_options[], run_options[], margin_options[];

/* False after printing what is wrong. */
bool take_input_options(const struct arguments *arguments, cog_input_options *options);
bool take_term_options(const struct arguments *arguments, cog_term_options *options);
bool take_weight_options(const struct arguments *arguments, cog_weight_options *options);
bool take_signature_options(const struct arguments *arguments, cog_signature_options *options);
/* Sets the kind, its usual terms and weights, then the given options. */
bool take_sign_options(const struct arguments *arguments, cog_signature_kind otherwise,
                       cog_sign_options *options);
/* Overwrites `options`, which hold the measure and its usual values, with the given ones. */
bool take_pairs_options(const struct arguments *arguments, cog_pairs_options *options);
/* All options except the method of the index. */
bool take_index_options(const struct arguments *arguments, cog_index_options *options);
/* Refuses options of signatures that differ from those of the index. */
cog_status expect_sign_options(const struct arguments *arguments, const cog_index *index,
                               cog_error *error);
bool take_search_options(const struct arguments *arguments, cog_search_options *options);
/* With --lexicon, projects the documents by it; free *lexicon after the documents. */
cog_status project_documents(struct session *session, cog_documents *documents,
                             cog_lexicon **lexicon);
bool take_projection_options(const struct arguments *arguments, cog_projection_options *options);
/* With --margins, reads the margins of the signatures; free *margins after their values. */
cog_status open_margins(struct session *session, const cog_signatures *signatures,
                        cog_weights **margins, const float **values);
/* False, after printing why, if options were given that do nothing here: of weights, where sets are
 * compared; of a lexicon, where signatures are; of margins, where documents are. */
bool refuse_weights(const struct arguments *arguments);
bool refuse_lexicon(const struct arguments *arguments);
bool refuse_margins(const struct arguments *arguments);
/* Whether the given options agree with --lexicon, or with its absence. */
bool check_lexicon_options(const struct arguments *arguments);
/* --output, or "-". */
const char *output_path(const struct arguments *arguments);
cog_output_format output_format(const struct arguments *arguments);
/* The option's own value and the words after it, up to the other option (link, explain). */
cog_status open_side(const struct arguments *arguments, enum option_id id, enum option_id other,
                     const cog_input_options *input, cog_documents **documents, cog_error *error);
/* "known 10 links 9 precision ..." */
void print_link_scores(const cog_link_scores *scores, FILE *stream);
/* Opens the value of --against: an index if it is one, otherwise documents. Options of terms that
 * are not given become those of the index, from which they borrow. */
cog_status open_reference(struct session *session, const cog_input_options *input,
                          cog_term_options *terms, cog_documents **documents, cog_index **index);
/* Writes the pairs to the output and frees them; after an error only frees them. */
cog_status write_pairs(struct session *session, cog_status status, cog_pairs *pairs);
/* "1 document", "2 documents". */
void print_count(double count, const char *noun, FILE *stream);
/* "; 2 records were skipped"; nothing for 0. */
void print_skipped(double skipped, const char *noun);

/* Runs the command by its arguments, which are parsed; returns the exit code. */
int run_session(const struct arguments *arguments);
