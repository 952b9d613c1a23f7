#include "help.h"

#include <string.h>

enum { LINE = 80, INDENT = 26 };

static const char *const group_titles[] = {
    [GROUP_RESULT] = "Result",        [GROUP_MATCH] = "Matches",
    [GROUP_METHOD] = "Method",        [GROUP_ACROSS] = "Languages",
    [GROUP_INPUT] = "Input",          [GROUP_TERMS] = "Terms and weights",
    [GROUP_SIGNATURE] = "Signatures", [GROUP_TRAINING] = "Learning",
    [GROUP_RUN] = "Running",
};

/* ---- What help and man pages list ------------------------------------------------------------ */

static bool set_has(option_set set, int id) {
    for (; set && *set != OPTION_COUNT; set++)
        if ((int)*set == id)
            return true;
    return false;
}

/* Whether the short help lists the option: one that most people use, or that the command adds. */
static bool is_usual(const struct command *command, int id) {
    static const enum option_id usual[] = {
        OPTION_OUTPUT,     OPTION_FORMAT,    OPTION_CLUSTERS,     OPTION_KEEP,
        OPTION_IDS,        OPTION_MARGINS,   OPTION_REMOVED_IDS,  OPTION_ONE_TO_ONE,
        OPTION_GOLD,       OPTION_SENTENCES, OPTION_NO_VECTORS,   OPTION_AGAINST,
        OPTION_MEASURE,    OPTION_THRESHOLD, OPTION_RADIUS,       OPTION_NEIGHBOURS,
        OPTION_MIN_URLS,   OPTION_METHOD,    OPTION_RECALL,       OPTION_SAMPLE,
        OPTION_SEEDS,      OPTION_FROM,      OPTION_TO,           OPTION_FROM_LANG,
        OPTION_TO_LANG,    OPTION_LEXICON,   OPTION_PAIRS_FORMAT, OPTION_TABLE_FORMAT,
        OPTION_TEXT_FIELD, OPTION_ID_FIELD,  OPTION_LINES,        OPTION_MIN_COUNT,
        OPTION_ENTRIES,    OPTION_MEMORY,    OPTION_QUIET,        OPTION_PRECISION,
        OPTION_COUNT};
    return set_has(usual, id) || set_has(command->usual, id);
}

/* Calls print(option) for every option that is shown, with title(text) before each group. */
struct listing {
    const struct command *command;
    bool all;
    FILE *stream;
    void (*title)(FILE *stream, const char *text, const char *more);
    void (*print)(FILE *stream, const struct command *command, int id);
};

/* The options of a group; of GROUP_KNOBS those of one method. */
static void list_group(const struct listing *listing, enum option_group group, cog_method method) {
    bool begun = false;
    for (int id = 0; id < option_total(); id++) {
        if (!command_takes(listing->command, id) || option_at(id)->group != group ||
            (group == GROUP_KNOBS ? knob_at(id - OPTION_COUNT)->method != method
                                  : !listing->all && !is_usual(listing->command, id)))
            continue;
        if (!begun && group == GROUP_KNOBS)
            listing->title(listing->stream, cog_method_name(method), method_help(method));
        else if (!begun)
            listing->title(listing->stream, group_titles[group], NULL);
        begun = true;
        listing->print(listing->stream, listing->command, id);
    }
}

static void list_options(const struct listing *listing) {
    for (int group = 0; group < GROUP_KNOBS; group++)
        list_group(listing, (enum option_group)group, COG_METHOD_AUTO);
    for (int method = 0; listing->all && method < COG_METHOD_COUNT; method++)
        list_group(listing, GROUP_KNOBS, (cog_method)method);
}

/* ---- Help ------------------------------------------------------------------------------------ */

/* Prints words up to LINE columns; further lines begin at column `indent`, the first one at
 * `column`. Newlines of the text stay. */
static void print_wrapped(const char *text, int column, int indent, FILE *stream) {
    bool begun = false;
    while (*text) {
        int width = (int)strcspn(text, " \n");
        if (begun && column + 1 + width > LINE) {
            fprintf(stream, "\n%*s", indent, "");
            column = indent;
        } else if (begun) {
            fputc(' ', stream);
            column++;
        }
        fprintf(stream, "%.*s", width, text);
        column += width;
        begun = true;
        text += width;
        for (; *text == '\n'; text++) {
            fputc('\n', stream);
            column = 0;
            begun = false;
        }
        text += *text == ' ';
    }
    fputc('\n', stream);
}

