#include "command.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interrupt.h"

const enum option_id input_options[] = {OPTION_INPUT_FORMAT, OPTION_LINES,      OPTION_TEXT_FIELD,
                                        OPTION_ID_FIELD,     OPTION_LANG_FIELD, OPTION_STRICT,
                                        OPTION_COUNT};
const enum option_id term_options[] = {OPTION_TOKENS, OPTION_NGRAM,      OPTION_LANG,
                                       OPTION_STEM,   OPTION_STOP_WORDS, OPTION_COUNT};
const enum option_id weight_options[] = {OPTION_WEIGHTING, OPTION_K1, OPTION_B,
                                         OPTION_MIN_FREQUENCY, OPTION_COUNT};
const enum option_id signature_options[] = {OPTION_SIGNATURE, OPTION_BITS,    OPTION_SEED,
                                            OPTION_GAUSSIAN,  OPTION_DENSITY, OPTION_VALUE_BITS,
                                            OPTION_COUNT};
const enum option_id pair_options[] = {OPTION_MEASURE, OPTION_THRESHOLD, OPTION_METHOD,
                                       OPTION_RECALL,  OPTION_NO_VERIFY, OPTION_BAND_VALUES,
                                       OPTION_COUNT};
const enum option_id lsh_options[] = {OPTION_KEY_BITS,  OPTION_TABLES,    OPTION_FLIPS,
                                      OPTION_FLIP_MODE, OPTION_FLIP_SIDE, OPTION_WINDOW,
                                      OPTION_CHUNK,     OPTION_COUNT};
const enum option_id between_options[] = {OPTION_SHARED_WINDOW, OPTION_COUNT};
const enum option_id projection_options[] = {OPTION_LEXICON, OPTION_PROBABILITY, OPTION_UNKNOWN,
                                             OPTION_LINKERS, OPTION_COUNT};
const enum option_id run_options[] = {OPTION_THREADS, OPTION_MEMORY,  OPTION_STATS, OPTION_QUIET,
                                      OPTION_HELP,    OPTION_VERSION, OPTION_COUNT};

bool take_input_options(const struct arguments *arguments, cog_input_options *options) {
    cog_input_options_init(options);
    options->format = (cog_format)choice_option(arguments, OPTION_INPUT_FORMAT, COG_FORMAT_AUTO);
    options->lines = has_option(arguments, OPTION_LINES);
    options->strict = has_option(arguments, OPTION_STRICT);
    options->read_once =
        !has_option(arguments, OPTION_SENTENCES) && !has_option(arguments, OPTION_SAVE_STATISTICS);
    if (has_option(arguments, OPTION_TEXT_FIELD))
        options->text_field = arguments->values[OPTION_TEXT_FIELD];
    if (has_option(arguments, OPTION_ID_FIELD))
        options->id_field = arguments->values[OPTION_ID_FIELD];
    if (has_option(arguments, OPTION_LANG_FIELD))
        options->lang_field = arguments->values[OPTION_LANG_FIELD];
    return true;
}

bool take_term_options(const struct arguments *arguments, cog_term_options *options) {
    uint64_t ngram = options->ngram;
    if (!number_option(arguments, OPTION_NGRAM, 1, 32, &ngram))
        return false;
    options->tokens = (cog_tokens)choice_option(arguments, OPTION_TOKENS, (int)options->tokens);
    options->ngram = (unsigned)ngram;
    options->stem = choice_option(arguments, OPTION_STEM, !options->stem) == 0;
    options->drop_stop_words =
        choice_option(arguments, OPTION_STOP_WORDS, !options->drop_stop_words) == 0;
    const char *lang = arguments->values[OPTION_LANG];
    if (lang)
        options->lang = strcmp(lang, "none") == 0 ? "" : lang;
    return true;
}

bool take_weight_options(const struct arguments *arguments, cog_weight_options *options) {
    int scheme = choice_option(arguments, OPTION_WEIGHTING, (int)options->scheme);
    if (scheme != (int)options->scheme)
        cog_weight_options_init(options, (cog_weighting)scheme);
    uint64_t frequency = options->min_collection_frequency;
    if (!real_option(arguments, OPTION_K1, 0, 1000, &options->k1) ||
        !real_option(arguments, OPTION_B, 0, 1, &options->b) ||
        !number_option(arguments, OPTION_MIN_FREQUENCY, 0, UINT32_MAX, &frequency))
        return false;
    options->min_collection_frequency = (unsigned)frequency;
    return true;
}

