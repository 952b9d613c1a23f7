#include "command.h"

/* The rows of Table 1 of Ture et al. 2011: minhash values there have 32 bits. */
static const struct {
    cog_signature_kind kind;
    unsigned bits;
} usual_kinds[] = {{COG_SIGNATURE_MINHASH, 64}, {COG_SIGNATURE_SIMHASH, 64},
                   {COG_SIGNATURE_RP, 64},      {COG_SIGNATURE_RP, 100},
                   {COG_SIGNATURE_RP, 200},     {COG_SIGNATURE_RP, 500},
                   {COG_SIGNATURE_RP, 1000},    {COG_SIGNATURE_MINHASH, 992}};
enum { USUAL_KINDS = sizeof usual_kinds / sizeof *usual_kinds };

static size_t choose_kinds(const struct arguments *arguments, const cog_sign_options *sign,
                           cog_signature_options kinds[USUAL_KINDS]) {
    if (has_option(arguments, OPTION_SIGNATURE)) {
        kinds[0] = sign->signature;
        return 1;
    }
    for (size_t i = 0; i < USUAL_KINDS; i++) {
        cog_signature_options_init(&kinds[i], usual_kinds[i].kind);
        kinds[i].bits = usual_kinds[i].bits;
        kinds[i].seed = sign->signature.seed;
    }
    return USUAL_KINDS;
}

static void print_errors(const cog_signature_error *results, size_t count) {
    puts("signature\tbits\terror\terror_above_0.1\terror_above_0.2\ttheory\tratio\tms");
    for (size_t i = 0; i < count; i++) {
        const cog_signature_error *row = &results[i];
        print_choice(OPTION_SIGNATURE, (int)row->signature.kind);
        printf("\t%u\t%.4f\t%.4f\t%.4f\t", row->signature.bits, row->error[0], row->error[1],
               row->error[2]);
        if (row->signature.kind == COG_SIGNATURE_MINHASH)
            printf("-\t-\t%.4f\n", row->milliseconds);
        else
            printf("%.4f\t%.3f\t%.4f\n", row->theory[0], row->error[0] / row->theory[0],
                   row->milliseconds);
    }
}

static cog_status evaluate_signatures(struct session *session) {
    const struct arguments *arguments = session->arguments;
    cog_input_options input;
    cog_sign_options sign;
    uint64_t sample = 1064;
    unsigned seeds = 10;
    if (!take_input_options(arguments, &input) ||
        !take_sign_options(arguments, COG_SIGNATURE_RP, &sign) ||
        !number_option(arguments, OPTION_SAMPLE, 2, 20000, &sample) ||
        !unsigned_option(arguments, OPTION_SEEDS, 1, 1000, &seeds))
        return COG_ERR_USAGE;
    if (arguments->word_count < 2)
        return REFUSE(arguments, "no input; give files, folders, or -");
    cog_signature_options kinds[USUAL_KINDS];
    cog_signature_error results[USUAL_KINDS];
    size_t count = choose_kinds(arguments, &sign, kinds);
    cog_documents *documents = NULL;
    cog_status status = cog_documents_open(&input, arguments->words + 1, arguments->word_count - 1,
                                           &documents, &session->error);
    THEN(status, cog_evaluate_signatures(documents, &sign, kinds, count, (size_t)sample, seeds,
                                         &session->run, results, session->report, &session->error));
    if (status == COG_OK)
        print_errors(results, count);
    cog_documents_close(documents);
    return status;
}

/* ---- Neighbours: files of results, or a method and the exhaustive answer --------------------- */

static void print_quality(const cog_neighbour_quality *quality) {
    printf("queries\t%zu\nrecall@%zu\t%.4f\n", quality->queries, quality->k, quality->recall);
    if (quality->cdr >= 0)
        printf("CDR@%zu\t%.4f\n", quality->k, quality->cdr);
}

struct compared {
    cog_index *index;
    cog_signatures *queries;
    cog_weights *weights;
    cog_hits *found, *truth;
    cog_report *exhaustive; /* of the true answer */
};

static void compared_free(struct compared *compared) {
    cog_hits_free(compared->found);
    cog_hits_free(compared->truth);
    cog_index_close(compared->index);
    cog_signatures_free(compared->queries);
    cog_weights_free(compared->weights);
    cog_report_free(compared->exhaustive);
}

