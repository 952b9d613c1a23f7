/* Options: from dictionaries to the structs of cognate.h. */
#include "module.h"

#include <stddef.h>
#include <string.h>

const char *const measure_names[] = {"cosine", "jaccard", "containment", NULL};
const char *const kind_names[] = {"rp", "simhash", "topsig", "minhash", NULL};
const char *const weighting_names[] = {"bm25", "tfidf", "tf", "binary", NULL};
static const char *const format_names[] = {"auto", "txt",      "jsonl", "csv", "tsv", "wikixml",
                                           "lett", "querylog", "warc",  "wet", NULL};
static const char *const token_names[] = {"words", "regex", "chars", "code", NULL};
static const char *const keep_names[] = {"longest", "first", "last", "field", NULL};
static const char *const grouping_names[] = {"representative", "connected", NULL};
static const char *const pair_formats[] = {"auto", "tsv", "text", "tmx", "po", NULL};

#define FIELD(name, kind, type, member, choices)                                                   \
    { name, kind, offsetof(type, member), choices }
#define END                                                                                        \
    { NULL, FIELD_BOOL, 0, NULL }

const struct field run_fields[] = {FIELD("threads", FIELD_UNSIGNED, cog_run_options, threads, NULL),
                                   FIELD("memory", FIELD_U64, cog_run_options, memory_bytes, NULL),
                                   {"progress", FIELD_METHOD, SIZE_MAX, NULL}, /* job_run has it */
                                   END};
const struct field input_fields[] = {
    FIELD("format", FIELD_CHOICE, cog_input_options, format, format_names),
    FIELD("lines", FIELD_BOOL, cog_input_options, lines, NULL),
    FIELD("strict", FIELD_BOOL, cog_input_options, strict, NULL),
    FIELD("text", FIELD_TEXT, cog_input_options, text_field, NULL),
    FIELD("id", FIELD_TEXT, cog_input_options, id_field, NULL),
    FIELD("lang", FIELD_TEXT, cog_input_options, lang_field, NULL),
    FIELD("first_number", FIELD_U64, cog_input_options, first_number, NULL),
    END};
const struct field term_fields[] = {
    FIELD("tokens", FIELD_CHOICE, cog_term_options, tokens, token_names),
    FIELD("ngram", FIELD_UNSIGNED, cog_term_options, ngram, NULL),
    FIELD("stem", FIELD_BOOL, cog_term_options, stem, NULL),
    FIELD("drop_stop_words", FIELD_BOOL, cog_term_options, drop_stop_words, NULL),
    FIELD("language", FIELD_TEXT, cog_term_options, lang, NULL),
    END};
const struct field weight_fields[] = {
    FIELD("weighting", FIELD_CHOICE, cog_weight_options, scheme, weighting_names),
    FIELD("k1", FIELD_DOUBLE, cog_weight_options, k1, NULL),
    FIELD("b", FIELD_DOUBLE, cog_weight_options, b, NULL),
    FIELD("min_frequency", FIELD_UNSIGNED, cog_weight_options, min_collection_frequency, NULL),
    END};
const struct field signature_fields[] = {
    FIELD("signature", FIELD_CHOICE, cog_signature_options, kind, kind_names),
    FIELD("bits", FIELD_UNSIGNED, cog_signature_options, bits, NULL),
    FIELD("seed", FIELD_U64, cog_signature_options, seed, NULL),
    FIELD("gaussian", FIELD_BOOL, cog_signature_options, gaussian, NULL),
    FIELD("density", FIELD_DOUBLE, cog_signature_options, density, NULL),
    FIELD("value_bits", FIELD_UNSIGNED, cog_signature_options, value_bits, NULL),
    END};
const struct field pairs_fields[] = {
    FIELD("measure", FIELD_CHOICE, cog_pairs_options, measure, measure_names),
    FIELD("threshold", FIELD_DOUBLE, cog_pairs_options, threshold, NULL),
    FIELD("method", FIELD_METHOD, cog_pairs_options, method, NULL),
    FIELD("recall", FIELD_DOUBLE, cog_pairs_options, recall, NULL),
    FIELD("verify", FIELD_BOOL, cog_pairs_options, verify, NULL),
    END};
const struct field dedup_fields[] = {
    FIELD("keep", FIELD_CHOICE, cog_dedup_options, keep, keep_names),
    FIELD("grouping", FIELD_CHOICE, cog_dedup_options, grouping, grouping_names),
    FIELD("keep_field", FIELD_TEXT, cog_dedup_options, keep_field, NULL),
    FIELD("keep_least", FIELD_BOOL, cog_dedup_options, keep_least, NULL),
    FIELD("work", FIELD_TEXT, cog_dedup_options, work, NULL),
    FIELD("resume", FIELD_BOOL, cog_dedup_options, resume, NULL),
    FIELD("verdicts", FIELD_TEXT, cog_dedup_options, verdicts, NULL),
    END};
