#include <stdlib.h>
#include <string.h>

#include "command.h"

static const enum option_id own_options[] = {
    OPTION_FROM,    OPTION_TO,         OPTION_OUTPUT,
    OPTION_FORMAT,  OPTION_ONE_TO_ONE, OPTION_THRESHOLD,
    OPTION_GOLD,    OPTION_CANDIDATES, OPTION_HUBS,
    OPTION_K1,      OPTION_B,          OPTION_LINK_METHOD,
    OPTION_BITS,    OPTION_SENTENCES,  OPTION_SENTENCE_THRESHOLD,
    OPTION_EXPLAIN, OPTION_RECALL,     OPTION_COUNT};
static const option_set sets[] = {
    own_options, lsh_options, between_options, projection_options, input_options,
    run_options, NULL};

struct link_arguments {
    cog_input_options input;
    cog_link_options link;
    cog_run_options run;
    double sentence_threshold;
};

/* An explanation is printed, and sentence pairs are TSV. */
static bool check_result(const struct arguments *arguments) {
    static const enum option_id of_links[] = {OPTION_OUTPUT, OPTION_FORMAT, OPTION_SENTENCES,
                                              OPTION_COUNT};
    if (has_option(arguments, OPTION_EXPLAIN))
        return refuse_options(arguments, of_links,
                              "does not go with --explain, which prints a table");
    if (has_option(arguments, OPTION_SENTENCES) &&
        choice_option(arguments, OPTION_FORMAT, COG_OUTPUT_TSV) != COG_OUTPUT_TSV)
        return usage_error(arguments, "--sentences writes tsv alone: leave --format out");
    return true;
}

/* Exact search and lists compare vectors alone. */
static bool check_signatures(const struct arguments *arguments, cog_method method) {
    static const enum option_id of_signatures[] = {OPTION_BITS, OPTION_COUNT};
    bool signs = method != COG_METHOD_EXACT && method != COG_METHOD_LISTS;
    return signs || refuse_options(arguments, of_signatures, "belongs to methods of signatures");
}

static bool take_options(const struct arguments *arguments, struct link_arguments *taken) {
    static const cog_method methods[] = {COG_METHOD_AUTO,  COG_METHOD_EXACT,  COG_METHOD_LISTS,
                                         COG_METHOD_FLAT,  COG_METHOD_SLICES, COG_METHOD_LSH,
                                         COG_METHOD_WINDOW};
    cog_link_options *options = &taken->link;
    taken->sentence_threshold = 0.5;
    cog_link_options_init(options);
    uint64_t candidates = options->candidates, hubs = options->hub_neighbours, bits = options->bits;
    options->method = methods[choice_option(arguments, OPTION_LINK_METHOD, 0)];
    if (!take_method_options(arguments, options->method, &options->knobs, &options->recall) ||
        !real_option(arguments, OPTION_THRESHOLD, -1, 1, &options->threshold) ||
        !real_option(arguments, OPTION_SENTENCE_THRESHOLD, 0, 1, &taken->sentence_threshold) ||
        !take_projection_options(arguments, &options->projection) ||
        !number_option(arguments, OPTION_CANDIDATES, 1, 100000, &candidates) ||
        !number_option(arguments, OPTION_BITS, 8, 4096, &bits) ||
        !number_option(arguments, OPTION_HUBS, 0, 100000, &hubs))
        return false;
    options->calibrated = !has_option(arguments, OPTION_THRESHOLD);
    options->bits = (unsigned)bits;
    options->candidates = (unsigned)candidates;
    options->hub_neighbours = (unsigned)hubs;
    options->one_to_one = has_option(arguments, OPTION_ONE_TO_ONE);
    if (!has_option(arguments, OPTION_FROM) || !has_option(arguments, OPTION_TO))
        return usage_error(arguments, "give both collections: --from IN... --to IN...");
    if (strcmp(arguments->values[OPTION_FROM], "-") == 0 &&
        strcmp(arguments->values[OPTION_TO], "-") == 0)
        return usage_error(arguments, "standard input can be read only once");
    if (!has_option(arguments, OPTION_LEXICON))
        return usage_error(arguments, "give the lexicon: --lexicon FILE");
    return check_signatures(arguments, options->method) && check_result(arguments);
}

/* Whether a word belongs to an option of many values: the last of the two that stands before it. */
static bool is_behind(const struct arguments *arguments, size_t word, enum option_id id,
                      enum option_id other) {
    int place = arguments->word_places[word], begin = arguments->places[id];
    int stop = arguments->places[other];
    return place > begin && !(stop > begin && place > stop);
}

cog_status open_side(const struct arguments *arguments, enum option_id id, enum option_id other,
                     const cog_input_options *input, cog_documents **documents, cog_error *error) {
    size_t count = 0;
    const char **paths = malloc((arguments->word_count + 1) * sizeof *paths);
    if (!paths) {
        error->status = COG_ERR_MEMORY;
        return COG_ERR_MEMORY;
    }
    paths[count++] = arguments->values[id];
    for (size_t i = 0; i < arguments->word_count; i++)
        if (is_behind(arguments, i, id, other))
            paths[count++] = arguments->words[i];
    cog_status status = cog_documents_open(input, paths, count, documents, error);
    free(paths);
    return status;
}

