/* Options: from dictionaries to the structs of cognate.h. */
#include "module.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char *const measure_names[] = {"cosine", "jaccard", "containment", NULL};
const char *const kind_names[] = {"rp", "simhash", "topsig", "minhash", NULL};
static const char *const weighting_names[] = {"bm25", "tfidf", "tf", "binary", NULL};
static const char *const format_names[] = {"auto", "txt",      "jsonl", "csv", "tsv", "wikixml",
                                           "lett", "querylog", "warc",  "wet", NULL};
static const char *const token_names[] = {"words", "regex", "chars", "code", NULL};
static const char *const keep_names[] = {"longest", "first", "last", "field", NULL};
const char *const grouping_names[] = {"representative", "connected", NULL};
static const char *const flip_names[] = {"none", "random", "distance", "across", NULL};
static const char *const pair_formats[] = {"auto", "tsv", "text", "tmx", "po", NULL};

/* A row of a table: the name in Python, and the field that it sets. The kind follows from the
 * field's type, except for enums, which are numbers to the compiler. */
#define KIND(type, member)                                                                         \
    _Generic(((type *)0)->member, bool                                                             \
             : FIELD_BOOL, unsigned                                                                \
             : FIELD_UNSIGNED, uint64_t                                                            \
             : FIELD_U64, double                                                                   \
             : FIELD_DOUBLE, const char *                                                          \
             : FIELD_TEXT)
#define FIELD(name, type, member)                                                                  \
    { name, KIND(type, member), offsetof(type, member), NULL }
#define CHOICE(name, type, member, choices)                                                        \
    { name, FIELD_CHOICE, offsetof(type, member), choices }
#define METHOD(type)                                                                               \
    { "method", FIELD_METHOD, offsetof(type, method), NULL }
#define END                                                                                        \
    { NULL, FIELD_BOOL, 0, NULL }

const struct field run_fields[] = {FIELD("threads", cog_run_options, threads),
                                   FIELD("memory", cog_run_options, memory_bytes),
                                   {"progress", FIELD_METHOD, SIZE_MAX, NULL}, /* job_run has it */
                                   END};
const struct field input_fields[] = {CHOICE("format", cog_input_options, format, format_names),
                                     FIELD("lines", cog_input_options, lines),
                                     FIELD("strict", cog_input_options, strict),
                                     FIELD("text", cog_input_options, text_field),
                                     FIELD("id", cog_input_options, id_field),
                                     FIELD("lang", cog_input_options, lang_field),
                                     FIELD("first_number", cog_input_options, first_number),
                                     END};
const struct field term_fields[] = {CHOICE("tokens", cog_term_options, tokens, token_names),
                                    FIELD("ngram", cog_term_options, ngram),
                                    FIELD("stem", cog_term_options, stem),
                                    FIELD("drop_stop_words", cog_term_options, drop_stop_words),
                                    FIELD("language", cog_term_options, lang),
                                    END};
const struct field weight_fields[] = {
    CHOICE("weighting", cog_weight_options, scheme, weighting_names),
    FIELD("k1", cog_weight_options, k1), FIELD("b", cog_weight_options, b),
    FIELD("min_frequency", cog_weight_options, min_collection_frequency), END};
const struct field signature_fields[] = {
    CHOICE("signature", cog_signature_options, kind, kind_names),
    FIELD("bits", cog_signature_options, bits),
    FIELD("seed", cog_signature_options, seed),
    FIELD("gaussian", cog_signature_options, gaussian),
    FIELD("density", cog_signature_options, density),
    FIELD("value_bits", cog_signature_options, value_bits),
    END};
const struct field pairs_fields[] = {CHOICE("measure", cog_pairs_options, measure, measure_names),
                                     FIELD("threshold", cog_pairs_options, threshold),
                                     METHOD(cog_pairs_options),
                                     FIELD("recall", cog_pairs_options, recall),
                                     FIELD("verify", cog_pairs_options, verify),
                                     END};
const struct field dedup_fields[] = {
    CHOICE("keep", cog_dedup_options, keep, keep_names),
    CHOICE("grouping", cog_dedup_options, grouping, grouping_names),
    FIELD("keep_field", cog_dedup_options, keep_field),
    FIELD("keep_least", cog_dedup_options, keep_least),
    FIELD("work", cog_dedup_options, work),
    FIELD("resume", cog_dedup_options, resume),
    FIELD("verdicts", cog_dedup_options, verdicts),
    END};
const struct field related_fields[] = {FIELD("min_urls", cog_related_options, min_urls),
                                       FIELD("queries_file", cog_related_options, queries_file),
                                       END};
const struct field index_fields[] = {METHOD(cog_index_options),
                                     CHOICE("measure", cog_index_options, measure, measure_names),
                                     FIELD("radius", cog_index_options, radius_bits),
                                     FIELD("vectors", cog_index_options, vectors),
                                     FIELD("unmeasured", cog_index_options, unmeasured),
                                     END};
const struct field search_fields[] = {METHOD(cog_search_options),
                                      FIELD("k", cog_search_options, k),
                                      FIELD("threshold", cog_search_options, threshold),
                                      FIELD("radius", cog_search_options, radius_bits),
                                      FIELD("recall", cog_search_options, recall),
                                      FIELD("verify", cog_search_options, verify),
                                      FIELD("first", cog_search_options, first),
                                      FIELD("recall_sample", cog_search_options, recall_sample),
                                      END};
