#include <string.h>
#include <time.h>

#include "command.h"
#include "session.h"

/* The words: the action, the folder of the index, and the rest. */
static const char *folder(const struct session *session) {
    return session->arguments->words[1];
}
static const char *const *rest(const struct session *session) {
    return session->arguments->words + 2;
}
static size_t rest_count(const struct session *session) {
    return session->arguments->word_count - 2;
}

/* `needs`: what must follow the folder; NULL: nothing may. */
static bool check_words(const struct arguments *arguments, const char *needs) {
    if (arguments->word_count < 2)
        return usage_error(arguments, "no index; name its folder");
    if (needs && arguments->word_count < 3)
        return usage_error(arguments, "no %s", needs);
    return needs || arguments->word_count == 2 ||
           usage_error(arguments, "takes one index and no other arguments");
}

/* Documents, or signatures if the input is one .npy file. */
struct source {
    cog_documents *documents;
    cog_signatures *signatures;
    cog_lexicon *lexicon;
};

static cog_status open_source(struct session *session, struct source *source) {
    cog_input_options input;
    if (!take_input_options(session->arguments, &input))
        return COG_ERR_USAGE;
    if (rest_count(session) == 1 && cog_is_signature_file(input.format, rest(session)[0]))
        return refuse_lexicon(session->arguments)
                   ? cog_signatures_open(rest(session)[0], &source->signatures, &session->error)
                   : COG_ERR_USAGE;
    cog_status status = cog_documents_open(&input, rest(session), rest_count(session),
                                           &source->documents, &session->error);
    THEN(status, project_documents(session, source->documents, &source->lexicon));
    return status;
}

static void close_source(struct source *source) {
    cog_documents_close(source->documents);
    cog_signatures_free(source->signatures);
    cog_lexicon_free(source->lexicon);
}

/* ---- Actions --------------------------------------------------------------------------------- */

/* Makes the change, again and again for the seconds of --wait while another process is changing the
 * index. */
static cog_status change_in_time(struct session *session, cog_index *index,
                                 cog_status (*change)(struct session *session, cog_index *index)) {
    const struct timespec pause = {.tv_nsec = 2000000};
    struct timespec start;
    double seconds = 0;
    if (!real_option(session->arguments, OPTION_WAIT, 0, 1e9, &seconds))
        return COG_ERR_USAGE;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (;;) {
        cog_status status = change(session, index);
        if (status != COG_ERR_BUSY || seconds_since(&start) >= seconds)
            return status;
        nanosleep(&pause, NULL);
    }
}

static const char needs_input[] = "input; give files, folders, or -";

static bool take_build_options(const struct arguments *arguments, cog_index_options *options) {
    static const enum option_id of_short[] = {OPTION_RADIUS, OPTION_COUNT};
    cog_method method = method_option(arguments);
    if (!check_words(arguments, needs_input) || !take_index_options(arguments, options) ||
        !unsigned_option(arguments, OPTION_RADIUS, 0, 8, &options->radius_bits))
        return false;
    options->method = method;
    return (method == COG_METHOD_PSM || method == COG_METHOD_BPHS ||
            refuse_options(arguments, of_short, "belongs to --method psm or bphs")) &&
           ((method != COG_METHOD_FLAT && method != COG_METHOD_BPHS) ||
            refuse_options(arguments, margin_options,
                           "belongs to --method psm, slices or columns"));
}

/* With the margins, if a file of them is named. */
static cog_status build_signatures(struct session *session, cog_index_options options,
                                   const cog_signatures *signatures, cog_index **index) {
    cog_weights *weights = NULL;
    cog_status status = open_margins(session, signatures, &weights, &options.weights);
    THEN(status, cog_index_build_signatures(signatures, &options, &session->run, index,
                                            session->report, &session->error));
    cog_weights_free(weights);
    return status;
}

static cog_status build_documents(struct session *session, const cog_index_options *options,
                                  cog_documents *documents, cog_index **index) {
    if (!refuse_margins(session->arguments))
        return COG_ERR_USAGE;
    return cog_index_build(documents, options, &session->run, index, session->report,
                           &session->error);
}