/* What speaks of one kind of signature only. */
static bool check_kind_options(const struct arguments *arguments, cog_signature_kind kind) {
    static const struct {
        cog_signature_kind kind;
        enum option_id own[2];
        const char *why;
    } rows[] = {
        {COG_SIGNATURE_RP, {OPTION_GAUSSIAN, OPTION_COUNT}, "belongs to --signature rp"},
        {COG_SIGNATURE_TOPSIG, {OPTION_DENSITY, OPTION_COUNT}, "belongs to --signature topsig"},
        {COG_SIGNATURE_MINHASH,
         {OPTION_VALUE_BITS, OPTION_COUNT},
         "belongs to --signature minhash"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind != kind && !refuse_options(arguments, rows[i].own, rows[i].why))
            return false;
    return true;
}

bool take_signature_options(const struct arguments *arguments, cog_signature_options *options) {
    uint64_t bits = options->bits, value_bits = options->value_bits;
    if (!number_option(arguments, OPTION_BITS, 8, 4096, &bits) ||
        !number_option(arguments, OPTION_SEED, 0, UINT64_MAX, &options->seed) ||
        !number_option(arguments, OPTION_VALUE_BITS, 1, 32, &value_bits) ||
        !real_option(arguments, OPTION_DENSITY, 0, 0.5, &options->density) ||
        !check_kind_options(arguments, options->kind))
        return false;
    options->bits = (unsigned)bits;
    options->value_bits = (unsigned)value_bits;
    options->gaussian = options->gaussian || has_option(arguments, OPTION_GAUSSIAN);
    return true;
}

static bool take_signing(const struct arguments *arguments, cog_sign_options *options) {
    return take_signature_options(arguments, &options->signature) &&
           take_term_options(arguments, &options->terms) &&
           take_weight_options(arguments, &options->weights);
}

bool take_sign_options(const struct arguments *arguments, cog_signature_kind otherwise,
                       cog_sign_options *options) {
    int kind = choice_option(arguments, OPTION_SIGNATURE, (int)otherwise);
    cog_sign_options_init(options, (cog_signature_kind)kind);
    return take_signing(arguments, options);
}

bool take_knob(const struct arguments *arguments, enum option_id id, cog_method method,
               const char *name, cog_knobs *knobs) {
    uint64_t value = 1;
    cog_error error;
    const cog_knob *knob = NULL;
    for (size_t i = 0; i < cog_method_knob_count(method); i++)
        if (strcmp(cog_method_knob(method, i)->name, name) == 0)
            knob = cog_method_knob(method, i);
    if (!knob || !has_option(arguments, id))
        return true;
    if (knob->kind == COG_KNOB_CHOICE)
        value = (uint64_t)choice_option(arguments, id, 0);
    else if (knob->kind == COG_KNOB_NUMBER &&
             !number_option(arguments, id, knob->least, knob->most, &value))
        return false;
    return cog_knobs_set(knobs, method, name, value, &error) == COG_OK;
}

/* A knob of a method that was not asked for would do nothing. */
static bool check_method_options(const struct arguments *arguments, cog_method method) {
    static const enum option_id of_lsh[] = {OPTION_KEY_BITS,  OPTION_FLIPS,       OPTION_FLIP_MODE,
                                            OPTION_FLIP_SIDE, OPTION_BAND_VALUES, OPTION_COUNT};
    static const enum option_id of_window[] = {OPTION_WINDOW, OPTION_CHUNK, OPTION_SHARED_WINDOW,
                                               OPTION_COUNT};
    static const enum option_id of_both[] = {OPTION_TABLES, OPTION_COUNT};
    bool lsh = method == COG_METHOD_LSH, window = method == COG_METHOD_WINDOW;
    return (lsh || refuse_options(arguments, of_lsh, "belongs to --method lsh")) &&
           (window || refuse_options(arguments, of_window, "belongs to --method window")) &&
           (lsh || window ||
            refuse_options(arguments, of_both, "belongs to --method lsh or window"));
}

bool take_method_options(const struct arguments *arguments, cog_method method, cog_knobs *knobs,
                         double *recall) {
    static const struct {
        enum option_id id;
        const char *name;
    } options[] = {{OPTION_KEY_BITS, "key-bits"},
                   {OPTION_TABLES, "tables"},
                   {OPTION_FLIPS, "flips"},
                   {OPTION_FLIP_MODE, "flip-mode"},
                   {OPTION_FLIP_SIDE, "flip-side"},
                   {OPTION_BAND_VALUES, "band-values"},
                   {OPTION_WINDOW, "window"},
                   {OPTION_CHUNK, "chunk"},
                   {OPTION_SHARED_WINDOW, "shared-window"}};
    bool taken = check_method_options(arguments, method);
    for (size_t i = 0; taken && i < sizeof options / sizeof *options; i++)
        taken = take_knob(arguments, options[i].id, method, options[i].name, knobs);
    return taken && real_option(arguments, OPTION_RECALL, 0, 1, recall);
}

/* Hash tables over minhash signatures are bands of whole values, 128 of them as others have it,
 * unless what is given is about single bits. */
static bool choose_values(const struct arguments *arguments, cog_signature_options *signature) {
    static const enum option_id of_bits[] = {OPTION_KEY_BITS, OPTION_FLIPS, OPTION_FLIP_MODE,
                                             OPTION_FLIP_SIDE};
    static const enum option_id of_flips[] = {OPTION_FLIP_MODE, OPTION_COUNT};
    enum { VALUES = 128 };
    uint64_t value_bits = 32;
    for (size_t i = 0; i < sizeof of_bits / sizeof *of_bits; i++)
        if (has_option(arguments, of_bits[i]))
            value_bits = 1;
    if (!number_option(arguments, OPTION_VALUE_BITS, 1, 32, &value_bits))
        return false;
    signature->value_bits = (unsigned)value_bits;
    if (value_bits == 1)
        return true;
    signature->bits = (unsigned)value_bits * VALUES;
    return refuse_options(arguments, of_flips,
                          "is about single bits: give --value-bits 1, or leave it out");
}

/* What was given on top of the options' own values. */
static bool take_pairing(const struct arguments *arguments, cog_pairs_options *options) {
    int kind = choice_option(arguments, OPTION_SIGNATURE, (int)options->sign.signature.kind);
    if (kind != (int)options->sign.signature.kind)
        cog_signature_options_init(&options->sign.signature, (cog_signature_kind)kind);
    options->method = method_option(arguments);
    if (options->method == COG_METHOD_LSH &&
        options->sign.signature.kind == COG_SIGNATURE_MINHASH &&
        !choose_values(arguments, &options->sign.signature))
        return false;
    options->verify = !has_option(arguments, OPTION_NO_VERIFY);
    if (options->measure == COG_MEASURE_JACCARD &&
        !refuse_options(
            arguments, weight_options,
            "weighs terms, and the Jaccard coefficient counts them; give --measure cosine"))
        return false;
    return take_method_options(arguments, options->method, &options->knobs, &options->recall) &&
           take_signing(arguments, &options->sign) &&
           real_option(arguments, OPTION_THRESHOLD, 0, 1, &options->threshold);
}

/* In the order of the option's choices. */
cog_method method_option(const struct arguments *arguments) {
    static const cog_method methods[] = {COG_METHOD_AUTO, COG_METHOD_EXACT, COG_METHOD_LISTS,
                                         COG_METHOD_FLAT, COG_METHOD_LSH,   COG_METHOD_WINDOW};
    return methods[choice_option(arguments, OPTION_METHOD, 0)];
}

bool take_pairs_options(const struct arguments *arguments, cog_measure otherwise,
                        cog_pairs_options *options) {
    int measure = choice_option(arguments, OPTION_MEASURE, (int)otherwise);
    cog_pairs_options_init(options, (cog_measure)measure);
    return take_pairing(arguments, options);
}

bool take_related_options(const struct arguments *arguments, cog_related_options *options) {
    uint64_t min_urls;
    cog_related_options_init(options);
    min_urls = options->min_urls;
    if (!take_pairing(arguments, &options->pairs) ||
        !number_option(arguments, OPTION_MIN_URLS, 1, UINT32_MAX, &min_urls))
        return false;
    options->min_urls = (unsigned)min_urls;
    return true;
}

bool take_projection_options(const struct arguments *arguments, cog_projection_options *options) {
    cog_projection_options_init(options);
    options->source_given_target = choice_option(arguments, OPTION_PROBABILITY, 0) == 1;
    options->keep_unknown = choice_option(arguments, OPTION_UNKNOWN, 0) == 0;
    if (has_option(arguments, OPTION_LINKERS))
        options->linkers = arguments->values[OPTION_LINKERS];
    return real_option(arguments, OPTION_K1, 0, 1000, &options->k1) &&
           real_option(arguments, OPTION_B, 0, 1, &options->b);
}

/* With a lexicon, terms are its own, and those of two languages; without one, its knobs would do
 * nothing. */
bool check_lexicon_options(const struct arguments *arguments) {
    static const enum option_id others[] = {
        OPTION_TOKENS,     OPTION_NGRAM,     OPTION_LANG,          OPTION_STEM,
        OPTION_STOP_WORDS, OPTION_WEIGHTING, OPTION_MIN_FREQUENCY, OPTION_COUNT};
    if (has_option(arguments, OPTION_LEXICON))
        return refuse_options(arguments, others,
                              "says what terms are, and the lexicon decides that");
    if (has_option(arguments, OPTION_PROBABILITY) || has_option(arguments, OPTION_UNKNOWN) ||
        has_option(arguments, OPTION_LINKERS))
        return usage_error(arguments,
                           "--probability, --unknown and --linkers tell how a --lexicon is used");
    return true;
}

static bool progress_shown;

static void clear_progress(void) {
    if (progress_shown)
        fprintf(stderr, "\r%60s\r", "");
    progress_shown = false;
}

/* A bar, or where the end is not known, how far it has come. */
static bool show_progress(void *context, const cog_progress *progress) {
    enum { WIDTH = 30 };
    const bool *visible = context;
    if (!*visible || progress->done + progress->total == 0)
        return !was_interrupted();
    double share = progress->total ? (double)progress->done / (double)progress->total : 0;
    int filled = share < 1 ? (int)(share * WIDTH) : WIDTH;
    progress_shown = true;
    if (progress->total)
        fprintf(stderr, "\r%-24s [%.*s%*s] %3d%%", progress->stage, filled,
                "==============================", WIDTH - filled, "", filled * 100 / WIDTH);
    else
        fprintf(stderr, "\r%-24s %-34llu", progress->stage, (unsigned long long)progress->done);
    if (progress->total && progress->done >= progress->total)
        clear_progress();
    return !was_interrupted();
}

/* Ids and paths stand in messages, and whoever wrote them may have put escape sequences there. */
void print_message(const char *text) {
    clear_progress();
    fputs("cognate: ", stderr);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        bool is_c1_control = *at == 0xC2 && at[1] >= 0x80 && at[1] < 0xA0;
        if ((*at < 0x20 && *at != '\n') || *at == 0x7F || is_c1_control)
            fprintf(stderr, "\\x%02X", is_c1_control ? *++at : *at);
        else
            fputc(*at, stderr);
    }
    fputc('\n', stderr);
}