const struct field link_fields[] = {FIELD("one_to_one", cog_link_options, one_to_one),
                                    FIELD("calibrated", cog_link_options, calibrated),
                                    FIELD("threshold", cog_link_options, threshold),
                                    FIELD("precision", cog_link_options, precision),
                                    FIELD("k", cog_link_options, per_document),
                                    METHOD(cog_link_options),
                                    FIELD("bits", cog_link_options, bits),
                                    FIELD("recall", cog_link_options, recall),
                                    FIELD("candidates", cog_link_options, candidates),
                                    FIELD("hub_neighbours", cog_link_options, hub_neighbours),
                                    END};
const struct field projection_fields[] = {
    FIELD("source_given_target", cog_projection_options, source_given_target),
    FIELD("keep_unknown", cog_projection_options, keep_unknown),
    FIELD("linkers", cog_projection_options, linkers),
    FIELD("k1", cog_projection_options, k1),
    FIELD("b", cog_projection_options, b),
    END};
const struct field key_fields[] = {FIELD("tables", cog_key_plan, tables),
                                   FIELD("key_bits", cog_key_plan, key_bits),
                                   FIELD("flips", cog_key_plan, flips),
                                   CHOICE("flip_mode", cog_key_plan, flip_mode, flip_names),
                                   FIELD("band_values", cog_key_plan, band_values),
                                   FIELD("value_bits", cog_key_plan, value_bits),
                                   FIELD("seed", cog_key_plan, seed),
                                   END};
const struct field verify_fields[] = {CHOICE("measure", cog_verify_options, measure, measure_names),
                                      FIELD("short_texts", cog_verify_options, short_texts), END};
const struct field seen_fields[] = {FIELD("threshold", cog_seen_options, threshold),
                                    FIELD("ngram", cog_seen_options, ngram), END};
const struct field lexicon_fields[] = {
    FIELD("source", cog_lexicon_options, from),
    FIELD("target", cog_lexicon_options, to),
    FIELD("max_entries", cog_lexicon_options, max_entries),
    FIELD("mass", cog_lexicon_options, mass),
    CHOICE("format", cog_lexicon_options, format, pair_formats),
    FIELD("model1_iterations", cog_lexicon_options, model1_iterations),
    FIELD("agreement_iterations", cog_lexicon_options, agreement_iterations),
    FIELD("null_probability", cog_lexicon_options, null_probability),
    FIELD("diagonal", cog_lexicon_options, diagonal),
    FIELD("min_count", cog_lexicon_options, min_count),
    FIELD("max_words", cog_lexicon_options, max_words),
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
    char known[256] = "";
    for (int i = 0; names[i]; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                 names[i]);
    PyErr_Format(PyExc_ValueError, "%s has no value %R; choose one of %s", name, value, known);
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

bool whole_of(PyObject *value, const char *name, unsigned long long *number) {
    PyObject *whole = PyNumber_Index(value);
    if (!whole) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s must be a whole number, not %R", name, value);
        return false;
    }
    *number = PyLong_AsUnsignedLongLong(whole);
    Py_DECREF(whole);
    if (*number != (unsigned long long)-1 || !PyErr_Occurred())
        return true;
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "%s of %R: it must be 0 or more, and below 2^64", name, value);
    return false;
}

bool unsigned_of(PyObject *value, const char *name, unsigned *number) {
    unsigned long long whole;
    if (!whole_of(value, name, &whole))
        return false;
    *number = (unsigned)whole;
    if (whole > UINT32_MAX)
        PyErr_Format(PyExc_ValueError, "%s of %R is too large", name, value);
    return whole <= UINT32_MAX;
}

static bool take_real(PyObject *value, const char *name, double *number) {
    *number = PyFloat_AsDouble(value);
    if (!PyErr_Occurred())
        return true;
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "%s must be a number, not %R", name, value);
    return false;
}

static bool take_whole(PyObject *value, const struct field *field, void *place) {
    if (field->kind == FIELD_UNSIGNED)
        return unsigned_of(value, field->name, place);
    unsigned long long number;
    if (!whole_of(value, field->name, &number))
        return false;
    *(uint64_t *)place = number;
    return true;
}

static bool take_field(PyObject *value, const struct field *field, void *base) {
    if (field->offset == SIZE_MAX)
        return true;
    void *place = (char *)base + field->offset;
    switch (field->kind) {
    case FIELD_BOOL: {
        if (PySequence_Check(value) || PyMapping_Check(value)) { /* such as "no" */
            PyErr_Format(PyExc_TypeError, "%s must be True or False, not %R", field->name, value);
            return false;
        }
        int truth = PyObject_IsTrue(value);
        *(bool *)place = truth > 0;
        return truth >= 0;
    }
    case FIELD_DOUBLE:
        return take_real(value, field->name, place);
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
    unsigned long long number;
    if (!whole_of(value, name, &number))
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
    /* Knobs come last: they depend on the method. */
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

bool options_take_weighting(PyObject *dictionary, cog_weight_options *weights) {
    int usual = (int)weights->scheme;
    int scheme = options_choice(dictionary, "weighting", weighting_names, usual);
    if (scheme >= 0 && scheme != usual)
        cog_weight_options_init(weights, (cog_weighting)scheme);
    return scheme >= 0;
}

void options_complete_terms(PyObject *dictionary, cog_term_options *terms) {
    if (terms->tokens == COG_TOKENS_CODE && !options_have(dictionary, "ngram"))
        terms->ngram = COG_CODE_NGRAM;
}
