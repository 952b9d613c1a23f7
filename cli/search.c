#include <string.h>
#include <sys/stat.h>

#include "command.h"

static const enum option_id own_options[] = {
    OPTION_NEIGHBOURS, OPTION_LEAST,     OPTION_RADIUS, OPTION_SEARCH_METHOD, OPTION_SEARCH_RECALL,
    OPTION_SLICE_BITS, OPTION_EXPAND,    OPTION_ADMIT,  OPTION_QUERY_WEIGHTS, OPTION_NO_VERIFY,
    OPTION_FIRST,      OPTION_PSM_FLIPS, OPTION_HEADER, OPTION_BLOCKS,        OPTION_CHOOSE,
    OPTION_OUTPUT,     OPTION_FORMAT,    OPTION_COUNT};
static const option_set sets[] = {own_options,       input_options, term_options, weight_options,
                                  signature_options, run_options,   NULL};

struct search_arguments {
    const struct arguments *given;
    cog_input_options input;
    cog_search_options search;
    cog_run_options run;
};

bool take_search_options(const struct arguments *arguments, cog_search_options *options) {
    static const cog_method methods[] = {COG_METHOD_AUTO,   COG_METHOD_EXACT,   COG_METHOD_FLAT,
                                         COG_METHOD_SLICES, COG_METHOD_COLUMNS, COG_METHOD_PSM,
                                         COG_METHOD_BPHS};
    cog_search_options_init(options);
    uint64_t k = options->k, radius = 0;
    if (!number_option(arguments, OPTION_NEIGHBOURS, 1, UINT32_MAX, &k) ||
        !real_option(arguments, OPTION_LEAST, 0, 1, &options->threshold) ||
        !number_option(arguments, OPTION_RADIUS, 0, 4096, &radius) ||
        !take_knob(arguments, OPTION_EXPAND, COG_METHOD_SLICES, "expand", &options->knobs) ||
        !take_knob(arguments, OPTION_ADMIT, COG_METHOD_SLICES, "admit", &options->knobs) ||
        !take_knob(arguments, OPTION_PSM_FLIPS, COG_METHOD_PSM, "flips", &options->knobs) ||
        !real_option(arguments, OPTION_SEARCH_RECALL, 0, 1, &options->recall))
        return false;
    bool within = has_option(arguments, OPTION_LEAST) || has_option(arguments, OPTION_RADIUS);
    options->k = within && !has_option(arguments, OPTION_NEIGHBOURS) ? 0 : k;
    if (has_option(arguments, OPTION_RADIUS))
        options->radius_bits = (uint32_t)radius;
    options->method = methods[choice_option(arguments, OPTION_SEARCH_METHOD, 0)];
    options->verify = !has_option(arguments, OPTION_NO_VERIFY);
    options->first = has_option(arguments, OPTION_FIRST);
    return true;
}

/* A knob of a method that was not asked for would do nothing. */
static bool check_method_options(const struct arguments *arguments, cog_method method) {
    static const enum option_id of_slices[] = {OPTION_EXPAND, OPTION_ADMIT, OPTION_COUNT};
    return method == COG_METHOD_SLICES || method == COG_METHOD_AUTO ||
           refuse_options(arguments, of_slices, "belongs to --method slices");
}

static bool take_arguments(const struct arguments *arguments, struct search_arguments *taken) {
    taken->given = arguments;
    if (!take_input_options(arguments, &taken->input) ||
        !take_search_options(arguments, &taken->search) ||
        !take_run_options(arguments, &taken->run) ||
        !check_method_options(arguments, taken->search.method))
        return false;
    if (arguments->word_count == 0)
        return usage_error(arguments, "no index; give an index, a .npy file, or documents");
    return true;
}

/* ---- What is searched ------------------------------------------------------------------------ */

/* The index, and the signatures that one in memory lives on. */
struct searched {
    cog_index *index;
    cog_signatures *signatures;
};

static bool takes_sign_options(const struct arguments *arguments) {
    const option_set signing[] = {term_options, weight_options, signature_options};
    for (size_t set = 0; set < 3; set++)
        for (option_set id = signing[set]; *id != OPTION_COUNT; id++)
            if (has_option(arguments, *id))
                return true;
    return false;
}