static void print_title(FILE *stream, const char *text, const char *more) {
    char title[256];
    snprintf(title, sizeof title, more ? "\nMethod %s (%s):" : "\n%s:", text, more);
    print_wrapped(title, 0, 2, stream);
}

static void print_option(FILE *stream, const struct command *command, int id) {
    const struct option *option = option_at(id);
    const char *choices = option_choices(command, id);
    char left[128];
    int length = option->letter
                     ? snprintf(left, sizeof left, "  -%c, --%s", option->letter, option->name)
                     : snprintf(left, sizeof left, "      --%s", option->name);
    if (option->argument)
        length += snprintf(left + length, sizeof left - (size_t)length, " %s",
                           choices ? choices : option->argument);
    if (length + 2 <= INDENT)
        fprintf(stream, "%-*s", INDENT, left);
    else
        fprintf(stream, "%s\n%*s", left, INDENT, "");
    print_wrapped(option_help(command, id), INDENT, INDENT, stream);
}

/* "name     what it does" */
static void print_row(const char *name, int width, const char *text, FILE *stream) {
    fprintf(stream, "  %-*s ", width, name);
    print_wrapped(text, width + 3, width + 3, stream);
}

static void print_methods(const struct command *command, FILE *stream) {
    if (!command->methods)
        return;
    fputs("\nMethods:\n", stream);
    for (int method = 0; method < COG_METHOD_COUNT; method++)
        if (find_choice(command->methods, cog_method_name((cog_method)method)) >= 0)
            print_row(cog_method_name((cog_method)method), 8, method_help((cog_method)method),
                      stream);
}

static void print_examples(const char *examples, FILE *stream) {
    fputs("\nExamples:\n", stream);
    while (*examples) {
        int width = (int)strcspn(examples, "\n");
        fprintf(stream, "  %.*s\n", width, examples);
        examples += width + (examples[width] == '\n');
    }
}

static void print_actions(const struct command *command, FILE *stream) {
    fputs("\nActions:\n", stream);
    for (const struct command *action = command->actions; action->name; action++)
        print_row(action->name, 10, action->summary, stream);
    fprintf(stream, "\n`cognate %s ACTION --help` explains an action and its options.\n",
            command->name);
}

/* The description: all of it, or its first paragraph. */
static void print_description(const char *text, bool all, FILE *stream) {
    const char *end = all ? NULL : strstr(text, "\n\n");
    char first[1024];
    snprintf(first, sizeof first, "%.*s", end ? (int)(end - text) : (int)strlen(text), text);
    fputc('\n', stream);
    print_wrapped(end ? first : text, 0, 0, stream);
}

void print_help(const struct command *command, const struct command *action, bool all,
                FILE *stream) {
    const struct command *shown = action ? action : command;
    fprintf(stream, "usage: cognate %s %s%s", command->name, action ? action->name : "",
            action ? " " : "");
    print_wrapped(shown->synopsis, 20, 7, stream);
    if (all || !shown->description || shown->actions)
        fprintf(stream, "\n%s: %s\n", shown->name, shown->summary);
    if (shown->description)
        print_description(shown->description, all || shown->actions, stream);
    if (shown->examples)
        print_examples(shown->examples, stream);
    if (shown->actions) {
        print_actions(shown, stream);
        return;
    }
    if (all)
        print_methods(shown, stream);
    list_options(&(struct listing){shown, all, stream, print_title, print_option});
    if (!all)
        fprintf(stream, "\n`cognate %s%s%s --help-all` lists every option; see cognate-%s(1).\n",
                command->name, action ? " " : "", action ? action->name : "", command->name);
}

void print_overview(FILE *stream) {
    fputs("usage: cognate COMMAND [OPTIONS] ...\n\n"
          "Finds documents that say the same thing.\n\nExamples:\n"
          "  cognate dedup crawl.jsonl.gz -o kept.jsonl.gz\n"
          "  cognate pairs pages.jsonl --threshold 0.9\n\nCommands:\n",
          stream);
    for (const struct command *const *command = commands; *command; command++)
        print_row((*command)->name, 10, (*command)->summary, stream);
    fputs("\n`cognate COMMAND --help` explains a command; --version prints the version.\n", stream);
}

/* ---- Man pages ------------------------------------------------------------------------------- */

/* In man pages a backslash starts an escape, a hyphen must be marked as a plain minus, and a line
 * must not start with a dot. An empty line is a new paragraph. */