static cog_status compare(struct session *session, cog_search_options search,
                          struct compared *compared) {
    const struct arguments *arguments = session->arguments;
    const float *weights = NULL;
    cog_error *error = &session->error;
    cog_status status = cog_index_open(arguments->words[1], &compared->index, error);
    THEN(status, cog_signatures_open(arguments->words[2], &compared->queries, error));
    THEN(status, open_margins(session, compared->queries, &compared->weights, &weights));
    THEN(status, cog_report_create(&compared->exhaustive, error));
    search.recall_sample = 0;
    THEN(status,
         cog_index_search_signatures(compared->index, compared->queries, weights, &search,
                                     &session->run, &compared->found, session->report, error));
    cog_search_options exhaustive;
    cog_search_options_init(&exhaustive);
    exhaustive.k = search.k;
    exhaustive.method = COG_METHOD_FLAT;
    exhaustive.recall_sample = 0;
    THEN(status,
         cog_index_search_signatures(compared->index, compared->queries, NULL, &exhaustive,
                                     &session->run, &compared->truth, compared->exhaustive, error));
    cog_neighbour_quality quality;
    THEN(status, cog_evaluate_hits(compared->found, compared->truth, search.k, &quality, error));
    if (status != COG_OK)
        return status;
    print_quality(&quality);
    double per_query = 1e3 / (quality.queries ? (double)quality.queries : 1);
    printf("ms per query\t%.4f\nms per query, exhaustive\t%.4f\n",
           cog_report_number(session->report, "searching") * per_query,
           cog_report_number(compared->exhaustive, "searching") * per_query);
    return COG_OK;
}

static cog_status evaluate_method(struct session *session) {
    cog_search_options search;
    if (!take_search_options(session->arguments, &search))
        return COG_ERR_USAGE;
    struct compared compared = {0};
    cog_status status = compare(session, search, &compared);
    compared_free(&compared);
    return status;
}

static cog_status evaluate_files(struct session *session) {
    const struct arguments *arguments = session->arguments;
    uint64_t k = 10;
    unsigned bits = 1024;
    cog_neighbour_quality quality;
    if (!number_option(arguments, OPTION_NEIGHBOURS, 1, UINT32_MAX, &k) ||
        !unsigned_option(arguments, OPTION_BITS, 1, 4096, &bits))
        return COG_ERR_USAGE;
    cog_status status = cog_evaluate_neighbour_files(arguments->words[1], arguments->words[2],
                                                     (size_t)k, bits, &quality, &session->error);
    if (status == COG_OK)
        print_quality(&quality);
    return status;
}

static cog_status evaluate_neighbours(struct session *session) {
    const struct arguments *arguments = session->arguments;
    if (arguments->word_count != 3)
        return REFUSE(arguments, "neighbours: give FOUND.tsv TRUTH.tsv, or INDEX QUERIES.npy");
    return cog_index_exists(arguments->words[1]) ? evaluate_method(session)
                                                 : evaluate_files(session);
}

/* ---- Links ----------------------------------------------------------------------------------- */

static cog_status evaluate_links(struct session *session) {
    const struct arguments *arguments = session->arguments;
    cog_link_scores scores;
    if (arguments->word_count != 2 || !has_option(arguments, OPTION_GOLD))
        return REFUSE(arguments,
                      "give the links and the known ones: links FOUND.tsv --gold GOLD.tsv");
    const char *const *values = arguments->values;
    bool has_pages = has_option(arguments, OPTION_FROM_PAGES);
    if (has_pages != has_option(arguments, OPTION_TO_PAGES))
        return REFUSE(arguments, "give both dumps: --from-pages FILE --to-pages FILE");
    cog_status status =
        has_pages
            ? cog_evaluate_wiki_links(arguments->words[1], values[OPTION_GOLD],
                                      values[OPTION_FROM_PAGES], values[OPTION_TO_PAGES],
                                      values[OPTION_CALIBRATION], values[OPTION_CURVE],
                                      &session->run, &scores, &session->error)
            : cog_evaluate_link_probabilities(arguments->words[1], values[OPTION_GOLD],
                                              values[OPTION_CALIBRATION], values[OPTION_CURVE],
                                              &session->run, &scores, &session->error);
    if (status == COG_OK)
        print_link_scores(&scores, stdout);
    return status;
}

static const enum option_id sample_options[] = {OPTION_SAMPLE, OPTION_SEEDS, OPTION_COUNT};
static const enum option_id neighbour_options[] = {OPTION_NEIGHBOURS,    OPTION_BITS,
                                                   OPTION_METHOD,        OPTION_RECALL,
                                                   OPTION_QUERY_MARGINS, OPTION_COUNT};
