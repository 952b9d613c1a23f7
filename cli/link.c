#include <stdlib.h>
#include <string.h>

#include "command.h"

static const enum option_id own_options[] = {
    OPTION_FROM,       OPTION_TO,         OPTION_OUTPUT,
    OPTION_FORMAT,     OPTION_ONE_TO_ONE, OPTION_THRESHOLD,
    OPTION_GOLD,       OPTION_CANDIDATES, OPTION_HUBS,
    OPTION_K1,         OPTION_B,          OPTION_METHOD,
    OPTION_BITS,       OPTION_SENTENCES,  OPTION_SENTENCE_THRESHOLD,
    OPTION_EXPLAIN,    OPTION_RECALL,     OPTION_PRECISION,
    OPTION_NEIGHBOURS, OPTION_COUNT};
static const option_set sets[] = {own_options, projection_options, input_options, run_options,
                                  NULL};
static const struct option_text texts[] = {
    {OPTION_THRESHOLD, "least cosine of a link (default: by --precision)"},
    {OPTION_NEIGHBOURS, "list the N best of each document, likely or not"},
    {OPTION_RECALL, "share of true partners to find (default: 0.99); 1: all"},
    {OPTION_BITS, "bits per signature, if the method uses signatures (default: 1024)"},
    {OPTION_COUNT, NULL}};

/* tmx is a format of sentence pairs alone. */
static const struct option_text choices[] = {{OPTION_FORMAT, "tsv|jsonl|npy|tmx"},
                                             {OPTION_COUNT, NULL}};
enum { FORMAT_TMX = COG_OUTPUT_NPY + 1 };

struct link_arguments {
    cog_input_options input;
    cog_link_options link;
    cog_sentence_options sentences;
};

/* An explanation is printed; sentences have no numbers of rows, and only sentences are TMX. */
static bool check_result(const struct arguments *arguments) {
    static const enum option_id of_links[] = {OPTION_OUTPUT, OPTION_FORMAT, OPTION_SENTENCES,
                                              OPTION_COUNT};
    if (has_option(arguments, OPTION_EXPLAIN))
        return refuse_options(arguments, of_links,
                              "does not go with --explain, which prints a table");
    int format = choice_option(arguments, OPTION_FORMAT, COG_OUTPUT_TSV);
    if (has_option(arguments, OPTION_SENTENCES))
        return format != COG_OUTPUT_NPY ||
               usage_error(arguments, "--sentences writes texts: choose tsv, jsonl or tmx");
    const char *output =
        has_option(arguments, OPTION_FORMAT) ? NULL : arguments->values[OPTION_OUTPUT];
    if (format == FORMAT_TMX || (output && strstr(output, ".tmx")))
        return usage_error(
            arguments,
            "TMX holds sentence pairs: add --sentences, or choose another format and name");
    static const enum option_id of_sentences[] = {OPTION_SENTENCE_THRESHOLD, OPTION_COUNT};
    return refuse_options(arguments, of_sentences, "belongs to --sentences");
}

/* Exact search and lists compare vectors alone. */
static bool check_signatures(const struct arguments *arguments, cog_method method) {
    static const enum option_id of_signatures[] = {OPTION_BITS, OPTION_COUNT};
    bool signs = method != COG_METHOD_EXACT && method != COG_METHOD_LISTS;
    return signs || refuse_options(arguments, of_signatures, "belongs to methods of signatures");
}

/* Every word belongs to --from or --to, and a word before both belongs to neither. */
static bool check_inputs(const struct arguments *arguments) {
    if (!has_option(arguments, OPTION_FROM) || !has_option(arguments, OPTION_TO))
        return usage_error(arguments, "give both collections: --from IN... --to IN...");
    for (size_t i = 0; i < arguments->word_count; i++)
        if (arguments->word_places[i] < arguments->places[OPTION_FROM] &&
            arguments->word_places[i] < arguments->places[OPTION_TO])
            return usage_error(arguments, "'%s': put inputs after --from or --to",
                               arguments->words[i]);
    if (strcmp(arguments->values[OPTION_FROM], "-") == 0 &&
        strcmp(arguments->values[OPTION_TO], "-") == 0)
        return usage_error(arguments, "standard input can be read only once");
    return has_option(arguments, OPTION_LEXICON) ||
           usage_error(arguments, "give the lexicon: --lexicon FILE");
}

/* Links are kept by one rule. */
static bool check_decision(const struct arguments *arguments) {
    static const enum option_id of_precision[] = {OPTION_PRECISION, OPTION_COUNT};
    static const enum option_id of_each[] = {OPTION_PRECISION, OPTION_ONE_TO_ONE, OPTION_COUNT};
    if (has_option(arguments, OPTION_NEIGHBOURS))
        return refuse_options(arguments, of_each,
                              "does not go with -k, which lists the best links of each document");
    return !has_option(arguments, OPTION_THRESHOLD) ||
           refuse_options(arguments, of_precision,
                          "does not go with --threshold, which keeps links by their cosine");
}

static cog_sentence_format sentence_format(const struct arguments *arguments) {
    static const cog_sentence_format formats[] = {[COG_OUTPUT_TSV] = COG_SENTENCES_TSV,
                                                  [COG_OUTPUT_JSONL] = COG_SENTENCES_JSONL,
                                                  [COG_OUTPUT_NPY] = COG_SENTENCES_AUTO,
                                                  [FORMAT_TMX] = COG_SENTENCES_TMX};
    int format = choice_option(arguments, OPTION_FORMAT, -1);
    return format < 0 ? COG_SENTENCES_AUTO : formats[format];
}