static cog_status build(struct session *session) {
    cog_index_options options;
    if (!take_build_options(session->arguments, &options))
        return COG_ERR_USAGE;
    struct source source = {0};
    cog_index *index = NULL;
    cog_index_claim *claim = NULL;
    cog_error *error = &session->error;
    cog_status status = cog_index_claim_folder(folder(session), &claim, error);
    THEN(status, open_source(session, &source));
    THEN(status, source.signatures ? build_signatures(session, options, source.signatures, &index)
                                   : build_documents(session, &options, source.documents, &index));
    THEN(status, cog_index_save_claimed(index, claim, error));
    cog_index_claim_release(claim);
    cog_index_close(index);
    close_source(&source);
    return status;
}

static void summarize(const struct session *session) {
    const cog_report *report = session->report;
    fputs("cognate: ", stderr);
    print_count(cog_report_number(report, "rows"), "row", stderr);
    fputs(" indexed", stderr);
    print_skipped(cog_report_number(report, "bad_records") +
                      cog_report_number(report, "duplicate_ids"),
                  "record");
    fprintf(stderr, "; %.1f s\n", session->seconds);
}

static void summarize_addition(const struct session *session) {
    const cog_report *report = session->report;
    double replaced = cog_report_number(report, "replaced");
    double matched = cog_report_number(report, "matched");
    double known = cog_report_number(report, "known_ids");
    fputs("cognate: ", stderr);
    print_count(cog_report_number(report, "added"), "row", stderr);
    fputs(" added", stderr);
    if (replaced > 0)
        fprintf(stderr, ", %.0f of them replacing older ones", replaced);
    if (matched > 0)
        fprintf(stderr, ", %.0f left out as near-duplicates", matched);
    if (known > 0)
        fprintf(stderr, "; %.0f id%s in the index already", known, known > 1 ? "s are" : " is");
    print_skipped(cog_report_number(report, "bad_records") +
                      cog_report_number(report, "duplicate_ids"),
                  "record");
    fputs("\n", stderr);
}

static void summarize_removal(const struct session *session) {
    double unknown = cog_report_number(session->report, "unknown_ids");
    fputs("cognate: ", stderr);
    print_count(cog_report_number(session->report, "removed"), "row", stderr);
    fputs(" removed", stderr);
    if (unknown > 0)
        fprintf(stderr, "; %.0f id%s not in the index", unknown, unknown > 1 ? "s are" : " is");
    fputs("\n", stderr);
}

/* Opens the index if the words are right, and closes it after `change`. */
static cog_status with_index(struct session *session, const char *needs,
                             cog_status (*change)(struct session *session, cog_index *index)) {
    if (!check_words(session->arguments, needs))
        return COG_ERR_USAGE;
    cog_index *index = NULL;
    cog_status status = cog_index_open(folder(session), &index, &session->error);
    THEN(status, change(session, index));
    cog_index_close(index);
    return status;
}

/* Escaped as in all results, so that --ids understands it. */
static void print_id(const char *id, size_t size) {
    static const char escaped[] = "\t\n\r\\", letters[] = "tnr\\";
    for (size_t i = 0; i < size; i++) {
        const char *place = memchr(escaped, id[i], sizeof escaped - 1);
        if (place)
            putchar('\\');
        putchar(place ? letters[place - escaped] : id[i]);
    }
}

static void print_match(void *context, const char *id, size_t id_size,
                        const cog_live_outcome *outcome) {
    bool *is_first = context;
    if (*is_first)
        puts("id\tmatch\tsimilarity");
    *is_first = false;
    print_id(id, id_size);
    putchar('\t');
    print_id(outcome->match_id, strlen(outcome->match_id));
    printf("\t%.6f\n", outcome->similarity);
}

