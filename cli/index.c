#include <string.h>

#include "command.h"

static const enum option_id build_options[] = {
    OPTION_INDEX_METHOD,  OPTION_SLICE_BITS, OPTION_INDEX_RADIUS,
    OPTION_QUERY_WEIGHTS, OPTION_HEADER,     OPTION_BLOCKS,
    OPTION_CHOOSE,        OPTION_NO_VECTORS, OPTION_COUNT};
static const enum option_id remove_options[] = {OPTION_REMOVED_IDS, OPTION_COUNT};

struct index_arguments {
    const struct arguments *given;
    cog_input_options input;
    cog_index_options index;
    cog_run_options run;
    const char *folder;
    const char *const *rest; /* words behind the folder */
    size_t rest_count;
};

/* Documents, or signatures where the input is one .npy file. */
struct source {
    cog_documents *documents;
    cog_signatures *signatures;
};

static cog_status open_source(const struct index_arguments *taken, struct source *source,
                              cog_error *error) {
    if (taken->rest_count == 1 && cog_is_signature_file(taken->input.format, taken->rest[0]))
        return cog_signatures_open(taken->rest[0], &source->signatures, error);
    return cog_documents_open(&taken->input, taken->rest, taken->rest_count, &source->documents,
                              error);
}

static void close_source(struct source *source) {
    cog_documents_close(source->documents);
    cog_signatures_free(source->signatures);
}

/* With the weights, where a file of them is named. */
static cog_status build_signatures(const struct index_arguments *taken,
                                   const cog_signatures *signatures, cog_index **index,
                                   cog_report *report, cog_error *error) {
    const char *path = taken->given->values[OPTION_QUERY_WEIGHTS];
    cog_index_options options = taken->index;
    cog_weights *weights = NULL;
    cog_status status = path ? cog_weights_open(path, &weights, error) : COG_OK;
    if (status == COG_OK && weights)
        status = cog_weights_of(weights, signatures, &options.weights, error);
    if (status == COG_OK)
        status =
            cog_index_build_signatures(signatures, &options, &taken->run, index, report, error);
    cog_weights_free(weights);
    return status;
}

/* ---- Actions --------------------------------------------------------------------------------- */

static cog_status run_build(const struct index_arguments *taken, cog_report *report,
                            cog_error *error) {
    struct source source = {0};
    cog_index *index = NULL;
    cog_index_claim *claim = NULL;
    cog_status status = cog_index_claim_folder(taken->folder, &claim, error);
    if (status == COG_OK)
        status = open_source(taken, &source, error);
    if (status == COG_OK)
        status = source.signatures
                     ? build_signatures(taken, source.signatures, &index, report, error)
                     : cog_index_build(source.documents, &taken->index, &taken->run, &index, report,
                                       error);
    if (status == COG_OK)
        status = cog_index_save_claimed(index, claim, error);
    cog_index_claim_release(claim);
    cog_index_close(index);
    close_source(&source);
    return status;
}

static cog_status run_add(const struct index_arguments *taken, cog_report *report,
                          cog_error *error) {
    struct source source = {0};
    cog_index *index = NULL;
    cog_status status = cog_index_open(taken->folder, &index, error);
    if (status == COG_OK)
        status = expect_sign_options(taken->given, index, error);
    if (status == COG_OK)
        status = open_source(taken, &source, error);
    if (status == COG_OK)
        status =
            source.signatures
                ? cog_index_add_signatures(index, source.signatures, &taken->run, report, error)
                : cog_index_add(index, source.documents, &taken->run, report, error);
    cog_index_close(index);
    close_source(&source);
    return status;
}

static cog_status run_remove(const struct index_arguments *taken, cog_report *report,
                             cog_error *error) {
    const char *listed = taken->given->values[OPTION_REMOVED_IDS];
    cog_index *index = NULL;
    cog_status status = cog_index_open(taken->folder, &index, error);
    if (status == COG_OK)
        status = listed ? cog_index_remove_listed(index, listed, report, error)
                        : cog_index_remove(index, taken->rest, taken->rest_count, report, error);
    cog_index_close(index);
    return status;
}

static cog_status run_compact(const struct index_arguments *taken, cog_report *report,
                              cog_error *error) {
    cog_index *index = NULL;
    cog_status status = cog_index_open(taken->folder, &index, error);
    if (status == COG_OK)
        status = cog_index_compact(index, &taken->run, report, error);
    cog_index_close(index);
    return status;
}