void print_link_scores(const cog_link_scores *scores, FILE *stream) {
    fprintf(stream,
            "known %llu links %llu right %llu precision %.4f recall %.4f recall@1 %.4f "
            "recall@precision0.99 %.4f\n",
            (unsigned long long)scores->known, (unsigned long long)scores->links,
            (unsigned long long)scores->right, scores->precision, scores->recall,
            scores->recall_at_1, scores->recall_at_precision_99);
    if (scores->judged < scores->links)
        fprintf(stream, "of documents with known links: links %llu precision %.4f\n",
                (unsigned long long)scores->judged,
                scores->judged ? (double)scores->right / (double)scores->judged : 0);
}

static cog_status print_scores(const cog_links *links, const char *gold, cog_error *error) {
    cog_link_scores scores;
    cog_status status = cog_links_score(links, gold, &scores, error);
    if (status != COG_OK)
        return status;
    print_link_scores(&scores, stderr);
    if (scores.absent)
        fprintf(stderr, "left out: %llu known link%s between documents that are not there\n",
                (unsigned long long)scores.absent, scores.absent == 1 ? "" : "s");
    return COG_OK;
}

/* The word matches of all links of a source document. */
static cog_status print_explanation(const cog_links *links, const char *id, cog_error *error) {
    cog_status status = COG_OK;
    uint32_t row;
    if (!cog_links_find(links, 0, id, strlen(id), &row)) {
        snprintf(error->message, sizeof error->message,
                 "--explain %s: no document of --from has this id", id);
        return error->status = COG_ERR_USAGE;
    }
    puts("from\tto\tword\ttranslation\tprobability\tshare");
    for (size_t i = 0; i < cog_links_count(links) && status == COG_OK; i++) {
        cog_link_item item = cog_links_item(links, i);
        cog_word_match *matches = NULL;
        size_t count = 0;
        if (item.from_size != strlen(id) || memcmp(item.from, id, item.from_size) != 0)
            continue;
        status = cog_links_explain(links, item.from_row, item.to_row, &matches, &count, error);
        for (size_t m = 0; m < count; m++)
            printf("%.*s\t%.*s\t%.*s\t%.*s\t%.6f\t%.6f\n", (int)item.from_size, item.from,
                   (int)item.to_size, item.to, (int)matches[m].from_size, matches[m].from,
                   (int)matches[m].to_size, matches[m].to, matches[m].probability,
                   matches[m].share);
        free(matches);
    }
    return status;
}

/* Links, or in their place an explanation or sentence pairs. */
static cog_status write_result(const struct arguments *arguments, const cog_links *links,
                               cog_documents *from, cog_documents *to,
                               const struct link_arguments *taken, cog_report *report,
                               cog_error *error) {
    const char *path = arguments->values[OPTION_OUTPUT] ? arguments->values[OPTION_OUTPUT] : "-";
    if (has_option(arguments, OPTION_EXPLAIN))
        return print_explanation(links, arguments->values[OPTION_EXPLAIN], error);
    if (!has_option(arguments, OPTION_SENTENCES))
        return cog_links_write(
            links, (cog_output_format)choice_option(arguments, OPTION_FORMAT, COG_OUTPUT_TSV), path,
            error);
    return cog_links_sentences(links, from, to, taken->sentence_threshold, path, &taken->run,
                               report, error);
}

static int run(const struct arguments *arguments) {
    struct link_arguments taken;
    if (!take_input_options(arguments, &taken.input) || !take_options(arguments, &taken) ||
        !take_run_options(arguments, &taken.run))
        return EXIT_USAGE;
    cog_error error = {0};
    cog_report *report = NULL;
    cog_lexicon *lexicon = NULL;
    cog_documents *from = NULL, *to = NULL;
    cog_links *links = NULL;
    const char *gold = arguments->values[OPTION_GOLD];
    cog_status status = cog_report_create(&report, &error);
    if (status == COG_OK)
        status = cog_lexicon_open(arguments->values[OPTION_LEXICON], &lexicon, &error);
    if (status == COG_OK)
        status = open_side(arguments, OPTION_FROM, OPTION_TO, &taken.input, &from, &error);
    if (status == COG_OK)
        status = open_side(arguments, OPTION_TO, OPTION_FROM, &taken.input, &to, &error);
    if (status == COG_OK)
        status = cog_link(from, to, lexicon, &taken.link, &taken.run, &links, report, &error);
    if (status == COG_OK)
        status = write_result(arguments, links, from, to, &taken, report, &error);
    if (status == COG_OK && gold)
        status = print_scores(links, gold, &error);
    int code = finish_job(arguments, status, &error, report);
    if (code == EXIT_DONE && cog_links_count(links) == 0)
        code = EXIT_NOTHING;
    cog_links_free(links);
    cog_documents_close(from);
    cog_documents_close(to);
    cog_lexicon_free(lexicon);
    cog_report_free(report);
    return code;
}

const struct command command_link = {
    .name = "link",
    .synopsis = "--from IN... --to IN... --lexicon LEXICON [OPTIONS]",
    .summary = "the best partner of each document in another language",
    .description =
        "Projects the documents of --from into the language of --to by a lexicon (see cognate\n"
        "lexicon) and prints each document's best partner: from, to, cosine, score. The score is\n"
        "twice the cosine minus both documents' mean cosine to their ten nearest (--hubs), which\n"
        "keeps pages that resemble everything from collecting links; which candidate is the\n"
        "partner is decided by the same with the two nearest. Links are kept that stand out by\n"
        "their score, or have a high cosine; with --threshold, those of that cosine.\n\n"
        "With --sentences the linked documents' sentences are paired and printed in place of the\n"
        "links, each pair once; with --explain ID the words that link a document. --gold takes\n"
        "two ids or page titles a line, or a MediaWiki dump whose pages name their partners\n"
        "([[de:Titel]]).",
    .sets = sets,
    .run = run};
