#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

static const struct option options[OPTION_COUNT] = {
#define X(id, name, letter, group, kind, argument, choices, help)                                  \
    {name, letter, GROUP_##group, KIND_##kind, argument, choices, help},
    OPTIONS(X)
#undef X
};

bool usage_error(const struct arguments *arguments, const char *format, ...) {
    va_list list;
    va_start(list, format);
    fprintf(stderr, "cognate %s: ", arguments->name);
    vfprintf(stderr, format, list);
    fprintf(stderr, "; see cognate %s --help\n", arguments->name);
    va_end(list);
    return false;
}

bool refuse_options(const struct arguments *arguments, option_set set, const char *why) {
    for (; *set != OPTION_COUNT; set++)
        if (has_option(arguments, *set))
            return usage_error(arguments, "--%s %s", options[*set].name, why);
    return true;
}

/* ---- What a command takes -------------------------------------------------------------------- */

int option_total(void) {
    return OPTION_COUNT + knob_count();
}

const struct option *option_at(int id) {
    return id < OPTION_COUNT ? &options[id] : &knob_at(id - OPTION_COUNT)->option;
}

bool command_takes(const struct command *command, int id) {
    if (id >= OPTION_COUNT) {
        const struct knob *knob = knob_at(id - OPTION_COUNT);
        return knob->own->uses & command->knobs &&
               find_choice(command->methods, cog_method_name(knob->method)) >= 0 &&
               find_choice(command->without, knob->own->name) < 0;
    }
    static const option_set without[] = {run_options, NULL}; /* a command that needs an action */
    for (const option_set *sets = command->sets ? command->sets : without; *sets; sets++)
        for (option_set set = *sets; *set != OPTION_COUNT; set++)
            if ((int)*set == id)
                return true;
    return false;
}

/* What replaces the usual text of the option; else that. */
static const char *find_text(const struct option_text *texts, int id, const char *usual) {
    for (; texts && texts->text; texts++)
        if ((int)texts->id == id)
            return texts->text;
    return usual;
}

const char *option_help(const struct command *command, int id) {
    return find_text(command->texts, id, option_at(id)->help);
}

const char *option_choices(const struct command *command, int id) {
    return id == OPTION_METHOD ? command->methods
                               : find_text(command->choices, id, option_at(id)->choices);
}

static bool is_called(const struct option *option, const char *name, size_t length) {
    static const char older[] = "weights", newer[] = "margins";
    if (length == strlen(older) && strncmp(name, older, length) == 0)
        name = newer;
    return strncmp(option->name, name, length) == 0 && option->name[length] == '\0';
}

int find_option(const struct command *command, const char *name, size_t length) {
    for (int id = 0; id < option_total(); id++)
        if (is_called(option_at(id), name, length) && command_takes(command, id))
            return id;
    return -1;
}

int find_letter(const struct command *command, char letter) {
    for (int id = 0; id < OPTION_COUNT; id++)
        if (options[id].letter == letter && command_takes(command, id))
            return id;
    return -1;
}

/* ---- Did you mean ---------------------------------------------------------------------------- */

enum { LONGEST = 32 };

static unsigned least(unsigned a, unsigned b) {
    return a < b ? a : b;
}

/* Optimal string alignment of two words of at most LONGEST bytes. */
static unsigned edit_distance(const char *a, size_t a_size, const char *b, size_t b_size) {
    unsigned costs[LONGEST + 1][LONGEST + 1];
    for (size_t i = 0; i <= a_size; i++)
        for (size_t j = 0; j <= b_size; j++) {
            if (i == 0 || j == 0) {
                costs[i][j] = (unsigned)(i + j);
                continue;
            }
            unsigned cost = costs[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            cost = least(cost, least(costs[i - 1][j], costs[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost = least(cost, costs[i - 2][j - 2] + 1);
            costs[i][j] = cost;
        }
    return costs[a_size][b_size];
}

void suggest(struct suggestion *best, const char *word, const char *name) {
    size_t size = strlen(word), name_size = strlen(name);
    if (best->limit && size > best->limit)
        size = best->limit;
    if (size == 0 || size > LONGEST || name_size > LONGEST)
        return;
    unsigned distance = edit_distance(word, size, name, name_size);
    bool begins = size > 2 && strncmp(word, name, size) == 0;
    if (begins)
        distance = 1;
    if (distance <= 1 + size / 4 && distance < size && (!best->name || distance < best->distance)) {
        best->name = name;
        best->distance = distance;
    }
}

/* ---- Parsing --------------------------------------------------------------------------------- */

/* The option of any command; NULL if none has it. */
static const struct option *find_known(const char *word) {
    for (int id = 0; id < option_total(); id++) {
        const struct option *option = option_at(id);
        if (word[1] == '-' ? is_called(option, word + 2, strcspn(word + 2, "="))
                           : option->letter == word[1])
            return option;
    }
    return NULL;
}

static bool is_option(const char *word) {
    return word[0] == '-' && word[1] != '\0';
}

const char *first_word(int argc, char *const *argv, int first) {
    for (int i = first; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0)
            return i + 1 < argc ? argv[i + 1] : NULL;
        if (!is_option(argv[i]))
            return argv[i];
        const struct option *option = find_known(argv[i]);
        bool holds_value = argv[i][1] == '-' ? strchr(argv[i], '=') != NULL : argv[i][2] != '\0';
        i += option && option->argument && !holds_value;
    }
    return NULL;
}

int find_choice(const char *choices, const char *value) {
    size_t length = strlen(value);
    for (int number = 0; choices; number++) {
        size_t width = strcspn(choices, "|");
        if (width == length && strncmp(choices, value, width) == 0)
            return number;
        choices = choices[width] ? choices + width + 1 : NULL;
    }
    return -1;
}

static bool store(struct arguments *arguments, int id, const char *value) {
    const char *choices = option_choices(arguments->command, id);
    if (id == OPTION_AGAINST) {
        if (has_option(arguments, OPTION_AGAINST))
            return usage_error(arguments, "--against is given twice; list its inputs after one");
        arguments->first_count = arguments->word_count;
        arguments->words[arguments->word_count++] = value;
    }
    if (choices && find_choice(choices, value) < 0)
        return usage_error(arguments, "--%s %s: choose one of %s", option_at(id)->name, value,
                           choices);
    arguments->values[id] = value;
    return true;
}

/* An option that the command does not take: of another command, or misspelt. */
static bool refuse_option(const struct arguments *arguments, const char *word) {
    if (find_known(word))
        return usage_error(arguments, "takes no option %s", word);
    struct suggestion best = {.limit = word[1] == '-' ? strcspn(word + 2, "=") : 0};
    for (int id = 0; word[1] == '-' && id < option_total(); id++)
        if (command_takes(arguments->command, id))
            suggest(&best, word + 2, option_at(id)->name);
    if (best.name)
        return usage_error(arguments, "unknown option %s (did you mean --%s?)", word, best.name);
    return usage_error(arguments, "unknown option %s", word);
}

/* Takes the option at argv[*at] and, if it has one, its argument. */
static bool parse_option(struct arguments *arguments, int argc, char **argv, int *at) {
    const char *word = argv[*at];
    const char *value = NULL;
    int id;
    if (word[1] == '-') {
        size_t length = strcspn(word + 2, "=");
        id = find_option(arguments->command, word + 2, length);
        if (word[2 + length] == '=')
            value = word + 3 + length;
    } else {
        id = find_letter(arguments->command, word[1]);
        if (id >= 0 && word[2])
            value = word + 2;
    }
    if (id < 0)
        return refuse_option(arguments, word);
    const struct option *option = option_at(id);
    arguments->places[id] = *at;
    if (!option->argument)
        return value ? usage_error(arguments, "--%s takes no argument", option->name)
                     : store(arguments, id, "");
    if (!value && ++*at >= argc)
        return usage_error(arguments, "--%s needs %s", option->name, option->argument);
    return store(arguments, id, value ? value : argv[*at]);
}

static void add_word(struct arguments *arguments, const char *word, int place) {
    arguments->word_places[arguments->word_count] = place;
    arguments->words[arguments->word_count++] = word;
}

bool arguments_parse(struct arguments *arguments, int argc, char **argv, int first) {
    bool only_words = false;
    arguments->words = calloc((size_t)argc + 1, sizeof *arguments->words);
    arguments->word_places = calloc((size_t)argc + 1, sizeof *arguments->word_places);
    if (!arguments->words || !arguments->word_places)
        return usage_error(arguments, "out of memory");
    for (int i = first; i < argc; i++) {
        if (!only_words && strcmp(argv[i], "--") == 0)
            only_words = true;
        else if (only_words || !is_option(argv[i]))
            add_word(arguments, argv[i], i);
        else if (!parse_option(arguments, argc, argv, &i))
            return false;
    }
    if (!has_option(arguments, OPTION_AGAINST))
        arguments->first_count = arguments->word_count;
    return true;
}

void arguments_free(struct arguments *arguments) {
    free(arguments->words);
    free(arguments->word_places);
    arguments->words = NULL;
    arguments->word_places = NULL;
}

bool has_option(const struct arguments *arguments, enum option_id id) {
    return arguments->values[id] != NULL;
}

int choice_option(const struct arguments *arguments, enum option_id id, int otherwise) {
    const char *value = arguments->values[id];
    return value ? find_choice(option_choices(arguments->command, (int)id), value) : otherwise;
}

bool parse_number(const struct arguments *arguments, const char *name, const char *text,
                  uint64_t lowest, uint64_t highest, uint64_t *value) {
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end || errno || number < lowest || number > highest)
        return usage_error(arguments, "--%s %s: give a whole number from %llu to %llu", name, text,
                           (unsigned long long)lowest, (unsigned long long)highest);
    *value = number;
    return true;
}

bool number_option(const struct arguments *arguments, enum option_id id, uint64_t lowest,
                   uint64_t highest, uint64_t *value) {
    const char *text = arguments->values[id];
    return !text || parse_number(arguments, options[id].name, text, lowest, highest, value);
}

bool unsigned_option(const struct arguments *arguments, enum option_id id, unsigned lowest,
                     unsigned highest, unsigned *value) {
    uint64_t number = *value;
    bool good = number_option(arguments, id, lowest, highest, &number);
    *value = (unsigned)number;
    return good;
}

bool real_option(const struct arguments *arguments, enum option_id id, double lowest,
                 double highest, double *value) {
    const char *text = arguments->values[id];
    if (!text)
        return true;
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end || !(number >= lowest && number <= highest))
        return usage_error(arguments, "--%s %s: give a number from %g to %g", options[id].name,
                           text, lowest, highest);
    *value = number;
    return true;
}

bool size_option(const struct arguments *arguments, enum option_id id, uint64_t *bytes) {
    const char *text = arguments->values[id];
    if (!text)
        return true;
    char *end;
    double number = strtod(text, &end);
    static const char units[] = "kMGT";
    double factor = 1;
    const char *unit = *end ? strchr(units, *end == 'K' ? 'k' : *end) : NULL;
    if (unit) {
        for (const char *u = units; u <= unit; u++)
            factor *= 1024;
        end++;
    }
    if (*end == 'i')
        end++;
    if (*end == 'B')
        end++;
    if (end == text || *end || !(number > 0) || number * factor > 0x1p60)
        return usage_error(arguments, "--%s %s: give a size such as 800M or 4G", options[id].name,
                           text);
    *bytes = (uint64_t)(number * factor);
    return true;
}

void print_choice(enum option_id id, int number) {
    const char *choices = options[id].choices;
    for (; number > 0; number--)
        choices += strcspn(choices, "|") + 1;
    printf("%.*s", (int)strcspn(choices, "|"), choices);
}

enum { MAX_KNOBS = MAX_OPTIONS - OPTION_COUNT, MAX_CHOICES_SIZE = 64 };

static struct knob knobs[MAX_KNOBS];
static char knob_choices[MAX_KNOBS][MAX_CHOICES_SIZE];
static int known_knobs;

static void add_knob(cog_method method, const cog_knob *own) {
    char *choices = own->kind == COG_KNOB_CHOICE ? knob_choices[known_knobs] : NULL;
    for (uint64_t i = 0; choices && i <= own->most; i++)
        snprintf(choices + strlen(choices), MAX_CHOICES_SIZE - strlen(choices), "%s%s",
                 i ? "|" : "", own->choices[i]);
    const char *argument = own->kind == COG_KNOB_FLAG ? NULL : own->symbol ? own->symbol : "N";
    knobs[known_knobs++] = (struct knob){
        {own->name, 0, GROUP_KNOBS, KIND_PLAIN, argument, choices, own->help}, own, method};
}

int knob_count(void) {
    int method = known_knobs ? COG_METHOD_COUNT : 0; /* asked once */
    for (; method < COG_METHOD_COUNT; method++)
        for (size_t i = 0; i < cog_method_knob_count((cog_method)method) && known_knobs < MAX_KNOBS;
             i++)
            add_knob((cog_method)method, cog_method_knob((cog_method)method, i));
    return known_knobs;
}

const struct knob *knob_at(int number) {
    return &knobs[number];
}

cog_method method_option(const struct arguments *arguments) {
    cog_method method = COG_METHOD_AUTO;
    const char *name = arguments->values[OPTION_METHOD];
    if (name)
        cog_method_named(name, &method);
    return method;
}

const char *method_help(cog_method method) {
    return method == COG_METHOD_AUTO ? "chosen by the size of the collection and the wanted recall"
                                     : cog_method_summary(method);
}

/* The value of the knob of this name; NULL if it was not given. */
static const char *knob_value(const struct arguments *arguments, const char *name) {
    for (int i = 0; i < knob_count(); i++)
        if (strcmp(knobs[i].option.name, name) == 0 && arguments->values[OPTION_COUNT + i])
            return arguments->values[OPTION_COUNT + i];
    return NULL;
}

bool has_knob(const struct arguments *arguments, const char *name) {
    return knob_value(arguments, name) != NULL;
}

/* The knob of this name that the method has in this command. With auto, knobs of an index choose
 * the method; NULL if the method has no such knob. `owners` receives "lsh or window". */
static const struct knob *find_knob(const struct arguments *arguments, const char *name,
                                    cog_method method, char *owners, size_t size) {
    const struct knob *found = NULL;
    owners[0] = '\0';
    for (int i = 0; i < knob_count(); i++) {
        if (strcmp(knobs[i].option.name, name) != 0 ||
            !command_takes(arguments->command, OPTION_COUNT + i))
            continue;
        snprintf(owners + strlen(owners), size - strlen(owners), "%s%s", owners[0] ? " or " : "",
                 cog_method_name(knobs[i].method));
        if (knobs[i].method == method ||
            (method == COG_METHOD_AUTO && !(knobs[i].own->uses & COG_KNOB_PAIRS)))
            found = &knobs[i];
    }
    return found;
}

bool take_knobs(const struct arguments *arguments, unsigned uses, cog_knobs *taken) {
    cog_method method = method_option(arguments);
    for (int i = 0; i < knob_count(); i++) {
        const char *text = arguments->values[OPTION_COUNT + i], *name = knobs[i].option.name;
        char owners[64];
        cog_error error;
        if (!text)
            continue;
        const struct knob *knob = find_knob(arguments, name, method, owners, sizeof owners);
        if (!knob)
            return usage_error(arguments, "--%s belongs to --method %s", name, owners);
        uint64_t value = knob->own->kind == COG_KNOB_CHOICE
                             ? (uint64_t)find_choice(knob->option.choices, text)
                             : 1;
        if (knob->own->kind == COG_KNOB_NUMBER &&
            !parse_number(arguments, name, text, knob->own->least, knob->own->most, &value))
            return false;
        if (knob->own->uses & uses &&
            cog_knobs_set(taken, knob->method, name, value, &error) != COG_OK)
            return usage_error(arguments, "--%s: %s", name, error.message);
    }
    return true;
}
