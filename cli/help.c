#include <string.h>

#include "command.h"

/* Itself, or one of its actions. */
static bool command_takes(const struct command *command, int id) {
    for (const option_set *sets = command->sets; sets && *sets; sets++)
        for (option_set set = *sets; *set != OPTION_COUNT; set++)
            if ((int)*set == id)
                return true;
    for (const struct command *action = command->actions; action && action->name; action++)
        if (command_takes(action, id))
            return true;
    return false;
}

static void print_option(const struct option_spec *spec, FILE *stream) {
    char left[64];
    int length = spec->letter ? snprintf(left, sizeof left, "-%c, --%s", spec->letter, spec->name)
                              : snprintf(left, sizeof left, "    --%s", spec->name);
    if (spec->argument)
        snprintf(left + length, sizeof left - (size_t)length, " %s", spec->argument);
    fprintf(stream, "  %-28s %s\n", left, spec->help);
    if (spec->choices)
        fprintf(stream, "  %-28s one of %s\n", "", spec->choices);
}

static void print_actions(const struct command *command, FILE *stream) {
    fprintf(stream, "\nactions:\n");
    for (const struct command *action = command->actions; action->name; action++)
        fprintf(stream, "  %s %s\n      %s\n", action->name, action->synopsis, action->summary);
    fprintf(stream, "\n`cognate %s ACTION --help` tells more of an action, and its options.\n",
            command->name);
}

static void print_options(const struct command *command, FILE *stream) {
    fprintf(stream, "\noptions:\n");
    for (int id = 0; id < OPTION_COUNT; id++)
        if (command_takes(command, id))
            print_option(&option_specs[id], stream);
}

void print_help(const struct command *command, const struct command *action, FILE *stream) {
    const struct command *shown = action ? action : command;
    fprintf(stream, "usage: cognate %s ", command->name);
    if (action)
        fprintf(stream, "%s ", action->name);
    fprintf(stream, "%s\n\n%s\n", shown->synopsis, shown->summary);
    if (shown->description)
        fprintf(stream, "\n%s\n", shown->description);
    if (shown->actions)
        print_actions(shown, stream);
    else
        print_options(shown, stream);
}

/* In man pages a backslash starts an escape, a hyphen is to be a plain minus, and a line may not
 * start with a dot. */
static void print_roff(const char *text, FILE *stream) {
    for (; *text; text++) {
        if (*text == '\\')
            fputs("\\e", stream);
        else if (*text == '-')
            fputs("\\-", stream);
        else
            fputc(*text, stream);
    }
}

static void print_roff_paragraphs(const char *text, FILE *stream) {
    while (*text) {
        size_t width = strcspn(text, "\n");
        if (*text == '.' || *text == '\'')
            fputs("\\&", stream);
        if (width)
            for (size_t i = 0; i < width; i++)
                print_roff((char[]){text[i], '\0'}, stream);
        else
            fputs(".PP", stream);
        fputc('\n', stream);
        text += width + (text[width] == '\n');
    }
}

static void print_program_page(FILE *stream) {
    fputs(".TH COGNATE 1\n.SH NAME\ncognate \\- finds documents that say the same thing\n"
          ".SH SYNOPSIS\n.B cognate\n.I COMMAND\n[OPTIONS]\n.SH COMMANDS\n",
          stream);
    for (const struct command *const *command = commands; *command; command++) {
        fprintf(stream, ".TP\n.BR cognate\\-%s (1)\n", (*command)->name);
        print_roff((*command)->summary, stream);
        fputc('\n', stream);
    }
}

static void print_roff_description(const struct command *command, FILE *stream) {
    print_roff_paragraphs(command->summary, stream);
    if (command->description) {
        fputs(".PP\n", stream);
        print_roff_paragraphs(command->description, stream);
    }
    for (const struct command *action = command->actions; action && action->name; action++) {
        fprintf(stream, ".SS %s ", action->name);
        print_roff(action->synopsis, stream);
        fputc('\n', stream);
        print_roff_description(action, stream);
    }
}

static void print_roff_option(const struct option_spec *spec, FILE *stream) {
    fputs(".TP\n.B ", stream);
    if (spec->letter)
        fprintf(stream, "\\-%c, ", spec->letter);
    fputs("\\-\\-", stream);
    print_roff(spec->name, stream);
    fprintf(stream, " %s\n", spec->argument ? spec->argument : "");
    print_roff(spec->help, stream);
    fputc('\n', stream);
    if (spec->choices)
        fprintf(stream, "(one of %s)\n", spec->choices);
}

void print_man_page(const struct command *command, FILE *stream) {
    if (!command) {
        print_program_page(stream);
        return;
    }
    fprintf(stream,
            ".TH COGNATE-%s 1\n.SH NAME\ncognate\\-%s \\- %s\n.SH SYNOPSIS\n.B cognate %s\n",
            command->name, command->name, command->summary, command->name);
    print_roff(command->synopsis, stream);
    fputs("\n.SH DESCRIPTION\n", stream);
    print_roff_description(command, stream);
    fputs(".SH OPTIONS\n", stream);
    for (int id = 0; id < OPTION_COUNT; id++)
        if (command_takes(command, id))
            print_roff_option(&option_specs[id], stream);
    fputs(".SH EXIT STATUS\n0 done, 1 nothing found, 2 wrong usage or input, 3 out of memory or "
          "disk, or an index that another process is changing, 130 interrupted\n",
          stream);
}

void print_completion(FILE *stream) {
    fputs("_cognate() {\n    local word=${COMP_WORDS[COMP_CWORD]} options= actions=\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -W \"",
          stream);
    for (const struct command *const *command = commands; *command; command++)
        fprintf(stream, "%s ", (*command)->name);
    fputs("help\" -- \"$word\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n", stream);
    for (const struct command *const *command = commands; *command; command++) {
        fprintf(stream, "    %s) options=\"", (*command)->name);
        for (int id = 0; id < OPTION_COUNT; id++)
            if (command_takes(*command, id))
                fprintf(stream, "--%s ", option_specs[id].name);
        fputs("\" actions=\"", stream);
        for (const struct command *action = (*command)->actions; action && action->name; action++)
            fprintf(stream, "%s ", action->name);
        fputs("\" ;;\n", stream);
    }
    fputs("    esac\n    if [ \"$COMP_CWORD\" -eq 2 ] && [ -n \"$actions\" ]; then\n"
          "        COMPREPLY=($(compgen -W \"$actions --help\" -- \"$word\"))\n        return\n    "
          "fi\n"
          "    case $word in\n    -*) COMPREPLY=($(compgen -W \"$options\" -- "
          "\"$word\")) ;;\n"
          "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n    esac\n}\n"
          "complete -F _cognate cognate\n",
          stream);
}