static void announce(void *context, const char *text) {
    (void)context;
    print_message(text);
}

bool refuse_options(const struct arguments *arguments, option_set set, const char *why) {
    for (; *set != OPTION_COUNT; set++)
        if (has_option(arguments, *set))
            return usage_error(arguments, "--%s %s", option_specs[*set].name, why);
    return true;
}

/* False where the path is too long. */
static bool folder_of(const char *path, char *folder, size_t size) {
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + (slash == path) : 1;
    if (length >= size)
        return false;
    memcpy(folder, slash ? path : ".", length);
    folder[length] = '\0';
    return true;
}

static bool is_same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether writing to `path`, a file that exists, would destroy `input` or a file of that folder. */
static bool destroys(const char *path, const char *input) {
    struct stat output_info, input_info, folder_info;
    if (!input || strcmp(input, "-") == 0 || stat(path, &output_info) != 0 ||
        !S_ISREG(output_info.st_mode) || stat(input, &input_info) != 0)
        return false;
    if (!S_ISDIR(input_info.st_mode))
        return is_same_file(&output_info, &input_info);
    char folder[4096];
    return folder_of(path, folder, sizeof folder) && stat(folder, &folder_info) == 0 &&
           is_same_file(&folder_info, &input_info);
}

static bool spares_inputs(const struct arguments *arguments, enum option_id output) {
    static const enum option_id inputs[] = {OPTION_AGAINST,       OPTION_STATISTICS, OPTION_LEXICON,
                                            OPTION_GOLD,          OPTION_FROM,       OPTION_TO,
                                            OPTION_QUERY_WEIGHTS, OPTION_REMOVED_IDS};
    const char *path = arguments->values[output], *destroyed = NULL;
    for (size_t i = 0; i < arguments->word_count; i++)
        if (destroys(path, arguments->words[i]))
            destroyed = arguments->words[i];
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        if (destroys(path, arguments->values[inputs[i]]))
            destroyed = arguments->values[inputs[i]];
    return !destroyed ||
           usage_error(arguments, "--%s %s would overwrite what is read from %s; name another file",
                       option_specs[output].name, path, destroyed);
}