static cog_status run_check(const struct index_arguments *taken, cog_report *report,
                            cog_error *error) {
    (void)report;
    cog_index *index = NULL;
    cog_status status = cog_index_open(taken->folder, &index, error);
    if (status == COG_OK)
        status = cog_index_check(index, error);
    if (status == COG_OK && !has_option(taken->given, OPTION_QUIET))
        printf("%s: everything was read, nothing is damaged\n", taken->folder);
    cog_index_close(index);
    return status;
}

static void print_signing(const cog_sign_options *sign) {
    static const char *const kinds[] = {"rp", "simhash", "topsig", "minhash"};
    static const char *const tokens[] = {"words", "regex", "chars"};
    static const char *const weightings[] = {"bm25", "tfidf", "tf", "binary"};
    printf("signature\t%s, seed %llu\n", kinds[sign->signature.kind],
           (unsigned long long)sign->signature.seed);
    printf("terms\t%s, ngram %u, stem %s, stop words %s, lang %s\n", tokens[sign->terms.tokens],
           sign->terms.ngram, sign->terms.stem ? "yes" : "no",
           sign->terms.drop_stop_words ? "drop" : "keep",
           sign->terms.lang[0] ? sign->terms.lang : "none");
    printf("weighting\t%s\n", weightings[sign->weights.scheme]);
}

static cog_status run_info(const struct index_arguments *taken, cog_report *report,
                           cog_error *error) {
    (void)report;
    cog_index *index = NULL;
    cog_index_info info;
    cog_sign_options sign;
    cog_status status = cog_index_open(taken->folder, &index, error);
    if (status != COG_OK)
        return status;
    cog_index_describe(index, &info);
    printf("content\t%s\nrows\t%llu\nremoved\t%llu\nsegments\t%llu\nbits\t%u\n",
           info.documents ? "documents" : "signatures", (unsigned long long)info.rows,
           (unsigned long long)info.removed_rows, (unsigned long long)info.segments, info.bits);
    static const char *const methods[COG_METHOD_COUNT] = {
        [COG_METHOD_AUTO] = "auto",     [COG_METHOD_FLAT] = "flat",
        [COG_METHOD_SLICES] = "slices", [COG_METHOD_COLUMNS] = "columns",
        [COG_METHOD_PSM] = "psm",       [COG_METHOD_BPHS] = "bphs"};
    printf("method\t%s\n", methods[info.method]);
    if (info.tables)
        printf("radius\t%u\ntables\t%u\nheader bits\t%u\n", info.radius_bits, info.tables,
               info.header_bits);
    if (info.method == COG_METHOD_PSM)
        printf("learned from pairs\t%llu\n", (unsigned long long)info.learned_pairs);
    if (info.method == COG_METHOD_BPHS)
        printf("blocks\t%u, choose %u\n", info.blocks, info.chosen);
    if (info.slice_bits)
        printf("slice bits\t%u\n", info.slice_bits);
    if (info.documents)
        printf("vectors\t%s\nvocabulary\t%llu\n", info.vectors ? "yes" : "no",
               (unsigned long long)info.vocabulary_terms);
    if (cog_index_sign_options(index, &sign))
        print_signing(&sign);
    printf("bytes\t%llu\n", (unsigned long long)info.file_bytes);
    cog_index_close(index);
    return COG_OK;
}

static const struct work {
    const char *name;
    cog_status (*run)(const struct index_arguments *taken, cog_report *report, cog_error *error);
    const char *needs;      /* words behind the folder; NULL: none may stand there */
    const char *must_count; /* a number of the report: 0 means that nothing was found */
} works[] = {
    {"build", run_build, "input; give files, folders, or -", NULL},
    {"add", run_add, "input; give files, folders, or -", NULL},
    {"remove", run_remove, "ids; give them, or --ids FILE", "removed"},
    {"info", run_info, NULL, NULL},
    {"check", run_check, NULL, NULL},
    {"compact", run_compact, NULL, NULL},
};

/* By the action, the first word. */
static const struct work *find_work(const struct arguments *arguments) {
    const struct work *work = works;
    while (strcmp(work->name, arguments->words[0]) != 0)
        work++;
    return work;
}

