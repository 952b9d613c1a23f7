#include <errno.h>
#include <string.h>

#include "complete.h"
#include "help.h"

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

const struct command *find_command(const char *name) {
    for (const struct command *const *command = commands; *command; command++)
        if (strcmp((*command)->name, name) == 0)
            return *command;
    return NULL;
}

const struct command *find_action(const struct command *command, const char *name) {
    for (const struct command *action = command->actions; action && action->name; action++)
        if (strcmp(action->name, name) == 0)
            return action;
    return NULL;
}

/* Prints "no command 'x'; did you mean y?". Always EXIT_USAGE. */
static int refuse_command(const char *what, const char *word) {
    struct suggestion best = {0};
    for (const struct command *const *command = commands; *command; command++)
        suggest(&best, word, (*command)->name);
    fprintf(stderr, "cognate: no %s '%s'", what, word);
    if (best.name)
        fprintf(stderr, " (did you mean %s?)", best.name);
    fputs("; see cognate help\n", stderr);
    return EXIT_USAGE;
}

/* cognate help [COMMAND [ACTION] | names | man [COMMAND] | SHELL-completion | complete WORD...] */
static int run_help(int argc, char **argv) {
    const char *topic = argc > 2 ? argv[2] : "";
    const char *ending = strstr(topic, "-completion");
    const struct command *command = find_command(topic);
    const struct command *page = argc > 3 ? find_command(argv[3]) : NULL;
    const struct command *action = command && argc > 3 ? find_action(command, argv[3]) : NULL;
    char shell[8];
    snprintf(shell, sizeof shell, "%.*s", ending ? (int)(ending - topic) : 0, topic);
    if (strcmp(topic, "complete") == 0)
        print_candidates(argc - 3, argv + 3);
    else if (strcmp(topic, "names") == 0)
        for (const struct command *const *each = commands; *each; each++)
            puts((*each)->name);
    else if (strcmp(topic, "man") == 0 && (argc == 3 || page))
        print_man_page(page, stdout);
    else if (command && (argc == 3 || action))
        print_help(command, action, false, stdout);
    else if (argc == 2)
        print_overview(stdout);
    else if (!print_completion(shell, stdout))
        return refuse_command("help on", argv[argc - 1]);
    return EXIT_DONE;
}

/* Whether there is an action, or none to choose from. */
static bool check_action(const struct command *command, const char *word,
                         const struct arguments *arguments) {
    struct suggestion best = {0};
    char names[128] = "";
    if (!command->actions || arguments->command != command)
        return true;
    for (const struct command *each = command->actions; each->name; each++) {
        suggest(&best, word ? word : "", each->name);
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
                 each == command->actions ? "" : "|", each->name);
    }
    if (best.name)
        return usage_error(arguments, "no action '%s' (did you mean %s?)", word, best.name);
    return usage_error(arguments, "name an action: %s", names);
}

static int run_command(const struct command *command, int argc, char **argv) {
    const char *word = first_word(argc, argv, 2); /* options may stand before it */
    const struct command *action = word ? find_action(command, word) : NULL;
    char name[64];
    snprintf(name, sizeof name, "%s%s%s", command->name, action ? " " : "",
             action ? action->name : "");
    struct arguments arguments = {.command = action ? action : command, .name = name};
    int code = EXIT_USAGE;
    if (command->actions && word && !action) { /* before options that only actions have */
        check_action(command, word, &arguments);
    } else if (arguments_parse(&arguments, argc, argv, 2)) {
        bool all = has_option(&arguments, OPTION_HELP_ALL);
        code = EXIT_DONE;
        if (has_option(&arguments, OPTION_VERSION))
            printf("cognate %s\n", cog_version());
        else if (all || has_option(&arguments, OPTION_HELP))
            print_help(command, action, all, stdout);
        else
            code = check_action(command, word, &arguments) ? run_session(&arguments) : EXIT_USAGE;
    }
    arguments_free(&arguments);
    return code;
}

/* Output may wait in a buffer until the end; a reader that has gone is no error. */
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
    return command ? run_command(command, argc, argv) : refuse_command("command", argv[1]);
}

int main(int argc, char **argv) {
    return finish_printing(run_program(argc, argv));
}