/* Looks for a match of each document and adds it in one step. */
static cog_status add_unless_similar(struct session *session, cog_documents *documents,
                                     const cog_add_options *options) {
    cog_live *live = NULL;
    bool is_first = true;
    cog_status status = cog_live_open(folder(session), &live, &session->error);
    THEN(status, cog_live_add_documents(live, documents, options, &session->run, print_match,
                                        &is_first, session->report, &session->error));
    THEN(status, cog_live_settle(live, &session->error));
    cog_live_close(live);
    return status;
}

static cog_status add_signatures(struct session *session, cog_index *index) {
    cog_signatures *signatures = NULL;
    cog_status status = cog_signatures_open(rest(session)[0], &signatures, &session->error);
    THEN(status, cog_index_add_signatures(index, signatures, &session->run, session->report,
                                          &session->error));
    cog_signatures_free(signatures);
    return status;
}

static cog_status add_source(struct session *session, cog_index *index) {
    static const enum option_id of_documents[] = {OPTION_UPSERT, OPTION_UNLESS_SIMILAR,
                                                  OPTION_COUNT};
    struct source source = {0};
    cog_error *error = &session->error;
    cog_add_options options;
    cog_add_options_init(&options);
    options.upsert = has_option(session->arguments, OPTION_UPSERT);
    if (!real_option(session->arguments, OPTION_WAIT, 0, 1e9, &options.wait_seconds) ||
        !real_option(session->arguments, OPTION_UNLESS_SIMILAR, 1e-6, 1, &options.unless_similar))
        return COG_ERR_USAGE;
    cog_status status = expect_sign_options(session->arguments, index, error);
    THEN(status, open_source(session, &source));
    if (status == COG_OK && source.signatures &&
        !refuse_options(session->arguments, of_documents, "goes with documents"))
        status = COG_ERR_USAGE;
    if (status == COG_OK && source.signatures)
        status = change_in_time(session, index, add_signatures);
    else if (status == COG_OK && options.unless_similar > 0)
        status = add_unless_similar(session, source.documents, &options);
    else if (status == COG_OK)
        status = cog_index_add_with(index, source.documents, &options, &session->run,
                                    session->report, error);
    close_source(&source);
    return status;
}

static cog_status add(struct session *session) {
    return with_index(session, needs_input, add_source);
}

static cog_status remove_once(struct session *session, cog_index *index) {
    const char *listed = session->arguments->values[OPTION_REMOVED_IDS];
    return listed ? cog_index_remove_listed(index, listed, session->report, &session->error)
                  : cog_index_remove(index, rest(session), rest_count(session), session->report,
                                     &session->error);
}

static cog_status remove_ids(struct session *session, cog_index *index) {
    cog_status status = change_in_time(session, index, remove_once);
    session->found_nothing = status == COG_OK && cog_report_number(session->report, "removed") == 0;
    return status;
}

static cog_status remove_documents(struct session *session) {
    bool listed = has_option(session->arguments, OPTION_REMOVED_IDS);
    if (listed && session->arguments->word_count > 2)
        return REFUSE(session->arguments, "give ids, or a file of them by --ids, not both");
    return with_index(session, listed ? NULL : "ids; give them, or --ids FILE", remove_ids);
}

static cog_status compact_index(struct session *session, cog_index *index) {
    return cog_index_compact(index, &session->run, session->report, &session->error);
}

static cog_status compact(struct session *session) {
    return with_index(session, NULL, compact_index);
}

static cog_status check_index(struct session *session, cog_index *index) {
    cog_status status = cog_index_check(index, &session->error);
    if (status == COG_OK && !has_option(session->arguments, OPTION_QUIET))
        printf("%s: all files read, no damage found\n", folder(session));
    return status;
}

static cog_status check(struct session *session) {
    return with_index(session, NULL, check_index);
}

static void print_terms(const cog_term_options *terms) {
    printf("terms\t");
    print_choice(OPTION_TOKENS, (int)terms->tokens);
    printf(", ngram %u, stem %s, stop words %s, lang %s\n", terms->ngram,
           terms->stem ? "yes" : "no", terms->drop_stop_words ? "drop" : "keep",
           terms->lang[0] ? terms->lang : "none");
}

