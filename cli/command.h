/* What a command is, and what all of them share: turning options into the library's, running with
 * progress and Ctrl-C, reporting, exit codes. */
#pragma once

#include <stdio.h>

#include "options.h"

enum exit_code {
    EXIT_DONE = 0,
    EXIT_NOTHING = 1,
    EXIT_USAGE = 2,
    EXIT_RESOURCES = 3,
    EXIT_INTERRUPTED = 130
};

/* A command, or an action of one, such as build of cognate index. */
struct command {
    const char *name;
    const char *synopsis; /* what follows the name */
    const char *summary;
    const char *description; /* paragraphs for help and man page; NULL: the summary says it all */
    const option_set *sets;  /* ends with NULL; of a command with actions, these have their own */
    int (*run)(const struct arguments *arguments);
    const struct command *actions; /* ends with a name of NULL; NULL where there are none */
};

extern const struct command command_eval, command_dedup, command_pairs, command_related,
    command_sign, command_lexicon;
extern const struct command command_index, command_search;
extern const struct command command_link, command_explain;

extern const struct command *const commands[]; /* ends with NULL */

/* Groups of options that several commands take. */
extern const enum option_id input_options[], term_options[], weight_options[], signature_options[],
    pair_options[], lsh_options[], between_options[], projection_options[], run_options[];

/* False after printing what is wrong. */
bool take_input_options(const struct arguments *arguments, cog_input_options *options);
bool take_term_options(const struct arguments *arguments, cog_term_options *options);
bool take_weight_options(const struct arguments *arguments, cog_weight_options *options);
bool take_signature_options(const struct arguments *arguments, cog_signature_options *options);
/* Kind, terms and weights of the kind, then what was given for each. */
bool take_sign_options(const struct arguments *arguments, cog_signature_kind otherwise,
                       cog_sign_options *options);
cog_method method_option(const struct arguments *arguments);
/* The knobs of a method; those of another one are refused. */
bool take_method_options(const struct arguments *arguments, cog_method method, cog_knobs *knobs,
                         double *recall);
/* Sets a knob of the method if its option is given; true too if the method has no such knob. */
bool take_knob(const struct arguments *arguments, enum option_id id, cog_method method,
               const char *name, cog_knobs *knobs);
/* The measure's usual options, then what was given. */
bool take_pairs_options(const struct arguments *arguments, cog_measure otherwise,
                        cog_pairs_options *options);
/* Everything but the index's own method. */
bool take_index_options(const struct arguments *arguments, cog_index_options *options);
/* Refuses options that decide signatures and are not those of the index. */
cog_status expect_sign_options(const struct arguments *arguments, const cog_index *index,
                               cog_error *error);
bool take_search_options(const struct arguments *arguments, cog_search_options *options);
bool take_related_options(const struct arguments *arguments, cog_related_options *options);
bool take_projection_options(const struct arguments *arguments, cog_projection_options *options);
bool take_run_options(const struct arguments *arguments, cog_run_options *run);
/* Whether what was given agrees with --lexicon, or with its absence. */
bool check_lexicon_options(const struct arguments *arguments);

/* False after printing that an option of the set was given, and why it does nothing here. */
bool refuse_options(const struct arguments *arguments, option_set set, const char *why);
/* Prints a message of the library on standard error; what a terminal would obey is escaped. */
void print_message(const char *text);
/* The end of every command that lists pairs: writes them where the options say and ends the job. */
int finish_pairs(const struct arguments *arguments, cog_status status, cog_error *error,
                 cog_report *report, const cog_pairs *pairs);

/* The option's own value and the words behind it, up to the other option (link, explain). */
cog_status open_side(const struct arguments *arguments, enum option_id id, enum option_id other,
                     const cog_input_options *input, cog_documents **documents, cog_error *error);
/* "known 10 links 9 precision ..." */
void print_link_scores(const cog_link_scores *scores, FILE *stream);

/* After a job: notices and --stats; returns the exit code of status, error printed. */
int finish_job(const struct arguments *arguments, cog_status status, cog_error *error,
               cog_report *report);

/* action: one of the command's, or NULL. */
void print_help(const struct command *command, const struct command *action, FILE *stream);
/* The same in the language of man pages (NULL: the page of the program itself), and a completion
 * script for bash. */
void print_man_page(const struct command *command, FILE *stream);
void print_completion(FILE *stream);
