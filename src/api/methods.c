/* What cognate.h promises about methods and their knobs. */
#include <string.h>

#include "base/arguments.h"
#include "plan/method_table.h"

const char *cog_method_name(cog_method method) {
    return method == COG_METHOD_AUTO || method_of(method) ? method_name(method) : NULL;
}

bool cog_method_named(const char *name, cog_method *method) {
    *method = method_named(name);
    return *method != COG_METHOD_AUTO || strcmp(name, "auto") == 0;
}

const char *cog_method_summary(cog_method method) {
    return method_of(method) ? method_of(method)->summary : NULL;
}

unsigned cog_method_answers(cog_method method) {
    return method_of(method) ? method_of(method)->answers : 0;
}

bool cog_method_keeps_tables(cog_method method) {
    return method_of(method) && method_of(method)->build;
}

size_t cog_method_knob_count(cog_method method) {
    return method_of(method) ? method_of(method)->knob_count : 0;
}

const cog_knob *cog_method_knob(cog_method method, size_t number) {
    return number < cog_method_knob_count(method) ? &method_of(method)->knobs[number] : NULL;
}

cog_status cog_knobs_set(cog_knobs *knobs, cog_method method, const char *name, uint64_t value,
                         cog_error *error) {
    const struct search_method *owner = method_of(method);
    TRY(check_given(knobs, "knobs", error));
    TRY(check_given(name, "name", error));
    unsigned number = owner ? method_knob_named(owner, name) : 0;
    if (!owner || number == owner->knob_count)
        return error_set(error, COG_ERR_USAGE, "the method %s has no knob '%s'",
                         method_name(method), name);
    if (knobs->given && knobs->method != method)
        return error_set(error, COG_ERR_USAGE, "'%s' is a knob of %s, and others of %s are set",
                         name, owner->name, method_name(knobs->method));
    cog_knobs one = {method, 0, {0}};
    knob_set(&one, number, value);
    cog_status status = method_check_knobs(owner, &one, owner->knobs[number].uses, error);
    if (status == COG_OK) {
        knobs->method = method;
        knob_set(knobs, number, value);
    }
    return status;
}