static void print_signing(const cog_sign_options *sign) {
    printf("signature\t");
    print_choice(OPTION_SIGNATURE, (int)sign->signature.kind);
    printf(", seed %llu\n", (unsigned long long)sign->signature.seed);
    print_terms(&sign->terms);
    printf("weighting\t");
    print_choice(OPTION_WEIGHTING, (int)sign->weights.scheme);
    putchar('\n');
}

static void print_lexicons(const cog_index *index) {
    const char *from, *record;
    for (size_t i = 0; cog_index_lexicon(index, i, &from, &record); i++)
        printf("lexicon\t%s to %s\n", from, record);
}

static void print_json_lexicons(const cog_index *index) {
    const char *from, *record;
    fputs(", \"lexicons\": {", stdout);
    for (size_t i = 0; cog_index_lexicon(index, i, &from, &record); i++)
        printf("%s\"%s\": \"%s\"", i ? ", " : "", from, record);
    putchar('}');
}

static void print_json(const cog_index *index, const cog_index_info *info) {
    printf("{\"content\": \"%s\", \"measure\": \"", info->documents ? "documents" : "signatures");
    print_choice(OPTION_MEASURE, (int)info->measure);
    printf("\", \"rows\": %llu, \"removed\": %llu, \"segments\": %llu, "
           "\"bits\": %u, \"method\": \"%s\", \"slice_bits\": %u, \"radius\": %u, \"tables\": %u, "
           "\"header_bits\": %u, \"blocks\": %u, \"choose\": %u, \"learned_pairs\": %llu, "
           "\"vectors\": %s, \"vocabulary\": %llu, \"counted_documents\": %llu, "
           "\"outdated_segments\": %llu, \"pending\": %llu, \"bytes\": %llu",
           (unsigned long long)info->rows, (unsigned long long)info->removed_rows,
           (unsigned long long)info->segments, info->bits, cog_method_name(info->method),
           info->slice_bits, info->radius_bits, info->tables, info->header_bits, info->blocks,
           info->chosen, (unsigned long long)info->learned_pairs, info->vectors ? "true" : "false",
           (unsigned long long)info->vocabulary_terms, (unsigned long long)info->counted_documents,
           (unsigned long long)info->outdated_segments, (unsigned long long)info->pending_rows,
           (unsigned long long)info->file_bytes);
    print_json_lexicons(index);
    puts("}");
}

static void print_measure(const cog_index_info *info) {
    printf("measure\t");
    print_choice(OPTION_MEASURE, (int)info->measure);
    putchar('\n');
}

static void print_rows(const cog_index_info *info) {
    printf("rows\t%llu\nremoved\t%llu\nsegments\t%llu\n", (unsigned long long)info->rows,
           (unsigned long long)info->removed_rows, (unsigned long long)info->segments);
}

static void print_pending(const cog_index_info *info) {
    if (info->pending_rows)
        printf("in the log\t%llu rows\n", (unsigned long long)info->pending_rows);
}

/* Of an index by Jaccard or containment. */
static void print_set_info(const cog_index *index, const cog_index_info *info) {
    cog_sign_options sign;
    puts("content\tdocuments");
    print_measure(info);
    print_rows(info);
    print_pending(info);
    if (cog_index_sign_options(index, &sign))
        print_terms(&sign.terms);
}

static void print_method(const cog_index_info *info) {
    printf("bits\t%u\nmethod\t%s\n", info->bits, cog_method_name(info->method));
    if (info->tables)
        printf("radius\t%u\ntables\t%u\nheader bits\t%u\n", info->radius_bits, info->tables,
               info->header_bits);
    if (info->method == COG_METHOD_PSM)
        printf("learned from pairs\t%llu\n", (unsigned long long)info->learned_pairs);
    if (info->method == COG_METHOD_BPHS)
        printf("blocks\t%u, choose %u\n", info->blocks, info->chosen);
    if (info->slice_bits)
        printf("slice bits\t%u\n", info->slice_bits);
}

