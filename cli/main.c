#include <errno.h>
#include <string.h>

#include "command.h"

/* As a user meets them. */
const struct command *const commands[] = {&command_dedup,
                                          &command_pairs,
                                          &command_index,
                                          &command_search,
                                          &command_related,
                                          &command_lexicon,
                                          &command_link,
                                          &command_explain,
                                          &command_sign,
                                          &command_eval,
                                          NULL};

static void print_overview(FILE *stream) {
    fputs("usage: cognate COMMAND [OPTIONS] ...\n\n"
          "Finds documents that say the same thing.\n\ncommands:\n",
          stream);
    for (const struct command *const *command = commands; *command; command++)
        fprintf(stream, "  %-10s %s\n", (*command)->name, (*command)->summary);
    fputs("\n`cognate COMMAND --help` tells the options of a command, `cognate --version` the "
          "version.\n",
          stream);
}

static const struct command *find_command(const char *name) {
    for (const struct command *const *command = commands; *command; command++)
        if (strcmp((*command)->name, name) == 0)
            return *command;
    return NULL;
}

static const struct command *find_action(const struct command *command, const char *name) {
    for (const struct command *action = command->actions; action && action->name; action++)
        if (strcmp(action->name, name) == 0)
            return action;
    return NULL;
}

/* cognate help [COMMAND [ACTION] | names | man [COMMAND] | bash-completion] */
static int run_help(int argc, char **argv) {
    const char *topic = argc > 2 ? argv[2] : "";
    const struct command *command = find_command(topic);
    const struct command *page = argc > 3 ? find_command(argv[3]) : NULL;
    const struct command *action = command && argc > 3 ? find_action(command, argv[3]) : NULL;
    if (strcmp(topic, "names") == 0)
        for (const struct command *const *each = commands; *each; each++)
            puts((*each)->name);
    else if (strcmp(topic, "man") == 0 && (argc == 3 || page))
        print_man_page(page, stdout);
    else if (strcmp(topic, "bash-completion") == 0)
        print_completion(stdout);
    else if (command && (argc == 3 || action))
        print_help(command, action, stdout);
    else if (argc == 2)
        print_overview(stdout);
    else {
        fprintf(stderr, "cognate: no help on '%s'; see cognate help\n", argv[argc - 1]);
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}

/* Whether there is an action, or none to choose from. */
static bool check_action(const struct command *command, const struct command *action,
                         const struct arguments *arguments) {
    if (!command->actions || action)
        return true;
    char names[128] = "";
    for (const struct command *each = command->actions; each->name; each++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
                 each == command->actions ? "" : "|", each->name);
    return usage_error(arguments, "say what to do: %s", names);
}

static int run_command(const struct command *command, int argc, char **argv) {
    static const option_set without_action[] = {run_options, NULL};
    const char *word = first_word(argc, argv, 2); /* options may stand before it */
    const struct command *action = word ? find_action(command, word) : NULL;
    const struct command *chosen = action ? action : command;
    char name[64];
    snprintf(name, sizeof name, "%s%s%s", command->name, action ? " " : "",
             action ? action->name : "");
    struct arguments arguments = {.command = name};
    int code = EXIT_USAGE;
    if (arguments_parse(&arguments, chosen->sets ? chosen->sets : without_action, argc, argv, 2)) {
        if (has_option(&arguments, OPTION_VERSION)) {
            printf("cognate %s\n", cog_version());
            code = EXIT_DONE;
        } else if (has_option(&arguments, OPTION_HELP)) {
            print_help(command, action, stdout);
            code = EXIT_DONE;
        } else if (check_action(command, action, &arguments)) {
            code = chosen->run(&arguments);
        }
    }
    arguments_free(&arguments);
    return code;
}

/* What was printed may wait in a buffer until the end; a reader who has gone is no error. */
static int finish_printing(int code) {
    if (fflush(stdout) == 0 || errno == EPIPE)
        return code;
    fprintf(stderr, "cognate: standard output: cannot write: %s\n", strerror(errno));
    return EXIT_RESOURCES;
}

static int run_program(int argc, char **argv) {
    if (argc < 2) {
        print_overview(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("cognate %s\n", cog_version());
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
        strcmp(argv[1], "-h") == 0)
        return run_help(argc, argv);
    const struct command *command = find_command(argv[1]);
    if (!command) {
        fprintf(stderr, "cognate: no command '%s'; see cognate help\n", argv[1]);
        return EXIT_USAGE;
    }
    return run_command(command, argc, argv);
}

int main(int argc, char **argv) {
    return finish_printing(run_program(argc, argv));
}