/* Outputs go to different files, none of them an input, in folders that exist: known before the
 * work, not after it. */
static bool check_outputs(const struct arguments *arguments) {
    static const enum option_id outputs[] = {
        OPTION_OUTPUT, OPTION_CLUSTERS,        OPTION_REJECTS, OPTION_WEIGHTS,
        OPTION_IDS,    OPTION_SAVE_STATISTICS, OPTION_STATS};
    enum { OUTPUTS = sizeof outputs / sizeof *outputs };
    const char *stats = arguments->values[OPTION_STATS];
    if (stats && strcmp(stats, "-") == 0 && !arguments->values[OPTION_OUTPUT] &&
        !arguments->values[OPTION_CLUSTERS])
        return usage_error(arguments,
                           "--stats -: the result goes to standard output too; give -o FILE");
    for (size_t i = 0; i < OUTPUTS; i++) {
        const char *path = arguments->values[outputs[i]];
        if (path && !spares_inputs(arguments, outputs[i]))
            return false;
        for (size_t j = 0; path && j < i; j++)
            if (arguments->values[outputs[j]] && strcmp(arguments->values[outputs[j]], path) == 0)
                return usage_error(arguments, "--%s and --%s: both go to %s",
                                   option_specs[outputs[j]].name, option_specs[outputs[i]].name,
                                   path);
        char folder[4096];
        struct stat info;
        if (path && (path[0] == '\0' || (stat(path, &info) == 0 && S_ISDIR(info.st_mode))))
            return usage_error(arguments, "--%s '%s': name a file that can be written",
                               option_specs[outputs[i]].name, path);
        if (path && folder_of(path, folder, sizeof folder) && access(folder, W_OK | X_OK) != 0)
            return usage_error(arguments, "--%s %s: the folder cannot be written",
                               option_specs[outputs[i]].name, path);
    }
    return true;
}