static void print_roff(const char *text, FILE *stream) {
    bool at_start = true;
    for (; *text; text++) {
        if (at_start && (*text == '.' || *text == '\''))
            fputs("\\&", stream);
        if (at_start && *text == '\n')
            fputs(".PP", stream);
        at_start = *text == '\n';
        if (*text == '\\')
            fputs("\\e", stream);
        else if (*text == '-')
            fputs("\\-", stream);
        else
            fputc(*text, stream);
    }
}

static void print_roff_line(const char *text, FILE *stream) {
    print_roff(text, stream);
    fputc('\n', stream);
}

static void print_roff_examples(const char *examples, FILE *stream) {
    fputs(".PP\n.nf\n", stream);
    print_roff_line(examples, stream);
    fputs(".fi\n", stream);
}

static void print_roff_title(FILE *stream, const char *text, const char *more) {
    fprintf(stream, more ? ".SS Method %s\n%s\n" : ".SS %s\n", text, more);
}

static void print_roff_option(FILE *stream, const struct command *command, int id) {
    const struct option *option = option_at(id);
    const char *choices = option_choices(command, id);
    fputs(".TP\n.B ", stream);
    if (option->letter)
        fprintf(stream, "\\-%c, ", option->letter);
    fputs("\\-\\-", stream);
    print_roff(option->name, stream);
    fprintf(stream, " %s\n", option->argument ? option->argument : "");
    print_roff_line(option_help(command, id), stream);
    if (choices) {
        fputs("(one of ", stream);
        print_roff(choices, stream);
        fputs(")\n", stream);
    }
}

static void print_roff_body(const struct command *command, FILE *stream) {
    print_roff_line(command->description ? command->description : command->summary, stream);
}

/* Options of a command, or one section per action. */
static void print_roff_options(const struct command *command, FILE *stream) {
    struct listing listing = {command, true, stream, print_roff_title, print_roff_option};
    if (!command->actions) {
        fputs(".SH OPTIONS\n", stream);
        list_options(&listing);
        return;
    }
    for (const struct command *action = command->actions; action->name; action++) {
        fprintf(stream, ".SH ACTION %s\n.B cognate %s %s\n", action->name, command->name,
                action->name);
        print_roff_line(action->synopsis, stream);
        fputs(".PP\n", stream);
        print_roff_body(action, stream);
        if (action->examples)
            print_roff_examples(action->examples, stream);
        listing.command = action;
        list_options(&listing);
    }
}

static void print_see_also(const char *names, FILE *stream) {
    fputs(".SH SEE ALSO\n.BR cognate (1)", stream);
    while (names && *names) {
        int width = (int)strcspn(names, " ");
        fprintf(stream, ",\n.BR cognate\\-%.*s (1)", width, names);
        names += width + (names[width] == ' ');
    }
    fputc('\n', stream);
}

static const char exit_status[] =
    ".SH EXIT STATUS\n0 done, 1 nothing found, 2 wrong usage or input, 3 out of memory or disk, or "
    "an index that another process is changing, 130 interrupted (Ctrl\\-C), 143 ended by SIGTERM\n";

static void print_program_page(FILE *stream) {
    char names[256] = "";
    fputs(".TH COGNATE 1\n.SH NAME\ncognate \\- finds documents that say the same thing\n"
          ".SH SYNOPSIS\n.B cognate\n.I COMMAND\n[OPTIONS]\n.SH COMMANDS\n",
          stream);
    for (const struct command *const *command = commands; *command; command++) {
        fprintf(stream, ".TP\n.BR cognate\\-%s (1)\n", (*command)->name);
        print_roff_line((*command)->summary, stream);
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", names[0] ? " " : "",
                 (*command)->name);
    }
    fputs(".SH EXAMPLES\n", stream);
    print_roff_examples(command_dedup.examples, stream);
    print_roff_examples(command_pairs.examples, stream);
    fputs(exit_status, stream);
    print_see_also(names, stream);
}

void print_man_page(const struct command *command, FILE *stream) {
    if (!command) {
        print_program_page(stream);
        return;
    }
    fprintf(stream, ".TH COGNATE-%s 1\n.SH NAME\ncognate\\-%s \\- ", command->name, command->name);
    print_roff_line(command->summary, stream);
    fprintf(stream, ".SH SYNOPSIS\n.B cognate %s\n", command->name);
    print_roff_line(command->synopsis, stream);
    fputs(".SH DESCRIPTION\n", stream);
    print_roff_body(command, stream);
    print_roff_options(command, stream);
    fputs(exit_status, stream);
    fputs(".SH EXAMPLES\n", stream);
    print_roff_examples(command->examples, stream);
    print_see_also(command->see, stream);
}