static const enum option_id gold_options[] = {OPTION_GOLD,       OPTION_CALIBRATION, OPTION_CURVE,
                                              OPTION_FROM_PAGES, OPTION_TO_PAGES,    OPTION_COUNT};
static const option_set signature_sets[] = {
    sample_options,    input_options, term_options, weight_options,
    signature_options, run_options,   NULL};
static const option_set neighbour_sets[] = {neighbour_options, run_options, NULL};
static const option_set link_sets[] = {gold_options, run_options, NULL};
static const enum option_id usual[] = {OPTION_SIGNATURE, OPTION_BITS, OPTION_LANG, OPTION_COUNT};
static const enum option_id link_usual[] = {OPTION_CALIBRATION, OPTION_CURVE, OPTION_FROM_PAGES,
                                            OPTION_TO_PAGES, OPTION_COUNT};
static const struct option_text signature_texts[] = {
    {OPTION_SIGNATURE, "measure this kind only (default: the usual kinds and widths)"},
    {OPTION_COUNT, NULL}};
static const struct option_text neighbour_texts[] = {
    {OPTION_NEIGHBOURS, "number of neighbours per query that count (default: 10)"},
    {OPTION_BITS, "files: distance that a missing neighbour counts as (default: 1024)"},
    {OPTION_METHOD, "method to measure (default: auto)"},
    {OPTION_COUNT, NULL}};
static const struct command actions[] = {
    {.name = "signatures",
     .synopsis = "IN... [OPTIONS]",
     .summary = "how well signatures estimate the cosine",
     .description =
         "Prints the mean absolute error of the cosine that signatures estimate, over all pairs "
         "of a sample of documents.\n\n"
         "Columns: the error of all pairs, of pairs above 0.1 and of pairs above 0.2; the error "
         "that theory expects of random signs; the ratio of the two; and the milliseconds to sign "
         "one document. Minhash, which estimates a Jaccard coefficient, is compared with the "
         "cosine of the same sets, as in the table of Ture et al. 2011.",
     .examples = "cognate eval signatures pages.jsonl\n"
                 "cognate eval signatures pages.jsonl --signature simhash --bits 128",
     .sets = signature_sets,
     .usual = usual,
     .texts = signature_texts,
     .run = evaluate_signatures},
    {.name = "neighbours",
     .synopsis = "FOUND.tsv TRUTH.tsv | INDEX QUERIES.npy [OPTIONS]",
     .summary = "search results compared with the true ones",
     .description =
         "Prints recall@k and the cumulative distance ratio CDR@k of two files that cognate "
         "search wrote, or of a method compared with the exhaustive answer.\n\n"
         "Of neighbours at equal distance, any counts as found. In files, a missing neighbour "
         "counts as one at a distance of --bits.",
     .examples = "cognate eval neighbours found.tsv truth.tsv -k 5\n"
                 "cognate eval neighbours s.index queries.npy --method slices",
     .sets = neighbour_sets,
     .texts = neighbour_texts,
     .methods = "auto|exact|flat|slices|columns|psm|bphs",
     .knobs = COG_KNOB_SEARCH,
     .run = evaluate_neighbours},
    {.name = "links",
     .synopsis = "FOUND.tsv --gold GOLD.tsv [OPTIONS]",
     .summary = "links across languages compared with known ones",
     .description =
         "Compares the links that cognate link wrote with known ones (two ids per line). Prints "
         "precision and recall; recall@1, the share of sources whose best link is a known one; "
         "and the recall of the longest list of best links of which 99% are right.\n\n"
         "For Wikipedia, --gold takes its table langlinks.sql.gz, which names pages by number; "
         "--from-pages and --to-pages are then the dumps of both languages, which have the titles "
         "and the redirects.\n\n"
         "--calibration compares the stated probabilities with the share of right links, in bins; "
         "--curve lists precision and recall of the links above each probability. Both write CSV, "
         "or a picture if the name ends in .svg.",
     .examples = "cognate eval links links.tsv --gold known.tsv\n"
                 "cognate eval links links.tsv --gold known.tsv --calibration bins.csv\n"
                 "cognate eval links links.tsv --gold known.tsv --curve curve.svg",
     .usual = link_usual,
     .sets = link_sets,
     .run = evaluate_links},
    {.name = NULL},
};

const struct command command_eval = {
    .name = "eval",
    .synopsis = "signatures|neighbours|links ... [OPTIONS]",
    .summary = "measure a method against the exact answer",
    .examples = "cognate eval signatures pages.jsonl\n"
                "cognate eval neighbours s.index queries.npy --method slices",
    .see = "search link sign",
    .actions = actions,
};