/* Of an index that has signatures. */
static void print_signature_info(const cog_index *index, const cog_index_info *info) {
    cog_sign_options sign;
    printf("content\t%s\n", info->documents ? "documents" : "signatures");
    if (info->measure != COG_MEASURE_COSINE)
        print_measure(info);
    print_rows(info);
    print_method(info);
    if (info->measure != COG_MEASURE_COSINE)
        puts("vectors\tno");
    else if (info->documents)
        printf("vectors\t%s\nvocabulary\t%llu\nsigned by earlier statistics\t%llu segments\n",
               info->vectors ? "yes" : "no", (unsigned long long)info->vocabulary_terms,
               (unsigned long long)info->outdated_segments);
    print_pending(info);
    if (cog_index_sign_options(index, &sign))
        print_signing(&sign);
    print_lexicons(index);
}

static cog_status print_info(struct session *session, cog_index *index) {
    cog_index_info info;
    cog_index_describe(index, &info);
    if (has_option(session->arguments, OPTION_JSON)) {
        print_json(index, &info);
        return COG_OK;
    }
    if (info.measure != COG_MEASURE_COSINE && info.vectors)
        print_set_info(index, &info);
    else
        print_signature_info(index, &info);
    printf("bytes\t%llu\n", (unsigned long long)info.file_bytes);
    return COG_OK;
}

static cog_status info(struct session *session) {
    return with_index(session, NULL, print_info);
}

/* ---- Options --------------------------------------------------------------------------------- */

static const enum option_id build_options[] = {OPTION_MEASURE,    OPTION_METHOD,
                                               OPTION_RADIUS,     OPTION_QUERY_MARGINS,
                                               OPTION_NO_VECTORS, OPTION_COUNT};
static const enum option_id remove_options[] = {OPTION_REMOVED_IDS, OPTION_WAIT, OPTION_COUNT};
static const option_set build_sets[] = {
    build_options,     input_options,      term_options, weight_options,
    signature_options, projection_options, run_options,  NULL};
static const enum option_id add_options[] = {OPTION_UPSERT, OPTION_UNLESS_SIMILAR, OPTION_WAIT,
                                             OPTION_COUNT};
static const option_set add_sets[] = {
    add_options,       input_options,      term_options, weight_options,
    signature_options, projection_options, run_options,  NULL};
static const struct option_text add_texts[] = {
    {OPTION_LEXICON, "the documents are in its source language"}, {OPTION_COUNT, NULL}};
/* Of what runs at once, on one thread. */
static const enum option_id brief_options[] = {OPTION_STATS,    OPTION_QUIET,   OPTION_HELP,
                                               OPTION_HELP_ALL, OPTION_VERSION, OPTION_COUNT};
static const option_set remove_sets[] = {remove_options, brief_options, NULL};
static const option_set brief_sets[] = {brief_options, NULL};
static const enum option_id info_options[] = {OPTION_JSON, OPTION_COUNT};
static const option_set info_sets[] = {info_options, brief_options, NULL};
static const option_set compact_sets[] = {run_options, NULL};
static const enum option_id usual[] = {OPTION_INPUT_FORMAT, OPTION_BITS, OPTION_LANG, OPTION_COUNT};
static const enum option_id build_usual[] = {OPTION_INPUT_FORMAT, OPTION_LANG, OPTION_COUNT};
static const struct option_text build_texts[] = {
    {OPTION_MEASURE, "of words (default: cosine), or of sets as in dedup"},
    {OPTION_NO_VECTORS, "keep no vectors and no sets: similarities are then estimates"},
    {OPTION_METHOD, "what the index holds for searching (default: auto)"},
    {OPTION_RADIUS, "psm, bphs: greatest radius of searches (default: 3)"},
    {OPTION_QUERY_MARGINS,
     "psm, slices, columns: margins of the signatures (float32 .npy; older name: --weights)"},
    {OPTION_LEXICON, "the documents are in its source language"},
    {OPTION_COUNT, NULL}};