static bool take_options(const struct arguments *arguments, struct link_arguments *taken) {
    cog_link_options *options = &taken->link;
    size_t per_document = 0;
    cog_sentence_options_init(&taken->sentences);
    taken->sentences.format = sentence_format(arguments);
    cog_link_options_init(options);
    options->method = method_option(arguments);
    options->calibrated = !has_option(arguments, OPTION_THRESHOLD);
    options->one_to_one = has_option(arguments, OPTION_ONE_TO_ONE);
    if (!check_decision(arguments) ||
        !number_option(arguments, OPTION_NEIGHBOURS, 1, 100000, &per_document))
        return false;
    options->per_document = per_document;
    return take_input_options(arguments, &taken->input) &&
           real_option(arguments, OPTION_PRECISION, 0, 1, &options->precision) &&
           take_knobs(arguments, COG_KNOB_PAIRS, &options->knobs) &&
           real_option(arguments, OPTION_RECALL, 0, 1, &options->recall) &&
           real_option(arguments, OPTION_THRESHOLD, -1, 1, &options->threshold) &&
           real_option(arguments, OPTION_SENTENCE_THRESHOLD, 0, 2, &taken->sentences.threshold) &&
           take_projection_options(arguments, &options->projection) &&
           unsigned_option(arguments, OPTION_CANDIDATES, 1, 100000, &options->candidates) &&
           unsigned_option(arguments, OPTION_BITS, 8, 4096, &options->bits) &&
           unsigned_option(arguments, OPTION_HUBS, 0, 100000, &options->hub_neighbours) &&
           check_inputs(arguments) && check_signatures(arguments, options->method) &&
           check_result(arguments);
}

/* Whether a word belongs to this option of many values: the last of the two options before it. */
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
        snprintf(error->message, sizeof error->message, "out of memory for the list of inputs");
        return error->status = COG_ERR_MEMORY;
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
        cog_free(matches);
    }
    return status;
}

/* Links, or an explanation or sentence pairs instead of them. */
static cog_status write_result(struct session *session, const cog_links *links, cog_documents *from,
                               cog_documents *to, const cog_sentence_options *sentences) {
    const struct arguments *arguments = session->arguments;
    const char *path = output_path(arguments);
    if (has_option(arguments, OPTION_EXPLAIN))
        return print_explanation(links, arguments->values[OPTION_EXPLAIN], &session->error);
    if (!has_option(arguments, OPTION_SENTENCES))
        return cog_links_write(links, output_format(arguments), path, &session->error);
    return cog_links_sentences(links, from, to, sentences, path, &session->run, session->report,
                               &session->error);
}

static cog_status run(struct session *session) {
    const struct arguments *arguments = session->arguments;
    struct link_arguments taken;
    if (!take_options(arguments, &taken))
        return COG_ERR_USAGE;
    cog_lexicon *lexicon = NULL;
    cog_documents *from = NULL, *to = NULL;
    cog_links *links = NULL;
    cog_error *error = &session->error;
    const char *gold = arguments->values[OPTION_GOLD];
    cog_status status = cog_lexicon_open(arguments->values[OPTION_LEXICON], &lexicon, error);
    THEN(status, open_side(arguments, OPTION_FROM, OPTION_TO, &taken.input, &from, error));
    THEN(status, open_side(arguments, OPTION_TO, OPTION_FROM, &taken.input, &to, error));
    THEN(status,
         cog_link(from, to, lexicon, &taken.link, &session->run, &links, session->report, error));
    THEN(status, write_result(session, links, from, to, &taken.sentences));
    if (status == COG_OK && gold)
        status = print_scores(links, gold, error);
    session->found_nothing = status == COG_OK && cog_links_count(links) == 0;
    cog_links_free(links);
    cog_documents_close(from);
    cog_documents_close(to);
    cog_lexicon_free(lexicon);
    return status;
}

const struct command command_link = {
    .name = "link",
    .synopsis = "--from IN... --to IN... --lexicon LEXICON [OPTIONS]",
    .summary = "the best partner of each document in another language",
    .description =
        "Finds the partner of each document of --from among those of --to.\n\n"
        "Prints from, to, cosine, score, and the probability that the link is right. The "
        "documents of --from are projected into the language of --to by a lexicon (see "
        "cognate-lexicon). The score is twice the cosine, minus the mean cosine of each of the "
        "two documents to its ten nearest (--hubs); without this correction, pages that resemble "
        "everything would collect links. The partner is chosen by the same score with the two "
        "nearest.\n\n"
        "Each run estimates the probability that a link is right and keeps as many links as the "
        "wanted precision allows; --stats has the precision and recall to expect. --threshold "
        "keeps links by their cosine instead.\n\n"
        "--sentences aligns the sentences of linked documents and prints each pair once, with its "
        "cosine and a score that also counts the pairs around it. Formats are tsv, jsonl and TMX "
        "(--format tmx, or an output named *.tmx).\n\n"
        "--explain ID prints the words that link a document. --gold takes two ids or page titles "
        "per line, or a MediaWiki dump whose pages name their partners ([[de:Titel]]). The exit "
        "status is 1 if nothing is linked.",
    .examples = "cognate link --from de/ --to en/ --lexicon de-en.lex --one-to-one -o links.tsv",
    .sets = sets,
    .texts = texts,
    .choices = choices,
    .methods = "auto|exact|lists|flat|slices|lsh|window",
    .knobs = COG_KNOB_PAIRS,
    .without = "band-values",
    .see = "lexicon pairs explain eval",
    .run = run,
};
