#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct option_spec option_specs[OPTION_COUNT] = {
#define X(id, name, letter, argument, choices, help) {name, letter, argument, choices, help},
    OPTIONS(X)
#undef X
};

bool usage_error(const struct arguments *arguments, const char *format, ...) {
    va_list list;
    va_start(list, format);
    fprintf(stderr, "cognate %s: ", arguments->command);
    vfprintf(stderr, format, list);
    fprintf(stderr, "; see cognate %s --help\n", arguments->command);
    va_end(list);
    return false;
}

static bool set_has(const option_set *sets, enum option_id id) {
    for (; *sets; sets++)
        for (option_set set = *sets; *set != OPTION_COUNT; set++)
            if (*set == id)
                return true;
    return false;
}

static int find_long(const option_set *sets, const char *name, size_t length) {
    for (int id = 0; id < OPTION_COUNT; id++)
        if (strncmp(option_specs[id].name, name, length) == 0 &&
            option_specs[id].name[length] == '\0' && set_has(sets, (enum option_id)id))
            return id;
    return -1;
}

static int find_letter(const option_set *sets, char letter) {
    for (int id = 0; id < OPTION_COUNT; id++)
        if (option_specs[id].letter == letter && set_has(sets, (enum option_id)id))
            return id;
    return -1;
}

/* The option of any command; NULL where none has it. */
static const struct option_spec *find_known(const char *word) {
    for (int id = 0; id < OPTION_COUNT; id++) {
        const struct option_spec *spec = &option_specs[id];
        if (word[1] == '-' ? strlen(spec->name) == strcspn(word + 2, "=") &&
                                 strncmp(spec->name, word + 2, strlen(spec->name)) == 0
                           : spec->letter == word[1])
            return spec;
    }
    return NULL;
}

static bool is_option(const char *word) {
    return word[0] == '-' && word[1] != '\0';
}

const char *first_word(int argc, char **argv, int first) {
    for (int i = first; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0)
            return i + 1 < argc ? argv[i + 1] : NULL;
        if (!is_option(argv[i]))
            return argv[i];
        const struct option_spec *spec = find_known(argv[i]);
        bool holds_value = argv[i][1] == '-' ? strchr(argv[i], '=') != NULL : argv[i][2] != '\0';
        i += spec && spec->argument && !holds_value;
    }
    return NULL;
}

/* The position of value among the choices, or -1. */
static int find_choice(const char *choices, const char *value) {
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
    const struct option_spec *spec = &option_specs[id];
    if (id == OPTION_AGAINST) {
        if (has_option(arguments, OPTION_AGAINST))
            return usage_error(arguments, "--against is given twice; list its inputs behind one");
        arguments->first_count = arguments->word_count;
        arguments->words[arguments->word_count++] = value;
    }
    if (spec->choices && find_choice(spec->choices, value) < 0)
        return usage_error(arguments, "--%s %s: choose one of %s", spec->name, value,
                           spec->choices);
    arguments->values[id] = value;
    return true;
}

/* Takes the option at argv[*at] and, where it has one, its argument. */
static bool parse_option(struct arguments *arguments, const option_set *sets, int argc, char **argv,
                         int *at) {
    const char *word = argv[*at];
    const char *value = NULL;
    int id;
    if (word[1] == '-') {
        size_t length = strcspn(word + 2, "=");
        id = find_long(sets, word + 2, length);
        if (word[2 + length] == '=')
            value = word + 3 + length;
    } else {
        id = find_letter(sets, word[1]);
        if (id >= 0 && word[2])
            value = word + 2;
    }
    if (id < 0)
        return usage_error(arguments, find_known(word) ? "takes no option %s" : "unknown option %s",
                           word);
    const struct option_spec *spec = &option_specs[id];
    arguments->places[id] = *at;
    if (!spec->argument)
        return value ? usage_error(arguments, "--%s takes no argument", spec->name)
                     : store(arguments, id, "");
    if (!value && ++*at >= argc)
        return usage_error(arguments, "--%s needs %s", spec->name, spec->argument);
    return store(arguments, id, value ? value : argv[*at]);
}

static void add_word(struct arguments *arguments, const char *word, int place) {
    arguments->word_places[arguments->word_count] = place;
    arguments->words[arguments->word_count++] = word;
}

bool arguments_parse(struct arguments *arguments, const option_set *sets, int argc, char **argv,
                     int first) {
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
        else if (!parse_option(arguments, sets, argc, argv, &i))
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
    return value ? find_choice(option_specs[id].choices, value) : otherwise;
}

bool number_option(const struct arguments *arguments, enum option_id id, uint64_t lowest,
                   uint64_t highest, uint64_t *value) {
    const char *text = arguments->values[id];
    if (!text)
        return true;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end || errno || number < lowest || number > highest)
        return usage_error(arguments, "--%s %s: give a whole number from %llu to %llu",
                           option_specs[id].name, text, (unsigned long long)lowest,
                           (unsigned long long)highest);
    *value = number;
    return true;
}

bool real_option(const struct arguments *arguments, enum option_id id, double lowest,
                 double highest, double *value) {
    const char *text = arguments->values[id];
    if (!text)
        return true;
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end || !(number >= lowest && number <= highest))
        return usage_error(arguments, "--%s %s: give a number from %g to %g", option_specs[id].name,
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
        return usage_error(arguments, "--%s %s: give a size such as 800M or 4G",
                           option_specs[id].name, text);
    *bytes = (uint64_t)(number * factor);
    return true;
}