cog_status expect_sign_options(const struct arguments *arguments, const cog_index *index,
                               cog_error *error) {
    cog_sign_options sign;
    if (!takes_sign_options(arguments))
        return COG_OK;
    if (!cog_index_sign_options(index, &sign))
        return cog_index_expect(index, &sign, error);
    sign.signature.kind =
        (cog_signature_kind)choice_option(arguments, OPTION_SIGNATURE, (int)sign.signature.kind);
    if (!take_signature_options(arguments, &sign.signature) ||
        !take_term_options(arguments, &sign.terms) ||
        !take_weight_options(arguments, &sign.weights))
        return COG_ERR_USAGE;
    return cog_index_expect(index, &sign, error);
}

static cog_status open_folder(const struct search_arguments *taken, const char *path,
                              struct searched *searched, cog_error *error) {
    static const enum option_id of_the_build[] = {OPTION_HEADER, OPTION_BLOCKS, OPTION_CHOOSE,
                                                  OPTION_SLICE_BITS, OPTION_COUNT};
    if (!refuse_options(taken->given, of_the_build,
                        "belongs to index build: this one was built with its own"))
        return COG_ERR_USAGE;
    cog_status status = cog_index_open(path, &searched->index, error);
    return status == COG_OK ? expect_sign_options(taken->given, searched->index, error) : status;
}

bool take_index_options(const struct arguments *arguments, cog_index_options *options) {
    cog_index_options_init(options);
    int kind = choice_option(arguments, OPTION_SIGNATURE, COG_SIGNATURE_RP);
    if (kind != COG_SIGNATURE_RP) {
        cog_sign_options_init(&options->sign, (cog_signature_kind)kind);
        options->sign.weights.min_collection_frequency = 1;
    }
    if (!take_signature_options(arguments, &options->sign.signature) ||
        !take_term_options(arguments, &options->sign.terms) ||
        !take_weight_options(arguments, &options->sign.weights) ||
        !take_knob(arguments, OPTION_SLICE_BITS, COG_METHOD_SLICES, "slice-bits",
                   &options->knobs) ||
        !take_knob(arguments, OPTION_HEADER, COG_METHOD_PSM, "header", &options->knobs) ||
        !take_knob(arguments, OPTION_BLOCKS, COG_METHOD_BPHS, "blocks", &options->knobs) ||
        !take_knob(arguments, OPTION_CHOOSE, COG_METHOD_BPHS, "choose", &options->knobs))
        return false;
    options->vectors = !has_option(arguments, OPTION_NO_VECTORS);
    return true;
}

/* A file of signatures or of documents, indexed for this run. */
static cog_status index_file(const struct search_arguments *taken, const char *path,
                             struct searched *searched, cog_report *report, cog_error *error) {
    cog_index_options options;
    if (!take_index_options(taken->given, &options))
        return COG_ERR_USAGE;
    options.method =
        taken->search.method == COG_METHOD_SLICES || taken->search.method == COG_METHOD_COLUMNS ||
                taken->search.method == COG_METHOD_PSM || taken->search.method == COG_METHOD_BPHS
            ? taken->search.method
            : COG_METHOD_FLAT;
    options.streamed = options.method == COG_METHOD_PSM || options.method == COG_METHOD_BPHS;
    if (taken->search.radius_bits != COG_RADIUS_NONE)
        options.radius_bits = taken->search.radius_bits;
    if (cog_is_signature_file(taken->input.format, path)) {
        cog_status status = cog_signatures_open(path, &searched->signatures, error);
        return status == COG_OK
                   ? cog_index_build_signatures(searched->signatures, &options, &taken->run,
                                                &searched->index, report, error)
                   : status;
    }
    cog_documents *documents = NULL;
    cog_status status = cog_documents_open(&taken->input, &path, 1, &documents, error);
    if (status == COG_OK)
        status = cog_index_build(documents, &options, &taken->run, &searched->index, report, error);
    cog_documents_close(documents);
    return status;
}

/* ---- Searching ------------------------------------------------------------------------------- */