const struct field related_fields[] = {
    FIELD("min_urls", FIELD_UNSIGNED, cog_related_options, min_urls, NULL), END};
const struct field index_fields[] = {
    FIELD("method", FIELD_METHOD, cog_index_options, method, NULL),
    FIELD("radius", FIELD_UNSIGNED, cog_index_options, radius_bits, NULL),
    FIELD("vectors", FIELD_BOOL, cog_index_options, vectors, NULL), END};
const struct field search_fields[] = {
    FIELD("method", FIELD_METHOD, cog_search_options, method, NULL),
    FIELD("k", FIELD_SIZE, cog_search_options, k, NULL),
    FIELD("threshold", FIELD_DOUBLE, cog_search_options, threshold, NULL),
    FIELD("radius", FIELD_UNSIGNED, cog_search_options, radius_bits, NULL),
    FIELD("recall", FIELD_DOUBLE, cog_search_options, recall, NULL),
    FIELD("verify", FIELD_BOOL, cog_search_options, verify, NULL),
    FIELD("first", FIELD_BOOL, cog_search_options, first, NULL),
    FIELD("recall_sample", FIELD_SIZE, cog_search_options, recall_sample, NULL),
    END};
const struct field link_fields[] = {
    FIELD("one_to_one", FIELD_BOOL, cog_link_options, one_to_one, NULL),
    FIELD("calibrated", FIELD_BOOL, cog_link_options, calibrated, NULL),
    FIELD("threshold", FIELD_DOUBLE, cog_link_options, threshold, NULL),
    FIELD("method", FIELD_METHOD, cog_link_options, method, NULL),
    FIELD("bits", FIELD_UNSIGNED, cog_link_options, bits, NULL),
    FIELD("recall", FIELD_DOUBLE, cog_link_options, recall, NULL),
    FIELD("candidates", FIELD_UNSIGNED, cog_link_options, candidates, NULL),
    FIELD("hub_neighbours", FIELD_UNSIGNED, cog_link_options, hub_neighbours, NULL),
    END};
const struct field projection_fields[] = {
    FIELD("source_given_target", FIELD_BOOL, cog_projection_options, source_given_target, NULL),
    FIELD("keep_unknown", FIELD_BOOL, cog_projection_options, keep_unknown, NULL),
    FIELD("linkers", FIELD_TEXT, cog_projection_options, linkers, NULL),
    FIELD("k1", FIELD_DOUBLE, cog_projection_options, k1, NULL),
    FIELD("b", FIELD_DOUBLE, cog_projection_options, b, NULL),
    END};
const struct field lexicon_fields[] = {
    FIELD("source", FIELD_TEXT, cog_lexicon_options, from, NULL),
    FIELD("target", FIELD_TEXT, cog_lexicon_options, to, NULL),
    FIELD("max_entries", FIELD_UNSIGNED, cog_lexicon_options, max_entries, NULL),
    FIELD("mass", FIELD_DOUBLE, cog_lexicon_options, mass, NULL),
    FIELD("format", FIELD_CHOICE, cog_lexicon_options, format, pair_formats),
    FIELD("model1_iterations", FIELD_UNSIGNED, cog_lexicon_options, model1_iterations, NULL),
    FIELD("agreement_iterations", FIELD_UNSIGNED, cog_lexicon_options, agreement_iterations, NULL),
    FIELD("null_probability", FIELD_DOUBLE, cog_lexicon_options, null_probability, NULL),
    FIELD("diagonal", FIELD_DOUBLE, cog_lexicon_options, diagonal, NULL),
    FIELD("min_count", FIELD_UNSIGNED, cog_lexicon_options, min_count, NULL),
    FIELD("max_words", FIELD_UNSIGNED, cog_lexicon_options, max_words, NULL),
    END};

/* The text of an object, borrowed from it; NULL with an exception set. */
static const char *text_of(PyObject *value, const char *name) {
    if (!PyUnicode_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s must be a str, not %R", name, value);
        return NULL;
    }
    return PyUnicode_AsUTF8AndSize(value, NULL);
}

static int choice_of(PyObject *value, const char *name, const char *const *names) {
    const char *text = text_of(value, name);
    if (!text)
        return -1;
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], text) == 0)
            return i;
    PyErr_Format(PyExc_ValueError, "%s has no value %R; the values begin with %s, %s", name, value,
                 names[0], names[1]);
    return -1;
}

static bool take_method(PyObject *value, cog_method *method) {
    const char *text = text_of(value, "method");
    if (text && cog_method_named(text, method))
        return true;
    if (text)
        PyErr_Format(PyExc_ValueError, "there is no method %R; auto always works", value);
    return false;
}

