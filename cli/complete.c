#include "complete.h"

#include <string.h>

static const char bash_script[] =
    "_cognate() {\n"
    "    local line word=${COMP_WORDS[COMP_CWORD]#=}\n"
    "    COMPREPLY=()\n"
    "    while IFS= read -r line; do\n"
    "        case $line in\n"
    "        :files)\n"
    "            compopt -o filenames 2>/dev/null\n"
    "            mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$word\")\n"
    "            ;;\n"
    "        \"$word\"*) COMPREPLY+=(\"${line%%$'\\t'*}\") ;;\n"
    "        esac\n"
    "    done < <(\"${COMP_WORDS[0]}\" help complete \"${COMP_WORDS[@]:1:COMP_CWORD}\" "
    "2>/dev/null)\n"
    "}\n"
    "complete -F _cognate cognate\n";

/* Options are described apart from other words: zsh offers what `_describe -o` has only for a word
 * that begins with a dash. */
static const char zsh_script[] = "#compdef cognate\n"
                                 "_cognate() {\n"
                                 "    local line files=0\n"
                                 "    local -a values options\n"
                                 "    for line in \"${(@f)$(${words[1]} help complete "
                                 "\"${(@)words[2,CURRENT]}\" 2>/dev/null)}\"; do\n"
                                 "        case $line in\n"
                                 "        :files) files=1 ;;\n"
                                 "        -*) options+=(\"${${line//:/\\\\:}/$'\\t'/:}\") ;;\n"
                                 "        ?*) values+=(\"${${line//:/\\\\:}/$'\\t'/:}\") ;;\n"
                                 "        esac\n"
                                 "    done\n"
                                 "    compset -P '--[^=]#='\n"
                                 "    (( $#options )) && _describe -o 'option' options\n"
                                 "    (( $#values )) && _describe 'value' values\n"
                                 "    (( files )) && _files\n"
                                 "}\n"
                                 "if [[ $funcstack[1] == _cognate ]]; then\n"
                                 "    _cognate \"$@\"\n"
                                 "else\n"
                                 "    compdef _cognate cognate\n"
                                 "fi\n";

static const char fish_script[] =
    "function __cognate_complete\n"
    "    set -l before (commandline -opc)\n"
    "    set -l token (commandline -ct)\n"
    "    set -l name (string match -r -- '^--[^=]*=' $token)\n"
    "    for line in ($before[1] help complete $before[2..-1] \"$token\" 2>/dev/null)\n"
    "        if test \"$line\" = :files\n"
    "            printf \"$name%s\\n\" (__fish_complete_path (string replace -- \"$name\" '' "
    "\"$token\"))\n"
    "        else\n"
    "            echo \"$name$line\"\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c cognate -f -a '(__cognate_complete)'\n";

bool print_completion(const char *shell, FILE *stream) {
    const char *script = strcmp(shell, "bash") == 0   ? bash_script
                         : strcmp(shell, "zsh") == 0  ? zsh_script
                         : strcmp(shell, "fish") == 0 ? fish_script
                                                      : NULL;
    if (script)
        fputs(script, stream);
    return script != NULL;
}

static void print_commands(void) {
    for (const struct command *const *command = commands; *command; command++)
        printf("%s\t%s\n", (*command)->name, (*command)->summary);
}

static void print_options(const struct command *command) {
    for (int id = 0; id < option_total(); id++) {
        const char *name = option_at(id)->name;
        if (command_takes(command, id) && find_option(command, name, strlen(name)) == id)
            printf("--%s\t%s\n", name, option_help(command, id));
    }
}

/* The choices of an option, or that it takes a path. */
static void print_values(const struct command *command, int id) {
    const char *choices = option_choices(command, id);
    if (option_at(id)->kind != KIND_PLAIN)
        puts(":files");
    while (choices && *choices) {
        int width = (int)strcspn(choices, "|");
        printf("%.*s", width, choices);
        for (int method = 0; id == OPTION_METHOD && method < COG_METHOD_COUNT; method++)
            if (strlen(cog_method_name((cog_method)method)) == (size_t)width &&
                strncmp(cog_method_name((cog_method)method), choices, (size_t)width) == 0)
                printf("\t%s", method_help((cog_method)method));
        putchar('\n');
        choices += width + (choices[width] == '|');
    }
}

/* The option whose argument the last word begins, after it or in it (--name=value); -1 if there is
 * none. */
static int find_waiting(const struct command *command, int count, char *const *words) {
    const char *last = words[count - 1], *equals = strchr(last, '=');
    if (strncmp(last, "--", 2) == 0 && equals) {
        int named = find_option(command, last + 2, (size_t)(equals - last) - 2);
        return named >= 0 && option_at(named)->argument ? named : -1;
    }
    int before = count - 2;
    if (before > 0 && strcmp(words[before], "=") == 0) /* bash cuts --name=value in three words */
        before--;
    if (strcmp(words[count - 1], "=") == 0)
        before = count - 2;
    const char *word = before > 0 ? words[before] : "";
    int id = word[0] != '-'   ? -1
             : word[1] == '-' ? find_option(command, word + 2, strlen(word + 2))
                              : find_letter(command, word[1]);
    return id >= 0 && option_at(id)->argument ? id : -1;
}

static void print_help_topics(int count) {
    static const char *const shells[] = {"bash", "zsh", "fish"};
    print_commands();
    for (size_t i = 0; count == 2 && i < sizeof shells / sizeof *shells; i++)
        printf("%s-completion\tthe completion script of this shell\n", shells[i]);
}

void print_candidates(int count, char *const *words) {
    const struct command *command = count > 0 ? find_command(words[0]) : NULL;
    if (count <= 1) {
        print_commands();
        puts("help\texplain a command");
        return;
    }
    if (!command) {
        if (strcmp(words[0], "help") == 0)
            print_help_topics(count);
        return;
    }
    if (command->actions) {
        const char *word = first_word(count - 1, words, 1);
        const struct command *action = word ? find_action(command, word) : NULL;
        for (const struct command *each = command->actions; !action && each->name; each++)
            printf("%s\t%s\n", each->name, each->summary);
        if (!action)
            return;
        command = action;
    }
    int waiting = find_waiting(command, count, words);
    if (waiting >= 0)
        print_values(command, waiting);
    else if (words[count - 1][0] == '-' && !strchr(words[count - 1], '='))
        print_options(command);
    else if (words[count - 1][0] != '-')
        puts(":files");
}
