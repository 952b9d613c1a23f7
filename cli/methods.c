#include "methods.h"

#include <stdio.h>
#include <string.h>

#include "command.h"

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