static bool take_whole(PyObject *value, const struct field *field, void *place) {
    unsigned long long number = PyLong_AsUnsignedLongLong(value);
    if (number == (unsigned long long)-1 && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
            PyErr_Clear();
            PyErr_Format(PyExc_ValueError, "%s of %R: it must be 0 or more", field->name, value);
        }
        return false;
    }
    if (field->kind == FIELD_UNSIGNED && number > UINT32_MAX) {
        PyErr_Format(PyExc_ValueError, "%s of %R is too large", field->name, value);
        return false;
    }
    if (field->kind == FIELD_UNSIGNED)
        *(unsigned *)place = (unsigned)number;
    else if (field->kind == FIELD_SIZE)
        *(size_t *)place = (size_t)number;
    else
        *(uint64_t *)place = number;
    return true;
}

static bool take_field(PyObject *value, const struct field *field, void *base) {
    if (field->offset == SIZE_MAX)
        return true;
    void *place = (char *)base + field->offset;
    switch (field->kind) {
    case FIELD_BOOL: {
        int truth = PyObject_IsTrue(value);
        *(bool *)place = truth > 0;
        return truth >= 0;
    }
    case FIELD_DOUBLE:
        *(double *)place = PyFloat_AsDouble(value);
        return !PyErr_Occurred();
    case FIELD_TEXT: {
        const char *text = text_of(value, field->name);
        *(const char **)place = text;
        return text != NULL;
    }
    case FIELD_CHOICE: {
        int choice = choice_of(value, field->name, field->choices);
        *(int *)place = choice;
        return choice >= 0;
    }
    case FIELD_METHOD:
        return take_method(value, place);
    default:
        return take_whole(value, field, place);
    }
}

static bool take_knob(const char *name, PyObject *value, cog_knobs *knobs, cog_method method) {
    char spelled[64];
    cog_error error = {0};
    size_t size = strlen(name);
    if (size >= sizeof spelled) {
        PyErr_Format(PyExc_TypeError, "unexpected option %s", name);
        return false;
    }
    for (size_t i = 0; i <= size; i++)
        spelled[i] = name[i] == '_' ? '-' : name[i];
    bool known = false;
    for (size_t i = 0; i < cog_method_knob_count(method); i++)
        known = known || strcmp(cog_method_knob(method, i)->name, spelled) == 0;
    if (!known) {
        PyErr_Format(PyExc_TypeError, "unexpected option %s: the method %s has no such setting",
                     name, cog_method_name(method));
        return false;
    }
    unsigned long long number = PyLong_AsUnsignedLongLong(value);
    if (number == (unsigned long long)-1 && PyErr_Occurred())
        return false;
    return cog_knobs_set(knobs, method, spelled, number, &error) == COG_OK || raise_error(&error);
}

static const struct field *find_field(const struct field_set *sets, const char *name,
                                      const struct field_set **set) {
    for (*set = sets; (*set)->fields; ++*set)
        for (const struct field *field = (*set)->fields; field->name; field++)
            if (strcmp(field->name, name) == 0)
                return field;
    return NULL;
}

bool options_take(PyObject *dictionary, const struct field_set *sets, cog_knobs *knobs,
                  const cog_method *method) {
    PyObject *key, *value;
    /* Knobs come last: they are those of the method. */
    for (int pass = 0; pass < 2; pass++) {
        Py_ssize_t place = 0;
        while (PyDict_Next(dictionary, &place, &key, &value)) {
            const struct field_set *set;
            const char *name = text_of(key, "an option");
            if (!name)
                return false;
            const struct field *field = find_field(sets, name, &set);
            if (value == Py_None || (field != NULL) != (pass == 0))
                continue;
            if (!field && !knobs) {
                PyErr_Format(PyExc_TypeError, "unexpected option %s", name);
                return false;
            }
            if (field ? !take_field(value, field, set->base)
                      : !take_knob(name, value, knobs, *method))
                return false;
        }
    }
    return true;
}

int options_choice(PyObject *dictionary, const char *name, const char *const *names,
                   int otherwise) {
    PyObject *value = PyDict_GetItemString(dictionary, name); /* borrowed */
    return !value || value == Py_None ? otherwise : choice_of(value, name, names);
}

bool options_have(PyObject *dictionary, const char *name) {
    PyObject *value = PyDict_GetItemString(dictionary, name);
    return value && value != Py_None;
}

void options_complete_terms(PyObject *dictionary, cog_term_options *terms) {
    if (terms->tokens == COG_TOKENS_CODE && !options_have(dictionary, "ngram"))
        terms->ngram = COG_CODE_NGRAM;
}