bool take_run_options(const struct arguments *arguments, cog_run_options *run) {
    static bool visible;
    uint64_t threads = 0;
    *run = (cog_run_options){.progress = show_progress, .progress_context = &visible};
    if (!check_outputs(arguments) ||
        !number_option(arguments, OPTION_THREADS, 1, COG_MAX_THREADS, &threads) ||
        !size_option(arguments, OPTION_MEMORY, &run->memory_bytes))
        return false;
    run->threads = (unsigned)threads;
    visible = isatty(STDERR_FILENO) && !has_option(arguments, OPTION_QUIET);
    run->announce = has_option(arguments, OPTION_QUIET) ? NULL : announce;
    signal(SIGPIPE, SIG_IGN);
    interrupts_watch();
    return true;
}

static int exit_code_of(cog_status status) {
    switch (status) {
    case COG_OK:
        return EXIT_DONE;
    case COG_ERR_MEMORY:
    case COG_ERR_DISK:
    case COG_ERR_BUSY:
        return EXIT_RESOURCES;
    case COG_ERR_CANCELLED:
        return EXIT_INTERRUPTED;
    default:
        return EXIT_USAGE;
    }
}

int finish_job(const struct arguments *arguments, cog_status status, cog_error *error,
               cog_report *report) {
    const char *stats = arguments->values[OPTION_STATS];
    if (!has_option(arguments, OPTION_QUIET))
        for (size_t i = 0; i < cog_report_notice_count(report); i++)
            print_message(cog_report_notice(report, i));
    if (status == COG_OK && stats)
        status = cog_report_write(report, stats, error);
    if (status != COG_OK && error->message[0]) /* else the options told what is wrong */
        print_message(error->message);
    clear_progress();
    return exit_code_of(status);
}

int finish_pairs(const struct arguments *arguments, cog_status status, cog_error *error,
                 cog_report *report, const cog_pairs *pairs) {
    const char *output = arguments->values[OPTION_OUTPUT];
    int format = choice_option(arguments, OPTION_FORMAT, COG_OUTPUT_TSV);
    if (status == COG_OK)
        status = cog_pairs_write(pairs, (cog_output_format)format, output ? output : "-", error);
    int code = finish_job(arguments, status, error, report);
    return code == EXIT_DONE && cog_pairs_count(pairs) == 0 ? EXIT_NOTHING : code;
}