static bool check_words(const struct arguments *arguments, const struct work *work) {
    bool listed = has_option(arguments, OPTION_REMOVED_IDS);
    if (arguments->word_count < 2)
        return usage_error(arguments, "no index; name its folder");
    if (work->needs && !listed && arguments->word_count < 3)
        return usage_error(arguments, "no %s", work->needs);
    if (!work->needs && arguments->word_count > 2)
        return usage_error(arguments, "takes an index and nothing more");
    if (listed && arguments->word_count > 2)
        return usage_error(arguments, "give ids, or a file of them by --ids, not both");
    return true;
}

static bool take_arguments(const struct arguments *arguments, struct index_arguments *taken) {
    static const cog_method methods[] = {COG_METHOD_AUTO,    COG_METHOD_FLAT, COG_METHOD_SLICES,
                                         COG_METHOD_COLUMNS, COG_METHOD_PSM,  COG_METHOD_BPHS};
    *taken = (struct index_arguments){.given = arguments,
                                      .folder = arguments->words[1],
                                      .rest = arguments->words + 2,
                                      .rest_count = arguments->word_count - 2};
    if (!take_input_options(arguments, &taken->input) ||
        !take_index_options(arguments, &taken->index) || !take_run_options(arguments, &taken->run))
        return false;
    taken->index.method = methods[choice_option(arguments, OPTION_INDEX_METHOD, 0)];
    uint64_t radius = taken->index.radius_bits;
    if (!number_option(arguments, OPTION_INDEX_RADIUS, 0, 8, &radius))
        return false;
    taken->index.radius_bits = (unsigned)radius;
    return true;
}

static int run(const struct arguments *arguments) {
    struct index_arguments taken;
    const struct work *work = find_work(arguments);
    if (!check_words(arguments, work) || !take_arguments(arguments, &taken))
        return EXIT_USAGE;
    cog_error error = {0};
    cog_report *report = NULL;
    cog_status status = cog_report_create(&report, &error);
    if (status == COG_OK)
        status = work->run(&taken, report, &error);
    int code = finish_job(arguments, status, &error, report);
    if (code == EXIT_DONE && work->must_count && cog_report_number(report, work->must_count) == 0)
        code = EXIT_NOTHING;
    cog_report_free(report);
    return code;
}

static const option_set build_sets[] = {
    build_options,     input_options, term_options, weight_options,
    signature_options, run_options,   NULL};
static const option_set add_sets[] = {input_options,     term_options, weight_options,
                                      signature_options, run_options,  NULL};
static const option_set remove_sets[] = {remove_options, run_options, NULL};
static const option_set plain_sets[] = {run_options, NULL};

static const struct command actions[] = {
    {.name = "build",
     .synopsis = "INDEX IN... [OPTIONS]",
     .summary = "index documents, or the signatures of a .npy file, into a new folder",
     .sets = build_sets,
     .run = run},
    {.name = "add",
     .synopsis = "INDEX IN... [OPTIONS]",
     .summary = "add more of the same, weighed by the statistics of the build",
     .description =
         "Documents whose ids the index has are bad records. Terms and signatures are those of\n"
         "the build; options that would make others are refused.",
     .sets = add_sets,
     .run = run},
    {.name = "remove",
     .synopsis = "INDEX ID... | INDEX --ids FILE [OPTIONS]",
     .summary = "documents are no longer found; compact frees their space",
     .description =
         "Ids that the index does not have are named. The exit status is 1 when none was\n"
         "removed.",
     .sets = remove_sets,
     .run = run},
    {.name = "info",
     .synopsis = "INDEX",
     .summary = "tell what is in it and how it was made",
     .sets = plain_sets,
     .run = run},
    {.name = "check",
     .synopsis = "INDEX",
     .summary = "read everything and tell the first damage",
     .sets = plain_sets,
     .run = run},
    {.name = "compact",
     .synopsis = "INDEX [OPTIONS]",
     .summary = "join all segments into one, without what was removed",
     .sets = plain_sets,
     .run = run},
    {.name = NULL},
};

const struct command command_index = {
    .name = "index",
    .synopsis = "build|add|remove|info|check|compact INDEX [IN... | ID...] [OPTIONS]",
    .summary = "build an index for cognate search, and keep it up to date",
    .description =
        "A change becomes visible at once or not at all, and searches that are running keep the\n"
        "state that they started with. One process changes an index at a time: another one ends\n"
        "with status 3 and may try again.",
    .actions = actions,
};