static cog_status search_signatures(const struct search_arguments *taken, const cog_index *index,
                                    const char *path, cog_hits **hits, cog_report *report,
                                    cog_error *error) {
    cog_signatures *queries = NULL;
    cog_weights *weights = NULL;
    const float *values = NULL;
    const char *weight_path = taken->given->values[OPTION_QUERY_WEIGHTS];
    cog_status status = cog_signatures_open(path, &queries, error);
    if (status == COG_OK && weight_path)
        status = cog_weights_open(weight_path, &weights, error);
    if (status == COG_OK && weights)
        status = cog_weights_of(weights, queries, &values, error);
    if (status == COG_OK)
        status = cog_index_search_signatures(index, queries, values, &taken->search, &taken->run,
                                             hits, report, error);
    cog_weights_free(weights);
    cog_signatures_free(queries);
    return status;
}

static cog_status search_documents(const struct search_arguments *taken, const cog_index *index,
                                   const char *const *paths, size_t count, cog_hits **hits,
                                   cog_report *report, cog_error *error) {
    static const char *const standard_input[] = {"-"};
    static const enum option_id of_signatures[] = {OPTION_QUERY_WEIGHTS, OPTION_COUNT};
    cog_documents *queries = NULL;
    if (!refuse_options(taken->given, of_signatures,
                        "stands beside signatures (.npy); documents bring their own"))
        return COG_ERR_USAGE;
    if (count == 0) {
        paths = standard_input;
        count = 1;
    }
    cog_status status = cog_documents_open(&taken->input, paths, count, &queries, error);
    if (status == COG_OK)
        status = cog_index_search(index, queries, &taken->search, &taken->run, hits, report, error);
    cog_documents_close(queries);
    return status;
}

static cog_status search(const struct search_arguments *taken, struct searched *searched,
                         cog_hits **hits, cog_report *report, cog_error *error) {
    const char *path = taken->given->words[0];
    const char *const *queries = taken->given->words + 1;
    size_t query_count = taken->given->word_count - 1;
    cog_status status = cog_index_exists(path) ? open_folder(taken, path, searched, error)
                                               : index_file(taken, path, searched, report, error);
    if (status != COG_OK)
        return status;
    return query_count == 1 && cog_is_signature_file(taken->input.format, queries[0])
               ? search_signatures(taken, searched->index, queries[0], hits, report, error)
               : search_documents(taken, searched->index, queries, query_count, hits, report,
                                  error);
}

static int run(const struct arguments *arguments) {
    struct search_arguments taken;
    if (!take_arguments(arguments, &taken))
        return EXIT_USAGE;
    cog_error error = {0};
    cog_report *report = NULL;
    cog_hits *hits = NULL;
    struct searched searched = {0};
    const char *output = arguments->values[OPTION_OUTPUT];
    int format = choice_option(arguments, OPTION_FORMAT, COG_OUTPUT_TSV);
    cog_status status = cog_report_create(&report, &error);
    if (status == COG_OK)
        status = search(&taken, &searched, &hits, report, &error);
    if (status == COG_OK)
        status = cog_hits_write(hits, (cog_output_format)format, output ? output : "-", &error);
    int code = finish_job(arguments, status, &error, report);
    if (code == EXIT_DONE && cog_hits_count(hits) == 0)
        code = EXIT_NOTHING;
    cog_hits_free(hits);
    cog_index_close(searched.index);
    cog_signatures_free(searched.signatures);
    cog_report_free(report);
    return code;
}

const struct command command_search = {
    .name = "search",
    .synopsis = "INDEX [QUERIES...] [OPTIONS]",
    .summary = "nearest neighbours of queries, or all within a threshold or radius",
    .description =
        "INDEX is a folder that cognate index build made, a .npy file of signatures, or a file\n"
        "or folder of documents, which is then indexed in memory for this run. Queries are\n"
        "documents in any input format, or a .npy file of signatures; without any, standard\n"
        "input.\n"
        "\n"
        "Lists for each query its -k nearest rows, or all with --threshold or --radius (with -k\n"
        "as well: the nearest so many of them). Similarities are true cosines of BM25 vectors\n"
        "with the index's idf; where there are no vectors, or with --no-verify, they are\n"
        "estimates of the signatures, and the header says so. The exit status is 1 when nothing\n"
        "is found.",
    .sets = sets,
    .run = run,
};