static const struct command actions[] = {
    {.name = "build",
     .synopsis = "INDEX IN... [OPTIONS]",
     .summary = "index documents, or the signatures of a .npy file, in a new folder",
     .description =
         "Indexes documents, or the signatures of a .npy file, in a new or empty folder.\n\n"
         "With --lexicon, documents of its source language are projected into its target "
         "language, the language of the index, and the index records the lexicon. Documents that "
         "name the target language are indexed as they are. Documents of further languages can be "
         "added with their own lexicons.\n\n"
         "With --measure jaccard or containment, documents are kept as sets of word 3-grams, as "
         "in dedup, and searches are exact: a search finds the near-duplicates that dedup finds "
         "at the same --threshold.",
     .examples = "cognate index build pages.index pages.jsonl.gz\n"
                 "cognate index build s.index signatures.npy --method bphs --radius 3",
     .sets = build_sets,
     .usual = build_usual,
     .texts = build_texts,
     .methods = "auto|flat|slices|columns|psm|bphs",
     .knobs = COG_KNOB_BUILD,
     .run = build,
     .summarize = summarize},
    {.name = "add",
     .synopsis = "INDEX IN... [OPTIONS]",
     .summary = "add documents or signatures",
     .description =
         "Adds documents or signatures. The statistics that weigh words grow with the documents, "
         "so similarities are those of an index built from all of them. Documents whose id exists "
         "already are skipped as bad records, or replace the old ones with --upsert. With "
         "--unless-similar, documents that have a near-duplicate in the index, or earlier in the "
         "input, are left out, and their matches are printed.\n\n"
         "Up to 1,024 documents are written to the log of the index, which becomes a segment when "
         "it has 4,096; larger batches become a segment at once. Small segments are merged over "
         "time. Terms and signatures are made as in the build; options that would change them are "
         "refused.",
     .examples = "cognate index add pages.index new.jsonl\n"
                 "cognate index add en.index fr.jsonl --lexicon fr-en.lex\n"
                 "zcat new.jsonl.gz | cognate index add pages.index - --input-format jsonl",
     .sets = add_sets,
     .usual = usual,
     .texts = add_texts,
     .run = add,
     .summarize = summarize_addition},
    {.name = "remove",
     .synopsis = "INDEX ID... | INDEX --ids FILE [OPTIONS]",
     .summary = "remove documents from search results; compact frees their space",
     .description =
         "Removes documents from search results; cognate index compact frees their space. Unknown "
         "ids are named in a notice. The exit status is 1 if nothing was removed.",
     .examples = "cognate index remove pages.index page7 page9\n"
                 "cognate index remove pages.index --ids gone.txt",
     .sets = remove_sets,
     .run = remove_documents,
     .summarize = summarize_removal},
    {.name = "info",
     .synopsis = "INDEX",
     .summary = "print what an index holds and how it was made",
     .examples = "cognate index info pages.index\n"
                 "cognate index info pages.index --json",
     .sets = info_sets,
     .run = info},
    {.name = "check",
     .synopsis = "INDEX",
     .summary = "read all files and report the first damage",
     .examples = "cognate index check pages.index",
     .sets = brief_sets,
     .run = check},
    {.name = "compact",
     .synopsis = "INDEX [OPTIONS]",
     .summary = "merge all segments into one, without removed documents",
     .examples = "cognate index compact pages.index",
     .sets = compact_sets,
     .run = compact},
    {.name = NULL},
};

const struct command command_index = {
    .name = "index",
    .synopsis = "build|add|remove|info|check|compact INDEX [IN... | ID...] [OPTIONS]",
    .summary = "build an index for cognate search, and keep it up to date",
    .description =
        "Changes are atomic, and running searches keep the state that they started with. Only one "
        "process can change an index at a time: a second one ends with status 3 and may try "
        "again, or wait (--wait of add and remove).",
    .examples = "cognate index build pages.index pages.jsonl.gz\n"
                "cognate index add pages.index new.jsonl\n"
                "cognate search pages.index queries.jsonl",
    .see = "search sign lexicon",
    .actions = actions,
};
